"""Threads that work on pieces side by side.

In: a function and what it is to be applied to. Out: its answers, in the order of the questions. Promise: as many calls
are under way as there are threads and no more, so that memory stays bounded; when the work ends, by an error or an
interrupt too, no call of it is under way, and no thread is left but those that a caller keeps. Sorting, taking and
adding up of arrays leave Python's lock to others, so threads are enough.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

#: Each has the arrays of a piece in memory. With more of them, reading is what takes the time.
_MOST_THREADS = 8
#: The threads that are kept. A thread has a context of its own, so work inside of work does not wait for these.
_KEPT: ContextVar[ThreadPoolExecutor | None] = ContextVar("threads that are kept", default=None)


@contextmanager
def keeping_threads() -> Iterator[None]:
    """While the block lasts, the same threads do all work.

    The system gives memory that a thread gave back to that thread again; a new thread has to ask for other memory,
    page by page.
    """
    with _new_threads() as threads:
        token = _KEPT.set(threads)
        try:
            yield
        finally:
            _KEPT.reset(token)


def side_by_side(function: Callable[[Question], Answer], questions: Iterable[Question]) -> Iterator[Answer]:
    """The answers to all questions in their order; a question is asked for when a thread is free."""
    kept, most = _KEPT.get(), _threads()
    under_way: deque[Future[Answer]] = deque()
    pool = kept or _new_threads()
    try:
        for question in questions:
            under_way.append(pool.submit(function, question))
            if len(under_way) >= most:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()
        wait(under_way)
        if kept is None:
            pool.shutdown()


def _new_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads(), thread_name_prefix="counting")


def _threads() -> int:
    return min(_MOST_THREADS, usable_cores())


def usable_cores() -> int:
    """How many cores this process may use; a container or a batch system may allow fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
