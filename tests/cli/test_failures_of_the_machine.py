"""Full disks, other filesystems, little memory, wrong clocks, two runs at once: whole output or none, all counted.

After each run: OUT is complete or absent, nothing else is left beside it, and a registry that exists counts every run
that may have drawn noise. A small filesystem is mounted where the user may; elsewhere those tests are skipped.
"""

from __future__ import annotations

import datetime as calendar
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from safetab.cli.main import main
from tests.worlds import by_hand
from tests.worlds.processes import start, wait_for

COMPLETE = {"data-dictionary.json", "ledger.json", "ledger.sha256", "parquet", "t1", "t2"}


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[Path]:
    """A filesystem of its own at a folder, unmounted at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    if not shutil.which("mount") or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a filesystem")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def entries(registry: Path) -> int:
    """How many releases a registry counts."""
    return max(0, len(registry.read_text().splitlines()) - 1) if registry.exists() else 0


def tabulate(world: Path, out: Path, *more: str) -> int:
    words = ["tabulate", str(world / "params"), str(world / "data"), str(out)]
    return main([*words, "--registry", str(world / "registry"), *more])


@pytest.mark.parametrize("size", ["4k", "16k", "40k", "64k", "96k", "300k", "600k", "20m"])
def test_a_disk_that_fills_up(size: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_hand.write(tmp_path / "world")
    with small_disk(tmp_path / "disk", f"size={size}") as disk:
        status = tabulate(tmp_path / "world", disk / "out")
        told = " ".join(capsys.readouterr().err.split())
        if status == 0:
            assert {path.name for path in (disk / "out").iterdir()} == COMPLETE
            assert entries(tmp_path / "world" / "registry") == 1
        else:
            assert status == 3
            assert "MACHINE-006" in told
            is_counted = entries(tmp_path / "world" / "registry") == 1
            assert ("the registry counts the budget" in told) == is_counted
            assert ("no budget was spent" in told) == (not is_counted)
            assert "Traceback" not in told
            assert list(disk.iterdir()) == []
        assert {path.name for path in disk.iterdir()} <= {"out"}
    assert status == 0 or size != "20m"
    assert status == 3 or size != "4k"


def test_a_registry_on_a_full_disk_lets_no_noise_out(tmp_path: Path) -> None:
    by_hand.write(tmp_path / "world")
    with small_disk(tmp_path / "disk", "size=8k") as disk:
        (disk / "filler").write_bytes(b"x" * 8192)
        words = ["tabulate", str(tmp_path / "world" / "params"), str(tmp_path / "world" / "data")]
        assert main([*words, str(tmp_path / "out"), "--registry", str(disk / "registry")]) == 3
        assert not (tmp_path / "out").exists()
        # With room again the registry works and counts from the beginning.
        (disk / "filler").unlink()
        assert main([*words, str(tmp_path / "out"), "--registry", str(disk / "registry")]) == 0
        assert entries(disk / "registry") == 1


def test_output_on_another_filesystem_than_the_data(tmp_path: Path) -> None:
    by_hand.write(tmp_path / "world")
    with small_disk(tmp_path / "disk", "size=50m") as disk:
        assert tabulate(tmp_path / "world", disk / "out") == 0
        assert {path.name for path in disk.iterdir()} == {"out"}
        assert {path.name for path in (disk / "out").iterdir()} == COMPLETE


def test_a_parent_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_hand.write(tmp_path / "world")
    with small_disk(tmp_path / "disk", "ro,size=1m") as disk:
        assert tabulate(tmp_path / "world", disk / "out") == 2
    assert "OUTPUT-002" in capsys.readouterr().err
    assert not (tmp_path / "world" / "registry").exists()


def test_an_engine_without_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand.write(tmp_path)
    records = tmp_path / "data" / "person-records.txt"
    header, *lines = records.read_text().splitlines()
    records.write_text("\n".join([header, *(line for line in lines for _ in range(20_000))]) + "\n")
    connect = duckdb.connect

    def cramped(path: str, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        return connect(path, config=config | {"memory_limit": "3MB", "max_temp_directory_size": "1MB"})

    monkeypatch.setattr("safetab.engines.duckdb.engine.duckdb.connect", cramped)
    assert tabulate(tmp_path, tmp_path / "out") == 3
    assert "MACHINE-006" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "params"]


def clock(year: int) -> type:
    class Wrong(calendar.datetime):
        @classmethod
        def now(cls, tz: calendar.tzinfo | None = None) -> Wrong:
            return cls(year, 1, 1, tzinfo=tz)

    return Wrong


def test_a_clock_that_jumps_back_and_forth_changes_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_hand.write(tmp_path)
    for number, year in enumerate((2031, 1971, 9998, 2031), start=1):
        for module in ("registry", "ledger"):
            monkeypatch.setattr(f"safetab.pipeline.{module}.datetime", clock(year))
        if number > 1:
            assert tabulate(tmp_path, tmp_path / "refused") == 1
        assert tabulate(tmp_path, tmp_path / f"out{number}", "--spend-again") == 0
        assert entries(tmp_path / "registry") == number
    years = [json.loads(line)["at"][:4] for line in (tmp_path / "registry").read_text().splitlines()[1:]]
    assert years == ["2031", "1971", "9998", "2031"]


def test_two_runs_to_one_output(tmp_path: Path) -> None:
    """The second is refused before it reads a record; the first publishes."""
    by_hand.write(tmp_path)
    first = start(tmp_path, pause_in="safetab.pipeline.run.tabulate_totals")
    wait_for(tmp_path / "paused", first)
    words = [sys.executable, "-m", "safetab", "tabulate", "params", "data", "out"]
    second = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert second.returncode == 2
    assert "OUTPUT-007" in second.stderr
    (tmp_path / "resume").touch()
    assert first.wait(timeout=300) == 0
    (tmp_path / "paused").unlink()
    (tmp_path / "resume").unlink()
    assert {path.name for path in (tmp_path / "out").iterdir()} == COMPLETE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out", "params", "registry", "registry.lock"]
    assert entries(tmp_path / "registry") == 1


@pytest.mark.parametrize("left", [1, 20, 60])
def test_a_torn_registry_stops_the_next_run(left: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its last line was cut off after so many bytes, as a crash while writing could leave it."""
    by_hand.write(tmp_path)
    assert tabulate(tmp_path, tmp_path / "out") == 0
    lines = (tmp_path / "registry").read_bytes().splitlines(keepends=True)
    (tmp_path / "registry").write_bytes(b"".join(lines[:-1]) + lines[-1][:left])
    assert tabulate(tmp_path, tmp_path / "again", "--spend-again") == 1
    assert "REGISTRY-002" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()
