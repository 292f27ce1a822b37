"""A tabulation that is ended early leaves no output, no temporary folder, and a registry that counts enough."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from safetab.cli.main import main
from tests import profile
from tests.worlds import by_hand
from tests.worlds.processes import start, unmeasured, wait_for

#: In the long profile: when a signal is sent, from the start of the program to after its end.
MOMENTS = 40
#: A defect that let an engine's own errors through showed itself in five of eleven interrupts.
INTERRUPTS = profile.size(quick=3, long=60)
STEPS = (
    "safetab.pipeline.inputs.read_geographies",
    "safetab.pipeline.tabulate.open_records",
    "safetab.pipeline.tabulate.enter_spending",
    "safetab.pipeline.run.tabulate_totals",
    "safetab.pipeline.tabulate.write_rows",
    "safetab.pipeline.tabulate.ledger",
    "safetab.pipeline.workspace.put_in_place",
)


#: Three signals have one handler: the quick profile sends another one of them at each step, the long one all. Nothing
#: of ours handles a kill: the quick profile kills at every other step.
HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MOST = profile.size(quick=1, long=len(HANDLED))
ENDED = [
    pytest.param(step, kind, id=f"{step.rsplit('.', 1)[1]}-{kind.name}")
    for number, step in enumerate(STEPS)
    for kind in [*(HANDLED[number % 3 :] + HANDLED)[:MOST], *([signal.SIGKILL] if MOST > 1 or number % 2 else [])]
]


@profile.tries("signals at step boundaries")
@pytest.mark.parametrize(("step", "kind"), ENDED)
def test_ended_at_a_step(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, step: str, kind: signal.Signals
) -> None:
    by_hand.write(tmp_path)
    said = tmp_path_factory.mktemp("said") / "said"
    process = start(tmp_path, pause_in=step, said=said)
    wait_for(tmp_path / "paused", process)
    process.send_signal(kind)
    status = process.wait(timeout=300)
    (tmp_path / "paused").unlink()
    assert not (tmp_path / "out").exists()
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".out")]
    if kind is not signal.SIGKILL:
        assert status == 130
        assert not left
    entered = (tmp_path / "registry").exists()
    if kind is not signal.SIGKILL:
        told = " ".join(said.read_text().split())
        assert ("the registry counts the budget of this release as spent" in told) == entered
        assert ("no budget was spent" in told) == (not entered)
        assert ("--spend-again" in told) == entered
    assert entered == (STEPS.index(step) > STEPS.index("safetab.pipeline.tabulate.enter_spending"))
    # The next run works, and cleans up after a run that was killed.
    folders = [str(tmp_path / name) for name in ("params", "data", "out")]
    again = ["tabulate", *folders, "--registry", str(tmp_path / "registry")]
    assert main([*again, "--spend-again"] if entered else again) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out", "params", "registry", "registry.lock"]
    lines = (tmp_path / "registry").read_text().splitlines()
    assert len(lines) == 1 + entered + 1


@pytest.mark.long
@profile.tries("signals at moments in between", MOMENTS)
def test_killed_at_any_time(tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    for number in range(MOMENTS):
        process = start(tmp_path)
        time.sleep(0.05 + number * 0.05)
        kind = signal.SIGKILL if number % 2 else signal.SIGTERM
        os.kill(process.pid, kind)
        status = process.wait(timeout=300)
        if (tmp_path / "out").exists():
            assert {path.name for path in (tmp_path / "out").iterdir()} == {
                "data-dictionary.json",
                "ledger.json",
                "ledger.sha256",
                "parquet",
                "t1",
                "t2",
            }
            assert (tmp_path / "registry").exists(), "published and not counted"
            subprocess.run(["rm", "-r", str(tmp_path / "out")], check=True)
        else:
            assert status != 0
        (tmp_path / "registry").unlink(missing_ok=True)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda kind: kind.name)
def test_a_check_that_is_ended_leaves_no_records_behind(tmp_path: Path, kind: signal.Signals) -> None:
    by_hand.write(tmp_path)
    process = start(tmp_path, pause_in="safetab.pipeline.check.open_records", words=("check", "params", "data"))
    wait_for(tmp_path / "paused", process)
    assert list(tmp_path.glob("safetab-check-*"))
    process.send_signal(kind)
    assert process.wait(timeout=300) == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "params", "paused"]


@pytest.fixture(scope="module")
def many_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough people that most of the time goes to queries."""
    world, copies = tmp_path_factory.mktemp("many"), 150_000
    by_hand.write(world)
    records = world / "data" / "person-records.txt"
    header, *lines = records.read_text().splitlines()
    with records.open("w") as file:
        file.write(header + "\n")
        file.writelines("\n".join(lines) + "\n" for _ in range(copies))
    return world


#: A caller from Python. It says how it ended, and whether its handlers of signals are as they were.
CALLER = """
import signal, sys, safetab
tabulate = safetab.tabulate  # Modules are imported here: an interrupt of that is Python's own affair.
before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
print("ready", flush=True)
try:
    tabulate("params", "data", "out")
    ended = "done"
except KeyboardInterrupt:
    ended = "KeyboardInterrupt"
except BaseException as error:
    ended = repr(error)
after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
print(ended if before == after else "other handlers")
"""


@profile.tries("interrupts at random moments", INTERRUPTS)
@pytest.mark.parametrize("caller", ["command", "Python"])
def test_an_interrupt_in_a_query_is_an_interrupt(caller: str, many_records: Path) -> None:
    """DuckDB has errors of its own for it, which are not those of a defect."""
    moments = random.Random(6)
    words = [sys.executable, "-c", CALLER]
    if caller == "command":
        run = "from safetab.cli.main import main; import safetab.cli.tabulate; print('ready', flush=True); "
        words = [sys.executable, "-c", run + "import sys; sys.exit(main(['tabulate', 'params', 'data', 'out']))"]
    interrupted = 0
    for _ in range(INTERRUPTS):
        process = subprocess.Popen(
            words,
            cwd=many_records,
            env=unmeasured(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moments.uniform(0.2, 1.2))
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=300)
        if (many_records / "out").exists():
            shutil.rmtree(many_records / "out")
            continue
        interrupted += 1
        assert [path.name for path in many_records.iterdir() if path.name not in {"params", "data"}] == []
        assert (process.returncode, said) == ((130, "") if caller == "command" else (0, "KeyboardInterrupt\n"))
        assert ("MACHINE-004" in complaints) == (caller == "command")
    assert interrupted


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    """As under `nohup`: the tabulation outlives its terminal."""
    by_hand.write(tmp_path)
    script = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "import safetab.pipeline.tabulate as owner; from safetab.cli.main import main\n"
        "original = owner.ledger\n"
        "def ledger(*words, **options):\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    return original(*words, **options)\n"
        "owner.ledger = ledger\n"
        "sys.exit(main(['tabulate', 'params', 'data', 'out']))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "ledger.json").exists()


@pytest.mark.parametrize("is_caught", [True, False])
def test_an_interrupt_in_code_run_from_text_is_the_callers_to_catch(is_caught: bool, tmp_path: Path) -> None:
    """As dataclasses and named tuples do while a module is imported."""
    by_hand.write(tmp_path)
    script = (
        "import safetab.pipeline.tabulate as owner\n"
        "owner.ledger = lambda *words, **options: exec('raise KeyboardInterrupt')\n"
        "try:\n"
        "    owner.tabulate('params', 'data', 'out')\n"
        f"except {'KeyboardInterrupt' if is_caught else 'ValueError'}:\n"
        "    print('caught')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == ((0, b"caught\n") if is_caught else (-signal.SIGINT, b""))


def test_an_interrupt_in_code_that_an_engine_runs_ends_python_m_with_its_status(tmp_path: Path) -> None:
    """Python would end itself by a signal, because it takes such an interrupt for one that nobody caught."""
    (tmp_path / "interrupted.py").write_text(
        "import ctypes, sys\n"
        "import safetab.cli.main as owner\n"
        "run = ctypes.pythonapi.PyRun_String\n"
        "run.restype = ctypes.py_object\n"
        "run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.py_object, ctypes.py_object]\n"
        "owner.cli.main = lambda **_: run(b'raise KeyboardInterrupt', 257, {}, {})\n"
        "sys.exit(owner.main([]))\n"
    )
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 130
    assert b"MACHINE-004" in done.stderr
