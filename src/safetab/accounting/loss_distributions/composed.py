"""The privacy loss of one person in all groups, at every level of a run.

In: the events of levels. Out: epsilon at a delta and delta at an epsilon from privacy loss distributions, rounded up.
The promise: it holds for every person, whichever mix of TotalOnly and two-stage groups the person is in, with any
number of groups up to the stability. The paper's generalised parallel and sequential composition, with distributions
in place of constants.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, reduce
from math import ceil, inf, log, log2, sqrt

from safetab.accounting.approximate_dp import exact_delta, exact_epsilon
from safetab.accounting.composition import different_levels
from safetab.accounting.events import LevelEvents
from safetab.accounting.loss_distributions.losses import BeyondGridError, LossDistribution, both, count_loss
from safetab.accounting.loss_distributions.tilted import (
    NEGLIGIBLE,
    ROUNDING,
    SPREADS,
    TiltedLoss,
    compose,
    worst_of,
)
from safetab.noise.laws import Mechanism

#: Grid points in the window of a release: fewer where the worst mix has to be found. The error of discretising falls
#: with the square of their number.
_POINTS, _POINTS_OF_MIXES = 1 << 15, 1 << 14

#: Levels without their names, and how often each occurs.
_Levels = tuple[tuple[LevelEvents, int], ...]


def pld_epsilon(levels: Iterable[LevelEvents], delta: Fraction) -> float:
    """The epsilon of these levels together at delta, from their privacy loss distributions, rounded up.

    Raises BeyondGridError where the losses do not fit on a grid of floats.
    """
    needed = exact_delta(delta)
    counted = different_levels(levels)
    if not counted or needed == 1:
        return 0.0
    log_inverse = log(needed.denominator) - log(needed.numerator)
    epsilon = min(_composed(counted, log_inverse).epsilon(float(needed) * (1 - ROUNDING)), _largest_loss(counted))
    if epsilon == inf:
        raise BeyondGridError(f"a delta of exp({-log_inverse:.5g}) is beyond the grid")
    return epsilon


def pld_delta(levels: Iterable[LevelEvents], epsilon: Fraction) -> float:
    """The delta of these levels together at epsilon, from their privacy loss distributions, rounded up."""
    wanted = min(float(min(exact_epsilon(epsilon), Fraction(10**300))), 1e300)
    counted = different_levels(levels)
    if not counted or wanted >= _largest_loss(counted):
        return 0.0
    return _composed(counted, _log_inverse_delta(counted, wanted)).delta(wanted)


def pld_deltas(
    levels: Iterable[LevelEvents], epsilons: Iterable[Fraction], *, small_ones_matter: bool = True
) -> list[float]:
    """The deltas of these levels together at many epsilons, rounded up.

    One distribution serves epsilons whose deltas are alike in size: any tilt gives a bound, and a near one a tight one.
    Where small deltas need not be tight, the distribution with the least tilt serves all epsilons.
    """
    counted = different_levels(levels)
    wanted = [float(min(exact_epsilon(epsilon), Fraction(10**300))) for epsilon in epsilons]
    if not counted:
        return [0.0 for _ in wanted]
    most = _largest_loss(counted)
    found = []
    for epsilon in wanted:
        tilt = 2.0 ** round(log2(max(_log_inverse_delta(counted, epsilon), 0.5))) if small_ones_matter else 0.5
        found.append(0.0 if epsilon >= most else _composed(counted, min(tilt, NEGLIGIBLE)).delta(epsilon))
    return found


def epsilon_about(levels: Iterable[LevelEvents], log_inverse_delta: float) -> Fraction:
    """About the epsilon of these levels together where delta is exp(-log_inverse_delta): a place to look, no bound."""
    counted = different_levels(levels)
    rho = _variance(counted) / 2
    return Fraction(min(rho + sqrt(4 * rho * log_inverse_delta), _largest_loss(counted)))


def _log_inverse_delta(counted: _Levels, epsilon: float) -> float:
    """About log(1/delta): eps = rho + sqrt(4 rho log(1/delta)) solved for delta, with 2 rho = variance."""
    rho = _variance(counted) / 2
    return min(max(epsilon - rho, 0.0) / (4 * rho) * max(epsilon - rho, 0.0), NEGLIGIBLE)


def losses_of_group(level: LevelEvents, step: float, floor_bits: int) -> list[LossDistribution]:
    """The loss of one record in one group of a level, for each kind of group that may be the worst.

    A TotalOnly count at eps dominates two geometric counts at gamma eps and (1 - gamma) eps: they are eps-DP together,
    and its loss takes only the extreme values that eps-DP allows. For Gaussian counts neither kind dominates.
    """
    kinds = level.group_kinds
    if level.has_total_only and level.mechanism is Mechanism.GEOMETRIC:
        kinds = kinds[:1]
    return [
        reduce(both, (count_loss(event.mechanism, event.budget, step, floor_bits) for event in kind)) for kind in kinds
    ]


@lru_cache(maxsize=256)
def _composed(counted: _Levels, log_inverse_delta: float) -> TiltedLoss:
    """The loss of a record at all levels, tilted to where delta is about exp(-log_inverse_delta)."""
    spread = sqrt(_variance(counted))
    mixed = any(level.has_total_only and level.has_two_stage for level, _ in counted)
    mixed = mixed and counted[0][0].mechanism is Mechanism.DISCRETE_GAUSSIAN
    step = 2 * SPREADS * spread / (_POINTS_OF_MIXES if mixed else _POINTS)
    # exp(-theta eps) E exp(theta loss) is least about here.
    theta = sqrt(2 * max(log_inverse_delta, 0.5)) / spread
    further = 10.0 / spread
    floor_bits = min(ceil(128 + 3 * log_inverse_delta / log(2)), 1000)
    parts: list[tuple[TiltedLoss, int]] = []
    log_moment_further = 0.0
    for level, times in counted:
        kinds = losses_of_group(level, step, floor_bits)
        at_most = level.stability * max(kind.log_moment(theta + further) for kind in kinds)
        tilted = [TiltedLoss.of(kind, theta) for kind in kinds]
        if len(tilted) == 1:
            parts.append((tilted[0], times * level.stability))
            log_moment_further += times * at_most
        else:
            # Every number of TotalOnly groups among a record's s groups; then the worst at each epsilon.
            mixes = [
                compose([(tilted[0], j), (tilted[1], level.stability - j)], at_most, further)
                for j in range(level.stability + 1)
            ]
            parts.append((worst_of(mixes), times))
            # A moment is an integral of the curve with positive weights, and the highest curve is below the sum of all.
            log_moment_further += times * (at_most + log(len(mixes)))
    return compose(parts, log_moment_further, further)


def _largest_loss(counted: _Levels) -> float:
    """The sum of epsilons where the noise is geometric; Gaussian noise has no largest loss."""
    if any(level.mechanism is not Mechanism.GEOMETRIC for level, _ in counted):
        return inf
    return float(sum(times * level.budget for level, times in counted)) * (1 + ROUNDING)


def _variance(counted: _Levels) -> float:
    """About the variance of a record's loss: 2 rho for each Gaussian count, epsilon^2 for each geometric one."""
    total = 0.0
    for level, times in counted:
        share = float(level.budget) / level.stability
        each = share * share if level.mechanism is Mechanism.GEOMETRIC else 2 * share
        total += times * level.stability * each
    return total
