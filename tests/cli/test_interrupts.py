"""A tabulation that is ended early leaves no output, no temporary folder, and a registry that counts enough."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.golden.test_by_hand import write_world


def start(world: Path, *, pause_in: str = "") -> subprocess.Popen[bytes]:
    """Start a tabulation in its own process; where `pause_in` is first about to be called it waits for `resume`."""
    script = "import os, sys, time; from safetab.cli.main import main\n"
    if pause_in:
        module, name = pause_in.rsplit(".", 1)
        script += f"import {module} as owner\n"
        script += (
            f"original = owner.{name}\n"
            "def slow(*words, **options):\n"
            f"    owner.{name} = original\n"
            "    open('paused', 'w').close()\n"
            "    for _ in range(600):\n"
            "        os.path.exists('resume') or time.sleep(0.1)\n"
            "    return original(*words, **options)\n"
            f"owner.{name} = slow\n"
        )
    script += "sys.exit(main(['tabulate', 'params', 'data', 'out', '--registry', 'registry']))"
    return subprocess.Popen(
        [sys.executable, "-c", script], cwd=world, stderr=subprocess.DEVNULL, preexec_fn=_heed_interrupts
    )


def _heed_interrupts() -> None:
    # A test run in the background of a shell has interrupts switched off, and its children would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, "ended before it paused"
        assert time.monotonic() < deadline
        time.sleep(0.02)


STEPS = (
    "safetab.pipeline.run.read_geographies",
    "safetab.pipeline.run.open_runs",
    "safetab.pipeline.run._enter",
    "safetab.pipeline.run.tabulate_level",
    "safetab.pipeline.run.write_rows",
    "safetab.pipeline.run.ledger",
    "safetab.pipeline.workspace._make_durable",
)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda kind: kind.name)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.rsplit(".", 1)[1])
def test_ended_at_a_step(tmp_path: Path, step: str, kind: signal.Signals) -> None:
    write_world(tmp_path)
    process = start(tmp_path, pause_in=step)
    wait_for(tmp_path / "paused", process)
    process.send_signal(kind)
    status = process.wait(timeout=30)
    (tmp_path / "paused").unlink()
    assert not (tmp_path / "out").exists()
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".out")]
    if kind is not signal.SIGKILL:
        assert status == 130
        assert not left
    entered = (tmp_path / "registry").exists()
    assert entered == (STEPS.index(step) > STEPS.index("safetab.pipeline.run._enter"))
    # The next run works, and cleans up after a run that was killed.
    again = ["tabulate", "params", "data", "out", "--registry", "registry"] + (["--spend-again"] if entered else [])
    done = subprocess.run([sys.executable, "-m", "safetab", *again], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out", "params", "registry"]
    lines = (tmp_path / "registry").read_text().splitlines()
    assert len(lines) == 1 + entered + 1


@pytest.mark.long
def test_killed_at_any_time(tmp_path: Path) -> None:
    write_world(tmp_path)
    for number in range(40):
        process = start(tmp_path)
        time.sleep(0.05 + number * 0.05)
        kind = signal.SIGKILL if number % 2 else signal.SIGTERM
        os.kill(process.pid, kind)
        status = process.wait(timeout=30)
        if (tmp_path / "out").exists():
            assert {path.name for path in (tmp_path / "out").iterdir()} == {
                "data-dictionary.json",
                "ledger.json",
                "t1",
                "t2",
            }
            assert (tmp_path / "registry").exists(), "published and not counted"
            subprocess.run(["rm", "-r", str(tmp_path / "out")], check=True)
        else:
            assert status != 0
        (tmp_path / "registry").unlink(missing_ok=True)
