"""Threads that work on pieces side by side.

In: a function and what it is to be applied to. Out: its answers, in the order of the questions. Promise: as many calls
are under way as there are threads and no more, so that memory stays bounded; when the work ends, by an error or an
interrupt too, no call of it is under way, and no thread is left but those that a caller keeps. Sorting, taking and
adding up of arrays leave Python's lock to others, so threads are enough.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

#: Each has the arrays of a piece in memory. With more of them, reading is what takes the time.
_MOST_THREADS = 8


class _Kept(threading.local):
    """The threads that are kept. No other thread knows them, so work inside of work does not wait for these."""

    threads: ThreadPoolExecutor | None = None


_kept = _Kept()


@contextmanager
def keeping_threads() -> Iterator[None]:
    """While the block lasts, the same threads do all work.

    The system gives memory that a thread gave back to that thread again; a new thread has to ask for other memory,
    page by page.
    """
    before = _kept.threads
    with _new_threads() as threads:
        _kept.threads = threads
        try:
            yield
        finally:
            _kept.threads = before


def side_by_side(function: Callable[[Question], Answer], questions: Iterable[Question]) -> Iterator[Answer]:
    """The answers to all questions in their order; a question is asked for when a thread is free."""
    kept, most = _kept.threads, _threads()
    under_way: deque[Future[Answer]] = deque()
    pool = kept or _new_threads()
    try:
        for question in questions:
            # Known here before a thread has it, because an interrupt may come at every step.
            under_way.append(Future())
            pool.submit(_answer, under_way[-1], function, question)
            if len(under_way) >= most:
                yield _oldest(under_way)
        while under_way:
            yield _oldest(under_way)
    finally:
        _end([future for future in under_way if not future.cancel()])
        if kept is None:
            pool.shutdown()


def _answer(future: Future[Answer], function: Callable[[Question], Answer], question: Question) -> None:
    """Call the function, unless nobody wants to know any more."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        answer = function(question)
    except BaseException as error:
        future.set_exception(error)
        # An error remembers its frames, and would keep itself in memory.
        del future, question
    else:
        future.set_result(answer)


def _oldest(under_way: deque[Future[Answer]]) -> Answer:
    """The answer of the first call, which is under way until it is there."""
    answer = under_way[0].result()
    under_way.popleft()
    return answer


def _end(begun: list[Future[Answer]]) -> None:
    """Wait for calls that have begun, however often there is an interrupt: they may write what must not stay behind."""
    interrupt: KeyboardInterrupt | None = None
    while not all(future.done() for future in begun):
        try:
            wait(begun)
        except KeyboardInterrupt as again:
            interrupt = again
    if interrupt is not None:
        raise interrupt


def _new_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads(), thread_name_prefix="counting")


def _threads() -> int:
    return min(_MOST_THREADS, usable_cores())


def usable_cores() -> int:
    """How many cores this process may use; a container or a batch system may allow fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
