"""Progress as people see it: a bar on a terminal, one line in a notebook, plain lines in a log.

In: what a `Watcher` receives. Out: text on a stream, and messages of the logger `safetab`. Promise: whatever the place,
the same things are said, and all of them are public; nothing is printed by the logger unless the program sets it up.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TextIO

from safetab.errors import Finding, SafetabError
from safetab.pipeline.progress import Watcher
from safetab.pipeline.progress_bar import ProgressBar
from safetab.screen import display_width

LOG = logging.getLogger("safetab")
# Without a handler of its own a library's warnings would go to standard error.
LOG.addHandler(logging.NullHandler())
_READING, _WRITING = "reading records", "writing the tables"


class Logged:
    """A watcher that tells the logger `safetab` too."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def note(self, text: str) -> None:
        LOG.info(text)
        self._watcher.note(text)

    def warn(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            LOG.warning("%s  %s %s", finding.rule.code, finding.sentence(), finding.rule.next_step)
        self._watcher.warn(findings)

    def advance(self, done: int, planned: int, what: str) -> None:
        if what:
            LOG.info(_step(done, planned, what))
        self._watcher.advance(done, planned, what)

    def read(self, share: float) -> None:
        self._watcher.read(share)


@contextmanager
def failures_logged() -> Iterator[None]:
    """Log that a tabulation ended with an error: its kind and codes, because its text may quote a record."""
    try:
        yield
    except BaseException as error:
        codes = dict.fromkeys(f.rule.code for f in error.findings) if isinstance(error, SafetabError) else ()
        LOG.error(" ".join(["the tabulation failed:", type(error).__name__, *codes]))
        raise


class ProgressReport:
    """A watcher that shows progress where it runs; a context, because a bar is erased at the end."""

    def __init__(
        self, stream: TextIO | None = None, print_warnings: Callable[[Sequence[Finding]], None] | None = None
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._print_warnings = print_warnings or self._plain_warnings
        self._open = ExitStack()

    def __enter__(self) -> Watcher:
        if self._stream.isatty():
            return _OnTerminal(self._open.enter_context(ProgressBar(self._stream, _READING)), self._print_warnings)
        if _is_notebook(self._stream):
            return self._open.enter_context(_InNotebook(self._stream, self._print_warnings))
        return _InLog(self._stream, self._print_warnings)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def _plain_warnings(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self._stream.write(f"{finding.rule.code}  Warning: {finding.sentence()} {finding.rule.next_step}\n")


def _is_notebook(stream: TextIO) -> bool:
    """Whether a stream goes to the cells of a notebook: the streams of a Jupyter kernel do."""
    return type(stream).__module__.partition(".")[0] in {"ipykernel", "pyodide_kernel", "xeus_python"}


def _step(done: int, planned: int, what: str) -> str:
    return f"tabulating {what}: {done / planned:.0%} of the work done"


class _OnTerminal:
    """A bar that is rewritten."""

    def __init__(self, bar: ProgressBar, print_warnings: Callable[[Sequence[Finding]], None]) -> None:
        self._bar, self._print_warnings = bar, print_warnings

    def note(self, text: str) -> None:
        """The bar says what goes on."""

    def warn(self, findings: Sequence[Finding]) -> None:
        self._bar.print_above(lambda: self._print_warnings(findings))

    def advance(self, done: int, planned: int, what: str) -> None:
        step = f"tabulating {what}" if what else _WRITING
        # Between two levels nothing comes next yet, and nothing is written either.
        self._bar.update(done, planned, step if what or done == planned else None)

    def read(self, share: float) -> None:
        if share < 1:
            self._bar.update(share, 1, None)


class _InNotebook:
    """One line that is rewritten with a carriage return, which every notebook understands, and stays at the end."""

    def __init__(self, stream: TextIO, print_warnings: Callable[[Sequence[Finding]], None]) -> None:
        self._stream, self._print_warnings, self._width = stream, print_warnings, 0

    def __enter__(self) -> _InNotebook:
        self._rewrite(_READING)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_line()

    def note(self, text: str) -> None:
        self._rewrite(text)

    def warn(self, findings: Sequence[Finding]) -> None:
        if findings:
            self._end_line()
            self._print_warnings(findings)

    def advance(self, done: int, planned: int, what: str) -> None:
        if what or done == planned:
            self._rewrite(_step(done, planned, what) if what else "all of the work done")

    def read(self, share: float) -> None:
        """Not shown: a notebook is kept, and must not depend on the records."""

    def _rewrite(self, text: str) -> None:
        self._stream.write("\r" + text + " " * (self._width - display_width(text)))
        self._stream.flush()
        self._width = display_width(text)

    def _end_line(self) -> None:
        if self._width:
            self._stream.write("\n")
        self._width = 0


class _InLog:
    """Plain lines, each with the time."""

    def __init__(self, stream: TextIO, print_warnings: Callable[[Sequence[Finding]], None]) -> None:
        self._stream, self._print_warnings = stream, print_warnings

    def note(self, text: str) -> None:
        self._stream.write(f"{time.strftime('%H:%M:%S')} {text}\n")

    def warn(self, findings: Sequence[Finding]) -> None:
        self._print_warnings(findings)

    def advance(self, done: int, planned: int, what: str) -> None:
        if what:
            self.note(_step(done, planned, what))

    def read(self, share: float) -> None:
        """Not shown: a log is kept, and must not depend on the records."""
