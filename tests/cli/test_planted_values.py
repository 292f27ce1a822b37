"""Values that can be recognised are planted in the records; afterwards they are searched for everywhere else.

Everywhere: standard output and error, the output folder, the registry, the folder beside it, the home and the temporary
folder. While a run lasts they may be in its own folder, which nobody else can enter. Afterwards they are nowhere.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_broken_records import HEADER, SOUND, as_text, sound_rows
from tests.cli.test_interrupts import start, wait_for
from tests.worlds import GEOGRAPHY, tiny_world, write

#: None of these is in a parameter file. The block is in the geography file, which is public, and in no region id.
PLANTED = {
    "age": "31337",
    "sex": "PLANTEDSEX",
    "block": "7391",
    "code": "PLANTEDCODE",
    "ethnicity": "PLANTEDSPAN",
    "unread": "PLANTEDNAME",
    "field": "PLANTEDFIELD",
    "part": "PLANTEDPART",
}
Breaking = Callable[[bytes], bytes]


def world(folder: Path, breaking: Breaking) -> Path:
    rows = sound_rows()
    rows[3][HEADER.index("TABBLK")] = PLANTED["block"]
    text = (
        as_text(rows)
        .replace(b"\n", b"|" + PLANTED["unread"].encode() + b"\n")
        .replace(b"QSPAN|PLANTEDNAME", b"QSPAN|X")
    )
    geography = GEOGRAPHY + f"01|001|000100|{PLANTED['block']}|99999|9999|x\n"
    files = tiny_world() | {"data/GRF-C.txt": geography, "data/person-records.txt": breaking(text)}
    write(folder, files)
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    return folder


def swap(old: str, new: str) -> Breaking:
    return lambda text: text.replace(old.encode(), new.encode(), 1)


SOUND_LINE = "|".join(str(value) for value in SOUND)
BREAKINGS: dict[str, Breaking] = {
    "nothing": lambda text: text,
    "an age": swap("\n30|", f"\n{PLANTED['age']}|"),
    "a sex": swap("\n30|1|", f"\n30|{PLANTED['sex']}|"),
    "a code": swap("|1010|", f"|{PLANTED['code']}|"),
    "an ethnicity": swap("|9950|", f"|{PLANTED['ethnicity']}|"),
    "a block": swap("|000100|1000|", f"|000100|{PLANTED['part']}|"),
    "a field too many": swap("|9950|", f"|9950|{PLANTED['field']}|"),
    "no header": lambda text: text.split(b"\n", 1)[1],
    "not text": lambda text: text.replace(b"|9950|", b"|9950\xff|", 1),
    "a header with a value in it": swap("QSPAN|X", "QSPAN|X\r" + SOUND_LINE + "|PLANTEDNAME"),
}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}
    return subprocess.run(
        [sys.executable, "-m", "safetab", *words], cwd=folder, env=environment, capture_output=True, check=False
    )


def places(folder: Path) -> set[Path]:
    """The files outside the inputs that hold a planted value, in their content or their name."""
    found: set[Path] = set()
    for path in folder.rglob("*"):
        if not path.is_relative_to(folder / "data") and path.is_file():
            content = path.read_bytes() + str(path.relative_to(folder)).encode()
            if any(value.encode() in content for value in PLANTED.values()):
                found.add(path)
    return found


@pytest.mark.parametrize("name", BREAKINGS)
def test_no_planted_value_comes_out(name: str, tmp_path: Path) -> None:
    folder = world(tmp_path, BREAKINGS[name])
    commands = (["check", "params", "data"], ["check", "params", "data", "--json"])
    done = [run(folder, *words) for words in commands]
    done.append(run(folder, "tabulate", "params", "data", "out", "--registry", "registry", "--json"))
    statuses = {result.returncode for result in done}
    assert statuses == ({0} if name == "nothing" else {1})
    for result in done:
        said = result.stdout + result.stderr
        assert said
        assert not [value for value in PLANTED.values() if value.encode() in said], said.decode()
    assert places(folder) == set()
    assert list((folder / "tmp").iterdir()) == []


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    folder = world(tmp_path, BREAKINGS["an age"])
    said = run(folder, "check", "params", "data", "--show-values")
    assert PLANTED["age"].encode() in said.stderr
    (folder / "tmp" / "left").write_text(f"... {PLANTED['sex']} ...")
    assert places(folder) == {folder / "tmp" / "left"}


def test_what_a_killed_run_leaves_is_locked_away_and_then_removed(tmp_path: Path) -> None:
    folder = world(tmp_path, BREAKINGS["nothing"])
    process = start(folder, pause_in="safetab.pipeline.run.tabulate_level")
    wait_for(folder / "paused", process)
    (own,) = folder.glob(".out.safetab-*")
    assert own.stat().st_mode & 0o777 == 0o700
    assert all(path.is_relative_to(own) for path in places(folder))
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    assert own.exists()
    (folder / "paused").unlink()
    assert run(folder, "tabulate", "params", "data", "out").returncode == 0
    assert not own.exists()
    assert places(folder) == set()
