"""Releases without sex, without age, or with fewer lists of age bins: the oracle's tables, and what they spend."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

import safetab
from safetab.cli.main import main
from tests.worlds.census import read_t1, read_t2
from tests.worlds.merovia import BINS, SEXES, expected, write

T2_COLUMNS = "REGION_ID|REGION_TYPE|ITERATION_CODE|AGESTART|AGEEND|SEX|COUNT"
DETAIL: dict[str, tuple[Sequence[Sequence[int]], Sequence[str]]] = {
    "sex by age, one list": (BINS[1:2], SEXES),
    "sex by age, two lists": (BINS[:2], SEXES),
    "age, one list": (BINS[:1], ()),
    "age, three lists": (BINS, ()),
    "sex": ((), SEXES),
    "neither": ((), ()),
}


@pytest.mark.parametrize("detail", DETAIL)
def test_tables_are_the_oracles(tmp_path: Path, detail: str) -> None:
    bins, sexes = DETAIL[detail]
    folder, out = write(tmp_path, bins, sexes), tmp_path / "out"
    t1, t2 = expected(bins, sexes)
    release = safetab.tabulate(folder / "params", folder / "data", out, noise=False, not_private=True)
    assert safetab.verify(out, params=folder / "params").is_sound
    assert read_t1(out / "t1" / "merovia.NOT-PRIVATE.csv") == t1
    assert read_t2(out / "t2" / "merovia.NOT-PRIVATE.csv") == t2
    # One schema for every release, and no row twice.
    assert (out / "t2" / "merovia.NOT-PRIVATE.csv").read_text().splitlines()[0].startswith(T2_COLUMNS)
    assert release.t2.num_rows == len(t2) == sum(run["rows"]["t2"] for run in release.ledger["runs"])
    tables = len(bins) or min(len(sexes), 1)
    assert set(release.t1["STAT_LEVEL"].to_pylist()) == set(range(tables + 1))
    assert {row["SEX"] for row in release.t2.to_pylist()} == (set(sexes or "*") if tables else set())


@pytest.mark.parametrize("detail", DETAIL)
def test_cells_sum_to_the_total_and_have_margins(tmp_path: Path, detail: str) -> None:
    bins, sexes = DETAIL[detail]
    folder = write(tmp_path, bins, sexes)
    release = safetab.tabulate(folder / "params", folder / "data", tmp_path / "out")
    assert safetab.verify(tmp_path / "out", params=folder / "params").is_sound
    total = {tuple(row.values())[:3]: row for row in release.t1.to_pylist()}
    cells: dict[tuple[object, ...], int] = {}
    for row in release.t2.to_pylist():
        assert row["MOE_95"] > 0
        if not bins or row["AGESTART"] != "*":
            cells[tuple(row.values())[:3]] = cells.get(tuple(row.values())[:3], 0) + row["COUNT"]
    assert bool(cells) == bool(bins or sexes)
    for key, people in cells.items():
        assert total[key]["COUNT"] == people
    measured = [level["measurements"] for run in release.ledger["runs"] for level in run["levels"]]
    if not cells:
        # No group has a stage that chooses its detail: the whole budget goes into its total.
        assert {stage["stage"] for level in measured for stage in level} == {"total only"}
    for level in (level for run in release.ledger["runs"] for level in run["levels"]):
        budget = {stage["stage"]: Fraction(stage["budget_of_one_count"]) for stage in level["measurements"]}
        for spent in (budget.get("total only"), budget.get("stage 1", 0) + budget.get("stage 2", 0)):
            assert spent is None or spent == 0 or spent * level["stability"] == Fraction(level["budget"])


@pytest.mark.parametrize(
    ("detail", "words", "title"),
    [
        ("age, one list", "age; stat level 1 has 3 age bins", "T2, age: COUNTRY"),
        ("age, three lists", "age; stat levels 1, 2, 3 have 3, 7, 14 age bins", "T2, age: COUNTRY"),
        ("sex", "sex, at stat level 1", "T2, sex: COUNTRY"),
        ("neither", "none: the release has neither sex nor age", "No group of COUNTRY Merovia has a row in T2."),
    ],
)
def test_people_are_informed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], detail: str, words: str, title: str
) -> None:
    folder, out = write(tmp_path, *DETAIL[detail]), tmp_path / "out"
    assert main(["check", str(folder / "params"), str(folder / "data")]) == 0
    assert words in capsys.readouterr().out
    assert main(["account", str(folder / "params")]) == 0
    assert (" cells" in capsys.readouterr().out) == (detail != "neither")
    safetab.tabulate(folder / "params", folder / "data", out)
    assert main(["view", str(out)]) == 0
    told = capsys.readouterr().out
    assert title in told
    assert "Sex *" not in told
    described = json.loads((out / "data-dictionary.json").read_text())["t2"]["description"]
    assert described.startswith({"age": "Age of", "sex": "Sex of", "nei": "No rows"}[detail[:3]])
