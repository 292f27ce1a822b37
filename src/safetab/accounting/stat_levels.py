"""Chances of what is published: which stat level a group of a given size gets, and whether an empty one is seen.

In: the laws of the two stages, thresholds, a true size. Out: probabilities, to the nearest float. The promise: they
are those of Algorithm 2 with exactly this noise, no approximation in between; the size is hypothetical and no record is
read. Steps 1 and 2 of Algorithm 2, and the suppression of zeros after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from safetab.accounting.events import LevelPlan, Stage
from safetab.noise.enclosure import working_precision
from safetab.noise.laws import Law

_BITS = 80


def stat_level_chances(stage_1: Law, true_count: int, thresholds: Sequence[int]) -> tuple[float, ...]:
    """The chances that a group of this size gets stat level 0, 1, 2, ...: as many thresholds as its noisy total meets.

    The noisy total meets a threshold when the noise is above threshold - size - 1.
    """
    tails = [stage_1.tail(threshold - true_count - 1, _BITS) for threshold in thresholds]
    reached = [arb(1), *tails, arb(0)]
    with working_precision(_BITS):
        return tuple(max(float(low - high), 0.0) for low, high in pairwise(reached))


@dataclass(frozen=True, slots=True)
class EmptyGroupChances:
    """How an empty group may still be seen: as a total above `threshold`, or as a sex by age table."""

    threshold: int | None
    as_total: float
    as_table: float

    @property
    def seen(self) -> float:
        return self.as_total + self.as_table


def empty_group_chances(
    level: LevelPlan, thresholds: Sequence[int], suppression_chance: Fraction | None, *, total_only: bool = False
) -> EmptyGroupChances:
    """The chances that a group without people survives suppression; `suppression_chance` None: nothing is suppressed.

    A total is dropped when it is at most t, the smallest integer that its noise stays within with the suppression
    chance. A group that stage 1 lifts to a sex by age table is never dropped.
    """
    published = level.event(Stage.TOTAL_ONLY if total_only else Stage.STAGE_2).law
    threshold = None if suppression_chance is None else published.quantile(suppression_chance)
    with working_precision(_BITS):
        survives = 1 if threshold is None else published.tail(threshold, _BITS)
        if total_only:
            return EmptyGroupChances(threshold, float(survives), 0.0)
        lifted = level.event(Stage.STAGE_1).law.tail(thresholds[0] - 1, _BITS)
        return EmptyGroupChances(threshold, float((1 - lifted) * survives), float(lifted))
