"""`safetab report`: where it writes, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import safetab
from safetab.cli.main import main
from tests.worlds import readable
from tests.worlds.pages import Page


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return readable.tabulated(readable.write(tmp_path_factory.mktemp("report")), 3)


def test_the_report_is_in_the_current_folder(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert main(["report", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "The report is in report.html." in printed
    assert "NOT PRIVATE" in printed
    assert Page(tmp_path / "report.html").tables["totals"]
    assert main(["report", str(out)]) == 0, "a report of ours is replaced"
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize("place", ["report.html", "t1/report.html"])
def test_nothing_is_written_into_a_release(out: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(out), str(out / place)]) == 2
    assert "REPORT-001" in capsys.readouterr().err
    assert not (out / place).exists()


def test_other_files_are_left_alone(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.html").write_text("<!doctype html><p>mine")
    assert main(["report", str(out), str(tmp_path / "thesis.html")]) == 2
    assert "REPORT-002" in capsys.readouterr().err
    assert (tmp_path / "thesis.html").read_text().endswith("mine")
    assert main(["report", str(out), str(tmp_path)]) == 2
    assert "REPORT-002" in capsys.readouterr().err
    assert main(["report", str(out), str(tmp_path / "nowhere" / "a.html")]) == 2
    assert "OUTPUT-002" in capsys.readouterr().err


def test_what_is_no_release_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), str(tmp_path / "a.html")]) == 1
    assert "USAGE-004" in capsys.readouterr().err


def test_the_extra_is_named_where_it_is_missing(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert main(["report", str(out), str(tmp_path / "a.html")]) == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "REPORT-003" in told
    assert "pip install 'safetab[report]'" in told
    assert not list(tmp_path.iterdir())


def test_the_summary_of_tabulate_says_who_got_which_detail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readable.write(tmp_path)
    assert main(["tabulate", str(tmp_path / "params"), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    levels = safetab.open(tmp_path / "out").table("t1")["STAT_LEVEL"].to_pylist()
    total, *tables = (levels.count(level) for level in range(4))
    words = ", ".join(
        [f"{total:,} groups got a total", f"{tables[0]:,} a table of stat level 1"]
        + [f"{tables[level - 1]:,} of stat level {level}" for level in (2, 3)]
    )
    assert words in told
    assert total > 1
