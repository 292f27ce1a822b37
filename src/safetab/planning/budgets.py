"""Budgets that keep a promise: a margin of the estimate, or a privacy loss of the whole release.

In: a level or the plan of a release, and what is to be kept. Out: a budget or a factor, as a short exact decimal. The
promise: with it what was asked for holds, and with the next decimal of the same length it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, log

from safetab.accounting.accuracy.calibration import CONFIDENCE_95, keeps_within, least_decimal
from safetab.accounting.events import LevelEvents, Stage
from safetab.accounting.privacy_loss import costliest, loss_of
from safetab.planning.margins import moe_95_of_estimate

Runs = Mapping[str, Sequence[LevelEvents]]

#: Digits of a factor: a budget is at most a 100,000th smaller than it could be.
FACTOR_DIGITS = 6
#: A factor is looked for from 10^-30 to 10^30.
_MOST_DECADES = 30


def budget_for_total_moe(level: LevelEvents, moe: int, n_cells: int) -> Fraction:
    """The least budget of a level for which the estimate of a sum of `n_cells` cells keeps the margin.

    Where the level has no groups of two stages, the total itself keeps it.
    """

    def is_enough(budget: Fraction) -> bool:
        tried = replace(level, budget=budget)
        if not level.has_two_stage:
            return keeps_within(tried.event(Stage.TOTAL_ONLY).law, moe, CONFIDENCE_95)
        return moe_95_of_estimate(tried.event(Stage.STAGE_1).law, tried.event(Stage.STAGE_2).law, n_cells) <= moe

    return least_decimal(is_enough)


@dataclass(frozen=True, slots=True)
class Scaling:
    """A factor for every budget of a release, and the epsilon that the release then has."""

    factor: Fraction
    epsilon: float


def largest_scaling(runs: Runs, epsilon: Fraction, delta: Fraction) -> Scaling | None:
    """The largest common factor of all budgets that keeps a release within (epsilon, delta), rounded down.

    None where no factor is the largest: nothing is measured, or every factor, or none, keeps it.

    *Claim*: the release with its budgets times `factor` is (epsilon, delta)-differentially private by the tightest
    analysis there is, evaluated at exactly that factor; at the next decimal of as many digits that analysis exceeds
    epsilon. The search in between decides nothing but where to look.
    """

    def epsilon_at(factor: Fraction) -> float:
        scaled = (
            loss_of(name, [replace(level, budget=level.budget * factor) for level in levels], delta)
            for name, levels in runs.items()
        )
        return costliest(list(scaled)).epsilon

    if not any(runs.values()):
        return None
    decade = _decade(lambda factor: Fraction(epsilon_at(factor)) <= epsilon)
    if decade is None:
        return None
    unit = decade / 10 ** (FACTOR_DIGITS - 1)
    kept, lost = 10 ** (FACTOR_DIGITS - 1), 10**FACTOR_DIGITS
    at_kept, at_lost = epsilon_at(kept * unit), epsilon_at(lost * unit)
    aside, steps = 0, 0
    while lost - kept > 1:
        tried = _crossing(kept, lost, at_kept, at_lost, float(epsilon)) + aside if steps < 12 else (kept + lost) // 2
        tried = min(max(tried, kept + 1), lost - 1)
        value = epsilon_at(tried * unit)
        steps += 1
        # Aim a little beyond the crossing next time, so that both ends close in on it.
        if Fraction(value) <= epsilon:
            kept, at_kept, aside = tried, value, 2
        else:
            lost, at_lost, aside = tried, value, -2
    return Scaling(kept * unit, at_kept)


def _crossing(kept: int, lost: int, at_kept: float, at_lost: float, epsilon: float) -> int:
    """About where epsilon is reached: its logarithm is almost straight in that of the factor."""
    if not 0 < at_kept < at_lost < inf:
        return (kept + lost) // 2
    share = log(epsilon / at_kept) / log(at_lost / at_kept)
    return int(kept * (lost / kept) ** share + 0.5)


def _decade(is_kept: Callable[[Fraction], bool]) -> Fraction | None:
    """The largest power of ten that is kept."""
    power = 0
    if is_kept(Fraction(1)):
        while is_kept(Fraction(10) ** (power + 1)):
            power += 1
            if power > _MOST_DECADES:
                return None
    else:
        while not is_kept(Fraction(10) ** power):
            power -= 1
            if power < -_MOST_DECADES:
                return None
    return Fraction(10) ** power
