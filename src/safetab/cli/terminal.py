"""What the commands print: findings, tables and numbers, on a terminal or into a pipe.

In: findings, and figures that are already text. Out: lines on standard output and standard error. The promise: no line
has trailing spaces, and what goes into a pipe has no colours and does not depend on the width of a terminal, but on
COLUMNS where that is set.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from safetab.cli.layout import NO_BREAK, Facts, Grid, Line, Paragraph, Style
from safetab.errors import Finding, Severity
from safetab.screen import width_of

#: The width of paragraphs that are not read on a terminal.
_PIPE_WIDTH = 120
#: Of the keys of `--json`, described in docs/reference/json.md; one more when a key is renamed, removed or redefined.
_REPORT_VERSION = 1


class Console:
    """A stream that text is laid out for: plain where it is not a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty()
        self._has_colours = self.is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int | None:
        """The columns there are: as COLUMNS says, or the terminal; None in a pipe without COLUMNS."""
        return width_of(self._stream)

    def print(self, what: Facts | Grid | Paragraph | str = "") -> None:
        """Lines for people. In a pipe without COLUMNS a table has all the width it wants."""
        laid_out = Paragraph(what) if isinstance(what, str) else what
        width = self.width if isinstance(laid_out, Grid) else self.width or _PIPE_WIDTH
        text = "".join(f"{self._shown(line)}\n" for line in laid_out.lines(width))
        self._stream.write(text.replace(NO_BREAK, " "))
        self._stream.flush()

    def _shown(self, line: Line) -> str:
        *spans, (last, style) = line
        shown = [*spans, (last.rstrip(" "), style)]
        if not self._has_colours:
            return "".join(text for text, _ in shown).rstrip(" ")
        return "".join(
            f"\x1b[{style.value}m{text}\x1b[0m" if text and style is not Style.PLAIN else text for text, style in shown
        )


def console(*, to_stderr: bool = False) -> Console:
    """Standard output, or standard error, for people."""
    return Console(sys.stderr if to_stderr else sys.stdout)


def print_findings(findings: Sequence[Finding], state: str = "") -> None:
    """Each finding with its code, place and rule, and the next step, errors before warnings, to standard error."""
    out = console(to_stderr=True)
    in_order = sorted(findings, key=lambda finding: finding.rule.severity is not Severity.ERROR)
    for number, finding in enumerate(in_order, start=1):
        note = "" if finding.is_error else "Warning: "
        state_of_error = f"{state} " if state and finding.is_error else ""
        rows = [(finding.rule.code, f"{note}{finding.sentence()}")]
        if number == len(in_order) or in_order[number].rule != finding.rule:
            # Faults of one kind have one next step, below the last of them.
            rows.append(("", f"{state_of_error}{finding.rule.next_step}"))
        out.print(Facts(rows, Style.ERROR if finding.is_error else Style.WARNING))


def facts(rows: Iterable[tuple[str, str]]) -> Facts:
    """Names and their values, one pair a line."""
    return Facts(tuple(rows))


def grid(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1, *, repeats: bool = True
) -> Grid:
    """A table of figures below its title: the first `left` columns are names, the others are numbers."""
    return Grid(title, columns, tuple(rows), left, repeats)


def as_it_is(text: str) -> Paragraph:
    """A line that is not folded, because people copy it."""
    return Paragraph(text, is_folded=False)


def alarm(text: str) -> Paragraph:
    """A line that must not be overlooked."""
    return Paragraph(text, Style.ERROR)


def print_json(value: object) -> None:
    """A value for other programs, to standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_report(command: str, content: Mapping[str, object]) -> None:
    """The output of `command --json`. Its first key says what it is and which version of the keys it has."""
    print_json({"format": f"safetab {command} {_REPORT_VERSION}", **content})


def number(value: int) -> str:
    return f"{value:,}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
