"""Composition of a plan: the privacy loss of one record in all its groups, at every level of a run.

In: levels of a plan. Out: epsilon at a delta and delta at an epsilon from privacy loss distributions, rounded up. The
promise: it holds for every record, whichever mix of TotalOnly and two-stage groups it is in, with any number of them
up to the stability. The paper's generalised parallel and sequential composition, with distributions in place of
constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import ceil, inf, log, sqrt

from safetab.accounting.conversion import exact_delta, exact_epsilon
from safetab.accounting.events import LevelPlan, Stage
from safetab.accounting.loss import LossDistribution, both, count_loss
from safetab.accounting.rules import BEYOND_THE_GRID
from safetab.accounting.tilted import NEGLIGIBLE, ROUNDING, SPREADS, TiltedLoss, compose, worst_of
from safetab.errors import Finding, InputError
from safetab.noise.laws import Mechanism

#: Grid points in the window of a release: fewer where the worst mix has to be found. The error of discretising falls
#: with the square of their number.
_POINTS, _POINTS_OF_MIXES = 1 << 15, 1 << 14

_Shapes = tuple[tuple[LevelPlan, int], ...]


def pld_epsilon(levels: Iterable[LevelPlan], delta: Fraction) -> float:
    """The epsilon of these levels together at delta, from their privacy loss distributions, rounded up.

    Raises InputError (ACCOUNT-007) where the losses do not fit on a grid of floats.
    """
    needed = exact_delta(delta)
    shapes = _shapes(levels)
    if not shapes or needed == 1:
        return 0.0
    log_inverse = log(needed.denominator) - log(needed.numerator)
    epsilon = min(_composed(shapes, log_inverse).epsilon(float(needed) * (1 - ROUNDING)), _largest_loss(shapes))
    if epsilon == inf:
        raise InputError(Finding(BEYOND_THE_GRID, "accounting", key="delta", seen=f"exp({-log_inverse:.5g})"))
    return epsilon


def pld_delta(levels: Iterable[LevelPlan], epsilon: Fraction) -> float:
    """The delta of these levels together at epsilon, from their privacy loss distributions, rounded up."""
    wanted = min(float(min(exact_epsilon(epsilon), Fraction(10**300))), 1e300)
    shapes = _shapes(levels)
    if not shapes or wanted >= _largest_loss(shapes):
        return 0.0
    # The tilt that suits the delta to come: eps = rho + sqrt(4 rho log(1/delta)), turned round, with 2 rho = variance.
    rho = _variance(shapes) / 2
    log_inverse = min(max(wanted - rho, 0.0) / (4 * rho) * max(wanted - rho, 0.0), NEGLIGIBLE)
    return _composed(shapes, log_inverse).delta(wanted)


def group_kinds(level: LevelPlan, step: float, floor_bits: int) -> list[LossDistribution]:
    """The loss of one record in one group of a level, for each kind of group that may be the worst.

    A TotalOnly count at eps dominates two geometric counts at gamma eps and (1 - gamma) eps: they are eps-DP together,
    and its loss takes only the extreme values that eps-DP allows. For Gaussian counts neither kind dominates.
    """

    def count(stage: Stage) -> LossDistribution:
        event = level.event(stage)
        return count_loss(event.mechanism, event.budget, step, floor_bits)

    if not level.has_two_stage or (level.has_total_only and level.mechanism is Mechanism.GEOMETRIC):
        return [count(Stage.TOTAL_ONLY)]
    two_stage = both(count(Stage.STAGE_1), count(Stage.STAGE_2))
    return [count(Stage.TOTAL_ONLY), two_stage] if level.has_total_only else [two_stage]


@lru_cache(maxsize=256)
def _composed(shapes: _Shapes, log_inverse_delta: float) -> TiltedLoss:
    """The loss of a record at all levels, tilted to where delta is about exp(-log_inverse_delta)."""
    spread = sqrt(_variance(shapes))
    mixed = any(level.has_total_only and level.has_two_stage for level, _ in shapes)
    mixed = mixed and shapes[0][0].mechanism is Mechanism.DISCRETE_GAUSSIAN
    step = 2 * SPREADS * spread / (_POINTS_OF_MIXES if mixed else _POINTS)
    # exp(-theta eps) E exp(theta loss) is least about here.
    theta = sqrt(2 * max(log_inverse_delta, 0.5)) / spread
    further = 10.0 / spread
    floor_bits = min(ceil(128 + 3 * log_inverse_delta / log(2)), 1000)
    parts: list[tuple[TiltedLoss, int]] = []
    log_moment_further = 0.0
    for level, times in shapes:
        kinds = group_kinds(level, step, floor_bits)
        at_most = times * level.stability * max(kind.log_moment(theta + further) for kind in kinds)
        log_moment_further += at_most
        tilted = [TiltedLoss.of(kind, theta) for kind in kinds]
        if len(tilted) == 1:
            parts.append((tilted[0], times * level.stability))
        else:
            # Every number of TotalOnly groups among a record's s groups; then the worst at each epsilon.
            mixes = [
                compose([(tilted[0], j), (tilted[1], level.stability - j)], at_most / times, further)
                for j in range(level.stability + 1)
            ]
            parts.append((worst_of(mixes), times))
    return compose(parts, log_moment_further, further)


def _largest_loss(shapes: _Shapes) -> float:
    """The sum of epsilons where the noise is geometric; Gaussian noise has no largest loss."""
    if any(level.mechanism is not Mechanism.GEOMETRIC for level, _ in shapes):
        return inf
    return float(sum(times * level.budget for level, times in shapes)) * (1 + ROUNDING)


def _variance(shapes: _Shapes) -> float:
    """About the variance of a record's loss: 2 rho for each Gaussian count, epsilon^2 for each geometric one."""
    total = 0.0
    for level, times in shapes:
        share = float(level.budget) / level.stability
        each = share * share if level.mechanism is Mechanism.GEOMETRIC else 2 * share
        total += times * level.stability * each
    return total


def _shapes(levels: Iterable[LevelPlan]) -> _Shapes:
    """The levels without their names, equal ones counted."""
    nameless = Counter(
        LevelPlan(
            "",
            level.mechanism,
            level.budget,
            level.stability,
            level.stage_1_fraction,
            level.has_total_only,
            level.has_two_stage,
        )
        for level in levels
    )
    return tuple(nameless.items())
