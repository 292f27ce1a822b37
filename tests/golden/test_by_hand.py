"""The tables of a tabulation with noise off are those worked out by hand."""

from __future__ import annotations

from pathlib import Path

import safetab
from tests.worlds import by_hand


def test_tables_worked_out_by_hand(tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    out = tmp_path / "out"
    release = safetab.tabulate(tmp_path / "params", tmp_path / "data", out, noise=False, not_private=True)
    assert (out / "t1" / "us.NOT-PRIVATE.csv").read_text() == by_hand.T1_US
    assert (out / "t1" / "pr.NOT-PRIVATE.csv").read_text() == by_hand.T1_PR
    for run, expected, rows in (("us", by_hand.T2_US, by_hand.T2_US_ROWS), ("pr", by_hand.T2_PR, 30)):
        header, *lines = (out / "t2" / f"{run}.NOT-PRIVATE.csv").read_text().splitlines()
        assert header == "REGION_ID|REGION_TYPE|ITERATION_CODE|AGESTART|AGEEND|SEX|COUNT"
        assert [line for line in lines if not line.endswith("|0")] == expected.splitlines()
        assert len(lines) == rows
    assert release.t1.num_rows == 19 + 7
    assert release.ledger["is_private"] is False
