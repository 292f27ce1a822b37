"""The process while it holds what must not stay behind: which signals end its work, and that no memory is written.

In: the work to be done, as a `with` block. Out: the same work, in a process that is as before when the block ends.
Promise: Ctrl-C, SIGTERM and SIGHUP all end the block with `KeyboardInterrupt`, whatever an engine makes of them, so
that everything temporary is removed; and the system writes no image of the memory, which holds records, to the disk.

Handlers are set in the main thread only, as Python wants it, and only in place of the default ones: a caller that
handles a signal, or ignores it as `nohup` does, goes on to do so. Signals and limits that a system does not have, as
Windows has no SIGHUP and no core files, are left out.
"""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType

#: The signals that end the work, and what Python does with each unless somebody says otherwise.
_USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
if hasattr(signal, "SIGHUP"):
    _USUAL[signal.SIGHUP] = signal.SIG_DFL
#: Windows writes no core files, and has no such limits.
_HAS_LIMITS = find_spec("resource") is not None
#: The numbers of Linux for asking and saying whether the memory of a process may be written to the disk.
_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4


#: So many new objects before Python looks for garbage among all of them; see `seldom_looking_for_garbage`.
_NEW_OBJECTS = 100_000


class _Interrupts:
    """Hears signals; while a step must not be cut short, the interrupt waits until it is done."""

    def __init__(self) -> None:
        self.was_heard = False
        self.steps_to_finish = 0

    def hear(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.was_heard = True
        if not self.steps_to_finish:
            raise KeyboardInterrupt


_interrupts = _Interrupts()


@contextmanager
def holding_records() -> Iterator[None]:
    """For work that holds records: signals that end it are interrupts, and no image of the memory is written."""
    with interruptible(), no_memory_image():
        yield


@contextmanager
def seldom_looking_for_garbage() -> Iterator[None]:
    """Group definitions are tens of thousands of objects that all stay; looking through them often takes a tenth of
    the time of a small tabulation. A caller who looks even less often, or never, goes on to do so."""
    before = gc.get_threshold()
    if 0 < before[0] < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP raise `KeyboardInterrupt` in this block."""
    if not _is_main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _USUAL}
    replaced = [number for number, usual in _USUAL.items() if before[number] == usual]
    try:
        for number in replaced:
            signal.signal(number, _interrupts.hear)
        yield
        heed_interrupt()
    except KeyboardInterrupt:
        forget_interrupted_code()
        raise
    except Exception:
        # An engine that is interrupted in a query has its own words for that.
        heed_interrupt()
        raise
    finally:
        for number in replaced:
            signal.signal(number, before[number])
        if replaced:
            _interrupts.was_heard = False


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Finish a short step; an interrupt that comes meanwhile is raised at its end."""
    if not _is_main_thread():
        yield
        return
    _interrupts.steps_to_finish += 1
    try:
        yield
    finally:
        _interrupts.steps_to_finish -= 1
    heed_interrupt()


def heed_interrupt() -> None:
    """Raise an interrupt that came before and that nobody has heeded: code in between may have dropped it."""
    if _is_main_thread() and _interrupts.was_heard and not _interrupts.steps_to_finish:
        raise KeyboardInterrupt from None


def forget_interrupted_code() -> None:
    """Let a process whose caller catches the interrupt end with its own status.

    Python remembers an interrupt inside code that was run from text (by an engine, or while a module is imported), and
    would end the process by a signal as if nobody had caught it. Code that runs to its end makes Python forget. Where
    nobody does catch the interrupt, Python remembers that anew.
    """
    ctypes.pythonapi.PyRun_SimpleString(b"")


class _MemoryImage:
    """Whether the system may write an image of the memory, for all threads that have a say in it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._limit_before, self._dumpable_before = 0, 0

    def forbid(self) -> None:
        with self._lock:
            if not self._holders:
                self._limit_before = forbid_core_files()
                self._dumpable_before = _prctl(_PR_GET_DUMPABLE, 0)
                _prctl(_PR_SET_DUMPABLE, 0)
            self._holders += 1

    def allow_again(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                _limit_core_files(self._limit_before)
                if self._dumpable_before == 1:
                    _prctl(_PR_SET_DUMPABLE, 1)


_memory_image = _MemoryImage()


@contextmanager
def no_memory_image() -> Iterator[None]:
    """Nothing that crashes in this block leaves its memory on the disk, and no other process of the user reads it."""
    _memory_image.forbid()
    try:
        yield
    finally:
        _memory_image.allow_again()


def forbid_core_files() -> int:
    """Set the largest size of a core file to 0; returns what it was."""
    return _limit_core_files(0)


def _limit_core_files(size: int) -> int:
    """Set the largest size of a core file; returns what it was, and does nothing where there are none."""
    if not _HAS_LIMITS:
        return 0
    import resource

    before, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (size, most))
    return before


def peak_memory() -> int | None:
    """The most memory that this process has used, in bytes; None where the system does not say."""
    if not _HAS_LIMITS:
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _prctl(option: int, value: int) -> int:
    """Ask Linux about this process; -1 where there is no such question."""
    if not sys.platform.startswith("linux"):
        return -1
    # A program that systems pipe crashes to, as many do, is started whatever the size of core files is.
    try:
        answer: int = ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (OSError, AttributeError):
        return -1
    return answer


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
