"""Rényi differential privacy: the divergence of a count, the curve of levels together, and its conversions.

In: a mechanism and a budget, or the events of levels; an order alpha > 1; an exact delta or epsilon. Out: balls that
contain the divergence, and floats that are never below the true value of the conversion. The promise: the divergence of
discrete noise is a sum over the integers, not an integral. The search only chooses alpha; the figure is the
formula at that exact alpha, computed in balls and rounded up, so a poor choice costs tightness and never validity.
`lem:divergence-of-geometric-distribution`, `cor:geometric-satisfies-renyi-dp`, `thm:safetab-saisfies-rdp` and
`lem:renyi-divergence-to-approx-dp-tight`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from safetab.accounting.approximate_dp import WORKING_BITS, exact_delta, exact_epsilon, log_inverse
from safetab.accounting.composition import cost_of
from safetab.accounting.events import LevelEvents
from safetab.accounting.rounding import float_above
from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.laws import Mechanism

#: alpha in {1.01, 1.02, ..., 10.0}, the paper's.
PAPER_GRID = tuple(Fraction(number, 100) for number in range(101, 1001))

#: A bound on the divergence for each order.
Curve = Callable[[Fraction], arb]


@dataclass(frozen=True, slots=True)
class AtAlpha:
    """A figure and the order it was found at."""

    value: float
    alpha: Fraction


def renyi_divergence(mechanism: Mechanism, budget: Fraction, alpha: Fraction) -> arb:
    """A bound on D_alpha between a noisy count and the same count changed by 1; exact for the geometric mechanism.

    Claim, geometric. The likelihood ratio of an outcome is exp(eps) or exp(-eps) and nothing else, the first with
    chance exp(eps) / (1 + exp(eps)). So D_alpha is log[(e^(alpha eps) + e^(-(alpha-1) eps)) / (e^eps + 1)] / (alpha -
    1), that of randomized response, which is the largest any eps-DP mechanism can have.

    Claim, discrete Gaussian. D_alpha <= rho alpha, with equality at whole alpha (Canonne, Kamath and Steinke).
    """
    if mechanism is Mechanism.DISCRETE_GAUSSIAN:
        return ball(budget * alpha)
    # Written so that no exponential is large: log E exp((alpha-1) loss) = (alpha-1) eps + two small terms.
    small = (1 + ball(-(2 * alpha - 1) * budget).exp()).log() - (1 + ball(-budget).exp()).log()
    return ball(budget) + small / ball(alpha - 1)


def renyi_curve(levels: Sequence[LevelEvents]) -> Curve:
    """alpha -> a bound on the Rényi divergence of these levels together."""
    if all(level.mechanism is Mechanism.DISCRETE_GAUSSIAN for level in levels):
        total = sum((level.budget for level in levels), Fraction(0))
        return lambda alpha: ball(total * alpha)
    cost = cost_of(levels)
    return lambda alpha: cost(lambda mechanism, budget: renyi_divergence(mechanism, budget, alpha))


def epsilon_at(curve: Curve, alpha: Fraction, delta: Fraction) -> arb:
    """The epsilon that goes with delta by the divergence of one order."""
    order = ball(alpha - 1)
    a = ball(alpha)
    return curve(alpha) + (log_inverse(delta) - a.log()) / order + (-1 / a).log1p()


def delta_at(curve: Curve, alpha: Fraction, epsilon: Fraction) -> arb:
    """The delta that goes with epsilon by the divergence of one order."""
    order = ball(alpha - 1)
    exponent = order * (curve(alpha) - ball(epsilon)) + ball(alpha) * (-1 / ball(alpha)).log1p()
    return exponent.exp() / order


def epsilon_on_grid(curve: Curve, delta: Fraction) -> AtAlpha:
    """The least epsilon over the orders of `PAPER_GRID`, rounded up; never below 0."""
    needed = exact_delta(delta)
    with working_precision(WORKING_BITS):
        found = [AtAlpha(_not_negative(epsilon_at(curve, alpha, needed)), alpha) for alpha in PAPER_GRID]
    return min(found, key=lambda each: each.value)


def epsilon_minimised(curve: Curve, delta: Fraction) -> AtAlpha:
    """The least epsilon over all orders, as near as the search comes, rounded up; never below 0."""
    needed = exact_delta(delta)
    with working_precision(WORKING_BITS):
        return _least(lambda alpha: _not_negative(epsilon_at(curve, alpha, needed)))


def delta_minimised(curve: Curve, epsilon: Fraction) -> AtAlpha:
    """The least delta over all orders, as near as the search comes, rounded up; never above 1."""
    wanted = exact_epsilon(epsilon)
    with working_precision(WORKING_BITS):
        return _least(lambda alpha: min(float_above(delta_at(curve, alpha, wanted)), 1.0))


def _not_negative(value: arb) -> float:
    return max(float_above(value), 0.0)


def _least(objective: Callable[[Fraction], float]) -> AtAlpha:
    """Search alpha = 1 + 2^t: every eighth t from -40 to 200, then ever closer around the best.

    The range covers budgets from 1e-100 to 1e20 at any delta that can be written.
    """

    def at(t: Fraction) -> AtAlpha:
        # 2^t for a fraction t is rounded to a float: any order may be used.
        whole = t.numerator // t.denominator
        order = Fraction(2.0 ** float(t - whole)) * Fraction(2) ** whole
        return AtAlpha(objective(1 + order), 1 + order)

    width = Fraction(8)
    tried = {t * width: at(t * width) for t in range(-5, 26)}
    best = min(tried, key=lambda t: tried[t].value)
    while width > Fraction(1, 1 << 16):
        width /= 2
        for t in (best - width, best + width):
            tried[t] = at(t)
        best = min((best - width, best, best + width), key=lambda t: tried[t].value)
    return tried[best]
