"""Expected numbers of groups equal the mean of many seeded tabulations, within their error.

The true sizes come from a tabulation without noise, through the same door as a user's `--like OUT`. The variance of
each number is known, because groups draw their noise apart: the sum of p (1 - p). A z-score beyond 6 has a chance
of 2e-9.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import safetab
from safetab.cli.main import main
from safetab.cli.public_sizes import chosen_sizes
from safetab.engines.choice import chosen_engine
from safetab.noise.source import SeededSourceNotPrivate
from safetab.params.load import load
from safetab.pipeline.inputs import open_records, read_inputs
from safetab.pipeline.measure import Gate
from safetab.pipeline.progress import Unwatched
from safetab.pipeline.run import RunTables, tabulate_run
from safetab.pipeline.sources import data_sources
from safetab.pipeline.tabulate import whole_work
from safetab.planning import LevelOutlook, Sizes, chances_of, outlook
from tests import profile
from tests.worlds.merovia import MEROVIA

TABULATIONS = profile.size(quick=60, long=200)
ALARM = 6.0


def many_tabulations(world: Path, work: Path) -> Iterator[RunTables]:
    """The first run of a release, with the noise of many seeds; the records are read once."""
    inputs, _ = read_inputs(world / "params", data_sources(world / "data"))
    run = inputs.parameters.plan.runs[0]
    domains = inputs.domains(run)
    work.mkdir()
    with closing(chosen_engine("duckdb").start(work)) as engine:
        records = open_records(engine, inputs)[run.name]
        for seed in range(TABULATIONS):
            progress = whole_work(Unwatched(), inputs).of_run(run.name)
            yield tabulate_run(domains, records, inputs.parameters, Gate(SeededSourceNotPrivate(seed)), progress)


def true_sizes(world: Path, work: Path) -> Sizes:
    """The size of every group, including empty ones: a tabulation without noise that drops nothing."""
    params = work / "params-of-sizes"
    shutil.copytree(world / "params", params)
    for file in (params / name for name in ("release.toml", "config.json") if (params / name).exists()):
        text = file.read_text(encoding="utf-8")
        changed = re.sub(r'("?zero_suppression_chance"?\s*[=:]\s*)("?)[0-9.]+\2', r"\g<1>\g<2>0\2", text)
        assert changed != text
        file.write_text(changed, encoding="utf-8")
    safetab.tabulate(params, world / "data", work / "truth", noise=False, not_private=True)
    known = chosen_sizes(load(world / "params"), None, work / "truth")
    assert known is not None
    assert "NOT PRIVATE" in known.warning
    return known.sizes


def observed(tables: RunTables, level: LevelOutlook) -> list[int]:
    """How many groups of a level have a row, and how many of these a table of each kind."""
    geography, iteration_level = level.level.strip("()").split(", ")
    region, iteration = np.divmod(tables.t1.key, len(tables.order.iteration_codes))
    codes = {each.iteration.code for each in level.groups if each.iteration.level == int(iteration_level)}
    is_type = np.array([kind == geography for kind in tables.order.region_types])[region]
    is_code = np.array([code in codes for code in tables.order.iteration_codes])[iteration]
    stat_levels = tables.t1.stat_level[is_type & is_code]
    return [len(stat_levels), *(int((stat_levels == each).sum()) for each in (1, 2, 3))]


def variances(level: LevelOutlook, sizes: Sizes, is_total_only: np.ndarray) -> np.ndarray:
    known = sizes.of(level.run, level.level)
    assert known is not None
    total = np.zeros(4)
    for total_only in (False, True):
        here = known.size[is_total_only[known.iteration] == total_only]
        if here.size:
            found = chances_of(level.rule, here, total_only=total_only)
            p = np.column_stack([found.published, found.stat_levels[:, 1:]])
            total += (p * (1 - p)).sum(axis=0)
    return total


def assert_mean_is_expected(world: Path, work: Path) -> None:
    sizes = true_sizes(world, work)
    parameters = load(world / "params")
    run = parameters.plan.runs[0]
    levels = [each for each in outlook(parameters, sizes) if each.run == run.name]
    assert [each.level for each in levels] == [planned.name for planned in run.measured]
    counts = np.array([[observed(tables, level) for level in levels] for tables in many_tabulations(world, work / "e")])
    assert len(counts) == TABULATIONS
    uncertain = 0
    for number, (level, planned) in enumerate(zip(levels, run.measured, strict=True)):
        is_total_only = np.array([iteration.is_total_only for iteration in planned.iterations])
        expected = np.array([level.total.published, *level.total.stat_levels[1:]])
        error = np.sqrt(variances(level, sizes, is_total_only) / TABULATIONS)
        uncertain += int((error > 0.01).sum())
        assert (np.abs(counts[:, number].mean(axis=0) - expected) <= ALARM * error + 1e-6).all(), level.level
    # A world in which everything is certain would prove nothing.
    assert uncertain >= 5


def test_the_example_country(tmp_path: Path) -> None:
    assert_mean_is_expected(MEROVIA, tmp_path)


@pytest.mark.long
@profile.tries("tabulations", TABULATIONS)
def test_a_synthetic_town(tmp_path: Path) -> None:
    assert main(["synth", str(tmp_path / "town"), "--like", "town"]) == 0
    assert_mean_is_expected(tmp_path / "town", tmp_path)
