"""`safetab evaluate`: what it writes and says, what it refuses, and what of the records is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from safetab.cli.main import main
from tests.worlds import readable
from tests.worlds.pages import Page, number

NAMES = {"evaluation.NOT-PRIVATE.html", "evaluation.NOT-PRIVATE.parquet"}


class Evaluated:
    """A world, and what the command wrote and said about it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self.out = readable.write(folder), folder / "results"
        self.words = ["evaluate", str(folder / "params"), str(folder / "data"), str(self.out), "--trials", "3"]
        assert main(self.words) == 0
        self.said = " ".join(capsys.readouterr().out.split())
        self.page = Page(self.out / "evaluation.NOT-PRIVATE.html")
        self.figures = pq.read_table(self.out / "evaluation.NOT-PRIVATE.parquet").to_pylist()


@pytest.fixture
def evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Evaluated:
    return Evaluated(tmp_path, capsys)


def test_two_files_that_say_what_they_are(evaluated: Evaluated) -> None:
    assert {path.name for path in evaluated.out.iterdir()} == NAMES
    assert evaluated.out.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in evaluated.out.iterdir())
    assert "3 trials" in evaluated.said
    assert "They must not leave the secure area" in evaluated.said
    assert "It must not leave the secure area." in evaluated.page.text
    assert len(evaluated.page.pictures) == evaluated.page.svgs
    assert evaluated.page.svgs >= 2
    # The page has the figures of the table.
    whole = [row for row in evaluated.figures if row["KIND"] == "T1" and row["SIZE_FROM"] is None]
    rows = evaluated.page.tables["totals-by-level"][1:]
    assert [row[0] for row in rows] == [f"{row['RUN']} ({row['GEOGRAPHY']}, {row['ITERATION_LEVEL']})" for row in whole]
    for shown, row in zip(rows, whole, strict=True):
        for place, name in enumerate(("ROWS", "COUNT_BIAS", "COUNT_MAE", "COUNT_RMSE", "ESTIMATE_BIAS"), start=1):
            assert number(shown[place]) == pytest.approx(row[name], abs=0.051)
    by_size = [row for row in evaluated.figures if row["KIND"] == "T1" and row["SIZE_FROM"] is not None]
    assert [number(row[2]) for row in evaluated.page.tables["totals-by-size"][1:]] == [row["GROUPS"] for row in by_size]
    judge_left_out(evaluated)
    # Nothing of the records: no region, no block, no group, no place.
    text = (evaluated.out / "evaluation.NOT-PRIVATE.html").read_text(encoding="utf-8")
    values = {str(value) for row in evaluated.figures for value in row.values()}
    for planted in ("01001", "00500", "Alpine", "Spaniard", "2001", "4001", "1010"):
        assert not re.search(rf"\b{planted}\b", evaluated.page.text), planted
        assert f">{planted}<" not in text
        assert planted not in values
    # Written again in place; another program's file is not.
    assert main(evaluated.words) == 0
    (evaluated.out / "evaluation.NOT-PRIVATE.html").write_text("mine")
    assert main(evaluated.words) == 2


def judge_left_out(evaluated: Evaluated) -> None:
    """Groups with people that were left out, and empty ones that were not, level by level."""
    for name, *figures in evaluated.page.tables["left-out"][1:]:
        of_level = [
            row
            for row in evaluated.figures
            if row["KIND"] == "T1"
            and f"{row['RUN']} ({row['GEOGRAPHY']}, {row['ITERATION_LEVEL']})" == name
            and row["SIZE_FROM"] is not None
        ]
        with_people = [row for row in of_level if row["SIZE_FROM"] > 0]
        assert number(figures[0]) == sum(row["GROUPS"] for row in with_people)
        missing = sum(row["GROUPS"] - row["ROWS"] for row in with_people)
        assert number(figures[1]) == pytest.approx(missing, abs=0.051)
        empty = [row for row in of_level if row["SIZE_FROM"] == 0]
        assert number(figures[4]) == pytest.approx(sum(row["ROWS"] for row in empty), abs=0.051)


def test_nothing_is_written_into_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = readable.tabulated(readable.write(tmp_path), 1)
    words = ["evaluate", str(tmp_path / "params"), str(tmp_path / "data")]
    for place, code in (
        (out, "REPORT-001"),
        (out / "t1", "REPORT-001"),
        (out / "new" / "er", "REPORT-001"),
        (tmp_path / "params" / "config.json", "USAGE-003"),
        (tmp_path / "no" / "where", "OUTPUT-002"),
    ):
        assert main([*words, str(place)]) == 2
        assert code in capsys.readouterr().err
    assert not [path for path in out.rglob("*") if "evaluation" in path.name]


def test_faults_of_the_files_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readable.write(tmp_path)
    (tmp_path / "params" / "config.json").unlink()
    assert main(["evaluate", str(tmp_path / "params"), str(tmp_path / "data"), str(tmp_path / "x")]) == 1
    assert "PARAMS-001" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
