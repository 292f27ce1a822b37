"""ESTIMATE, LOW_95 and HIGH_95 of published totals.

In: what kind of rows they are (`Publication`), their stage 1 counts and their sums, unclipped. Out: three arrays of
whole numbers of at least 0. The promise: given that a row was published at its stat level and survived suppression, the
chance of LOW_95 <= true count <= HIGH_95 is at least 95 % for every true count, and ESTIMATE is too low as often as too
high, as nearly as whole noise allows.

LOW_95 is the least N with P_N[T >= t | published] > 2.5 %, HIGH_95 the largest with P_N[T <= t | published] > 2.5 %,
ESTIMATE the least with P_N[T >= t | published] > 1/2. Since these chances grow or fall with N (see `conditional`), a
true count is below LOW_95 only if T is among the largest values, whose chance is at most 2.5 %; so too above HIGH_95.
Values of T that no true count makes likely could leave ESTIMATE outside; then the interval is extended to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np

from safetab.estimates.conditional import SLACK, Combination
from safetab.estimates.noise_tails import Integers
from safetab.estimates.publication import Publication
from safetab.estimates.staircase import Staircase

_LEFT_OUT = 0.025
#: So many values of T are kept with their estimates for the next time: all that occur, unless the noise is very wide.
_KEPT = 1 << 16
#: T must stay this far inside 64 bits.
_LARGEST = 1 << 61


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """The columns ESTIMATE, LOW_95 and HIGH_95 of some rows, in their order."""

    estimate: Integers
    low_95: Integers
    high_95: Integers


def estimates_95(published: Publication, stage_1_counts: Integers | None, sums: Integers) -> Estimates:
    """The estimates of rows of one kind: `sums` are their noisy totals, before negative counts are set to 0.

    *Claim*: given counts that were measured with exactly this noise and published exactly by these rules, the interval
    holds with a chance of at least 95 % for every true count.
    """
    solver = _solver(published)
    t = solver.combined(stage_1_counts, sums)
    if not t.size:
        return Estimates(t, t.copy(), t.copy())
    return Estimates(*solver.estimates(t))


class _Solved:
    """The estimates of the values of T from `first` on, as far as they were asked for."""

    def __init__(self, first: int, size: int) -> None:
        self.first = first
        self.is_solved = np.zeros(size, dtype=np.bool_)
        self.columns = np.zeros((3, size), dtype=np.int64)

    @property
    def last(self) -> int:
        return self.first + self.is_solved.size - 1

    def widened(self, low: int, high: int) -> _Solved:
        """The same with room for the values from `low` to `high`."""
        first, last = min(self.first, low), max(self.last, high)
        if (first, last) == (self.first, self.last):
            return self
        made = _Solved(first, last - first + 1)
        here = slice(self.first - first, self.last - first + 1)
        made.is_solved[here], made.columns[:, here] = self.is_solved, self.columns
        return made


class _Solver:
    """One kind of rows, with its staircases."""

    def __init__(self, published: Publication) -> None:
        self._combination = Combination(published)
        free = Combination(Publication(published.law, published.n_cells, published.stage_1))
        self._low = Staircase(self._combination, free, _LEFT_OUT - SLACK)
        self._middle = Staircase(self._combination, free, 0.5)
        self._high = Staircase(self._combination, free, 1 - _LEFT_OUT + SLACK)
        self._kept: _Solved | None = None
        # A page, or a program of its own, may ask from several threads.
        self._asking = Lock()

    def combined(self, stage_1_counts: Integers | None, sums: Integers) -> Integers:
        """T of each row."""
        (a, b), unit = self._combination.weights, self._combination.unit
        if (stage_1_counts is None) != (self._combination.published.stage_1 is None):
            raise ValueError("pass stage 1 counts exactly where there is a stage 1.")
        t = b * _in_units(sums, unit, b)
        if a and stage_1_counts is not None:
            t += a * _in_units(stage_1_counts, unit, a)
        return t

    def estimates(self, t: Integers) -> Integers | tuple[Integers, Integers, Integers]:
        """Estimate, lower and upper end for values of T; where many rows share a value, each value is solved once."""
        low, high = int(t.min()), int(t.max())
        with self._asking:
            if high - low >= max(_KEPT, 4 * t.size):
                return self._solve(t)
            return self._look_up(t, low, high)

    def _look_up(self, t: Integers, low: int, high: int) -> Integers:
        """For values from `low` to `high`. An evaluation comes back with nearly the same ones in every trial."""
        kept = self._kept
        if kept is None or max(kept.last, high) - min(kept.first, low) >= _KEPT:
            kept = _Solved(low, high - low + 1)
        known = kept.widened(low, high)
        place = t - known.first
        is_new = np.zeros(known.is_solved.size, dtype=np.bool_)
        is_new[place] = True
        is_new &= ~known.is_solved
        if is_new.any():
            known.columns[:, is_new] = self._solve(np.flatnonzero(is_new) + known.first)
            known.is_solved |= is_new
        if known.is_solved.size <= _KEPT:
            self._kept = known
        return known.columns[:, place]

    def _solve(self, t: Integers) -> tuple[Integers, Integers, Integers]:
        """Estimate, lower and upper end for values of T."""
        unit = self._combination.unit
        # Between two multiples of the unit a lower end goes down to just above the lower one, an upper end up.
        low = np.maximum((self._low.count_below(t) - 1) * unit + 1, 0)
        middle = np.maximum(self._middle.count_below(t) * unit - unit // 2, 0)
        # P[T <= t] > 2.5 % as long as the largest value that T reaches with 97.5 % is at most t.
        high = np.maximum(self._high.count_below(t + 1) * unit - 1, 0)
        return middle, np.minimum(low, middle), np.maximum(high, middle)


# A level has at most five kinds of rows. An evaluation comes back to each of them in every trial.
@lru_cache(maxsize=256)
def _solver(published: Publication) -> _Solver:
    return _Solver(published)


def _in_units(counts: Integers, unit: int, weight: int) -> Integers:
    in_units = counts // unit if unit > 1 else counts
    if counts.size and max(abs(int(in_units.min())), abs(int(in_units.max()))) * weight >= _LARGEST:
        raise ValueError("a noisy count is too large for an estimate.")
    return in_units
