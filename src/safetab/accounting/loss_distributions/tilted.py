"""Sums of privacy losses, tilted so that a chance of 1e-300 is as accurate as one of a half.

In: loss distributions and how often each is composed. Out: the distribution of the sum in a window around where it
matters, delta at an epsilon and epsilon at a delta. The promise: whatever is rounded, cut off or wrapped around is
bounded and added to delta.

1. Composing. Distributions are multiplied in Fourier space after tilting by exp(theta * loss). The rounding of the
   transform is then small against delta itself, down to any delta a float can represent, and is added to the answer.
   What the window of the transform leaves out is bounded by Chernoff and added too.
2. The worst of several (`worst_of`). The largest of several hockey-stick curves at each grid point is again such a
   curve (a maximum of convex ones), and its distribution dominates all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, expm1, floor, inf, log, log1p, log2, sqrt

import numpy as np

from safetab.accounting.loss_distributions.losses import Floats, LossDistribution

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
    # Not numpy.linalg: at this length its threads cost more than they gain.
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
    growth = _growth(parts)
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
    # Each transform is off by a few roundings for each doubling of its length, in the mean square. What one factor is
    # off by, the others multiply by no more than their growth, and so it is with what has strayed.
    rounded = 16 * float(np.finfo(float).eps) * log2(points) * norms
    error = growth * (rounded + sum(times * part.error for part, times in parts))
    beyond = log_moment_further - log_moment - further * (lower + points) * step
    stray = exp(min(max(beyond, -NEGLIGIBLE), 0.0)) + growth * sum(times * part.stray for part, times in parts)
    infinite = sum(times * part.infinite for part, times in parts) * (1 + ROUNDING)
    return TiltedLoss(step, theta, log_moment, lower, np.maximum(total, 0.0), error, stray, min(infinite, 1.0))


def _growth(parts: Sequence[tuple[TiltedLoss, int]]) -> float:
    """A bound on the product of any of the parts' transforms.

    A transform is nowhere larger than the sum of its chances. That is 1 for a tilted law, but more for the worst of
    several. What the chances lack and what has strayed belongs to it: a lack of e in the root of summed squares is at
    most e times the root of their number in the sum.
    """
    logs = 0.0
    for part, times in parts:
        lacking = part.error * sqrt(len(part.chances)) + part.stray
        logs += times * log(max(float(part.chances.sum()) * (1 + ROUNDING) + lacking, 1.0))
    return exp(min(logs, NEGLIGIBLE))


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
    nearby = np.maximum(highest, np.append(highest[0], highest[:-1]))
    slack = 5 * (_rounding_of_curves(len(highest), step, theta) * nearby + curve_error) / -expm1(-step)
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
    """delta at each grid point, times exp(theta eps - log_moment), as sums whose terms are all positive.

    One column for each loss. With A_k the tilted chance above k, weighted by exp(-theta x):
    A_k = sum over j >= 1 of e^(-j theta h) p_(k+j) and d_k = (1 - e^-h) sum over j >= 0 of e^(-j (1+theta) h) A_(k+j).
    """
    next_chances = np.vstack([chances[1:], np.zeros((1, chances.shape[1]))])
    above = exp(-theta * step) * _discounted_sums(next_chances, theta * step)
    return -expm1(-step) * _discounted_sums(above, (1 + theta) * step)


def _rounding_of_curves(points: int, step: float, theta: float) -> float:
    """A bound on the relative error of `_curves`, given its chances.

    With u half the distance from 1 to the next float, a doubling costs at most 4u: the sum, the product and 2u of the
    exponential. Its exponent is off by 2u of itself, and no term has exponents of more than (1 + theta) h n together.
    There are two rounds of doublings, and 8u for the factors outside the sums; the last factor covers higher orders.
    """
    unit = float(np.finfo(float).eps) / 2
    return unit * (8 * ceil(log2(points)) + 8 + 2 * (1 + theta) * step * points) * (1 + ROUNDING)


def _discounted_sums(values: Floats, rate: float) -> Floats:
    """The sum over j >= 0 of exp(-j rate) times the value j places further, for each place.

    Built from sums of 1, 2, 4, ... terms, so that roundings grow with the number of doublings and not of terms.
    """
    sums = values.copy()
    width = 1
    while width < len(sums):
        sums[:-width] += exp(-rate * width) * sums[width:]
        width *= 2
    return sums
