"""How things look on a terminal and in a pipe: findings, tables, numbers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from safetab.errors import Finding, Severity

#: Output that is not read on a terminal must not depend on the width of one.
_PIPE_WIDTH = 120


def console(*, to_stderr: bool = False) -> Console:
    """A console for people; plain and of fixed width where no terminal listens."""
    stream = sys.stderr if to_stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else _PIPE_WIDTH, highlight=False, soft_wrap=False)


def print_findings(findings: Sequence[Finding], state: str = "") -> None:
    """Each finding with its code, place, rule and next step, errors before warnings, to standard error."""
    out = console(to_stderr=True)
    ordered = sorted(findings, key=lambda finding: finding.rule.severity is not Severity.ERROR)
    for finding in ordered:
        colour = "bold red" if finding.is_error else "bold yellow"
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, style=colour)
        table.add_column(overflow="fold")
        note = "" if finding.is_error else "Warning: "
        state_told = f"{state} " if state and finding.is_error else ""
        table.add_row(finding.rule.code, _plain(f"{note}{finding.sentence()}"))
        table.add_row("", _plain(f"{state_told}{finding.rule.next_step}"))
        out.print(table)


def _plain(text: str) -> str:
    # Square brackets in a key path are not markup.
    return text.replace("[", r"\[")


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Names and what they are, one a line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in rows:
        table.add_row(name, _plain(text))
    return table


def grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Group:
    """A table of figures below its title: the first `left` columns are names, the others are numbers."""
    table = Table(box=None, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(_plain, row))
    # Apart from the table: a table's own title is folded to the width of its columns.
    return Group(Text(title, style="bold"), table)


def print_json(value: object) -> None:
    """A value for other programs, to standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def number(value: int) -> str:
    return f"{value:,}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
