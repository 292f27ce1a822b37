"""Intervals as bars of text: where an ESTIMATE lies between 0 and the largest number shown, and how far it may be off.

In: rows of T1. Out: a piece of text for each, all of one scale. The promise: a bar begins at LOW_95 and ends at
HIGH_95, to the nearest place, and its dot is ESTIMATE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safetab.cli.layout import NO_BREAK, unbroken

#: Places of a bar where there is room, and where there is little.
WIDTH, LEAST_WIDTH = 24, 12


@dataclass(frozen=True, slots=True)
class Scale:
    """From 0 on the left to `most` on the right."""

    most: int
    width: int = WIDTH

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], room: int | None) -> Scale:
        """The scale of these rows; `room` is what the screen has left for bars, None if it has no end."""
        width = WIDTH if room is None else min(max(room, LEAST_WIDTH), WIDTH)
        return cls(max((row["HIGH_95"] for row in rows), default=0), width)

    @property
    def heading(self) -> str:
        """The ends of the scale, above the bars."""
        end = f"{self.most:,}"
        return unbroken("0" + " " * (self.width - 1 - len(end)) + end)

    def bar(self, row: Mapping[str, Any]) -> str:
        """The interval of a row as a line, with its estimate as a dot."""
        low, dot, high = (self._place(row[name]) for name in ("LOW_95", "ESTIMATE", "HIGH_95"))
        return NO_BREAK * low + "─" * (dot - low) + "●" + "─" * (high - dot)

    def _place(self, value: int) -> int:
        return round((self.width - 1) * value / self.most) if self.most else 0
