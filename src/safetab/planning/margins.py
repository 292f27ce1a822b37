"""How accurate totals will be: the margin of the sum (COUNT) and that of the estimate (ESTIMATE), at each stat level.

In: a level's noise and the number of cells of each stat level. Out: 95 % margins of error in whole persons, and how
they move with the stage 1 fraction. The promise: ESTIMATE of a group whose size is far from thresholds and from
suppression is within its margin of the true count with a chance of at least 95 %, and within one person less it is not.

Far away, T = aX + bS is known with nothing cut off, and ESTIMATE is the least whole number of at least T / (a + b). So
its error is ceil(E / (a + b)), E being the noise of T: symmetric, and it is more than m in size with the chance
P[E > mc] + P[E <= -(m+1)c], c = a + b.

Where the noise of the estimate has a standard deviation of 500 persons or more, all noise is taken 1/f as wide, so that
arrays stay short, and the margin is multiplied by f and rounded up: it may then be too wide by some thousandths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np

from safetab.accounting.accuracy.margins import moe_95_of_sum, variance_of_sum
from safetab.accounting.events import LevelEvents, Stage
from safetab.estimates.weights import weights
from safetab.noise.laws import Law
from safetab.planning.noise_arrays import noise_array

#: The stage 1 fractions that margins are shown for.
FRACTIONS = tuple(Fraction(percent, 100) for percent in (2, 5, 10, 15, 20, 30, 40, 50))
_LEFT_OUT = 0.05
#: More than all roundings of a chance, and what is not followed: a margin can only become wider.
_SLACK = 1e-9
_PARTS_OF_SPREAD, _LONGEST = 250, 10_000


@dataclass(frozen=True, slots=True)
class TotalMargins:
    """A published total at one stat level: a sum of `cells` counts, and the estimate made from it and stage 1.

    `sum_moe_95` is the margin of COUNT, `estimate_moe_95` that of ESTIMATE far from thresholds and from suppression.
    """

    stat_level: int
    cells: int
    sum_moe_95: int
    estimate_moe_95: int


@dataclass(frozen=True, slots=True)
class AtFraction:
    """The margins of every stat level with this share of the same budget for stage 1."""

    stage_1_fraction: Fraction
    totals: tuple[TotalMargins, ...]


def total_margins(level: LevelEvents, cells: Sequence[int]) -> tuple[TotalMargins, ...]:
    """The margins of totals of two-stage groups; `cells` are the counts of a total at stat level 0, 1, 2, ..."""
    stage_1, law = level.event(Stage.STAGE_1).law, level.event(Stage.STAGE_2).law
    return tuple(
        TotalMargins(stat_level, n, moe_95_of_sum(law, n), moe_95_of_estimate(stage_1, law, n))
        for stat_level, n in enumerate(cells)
    )


def margins_by_fraction(
    level: LevelEvents, cells: Sequence[int], fractions: Sequence[Fraction] = FRACTIONS
) -> tuple[AtFraction, ...]:
    """How the margins move with the stage 1 fraction, the budget being the same; its own fraction is among them."""
    wanted = sorted({*fractions, level.stage_1_fraction})
    return tuple(AtFraction(each, total_margins(replace(level, stage_1_fraction=each), cells)) for each in wanted)


@lru_cache(maxsize=4096, typed=True)
def moe_95_of_estimate(stage_1: Law, law: Law, n_cells: int) -> int:
    """The least m for which ESTIMATE, far from thresholds, is within m of the true count with a chance of 95 %."""
    a, b = weights(stage_1, law, n_cells)
    if a == 0:
        return moe_95_of_sum(law, n_cells)
    factor = _narrowing(stage_1, law, n_cells)
    noise = _Combined(a, b, stage_1.narrowed(factor), law.narrowed(factor), n_cells)
    reached, missed = 1, -1
    while not noise.is_within(reached):
        reached, missed = 2 * reached, reached
    while reached - missed > 1:
        middle = (reached + missed) // 2
        if noise.is_within(middle):
            reached = middle
        else:
            missed = middle
    return reached if factor == 1 else (reached + 1) * factor


def _narrowing(stage_1: Law, law: Law, n_cells: int) -> int:
    of_stage_1, of_sum = variance_of_sum(stage_1, 1), variance_of_sum(law, n_cells)
    joint = sqrt(1 / (1 / of_stage_1 + 1 / of_sum)) if of_stage_1 > 0 and of_sum > 0 else 0.0
    widest = sqrt(max(of_stage_1, of_sum))
    return max(1, int(joint) // _PARTS_OF_SPREAD, int(widest) // _LONGEST)


class _Combined:
    """The noise E = aX + bS."""

    def __init__(self, a: int, b: int, stage_1: Law, law: Law, n_cells: int) -> None:
        self._a, self._b = a, b
        self._x, self._chances = noise_array(stage_1, 1)
        s, chances = noise_array(law, n_cells)
        #: P[S >= k] for k = -far, ..., far, and a 0 beyond.
        self._tails = np.append(np.cumsum(chances[::-1])[::-1], 0.0)
        self._far = int(s[-1])

    def is_within(self, m: int) -> bool:
        """Whether the estimate is at most m from the truth with a chance of at least 95 %."""
        c = self._a + self._b
        return self._at_least(m * c + 1) + self._at_least((m + 1) * c) + _SLACK <= _LEFT_OUT

    def _at_least(self, k: int) -> float:
        """P[E >= k]: S is at least (k - aX) / b, rounded up."""
        needed = -((self._a * self._x - k) // self._b)
        return float((self._chances * self._tails.take(needed + self._far, mode="clip")).sum())
