"""On a terminal a tabulation or a synthetic country shows a bar that is gone at the end."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from safetab import load
from tests.worlds.broken_records import as_text, sound_rows
from tests.worlds.tiny import files, write

ORAVEL = Path(__file__).resolve().parents[2] / "examples" / "oravel"
#: Tells a terminal to clear its line.
ERASE = "\x1b[2K"


def shown_on_a_terminal(folder: Path, *words: str) -> tuple[int, str]:
    """Run a command whose standard error is a terminal; its status and all that the terminal got."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-m", "safetab", *words]
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    return _ended(process, ours)


def _ended(process: subprocess.Popen[bytes], ours: int) -> tuple[int, str]:
    """The status of a process and all that its terminal got."""
    got = bytearray()
    try:
        while piece := os.read(ours, 4096):
            got += piece
    except OSError:
        # Linux says so when nobody writes to a terminal any more.
        pass
    os.close(ours)
    return process.wait(timeout=300), got.decode()


def test_a_tabulation_shows_a_bar(tmp_path: Path) -> None:
    write(tmp_path, files() | {"data/person-records.txt": as_text(sound_rows())})
    status, shown = shown_on_a_terminal(tmp_path, "tabulate", "params", "data", "out")
    assert status == 0
    assert "tabulating totals of (" in shown
    assert "of the work done" not in shown, "the lines of a log are for logs"
    assert shown.split(ERASE)[-1].strip("\r\n") == "", "the bar is gone at the end"


def test_a_log_says_nothing_that_depends_on_the_records(tmp_path: Path) -> None:
    """A terminal shows how far the reading is; a log of the same tabulation has the same lines for any records."""
    lines: list[list[str]] = []
    for rows in (sound_rows(), sound_rows()[:1]):
        folder = tmp_path / str(len(rows))
        write(folder, files() | {"data/person-records.txt": as_text(rows)})
        command = [sys.executable, "-m", "safetab", "tabulate", "params", "data", "out"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        lines.append([line.partition(" ")[2] for line in done.stderr.splitlines()])
    assert lines[0] == lines[1]
    assert re.fullmatch(r"tabulating the tables of all levels: \d+% of the work done", lines[0][-1])


def test_synth_shows_how_far_it_is(tmp_path: Path) -> None:
    status, shown = shown_on_a_terminal(tmp_path, "synth", "country", "--like", "tiny")
    assert status == 0
    assert shown.split(ERASE)[-1].strip("\r\n") == "", "the bar is gone at the end"


def test_init_asks_for_what_is_missing(tmp_path: Path) -> None:
    """Everything but the records is asked for; an answer alone on its line is given to each question."""
    answers = {
        "blocks and their regions": ORAVEL / "geography.csv",
        "table of groups": ORAVEL / "groups.csv",
        "each level of groups": "Level1:Level1Name,Level2:Level2Name",
        "with the block": "Meshblock",
        "with the age": "Age",
        "with the sex": "",
        "codes of a person": "Eth1,Eth2,Eth3",
        "geography levels": "NATION,REGION=RegionCode:Region name",
    }
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "safetab", "init", "params", "--records", str(ORAVEL / "people.csv")]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, "".join(f"{answer}\n" for answer in answers.values()).encode())
    status, shown = _ended(process, ours)
    assert status == 0, shown
    for words in answers:
        assert words in shown
    assert "values of the sex column" not in shown, "there is no sex"
    assert load(tmp_path / "params").release.detail == "age"
