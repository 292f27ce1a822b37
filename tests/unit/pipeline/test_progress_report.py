"""Progress on a terminal, in a notebook and in a log, and what the logger `safetab` is told."""

from __future__ import annotations

import io
import logging
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import safetab
from safetab.cli.main import main
from safetab.pipeline.progress import Unwatched
from tests.worlds import by_hand


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Notebook(io.StringIO):
    """A stream of the class that a Jupyter kernel puts in place of standard error."""


Notebook.__module__ = "ipykernel.iostream"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    by_hand.write(tmp_path, by_hand.SHORT)
    # Every state, so that there is nothing to warn of.
    by_hand.choose(tmp_path, state_filter_us=["01", "02", "03"])
    return tmp_path


def tabulate(world: Path, *, progress: bool = True) -> safetab.TabulatedRelease:
    return safetab.tabulate(world / "params", world / "data", world / "out", progress=progress)


def shown(stream: io.StringIO, world: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    tabulate(world)
    return stream.getvalue()


def test_a_terminal_has_a_bar_that_is_erased(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = shown(Terminal(), world, monkeypatch)
    assert "tabulating totals of (USA, 2)" in text
    assert "\n" not in text
    assert text.endswith("\r\x1b[2K")


def test_a_notebook_has_one_line_without_escape_codes(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(Notebook(), world, monkeypatch)
    assert "\x1b" not in text
    assert text.count("\n") == 1
    *before, last = text.rstrip("\n").split("\r")
    assert before[1] == "reading records"
    assert any(line.startswith("tabulating totals of (USA, 2): ") for line in before)
    assert re.fullmatch(r"all of the work done *", last)
    widths = [len(line.rstrip()) for line in before]
    assert all(len(line) >= width for line, width in zip([*before[1:], last], widths, strict=True)), "rests stay"


def test_a_log_has_lines_with_the_time(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(io.StringIO(), world, monkeypatch).splitlines()
    assert all(re.match(r"\d\d:\d\d:\d\d [a-z]", line) for line in lines)
    assert lines[0][9:] == "every record was read and judged"
    assert any("tabulating the tables of all levels: " in line for line in lines)


@pytest.mark.parametrize("stream", [Terminal(), Notebook(), io.StringIO()], ids=["terminal", "notebook", "log"])
def test_warnings_are_shown_everywhere(stream: io.StringIO, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", str(world / "params"), "--from", str(world / "params")]) == 0
    text = shown(stream, world, monkeypatch)
    assert f"PARAMS-063  Warning: {world / 'params'}: " in text
    assert text.count("PARAMS-063") == 1


def test_nothing_is_shown_unless_asked_for(world: Path) -> None:
    params, data, out = (str(world / name) for name in ("params", "data", "out"))
    code = f"import safetab; safetab.tabulate({params!r}, {data!r}, {out!r})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""


def test_the_logger_receives_progress(world: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        release = tabulate(world, progress=False)
    # filelock tells its own logger, at DEBUG, which file it locks.
    told = [record for record in caplog.records if (record.name, record.levelname) != ("filelock", "DEBUG")]
    assert {record.name for record in told} == {"safetab"}
    assert {record.levelname for record in told} == {"INFO"}
    messages = [record.getMessage() for record in told]
    assert messages[0] == "every record was read and judged"
    assert any(text.startswith("tabulating totals of (USA, 2): ") for text in messages)
    assert messages[-1] == f"published {release!r}"


def test_the_logger_receives_columns_in_memory_that_nothing_reads(
    world: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head, *lines = (world / "data" / "person-records.txt").read_text(encoding="utf-8").splitlines()
    columns = zip(*(line.split("|") for line in lines), strict=True)
    records = pa.table({name: list(values) for name, values in zip(head.split("|"), columns, strict=True)})
    data = {
        "records": records.append_column("SHOES", records.column(0)),
        "geography": world / "data" / "GRF-C.txt",
    }
    with caplog.at_level(logging.WARNING):
        safetab.tabulate(world / "params", data, world / "out")
    (told,) = caplog.messages
    assert told.startswith('FILE-019  data["records"] (SHOES): ')


def test_the_logger_receives_a_failure_and_no_value(world: Path, caplog: pytest.LogCaptureFixture) -> None:
    records = world / "data" / "person-records.txt"
    records.write_text(records.read_text().replace("|30|", "|987654|"))
    with caplog.at_level(logging.DEBUG), pytest.raises(safetab.InputError):
        tabulate(world, progress=False)
    assert caplog.messages[-1] == "the tabulation failed: InputError RECORDS-002"
    assert "987654" not in caplog.text


def test_the_logger_does_not_receive_the_text_of_an_unforeseen_error(
    world: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Meddler(Unwatched):
        def note(self, text: str) -> None:
            raise RuntimeError(f"a record: {text}")

    with caplog.at_level(logging.DEBUG), pytest.raises(RuntimeError):
        safetab.tabulate(world / "params", world / "data", world / "out", watcher=Meddler())
    assert caplog.messages[-1] == "the tabulation failed: RuntimeError"
    assert "a record" not in caplog.text
