"""For every true count N the largest t that T reaches with some chance: a staircase, looked up from the side.

In: a `Combination` and a chance. Out: for any values t, how many true counts from 0 on have a step below t; that is the
least N whose T reaches t with more than the chance, because steps never go down. The promise: no step is lower than
the exact one for a chance below one half, or higher for one above, so that an interval can only become wider.

Far from thresholds and suppression a step is a shift of one that is solved once: it rises by a + b from N to N + 1.
Near them every step is solved by itself, but only where there are values to look up. Beyond a threshold, where a row is
hardly ever published, X stays where it is and the step rises by b alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from typing import Protocol

import numpy as np

from safetab.estimates.conditional import Combination
from safetab.estimates.noise_tails import Integers

#: Lower than any step.
_NO_STEP = np.iinfo(np.int64).min // 2


class Piece(Protocol):
    """The steps of some consecutive true counts."""

    def count_below(self, t: Integers) -> Integers:
        """How many steps are below each t."""
        ...


@dataclass(frozen=True)
class Slope:
    """Steps `base`, `base` + `rise`, `base` + 2 `rise`, ...; without an end where `length` is None."""

    base: int
    rise: int
    length: int | None

    def count_below(self, t: Integers) -> Integers:
        return np.clip(-((self.base - t) // self.rise), 0, self.length)


@dataclass(frozen=True)
class Flat:
    """The same step `length` times."""

    step: int
    length: int

    def count_below(self, t: Integers) -> Integers:
        return np.where(t > self.step, self.length, 0)


@dataclass
class Solved:
    """The steps of the true counts from `first` to `last`, solved where they are asked for."""

    combination: Combination
    chance: float
    first: int
    last: int
    _knots: Integers = field(init=False)
    _is_solved: np.ndarray[tuple[int], np.dtype[np.bool_]] = field(init=False)
    _steps: Integers = field(init=False)

    def __post_init__(self) -> None:
        size = self.last - self.first + 1
        self._knots = np.unique(np.append(np.arange(0, size, max(8, isqrt(size))), size - 1))
        steps = self.combination.largest_reached(self._knots + self.first, self.chance)
        self._is_solved = np.diff(self._knots) == 1
        # Until they are solved, the steps between two knots are as high as the second: no t that is looked up can
        # tell, because the first t between the knots has them solved.
        self._steps = steps[np.searchsorted(self._knots, np.arange(size))]

    @property
    def lowest(self) -> int:
        return int(self._steps[0])

    @property
    def highest(self) -> int:
        return int(self._steps[-1])

    def count_below(self, t: Integers) -> Integers:
        self._solve_around(t)
        return np.searchsorted(self._steps, t)

    def _solve_around(self, t: Integers) -> None:
        at_knots = self._steps[self._knots]
        gaps = np.unique(np.searchsorted(at_knots, t))
        gaps = gaps[(gaps > 0) & (gaps < len(self._knots))] - 1
        gaps = gaps[~self._is_solved[gaps]]
        if not gaps.size:
            return
        inside = np.concatenate([np.arange(self._knots[gap] + 1, self._knots[gap + 1]) for gap in gaps])
        gap_of = np.searchsorted(self._knots, inside) - 1
        bracket = at_knots[gap_of], at_knots[gap_of + 1] + 1
        self._steps[inside] = self.combination.largest_reached(inside + self.first, self.chance, bracket)
        self._is_solved[gaps] = True


class Staircase:
    """All steps for one chance, from the true count 0 on."""

    def __init__(self, combination: Combination, free: Combination, chance: float) -> None:
        """`free` is the same noise where neither truncation nor suppression matters."""
        self._combination, self._free, self._chance = combination, free, chance
        solved = [Solved(combination, chance, first, last) for first, last in combination.zones]
        self._pieces: list[Piece] = []
        end = 0
        for piece in solved:
            if piece.first > end:
                self._pieces.append(self._before(piece) if end == 0 else self._shifts(end, piece.first))
            self._pieces.append(piece)
            end = piece.last + 1
        self._pieces.append(self._after(solved[-1]) if solved and combination.below is not None else self._shifts(end))

    def count_below(self, t: Integers) -> Integers:
        """How many true counts from 0 on have a step below each t."""
        counts = self._pieces[0].count_below(t)
        for piece in self._pieces[1:]:
            counts = counts + piece.count_below(t)
        return counts

    def _shifts(self, start: int, end: int | None = None) -> Slope:
        """The steps where neither truncation nor suppression matters."""
        rise = sum(self._free.weights)
        step = int(self._free.largest_reached(np.zeros(1, dtype=np.int64), self._chance)[0])
        return Slope(step + rise * start, rise, None if end is None else end - start)

    def _before(self, piece: Solved) -> Piece:
        """The steps below the first that is solved."""
        combination, (a, b) = self._combination, self._combination.weights
        if combination.published.least_sum is not None:
            # Rows that hardly ever pass suppression: an interval that reaches down to them includes them all.
            return Flat(_NO_STEP if self._chance > 0.5 else piece.lowest, piece.first)
        if combination.least is None:
            return self._shifts(0, piece.first)
        if self._chance > 0.5 and not combination.is_frozen:
            least = a * (combination.least // combination.unit) + b * combination.noise_reached(self._chance)
            return Slope(least, b, piece.first)
        return Slope(piece.lowest - b * piece.first, b, piece.first)

    def _after(self, piece: Solved) -> Slope:
        """The steps above the last that is solved, where the stage 1 count has a bound above."""
        combination, (a, b) = self._combination, self._combination.weights
        if self._chance < 0.5 and not combination.is_frozen:
            most = a * (((combination.below or 0) - 1) // combination.unit)
            return Slope(most + b * (piece.last + 1 + combination.noise_reached(self._chance)), b, None)
        return Slope(piece.highest + b, b, None)
