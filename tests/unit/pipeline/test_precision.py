"""A margin of error that is published is true of the number as it is published; where none is true, there is none.

Every outcome of the noise that has any weight passes through the real post-processing, so that chances are sums of
weights and not shares of draws.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import safetab
from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.events import CountEvent, LevelEvents, Stage
from safetab.noise.laws import Mechanism
from safetab.params.plan import PlannedLevel
from safetab.params.release import PopulationGroupLevel
from safetab.pipeline.assemble import Assembler, KeyOrder, PostProcessing, Rows
from safetab.pipeline.columns import MEANING
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.precision import Precision, Precisions
from safetab.pipeline.tabulate_level import NoisyTables, NoisyTotals
from safetab.population.ages import StatLevel
from safetab.population.geography import GeographyLevel
from safetab.population.iterations import Iteration, Kind, Reach
from tests.oracle import laws as oracle
from tests.worlds import by_hand

Floats = npt.NDArray[np.float64]
Outcomes = tuple[npt.NDArray[np.int64], Floats]

#: Noise beyond this has a weight far below what is compared here.
LAST = 24
CONFIDENCE = 0.95
ROUNDING = 1e-12
CHANCES = (None, Fraction(1, 2), Fraction(9999, 10000))


def noise_of(mechanism: Mechanism, budget: str) -> tuple[LevelEvents, Outcomes]:
    """The events of a level, and every outcome of its stage 2 noise with its weight by the oracle."""
    events = LevelEvents("(AREA, 1)", mechanism, Fraction(budget), 1, Fraction(1, 10))
    spent = float(events.event(Stage.STAGE_2).budget)
    geometric = mechanism is Mechanism.GEOMETRIC
    weights = oracle.geometric_pmf(spent, LAST) if geometric else oracle.gaussian_pmf(1 / (2 * spent), LAST)
    return events, (np.arange(-LAST, LAST + 1), weights)


def domain_of(events: LevelEvents, regions: int, *, local: bool) -> GroupDomain:
    level = PopulationGroupLevel(GeographyLevel("AREA", ("A",), local=local), 1, Fraction(1), None, (1, 2, 3))
    iteration = Iteration("1000", "Somebody", 1, Kind.ALONE, Reach.COMMON, frozenset({"1"}))
    names = tuple(f"{number:06}" for number in range(regions))
    return GroupDomain(PlannedLevel(level, (iteration,), events), names, np.empty(0, dtype=np.int32))


def assembler_of(domain: GroupDomain, chance: Fraction | None, *, negative: bool) -> tuple[Assembler, Precisions]:
    policy = PostProcessing(chance, allow_negative_counts=negative, has_noise=True)
    precisions = Precisions(has_noise=True)
    return Assembler(KeyOrder.of([domain]), policy, precisions), precisions


def published_totals(
    events: LevelEvents, outcomes: Outcomes, true: int, chance: Fraction | None, *, negative: bool, local: bool
) -> tuple[Rows, Floats, list[Precision]]:
    """One group for each outcome of the noise: what is published of it, and the outcome's weight."""
    values, weights = outcomes
    domain = domain_of(events, len(values), local=local)
    assembler, precisions = assembler_of(domain, chance, negative=negative)
    measured = np.ones((len(values), 1), dtype=np.bool_)
    assembler.add(domain, NoisyTotals(events.event(Stage.STAGE_2), 0, measured, true + values, None))
    rows = assembler.t1()
    return rows, weights[rows.key], precisions.listed


def coverage(rows: Rows, weights: Floats, true: int, margin: int) -> float:
    """The chance of being within the margin, given that the number is published."""
    return float(weights[np.abs(rows.count - true) <= margin].sum() / weights.sum())


LAWS = [(Mechanism.DISCRETE_GAUSSIAN, "0.5"), (Mechanism.DISCRETE_GAUSSIAN, "0.08"), (Mechanism.GEOMETRIC, "1.5")]


@pytest.mark.parametrize(("mechanism", "budget"), LAWS)
@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("negative", [True, False])
@pytest.mark.parametrize("local", [True, False])
def test_the_margin_of_a_total_is_true_of_what_is_published(
    mechanism: Mechanism, budget: str, chance: Fraction | None, negative: bool, local: bool
) -> None:
    events, outcomes = noise_of(mechanism, budget)
    for true in range(12):
        rows, weights, listed = published_totals(events, outcomes, true, chance, negative=negative, local=local)
        (precision,) = listed
        if chance is not None and local:
            assert precision == Precision(None, None)
            continue
        assert precision.moe_95 is not None
        assert coverage(rows, weights, true, precision.moe_95) >= CONFIDENCE - ROUNDING
        error = rows.count - true
        spread = float((weights * error**2).sum() - (weights * error).sum() ** 2)
        if negative:
            assert precision.variance == pytest.approx(spread, rel=1e-6)
        else:
            assert precision.variance is None


@pytest.mark.parametrize(("mechanism", "budget"), LAWS)
def test_no_margin_of_the_noise_is_true_of_what_survived_suppression(mechanism: Mechanism, budget: str) -> None:
    """Of an empty group nothing is published but noise beyond the threshold, which is beyond the margin."""
    events, outcomes = noise_of(mechanism, budget)
    margin = moe_95_of_sum(events.event(Stage.STAGE_2).law, 1)
    rows, weights, _ = published_totals(events, outcomes, 0, Fraction(9999, 10000), negative=True, local=True)
    assert len(rows)
    assert coverage(rows, weights, 0, margin) == 0


def test_the_variance_of_a_count_that_is_set_to_0_is_not_that_of_its_noise() -> None:
    events, (values, weights) = noise_of(Mechanism.DISCRETE_GAUSSIAN, "0.08")
    noise = float((weights * values**2).sum())
    clipped = np.maximum(values, 0)
    assert float((weights * clipped**2).sum() - (weights * clipped).sum() ** 2) < noise / 2
    assert float(events.event(Stage.STAGE_2).law.variance(64)) == pytest.approx(noise, rel=1e-6)


def tables_of(event: CountEvent, cells: npt.NDArray[np.int64], sexes: int) -> NoisyTables:
    groups = len(cells)
    number = np.arange(groups)
    zeros = np.zeros_like(number)
    return NoisyTables(event, StatLevel.COARSE, number, zeros, cells.reshape(groups, sexes, -1), zeros)


@pytest.mark.parametrize(("sexes", "bins"), [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("negative", [True, False])
def test_the_margins_of_tables_are_true_of_what_is_published(sexes: int, bins: int, negative: bool) -> None:
    """One group for each outcome of the noise in all cells; suppression is on and leaves tables alone."""
    events, (values, weights) = noise_of(Mechanism.DISCRETE_GAUSSIAN, "0.5")
    cells = sexes * bins
    noise = np.array(list(product(values, repeat=cells)), dtype=np.int64)
    weight = np.array([np.prod(chosen) for chosen in product(weights, repeat=cells)])
    domain = domain_of(events, len(noise), local=True)
    for true in product((0, 1, 5), repeat=cells):
        assembler, precisions = assembler_of(domain, Fraction(1, 2), negative=negative)
        assembler.add(domain, tables_of(events.event(Stage.STAGE_2), noise + np.array(true), sexes))
        t1, t2 = assembler.t1(), assembler.t2()
        of_sex = np.array(true).reshape(sexes, bins)
        rows_of_group = [*of_sex.sum(axis=1), *of_sex.T.reshape(-1)]
        truth = np.tile(rows_of_group, len(noise))
        places = range(len(rows_of_group))
        for rows, part, expected, counts in (
            (t1, slice(None), sum(true), cells),
            *((t2, slice(n, None, len(rows_of_group)), truth[n], bins if n < sexes else 1) for n in places),
        ):
            (number,) = set(rows.precision[part].tolist())
            precision = precisions.listed[number]
            if counts > 1 and not negative:
                assert precision == Precision(None, None)
                continue
            assert precision.moe_95 is not None
            within = np.abs(rows.count[part] - expected) <= precision.moe_95
            assert weight[within].sum() >= CONFIDENCE - ROUNDING
            assert (precision.variance is None) is (not negative)


@pytest.mark.parametrize("cells", [23, 46])
def test_no_margin_of_the_noise_is_true_of_sums_of_counts_that_were_set_to_0(cells: int) -> None:
    """A sum over empty cells, from the weights of one cell."""
    events, (values, weights) = noise_of(Mechanism.DISCRETE_GAUSSIAN, "0.5")
    cell = np.zeros(LAST + 1)
    np.add.at(cell, np.maximum(values, 0), weights)
    total = np.array([1.0])
    for _ in range(cells):
        total = np.convolve(total, cell)
    margin = moe_95_of_sum(events.event(Stage.STAGE_2).law, cells)
    assert total[: margin + 1].sum() < CONFIDENCE - 0.1


def test_with_the_noise_off_every_number_is_exact(tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    by_hand.choose(tmp_path, allow_negative_counts=False)
    release = safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out", noise=False, not_private=True)
    for table in (release.t1, release.t2):
        assert set(table["MOE_95"].to_pylist()) == {0}
        assert set(table["VARIANCE"].to_pylist()) == {0.0}


def test_a_release_leaves_values_empty_and_its_dictionary_says_why(tmp_path: Path) -> None:
    """The world has two sexes and 4 to 23 age bins; its counties suppress, its nation does not."""
    by_hand.write(tmp_path)
    by_hand.choose(tmp_path, allow_negative_counts=False, zero_suppression_chance=0.5)
    release = safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert set(release.t1["REGION_TYPE"].to_pylist()) >= {"COUNTY", "USA", "PR-STATE"}
    for row in release.t1.to_pylist():
        is_local = row["REGION_TYPE"] in {"COUNTY", "AIANNH"}
        assert (row["MOE_95"] is None) is (is_local or row["STAT_LEVEL"] > 0)
    for row in release.t2.to_pylist():
        assert (row["MOE_95"] is None) is (row["AGESTART"] == "*")
    assert release.t1["VARIANCE"].null_count == release.t1.num_rows
    assert "Empty" in MEANING["MOE_95"]
    assert "Empty" in MEANING["VARIANCE"]
