"""The country of `make bench-billion`: the same people four times over, each time in other states."""

from __future__ import annotations

from pathlib import Path

import duckdb

import safetab
from benchmarks.billion import make
from safetab.cli.main import main
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
