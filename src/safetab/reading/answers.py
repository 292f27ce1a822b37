"""What a question is answered by: a number, its interval, how it was computed, what a reader must know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, inf, isfinite, log10
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """An answer. The true number is from `low` to `high` with a probability of at least `confidence`.

    `low_95` and `high_95` are the same at the usual confidence. `variance` is that of the noise in `value`; None where
    there is none that is true, because numbers were selected or are missing.
    """

    #: The best single number.
    value: float
    #: The lower end of the interval.
    low: float
    #: The upper end of the interval.
    high: float
    #: The variance of the noise in `value`.
    variance: float | None
    #: The probability that the interval has at least.
    confidence: float
    #: In words: which rows were added, and how the interval was computed.
    how: str
    #: What a reader must know of the answer.
    warnings: tuple[str, ...] = ()
    #: How many totals of the sum were not published.
    missing: int = 0
    #: The probability of a gap at least this large by noise alone; of comparisons only.
    p_value: float | None = field(default=None)

    @property
    def low_95(self) -> float:
        """`low`, where the confidence is 95 %."""
        return self._at_95(self.low)

    @property
    def high_95(self) -> float:
        """`high`, where the confidence is 95 %."""
        return self._at_95(self.high)

    def _at_95(self, end: float) -> float:
        if self.confidence != 0.95:
            raise ValueError(f"this interval was asked for at {self.confidence:g}: use low and high.")
        return end

    @property
    def is_bounded(self) -> bool:
        """Whether the interval has two ends."""
        return isfinite(self.low) and isfinite(self.high)

    def __str__(self) -> str:
        """For people: the number and its interval, then how it was computed and what a reader must know of it."""
        high = figure(self.high) if isfinite(self.high) else "no bound"
        lines = [f"{figure(self.value)}, from {figure(self.low)} to {high} ({percent(self.confidence)})"]
        if self.p_value is not None:
            lines.append(f"by noise alone: a gap this large has a probability of at most {self.p_value:.2g}")
        lines += [f"how: {self.how}", *(f"warning: {words}" for words in self.warnings)]
        return "\n  ".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The answer for a program. Infinite ends are null: JSON has no word for them."""
        return {
            "value": None if self.value != self.value or abs(self.value) == inf else self.value,
            "low": self.low if isfinite(self.low) else None,
            "high": self.high if isfinite(self.high) else None,
            "confidence": self.confidence,
            "variance": self.variance,
            "p_value": self.p_value,
            "missing": self.missing,
            "how": self.how,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a group stands among others: from `low` to `high`, with 1 the largest, all at once with the confidence."""

    group: str
    name: str
    rank: int
    low: int
    high: int
    estimate: Estimate

    def __str__(self) -> str:
        where = str(self.low) if self.low == self.high else f"{self.low} to {self.high}"
        people = str(self.estimate).splitlines()[0] + ("; not published" if self.estimate.missing else "")
        return f"{self.name} ({self.group}): rank {where}; {people}"


def figure(value: float) -> str:
    """A whole number of people, or a ratio; nothing can be said of a ratio whose denominator may be 0.

    A ratio has four decimals, or as many as four digits need: a small group is a small share of a state.
    """
    if not isfinite(value):
        return "unknown"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.{max(4, 3 - floor(log10(abs(value))))}f}"


def percent(confidence: float) -> str:
    """A confidence as people write it; never 100 %."""
    return f"{100 * confidence:.10g} %"
