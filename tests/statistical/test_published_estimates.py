"""COUNT against ESTIMATE as they are published, with the production files: the real levels, budgets and thresholds.

Every group of a level has the same number of people, and the noise is drawn afresh for each of them: thousands of
groups are thousands of releases of one group. They go through the real stages, the real gate and the real assembler;
only the counting of records is left out. Noise is drawn with a seed, so the same groups are judged every time; with
other seeds a false alarm of the whole file would have a chance below 1e-6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from safetab.accounting.events import Stage
from safetab.engines.protocol import CellQuestion, Cells, Totals
from safetab.estimates import Estimates
from safetab.estimates.noise_tails import spread
from safetab.noise.source import SeededSourceNotPrivate
from safetab.params.load import Parameters, load
from safetab.params.plan import PlannedLevel
from safetab.pipeline.assemble import Assembler, KeyOrder, PostProcessing, Rows
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.measure import Gate
from safetab.pipeline.precision import Precisions
from safetab.pipeline.tabulate_level import MeasuredLevel, tabulate_tables, tabulate_totals
from tests.profile import size
from tests.statistical.estimate_errors import Errors

LEVELS = ("(COUNTY, 2)", "(USA, 2)", "(STATE, 1)")
#: How many groups of one size are drawn, about.
GROUPS = size(quick=8_000, long=60_000)


@dataclass(frozen=True)
class Alike:
    """Records of a country in which every group has the same people: men of the first age bin."""

    people: int
    regions: int
    iterations: int

    def code_sets(self) -> Any:
        raise NotImplementedError

    def totals(self, *_: object) -> Iterator[Totals]:
        groups = np.arange(self.regions * self.iterations)
        region, iteration = np.divmod(groups, self.iterations)
        yield Totals(region, iteration, np.full(len(groups), self.people))

    def cells(self, questions: Sequence[CellQuestion]) -> Iterator[Cells]:
        for question in questions:
            groups = np.arange(len(question.chosen.region))
            zeros = np.zeros_like(groups)
            yield Cells(groups, zeros, zeros, np.full(len(groups), self.people))


@lru_cache(maxsize=1)
def production(folder: Path) -> Parameters:
    return load(folder)


def planned_of(parameters: Parameters, name: str) -> PlannedLevel:
    return next(level for run in parameters.plan.runs for level in run.measured if level.name == name)


def released(parameters: Parameters, name: str, people: int) -> Rows:
    """T1 of a level in which every group has so many people."""
    release, planned = parameters.release, planned_of(parameters, name)
    regions = -(-GROUPS // len(planned.iterations))
    names = tuple(f"{number:05}" for number in range(regions))
    domain = GroupDomain(planned, names, np.empty(0, dtype=np.int32))
    policy = PostProcessing(release.zero_suppression_chance, release.allow_negative_counts, has_noise=True)
    assembler = Assembler(KeyOrder.of([domain]), policy, Precisions(has_noise=True))
    gate = Gate(SeededSourceNotPrivate(people))
    records = Alike(people, regions, len(planned.iterations))
    level = MeasuredLevel(domain, cast(Any, None))
    for totals in tabulate_totals(records, level, gate):
        assembler.add(domain, totals)
    for _, of_level in tabulate_tables(records, [level], gate, release.age_bins, 2):
        for tables in of_level:
            assembler.add(domain, tables)
    return assembler.t1()


def errors_at(rows: Rows, people: int, stat_level: int) -> Errors:
    at_level, found = rows.stat_level == stat_level, rows.estimates
    of_level = Estimates(found.estimate[at_level], found.low_95[at_level], found.high_95[at_level])
    return Errors.of(rows.count[at_level], of_level, people)


def wide_of(planned: PlannedLevel) -> float:
    return spread(planned.noise.event(Stage.STAGE_1).law)


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize(("stat_level", "least_ratio"), [(3, 2.3), (2, 1.6), (1, 1.3)])
def test_far_from_thresholds_estimates_are_that_much_better(
    census_2020: Path, name: str, stat_level: int, least_ratio: float
) -> None:
    planned = planned_of(production(census_2020), name)
    people = int(planned.level.thresholds[stat_level - 1] + 5 * wide_of(planned)) + 1
    errors = errors_at(released(production(census_2020), name, people), people, stat_level)
    assert len(errors.of_count) > 1000
    assert errors.ratio >= least_ratio
    assert errors.covers


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_across_thresholds_estimates_are_never_worse(census_2020: Path, name: str, threshold: int) -> None:
    planned = planned_of(production(census_2020), name)
    judged = 0
    for step in (-1.5, -0.5, 0, 1, 2.5):
        people = int(planned.level.thresholds[threshold] + step * wide_of(planned))
        rows = released(production(census_2020), name, people)
        for stat_level in (threshold, threshold + 1):
            errors = errors_at(rows, people, stat_level)
            if stat_level and len(errors.of_count) > 300:
                assert errors.may_be_better, (people, errors.ratio)
                assert errors.covers, people
                judged += 1
    assert judged >= 4


@pytest.mark.parametrize("people", [10, 15, 22, 30])
def test_local_totals_that_survived_suppression_are_covered(census_2020: Path, people: int) -> None:
    errors = errors_at(released(production(census_2020), "(COUNTY, 2)", people), people, 0)
    assert len(errors.of_count) > 50
    assert errors.covers
    # COUNT leans upwards, because only large ones are published.
    assert errors.of_count.mean() > errors.of_estimate.mean()
