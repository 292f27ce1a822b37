"""While records are held no image of the memory is written and signals are interrupts; afterwards all is as before."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import safetab
from safetab.engines.protocol import Engine, Records
from safetab.errors import Finding
from safetab.pipeline import process
from safetab.pipeline.inputs import Inputs, open_records
from safetab.pipeline.process import (
    heed_interrupt,
    interruptible,
    no_memory_image,
    seldom_looking_for_garbage,
    uninterrupted,
)
from safetab.pipeline.workspace import private_folder
from tests.worlds import by_hand

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IS_LINUX = sys.platform.startswith("linux")


def memory_image() -> tuple[int, int]:
    """The largest size of a core file, and whether this process is dumpable."""
    dumpable: int = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) if IS_LINUX else 0
    return resource.getrlimit(resource.RLIMIT_CORE)[0], dumpable


class Observer:
    """Looks at the process in the middle of a tabulation."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()

    def note(self, text: str) -> None:  # noqa: ARG002
        self.seen.add(memory_image())

    def warn(self, findings: Sequence[Finding]) -> None:
        pass

    def advance(self, done: int, planned: int, what: str) -> None:  # noqa: ARG002
        self.seen.add(memory_image())

    def read(self, share: float) -> None:  # noqa: ARG002
        self.seen.add(memory_image())


@pytest.fixture(autouse=True)
def _usual_handler_of_interrupts() -> Iterator[None]:
    """A Spark session that other tests of this process share has a handler of its own, and that is respected.

    So is a hang-up that is ignored, as it is in a test run under nohup.
    """
    usual: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def core_files_allowed() -> Iterator[int]:
    soft, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    yield most
    resource.setrlimit(resource.RLIMIT_CORE, (soft, most))


def test_a_tabulation_from_python_writes_no_image_of_the_memory(tmp_path: Path, core_files_allowed: int) -> None:
    by_hand.write(tmp_path, by_hand.SHORT)
    before, observer = memory_image(), Observer()
    assert before == (core_files_allowed, 1 if IS_LINUX else 0)
    safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out", watcher=observer)
    assert observer.seen == {(0, 0)}
    assert memory_image() == before


def test_nor_does_a_check(tmp_path: Path, core_files_allowed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    by_hand.write(tmp_path, by_hand.SHORT)
    seen: list[tuple[int, int]] = []

    def observed(engine: Engine, inputs: Inputs, *, show_values: bool) -> dict[str, Records]:
        seen.append(memory_image())
        return open_records(engine, inputs, show_values=show_values)

    monkeypatch.setattr("safetab.pipeline.check.open_records", observed)
    safetab.check_inputs(tmp_path / "params", tmp_path / "data")
    assert seen == [(0, 0)]
    assert memory_image() == (core_files_allowed, 1 if IS_LINUX else 0)


def test_two_at_once_are_both_protected_to_their_ends(core_files_allowed: int) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with no_memory_image():
            entered.set()
            leave.wait(30)

    other = threading.Thread(target=hold)
    with no_memory_image():
        other.start()
        assert entered.wait(30)
    assert memory_image() == (0, 0)
    leave.set()
    other.join()
    assert memory_image() == (core_files_allowed, 1 if IS_LINUX else 0)


@pytest.mark.skipif(not IS_LINUX, reason="prctl is of Linux")
def test_a_user_without_rights_can_tabulate() -> None:
    """The files of a process that is not dumpable belong to root: nothing that we use may need them."""
    if os.getuid() != 0:
        pytest.skip("this user may not become another; and is one without rights in every other test")
    script = (
        "import os, safetab\n"
        "safetab.tabulate('params', 'data', 'first')\n"  # which imports what only root may read here
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "safetab.tabulate('params', 'data', 'second')\n"
    )
    # Not in `tmp_path`, which is root's alone.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        by_hand.write(folder, by_hand.SHORT)
        folder.chmod(0o777)
        done = subprocess.run([sys.executable, "-c", script], cwd=name, capture_output=True, check=False, text=True)
        assert done.returncode == 0, done.stderr
        assert (folder / "second" / "ledger.json").stat().st_uid == 65534


def interrupt_and_say(kind: signal.Signals, said: Exception | None) -> None:
    """An engine that is interrupted, and says something else, or nothing."""
    with interruptible():
        try:
            os.kill(os.getpid(), kind)
            signal.pause()
        except KeyboardInterrupt:
            if said is not None:
                raise said from None
        heed_interrupt()
        pytest.fail("not heeded")


@pytest.mark.parametrize("said", [RuntimeError("an engine's own words"), None], ids=["an error", "nothing"])
@pytest.mark.parametrize("kind", SIGNALS, ids=lambda kind: kind.name)
def test_a_signal_is_an_interrupt_whatever_is_made_of_it(kind: signal.Signals, said: Exception | None) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(KeyboardInterrupt):
        interrupt_and_say(kind, said)
    assert [signal.getsignal(number) for number in SIGNALS] == before
    heed_interrupt()


def finish(kind: signal.Signals, done: list[str]) -> None:
    with interruptible():
        with uninterrupted():
            os.kill(os.getpid(), kind)
            done.append("the step")
        done.append("more")


@pytest.mark.parametrize("kind", SIGNALS, ids=lambda kind: kind.name)
def test_a_step_that_must_be_finished_is_finished(kind: signal.Signals) -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        finish(kind, done)
    assert done == ["the step"]


def keep_records(parent: Path, *, is_interrupted: bool) -> None:
    with interruptible(), private_folder(parent, ".own-") as folder:
        (folder / "records").write_text("secret")
        if is_interrupted:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("when", ["made", "held", "removed"])
def test_a_private_folder_is_gone_whenever_the_signal_comes(
    tmp_path: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also as it is made, and also as its removal is about to begin."""
    real = process.uninterrupted
    calls: list[None] = []

    def interrupted() -> object:
        calls.append(None)
        if len(calls) == {"made": 1, "held": 0, "removed": 2}[when]:
            os.kill(os.getpid(), signal.SIGTERM)
        return real()

    monkeypatch.setattr("safetab.pipeline.workspace.uninterrupted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        keep_records(tmp_path, is_interrupted=when == "held")
    assert list(tmp_path.iterdir()) == []


def test_a_callers_own_handler_is_left_alone() -> None:
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def test_in_another_thread_no_handler_is_set() -> None:
    seen = []

    def work() -> None:
        with interruptible(), uninterrupted():
            seen.append([signal.getsignal(number) for number in SIGNALS])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [[signal.getsignal(number) for number in SIGNALS]]


@pytest.mark.parametrize(("before", "meanwhile"), [(700, 100_000), (0, 0), (2_000_000, 2_000_000)])
def test_python_looks_for_garbage_less_often_and_then_as_before(before: int, meanwhile: int) -> None:
    usual = gc.get_threshold()
    try:
        gc.set_threshold(before, *usual[1:])
        with seldom_looking_for_garbage():
            assert gc.get_threshold() == (meanwhile, *usual[1:])
        assert gc.get_threshold() == (before, *usual[1:])
    finally:
        gc.set_threshold(*usual)


def test_a_tabulation_leaves_the_search_for_garbage_as_it_was(tmp_path: Path) -> None:
    usual = gc.get_threshold()
    by_hand.write(tmp_path)
    safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert gc.get_threshold() == usual
