"""Sums of privacy losses, tilted so that a tail of 1e-300 is as accurate as the middle.

In: loss distributions and how often each is composed. Out: the distribution of the sum in a window around where it
matters, delta at an epsilon and epsilon at a delta. The promise: all that is rounded, cut off or wrapped round is
bounded and added to delta. Points 2 and 3 of the head of `loss`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, expm1, floor, inf, log, log1p, log2, sqrt

import numpy as np

from safetab.accounting.loss import Floats, LossDistribution

#: The window: this many standard deviations of the tilted loss to either side.
SPREADS = 20
#: Covers the rounding of sums and products of positive floats, which is below it by orders of magnitude.
ROUNDING = 1e-9
#: Where exponentials of -x are taken for 0.
NEGLIGIBLE = 700.0


@dataclass(frozen=True, slots=True)
class TiltedLoss:
    """`chances[i]` is the chance of the loss (lower + i) * step, times exp(theta * loss - log_moment).

    `error` bounds the root of the summed squares of what the chances may lack, `stray` the tilted chance that may lie
    anywhere outside, `infinite` the untilted chance of an infinite loss.
    """

    step: float
    theta: float
    log_moment: float
    lower: int
    chances: Floats
    error: float = 0.0
    stray: float = 0.0
    infinite: float = 0.0

    @classmethod
    def of(cls, loss: LossDistribution, theta: float) -> TiltedLoss:
        moment = loss.log_moment(theta)
        tilted = loss.chances * np.exp(np.minimum(theta * loss.losses - moment, NEGLIGIBLE))
        return cls(loss.step, theta, moment, loss.lower, tilted, infinite=loss.infinite)

    @property
    def losses(self) -> Floats:
        return np.arange(self.lower, self.lower + len(self.chances), dtype=np.float64) * self.step

    @property
    def weights(self) -> Floats:
        """exp(-theta x) (1 - exp(-x)) at x = step, 2 step, ...: what a tilted chance x above epsilon adds to delta."""
        return _weights(self.step, self.theta, len(self.chances))

    def delta_at_point(self, k: int) -> float:
        """delta at epsilon = k * step, rounded up; 1 for a point below the window, of which nothing is known.

        P[loss > eps] - e^eps Q[loss > eps] is the sum over losses eps + x of p (1 - e^-x), and p is the tilted
        chance times exp(log_moment - theta (eps + x)).
        """
        if k < self.lower:
            return 1.0
        above = self.chances[k - self.lower + 1 :]
        weights = self.weights
        finite = float((above * weights[: len(above)]).sum()) + self.error * _norm(weights) + self.stray
        if finite <= 0.0:
            return self.infinite
        exponent = self.log_moment - self.theta * k * self.step + log(finite)
        return min(exp(min(exponent, 0.0)) * (1 + ROUNDING) + self.infinite, 1.0)

    def delta(self, epsilon: float) -> float:
        """delta at any epsilon: between grid points the curve is straight in exp(epsilon)."""
        k = min(floor(epsilon / self.step), self.lower + len(self.chances) - 2)
        low, high = self.delta_at_point(k), self.delta_at_point(k + 1)
        share = min(max(expm1(min(epsilon - k * self.step, self.step)) / expm1(self.step), 0.0), 1.0)
        return min((low + (high - low) * share) * (1 + ROUNDING), 1.0)

    def epsilon(self, delta: float) -> float:
        """The least epsilon >= 0 whose delta is at most this one; infinite where the window does not reach it."""
        reached, missed = self.lower + len(self.chances) - 1, -1
        if reached < 0 or self.delta_at_point(reached) > delta:
            return inf
        while reached - missed > 1:
            middle = (reached + missed) // 2
            if self.delta_at_point(middle) <= delta:
                reached = middle
            else:
                missed = middle
        if reached <= max(self.lower, 0):
            return reached * self.step
        low, high = self.delta_at_point(reached - 1), self.delta_at_point(reached)
        share = (low - delta) / (low - high)
        return ((reached - 1) * self.step + log1p(expm1(self.step) * share)) * (1 + ROUNDING)


def _norm(values: Floats) -> float:
    # Not numpy.linalg: its threads cost more than they bring at this length.
    return sqrt(float((values * values).sum()))


@lru_cache(maxsize=8)
def _weights(step: float, theta: float, points: int) -> Floats:
    x = np.arange(1, points + 1) * step
    weights: Floats = np.exp(-np.minimum(theta * x, NEGLIGIBLE)) * -np.expm1(-x)
    return weights


def compose(parts: Sequence[tuple[TiltedLoss, int]], log_moment_further: float, further: float) -> TiltedLoss:
    """The sum of independent losses, each part so many times.

    `log_moment_further` bounds the logarithm of the sum's moment at theta + `further`, for Chernoff's bound on what
    lies above the window. What lies below it is wrapped to its top, where it can only add to delta.
    """
    step, theta = parts[0][0].step, parts[0][0].theta
    log_moment = sum(times * part.log_moment for part, times in parts)
    mean, variance = 0.0, 0.0
    for part, times in parts:
        losses = part.losses
        middle = float((part.chances * losses).sum())
        mean += times * middle
        variance += times * float((part.chances * (losses - middle) ** 2).sum())
    spread = max(sqrt(variance), step)
    lower = floor((mean - SPREADS * spread) / step)
    points = 1 << ceil(log2(2 * SPREADS * spread / step + 2))
    product = np.ones(points // 2 + 1, dtype=complex)
    norms = 1.0
    for part, times in parts:
        positions = (part.lower + np.arange(len(part.chances))) % points
        wrapped = np.zeros(points)
        wrapped += np.bincount(positions, part.chances, points)
        product *= np.fft.rfft(wrapped) ** times
        norms += times * _norm(wrapped)
    total = np.roll(np.fft.irfft(product, points), -(lower % points))
    # Each transform is off by a few roundings for each doubling of its length, in the mean square. No factor is larger
    # than 1 in size and convolving with chances widens no mean square, so errors add up.
    error = 16 * float(np.finfo(float).eps) * log2(points) * norms + sum(times * part.error for part, times in parts)
    beyond = log_moment_further - log_moment - further * (lower + points) * step
    stray = exp(min(max(beyond, -NEGLIGIBLE), 0.0)) + sum(times * part.stray for part, times in parts)
    infinite = sum(times * part.infinite for part, times in parts) * (1 + ROUNDING)
    return TiltedLoss(step, theta, log_moment, lower, np.maximum(total, 0.0), error, stray, min(infinite, 1.0))


def worst_of(losses: Sequence[TiltedLoss]) -> TiltedLoss:
    """A loss that dominates every one of these: its hockey-stick curve is the largest of theirs at each grid point."""
    step, theta = losses[0].step, losses[0].theta
    log_moment = max(loss.log_moment for loss in losses)
    lower = min(loss.lower for loss in losses) - 1
    upper = max(loss.lower + len(loss.chances) for loss in losses) + 1
    chances = np.zeros((upper - lower, len(losses)))
    for number, loss in enumerate(losses):
        start = loss.lower - lower
        scale = exp(loss.log_moment - log_moment)
        chances[start : start + len(loss.chances), number] = loss.chances * scale
    curves = _curves(chances, step, theta)
    highest = curves.max(axis=1)
    winner = curves.argmax(axis=1)
    # Where three neighbours agree on who is highest, the mass is that one's own and nothing is subtracted.
    agreed = np.zeros(len(highest), dtype=bool)
    agreed[1:-1] = (winner[:-2] == winner[1:-1]) & (winner[1:-1] == winner[2:])
    own = np.take_along_axis(chances, winner[:, None], axis=1)[:, 0]
    # Elsewhere it is the fall of A, where the curve just above a point is A - exp(eps) B.
    curve_error = max(loss.error * _norm(loss.weights) for loss in losses)
    slack = 4 * (4e-16 * log2(len(highest)) * highest + curve_error) / -expm1(-step)
    above = (highest - exp(-(1 + theta) * step) * np.append(highest[1:], 0.0)) / -expm1(-step)
    fall = exp(theta * step) * np.append(above[0], above[:-1]) - above + slack
    error = 2 * sum(loss.error for loss in losses)
    return TiltedLoss(
        step,
        theta,
        log_moment,
        lower,
        np.where(agreed, own, np.maximum(fall, 0.0)),
        error,
        max(loss.stray for loss in losses),
        max(loss.infinite for loss in losses),
    )


def _curves(chances: Floats, step: float, theta: float) -> Floats:
    """delta at each grid point, times exp(theta eps - log_moment), by a recursion whose terms are all positive.

    One column for each loss. With A_k the tilted chance above k, weighted by exp(-theta x):
    A_k = e^(-theta h) (p_(k+1) + A_(k+1)) and d_k = e^(-(1+theta) h) d_(k+1) + (1 - e^-h) A_k.
    """
    tilt, shrink, rest = exp(-theta * step), exp(-(1 + theta) * step), -expm1(-step)
    curves = np.zeros_like(chances)
    above = np.zeros(chances.shape[1])
    for k in range(len(chances) - 2, -1, -1):
        above = tilt * (chances[k + 1] + above)
        curves[k] = shrink * curves[k + 1] + rest * above
    return curves
