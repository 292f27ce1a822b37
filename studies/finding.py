"""A finding: a question of somebody who sets budgets, its answer in figures, and what to do about it.

In: what a study computed. Out: the same as JSON, as text for a screen and as a section of a page. The promise: figures
are formatted where they are computed, so the screen, the file and the page show the same digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: One point of a chart: names of axes and of lines, and their values.
Point = Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer. `figures` are those that other seeds and other group definitions are compared by."""

    number: int
    slug: str
    title: str
    held: str
    answer: str
    action: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: Mapping[str, float]
    points: tuple[Point, ...]
    alt: str

    @property
    def command(self) -> str:
        """What reproduces it."""
        return f"python -m studies.granularity --finding {self.number}"

    @property
    def heading(self) -> str:
        """The heading of its section; links lead to `anchor`."""
        return f"Finding {self.number}: {self.slug.replace('-', ' ')}"

    @property
    def anchor(self) -> str:
        return f"finding-{self.number}-{self.slug}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Finding:
        """What `as_json` wrote."""
        known = dict(found)
        known["columns"] = tuple(known["columns"])
        known["rows"] = tuple(map(tuple, known["rows"]))
        known["points"] = tuple(known["points"])
        return cls(**known)


def significant(value: float, digits: int = 4) -> float:
    """A figure with so many digits, so that it is the same on every machine."""
    return float(f"{value:.{digits}g}")


def whole(value: float) -> str:
    """A number of groups or persons."""
    return f"{value:,.0f}"


def percent(share: float, digits: int = 0) -> str:
    """A share as people write it."""
    return f"{100 * share:.{digits}f} %"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table of a page: the first columns are words, the others are figures."""
    rule = "|" + " --- |" * words + " ---: |" * (len(columns) - words)
    return "\n".join([_line(columns), rule, *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def screen_text(finding: Finding) -> str:
    """A finding for a terminal: the table with its columns under each other."""
    table = [finding.columns, *finding.rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(finding.columns))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table]
    head = [f"{finding.number}. {finding.title}", "", finding.held, ""]
    return "\n".join([*head, *lines, "", finding.answer, finding.action])
