"""Answers from many rows: sums, differences, ratios, and the chance that a gap is noise alone.

In: `Pieces`, what is left of rows when they are added: the sums of their centres and ends, their noise, what is
missing. Out: intervals and chances. The promise: an interval holds with at least its confidence, whatever the true
counts are, over everything that can be published; the error is shared out before anything is looked at: `_OF_ROWS` of
it to rows that were selected, `_OF_MISSING` to totals that were left out, the rest to the noise of the sum.

Ratios are Fieller's: r belongs to the interval of a / b exactly where a - r b could be 0 by the interval above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, inf
from typing import NamedTuple

import numpy as np

from safetab.estimates.left_out import Suppressible, most_left_out
from safetab.estimates.no_wider import Interval
from safetab.estimates.settled import TWELVE, RowKind, Settled
from safetab.estimates.sum_laws import ROUNDING, BoundedSum, ExactSum, Part, laid_out, law_of_sum

#: The shares of the error that rows which were selected, and totals which were left out, may cause.
_OF_ROWS, _OF_MISSING = 1 / 20, 1 / 25
#: What a p-value sets aside for a selected row and for totals that were left out: no p-value is smaller.
CHANCE_OF_A_ROW, _OF_MISSING_IN_P = 2.5e-9, 1e-6
#: Ends of ratios are found to this part of themselves, and rounded outwards; larger ratios are without bound.
_PRECISION, _LARGEST = 1e-6, 1e12
_STEPS = 60


def chance_of_a_row(confidence: float, rows: int) -> float:
    """What `settle` may use for each of so many rows: four times that, for all rows, is their share of the error."""
    return max((1 - confidence) * _OF_ROWS / (4 * max(rows, 1)), 2e-9)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Rows that were added, in twelfths of a person."""

    rows: int = 0
    #: The best guess of their sum.
    value: int = 0
    low: int = 0
    high: int = 0
    noise: Counter[Part] = field(default_factory=Counter)
    noise_above: Counter[Part] = field(default_factory=Counter)
    variance: float = 0.0
    #: Rows whose ends have a chance of their own to be wrong.
    selected: int = 0
    missing: Counter[Suppressible] = field(default_factory=Counter)
    #: Totals that could have been left out, whether they were or not.
    at_risk: int = 0

    def __add__(self, other: Pieces) -> Pieces:
        return Pieces(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @classmethod
    def of_rows(
        cls, kind: RowKind, settled: Settled, suppressible: Suppressible | None, value: int | None = None
    ) -> Pieces:
        """Rows of one kind; `value` where their centres are not the best guess."""
        n = int(settled.centre.size)
        return cls(
            n,
            int(settled.centre.sum()) if value is None else value,
            int(settled.low.sum()),
            int(settled.high.sum()),
            Counter({part: n * count for part, count in kind.parts.items()}),
            Counter({part: n * count for part, count in kind.parts_above.items()}),
            n * kind.variance,
            n if kind.is_selected else 0,
            at_risk=n if suppressible else 0,
        )

    @classmethod
    def exactly(cls, count: int) -> Pieces:
        """People who were counted without noise."""
        return cls(1, TWELVE * count, TWELVE * count, TWELVE * count)

    @classmethod
    def left_out(cls, suppressible: Suppressible) -> Pieces:
        """A total that was not published."""
        return cls(missing=Counter({suppressible: 1}), at_risk=1)


class Weighted(NamedTuple):
    """Pieces and the number that they are multiplied by."""

    factor: float
    pieces: Pieces


class _Shares:
    """How the error of an answer is shared out."""

    def __init__(self, terms: Sequence[Weighted], confidence: float) -> None:
        error = 1 - confidence
        self.at_risk = sum(term.pieces.at_risk for term in terms)
        self.of_missing = error * _OF_MISSING if self.at_risk else 0.0
        of_rows = error * _OF_ROWS if any(term.pieces.selected for term in terms) else 0.0
        self.of_side = (error - of_rows) / 2 - self.of_missing / 2


def interval(terms: Sequence[Weighted], confidence: float) -> Interval:
    """Of the weighted sum of the true counts, in persons.

    *Claim*: given settled rows, and totals left out exactly by their rules, the interval holds with at least this
    confidence for all true counts.
    """
    shares = _Shares(terms, confidence)
    most = _most_missing(terms, shares.at_risk, shares.of_missing)
    low, high = _ends(terms)
    down = _law(terms, is_lower=True).exceeded(shares.of_side)
    up = _law(terms, is_lower=False).exceeded(shares.of_side)
    return Interval((low - down) / TWELVE - most(-1), (high + up) / TWELVE + most(1))


def whole(found: Interval, least: float = -inf) -> Interval:
    """The interval of a whole number: only ends that such a number can have."""
    low = max(found.low if found.low == -inf else ceil(found.low - 1e-9), least)
    return Interval(low, max(found.high if found.high == inf else floor(found.high + 1e-9), low))


def chance_of_noise(terms: Sequence[Weighted]) -> float:
    """A p-value of the hypothesis that the weighted sum of the true counts is 0; rows settled at `CHANCE_OF_A_ROW`.

    *Claim*: if it is 0, the chance that this is p or less is at most p, for every p: it is the least error of an
    interval without 0, plus what selected and missing rows may cause.
    """
    at_risk = sum(term.pieces.at_risk for term in terms)
    most = _most_missing(terms, at_risk, _OF_MISSING_IN_P)
    spent = 4 * CHANCE_OF_A_ROW * sum(term.pieces.selected for term in terms) + (_OF_MISSING_IN_P if at_risk else 0)
    low, high = _ends(terms)
    above, below = low - TWELVE * most(-1), -high - TWELVE * most(1)
    if max(above, below) <= 0:
        return 1.0
    # A law is followed to where its chances are as small as rounding errors, which is never 0.
    rounding = ROUNDING if any(term.pieces.noise for term in terms) else 0.0
    return min(1.0, 2 * (_law(terms, is_lower=above > below).tail(max(above, below)) + rounding) + spent)


def ratio(classes: Sequence[tuple[int, int, Pieces]], confidence: float, most: float = inf) -> Interval:
    """Fieller's interval of a / b, where each class of rows is (times in a, times in b, the rows)."""

    def of(r: float) -> Interval:
        return interval([Weighted(in_a - r * in_b, pieces) for in_a, in_b, pieces in classes], confidence)

    low = _turn(lambda r: of(r).low <= 0, most).low if of(0.0).low > 0 else 0.0
    # If b could be 0, this never turns: nothing bounds the ratio.
    high = _turn(lambda r: of(r).high < 0, most).high
    return Interval(min(low, most), min(high, most))


def _turn(turns: Callable[[float], bool], most: float) -> Interval:
    """Two numbers close together between which a condition that holds for all large r begins to hold."""
    low, high = 0.0, 1.0
    while not turns(high):
        low, high = high, 2 * high
        if low > most or high > _LARGEST:
            return Interval(low, inf)
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if turns(middle) else (middle, high)
    return Interval(low, high)


def _ends(terms: Sequence[Weighted]) -> tuple[float, float]:
    """The sums of the ends, in twelfths."""
    low = sum(factor * (p.low if factor > 0 else p.high) for factor, p in terms)
    high = sum(factor * (p.high if factor > 0 else p.low) for factor, p in terms)
    return low, high


def _most_missing(terms: Sequence[Weighted], at_risk: int, chance: float) -> Callable[[int], float]:
    """How much what is missing may add to the side of a sign, at the most."""
    if not any(term.pieces.missing for term in terms):
        return lambda _: 0.0

    def most(sign: int) -> float:
        factors = {abs(f) for f, p in terms if f * sign > 0 and p.missing}
        # Each factor by itself: at the most all that is left out is where it weighs most.
        total = 0.0
        for factor in sorted(factors):
            together: Counter[Suppressible] = Counter()
            for f, p in terms:
                if f * sign == factor:
                    together.update(p.missing)
            total += factor * most_left_out(together, at_risk, chance)
        return total

    return most


def _law(terms: Sequence[Weighted], *, is_lower: bool) -> ExactSum | BoundedSum | _AddedUp:
    """The law of what an end must allow for: the noise that makes the sum too large, or too small."""
    noises: list[tuple[float, Counter[Part]]] = []
    for factor, pieces in terms:
        # Whether this noise is one that makes its rows too large.
        is_above = (factor > 0) == is_lower
        noises.append((abs(factor), pieces.noise_above if is_above else pieces.noise))
    noises = [(factor, noise) for factor, noise in noises if factor and noise]
    if all(float(factor).is_integer() for factor, _ in noises):
        parts: Counter[Part] = Counter()
        for factor, noise in noises:
            for part, count in noise.items():
                parts[Part(part.law, part.weight * int(factor), part.floor)] += count
        return law_of_sum(parts)
    sums = [(factor, law_of_sum(noise)) for factor, noise in noises]
    exact = [(factor, law) for factor, law in sums if isinstance(law, ExactSum)]
    return laid_out(exact) if len(exact) == len(sums) else _AddedUp(sums)


class _AddedUp:
    """Sums with real weights of which one has too many values: their quantiles are added, by Bonferroni's argument."""

    def __init__(self, sums: Sequence[tuple[float, ExactSum | BoundedSum]]) -> None:
        self._sums = sums

    def exceeded(self, chance: float) -> float:
        return sum(factor * law.exceeded(chance / len(self._sums)) for factor, law in self._sums)

    def tail(self, x: float) -> float:
        """No less than P[sum >= x], by halving."""
        low, high = 1e-12, 1.0
        for _ in range(_STEPS):
            middle = float(np.sqrt(low * high))
            low, high = (low, middle) if self.exceeded(middle) < x else (middle, high)
        return high
