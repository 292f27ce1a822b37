"""Threads that work on pieces side by side.

In: a function and what it is to be applied to. Out: its answers, in the order of the questions. Promise: as many calls
are under way as there are threads and no more, so that memory stays bounded; when the work ends, by an error or an
interrupt too, no call of it is under way. Sorting, taking and adding up of arrays leave Python's lock to others, so
threads are enough.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

#: Each has the arrays of a piece in memory. With more of them, reading is what takes the time.
_MOST_THREADS = 8


def side_by_side(function: Callable[[Question], Answer], questions: Iterable[Question]) -> Iterator[Answer]:
    """The answers to all questions in their order; a question is asked for when a thread is free."""
    threads = min(_MOST_THREADS, usable_cores())
    under_way: deque[Future[Answer]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="counting")
    try:
        for question in questions:
            under_way.append(pool.submit(function, question))
            if len(under_way) >= threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def usable_cores() -> int:
    """How many cores this process may use; a container or a batch system may allow fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
