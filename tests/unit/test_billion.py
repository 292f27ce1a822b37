"""The country of `make bench-billion`: the same people four times over, each time in other states."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import safetab
from benchmarks.billion import make, write_params
from safetab.cli.main import main
from safetab.params.load import load
from tests.worlds.census import read_t1


def test_four_times_over_everybody_is_there_four_times(tmp_path: Path) -> None:
    source, billion = tmp_path / "tiny", tmp_path / "four-times"
    assert main(["synth", str(source), "--like", "tiny"]) == 0
    make(source, billion)
    states = "SELECT count(DISTINCT TABBLKST), count(*) FROM read_parquet('{}/data/{}.parquet/*.parquet')"
    for table in ("person-records", "GRF-C"):
        once, four_times = (duckdb.execute(states.format(of, table)).fetchall()[0] for of in (source, billion))
        assert once[1] > 0
        assert four_times == tuple(4 * number for number in once)
    totals = {}
    for of in (source, billion):
        out = tmp_path / f"out-of-{of.name}"
        safetab.tabulate(of / "params", of / "data", out, noise=False, not_private=True)
        totals[of] = read_t1(out / "t1" / "us.NOT-PRIVATE.csv")
    nation = {key: count for key, count in totals[source].items() if key[1] == "USA"}
    assert nation
    assert {key: totals[billion][key] for key in nation} == {key: 4 * count for key, count in nation.items()}


@pytest.mark.parametrize("like", ["tiny", pytest.param("nation", marks=pytest.mark.long)])
def test_every_run_has_the_states_of_all_copies(tmp_path: Path, like: str) -> None:
    """Also where they take several lines of release.toml, as those of a nation do."""
    source = tmp_path / like
    assert main(["synth", str(source), "--like", like, "--persons", "20000"]) == 0
    write_params(source / "params", tmp_path / "four-times")
    before, after = (
        {run.name: run.only.values for run in load(folder).release.runs if run.only}
        for folder in (source / "params", tmp_path / "four-times")
    )
    assert before
    assert {name: 4 * len(states) for name, states in before.items()} == {
        name: len(set(states)) for name, states in after.items()
    }
