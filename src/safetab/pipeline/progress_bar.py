"""A progress bar: one line at the foot of a terminal that is rewritten while work goes on, and erased at the end.

In: what is being done, how much of it is done and how much there is. Out: a line on a terminal with the time that has
passed and, once the amount is known, the time that is left. The promise: it moves while the work is silent, stays on
one line of any terminal, and leaves nothing behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from safetab.screen import display_width, width_of

_BAR_WIDTH, _LEAST_BAR = 40, 4
_SECONDS_BETWEEN = 0.2
_ERASE_LINE = "\r\x1b[2K"


class ProgressBar:
    """A context in which a line shows `update`s."""

    def __init__(self, stream: TextIO, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._what, self._clock = stream, what, clock
        self._share: float | None = None
        self._start = self._clock()
        #: When the share was said, and how long the rest would take from then on.
        self._said, self._left = self._start, 0.0
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._redraw, daemon=True)

    def __enter__(self) -> ProgressBar:
        self._start = self._clock()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._stream.write(_ERASE_LINE)
        self._stream.flush()

    def update(self, done: float, planned: float, what: str | None) -> None:
        """How far the work is, and what is done now; None: still the same. A new step is shown at once."""
        is_new = what is not None and what != self._what
        share, self._said = min(done / planned, 1.0) if planned else 1.0, self._clock()
        passed = self._said - self._start
        self._left = passed / share - passed if share else 0.0
        self._share, self._what = share, what or self._what
        if is_new:
            self._draw()

    def print_above(self, show: Callable[[], None]) -> None:
        """Let `show` write lines that stay; the bar goes on below them."""
        with self._lock:
            self._stream.write(_ERASE_LINE)
            self._stream.flush()
            show()

    def line(self) -> str:
        """What the terminal shows now. A longer line could not be erased, so the least important part goes."""
        passed = self._clock() - self._start
        # The last column stays free: some terminals begin a new line when it is filled.
        room = (width_of(self._stream) or 0) - 1
        share = self._share
        if share is None:
            return _first_that_fits(room, f"{self._what} {_clock(passed)}", _clock(passed))
        # Time goes by between two steps too.
        left = _clock(max(self._left - (passed - (self._said - self._start)), 0.0)) if share else "-:--:--"
        times = f"{_clock(passed)} {left}"
        size = min(_BAR_WIDTH, room - display_width(f"{self._what}  {times}"))
        bar = f" {'━' * int(share * size)}{' ' * (size - int(share * size))}" if size >= _LEAST_BAR else ""
        return _first_that_fits(room, f"{self._what}{bar} {times}", times, left)

    def _redraw(self) -> None:
        while not self._stop.wait(_SECONDS_BETWEEN):
            self._draw()

    def _draw(self) -> None:
        with self._lock:
            self._stream.write(_ERASE_LINE + self.line())
            self._stream.flush()


def _first_that_fits(room: int, *texts: str) -> str:
    return next((text for text in texts if display_width(text) <= room), "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
