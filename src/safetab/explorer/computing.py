"""Work beside the page: a thread computes, the page stays usable, and only the newest question is answered.

In: a function, whenever something changes. Out: its last result, as a value that outputs depend on, and whether another
is on its way. The promise: the page never waits; an older result never replaces a newer one; a thread that still
computes does not keep the program from ending.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from shiny import reactive, req

Result = TypeVar("Result")


class Latest(Generic[Result]):
    """The result of the newest question that was asked."""

    def __init__(self) -> None:
        self._result: reactive.Value[Result | None] = reactive.Value(None)
        self._is_busy: reactive.Value[bool] = reactive.Value(False)
        self._has_failed: reactive.Value[bool] = reactive.Value(False)
        self._asked = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def newest(self) -> Result:
        """The result, for an output: while it is computed, the output stays as it is and shows that it is computed."""
        found = self._result.get()
        req(not self._is_busy.get(), cancel_output="progress")
        if self._has_failed.get():
            raise RuntimeError("the figure could not be computed")
        if found is None:
            req(False, cancel_output="progress")
        return found  # type: ignore[return-value]

    def ask(self, work: Callable[[], Result]) -> None:
        """Compute this in place of what was asked before."""
        self._asked += 1
        self._is_busy.set(True)
        task = asyncio.create_task(self._answer(self._asked, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, number: int, work: Callable[[], Result]) -> None:
        # Several questions in one moment are one: the last.
        await asyncio.sleep(0)
        if number != self._asked:
            return
        found: Result | None = None
        try:
            found = await in_thread(work)
        except Exception:
            logging.getLogger(__name__).exception("a figure of the page could not be computed")
        if number != self._asked:
            return
        async with reactive.lock():
            self._has_failed.set(found is None)
            if found is not None:
                self._result.set(found)
            self._is_busy.set(False)
            await reactive.flush()


async def in_thread(work: Callable[[], Result]) -> Result:
    """The result of work in a thread of its own, which the end of the program does not wait for."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: Exception | None) -> None:
        if not answer.done():
            answer.set_exception(error) if error is not None else answer.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        try:
            result, error = work(), None
        except Exception as raised:
            result, error = None, raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="safetab-page", daemon=True).start()
    return await answer
