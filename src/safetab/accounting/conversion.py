"""From Rényi divergence to (epsilon, delta): the two conversions of the paper, both ways.

In: a curve alpha -> bound on D_alpha, or a rho; an exact delta or epsilon. Out: floats that are never below the true
value of the formula. The promise: a minimiser only chooses alpha; the figure is the formula at that exact alpha,
evaluated in balls and rounded up, so a poor choice costs tightness and never validity.
`lem:renyi-divergence-to-approx-dp-tight` and `lem:zcdp-to-approx-dp-loose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

from flint import arb

from safetab.accounting.rules import DELTA_IS_A_CHANCE, EPSILON_IS_EXACT
from safetab.errors import Finding, InputError
from safetab.noise.enclosure import ball, working_precision

#: Bits of every evaluation here: enough that the ball is far narrower than a float.
BITS = 128
#: alpha in {1.01, 1.02, ..., 10.0}, the paper's.
PAPER_GRID = tuple(Fraction(number, 100) for number in range(101, 1001))

Curve = Callable[[Fraction], arb]


@dataclass(frozen=True, slots=True)
class AtAlpha:
    """A figure and the order it was found at."""

    value: float
    alpha: Fraction


def upward(value: arb) -> float:
    """A float that is certainly not below the number in the ball."""
    nearest = float(value.upper())
    return nearest if nearest == inf else nextafter(nearest, inf)


def exact_delta(value: object) -> Fraction:
    """`value` as a Fraction, or an error when it is not in (0, 1]."""
    if isinstance(value, bool) or not isinstance(value, Fraction | int) or not 0 < value <= 1:
        raise InputError(Finding(DELTA_IS_A_CHANCE, "accounting", key="delta", seen=repr(value)))
    return Fraction(value)


def exact_epsilon(value: object) -> Fraction:
    """`value` as a Fraction, or an error when it is negative or rounded."""
    if isinstance(value, bool) or not isinstance(value, Fraction | int) or value < 0:
        raise InputError(Finding(EPSILON_IS_EXACT, "accounting", key="epsilon", seen=repr(value)))
    return Fraction(value)


def epsilon_analytic(rho: arb, delta: Fraction) -> float:
    """rho + sqrt(4 rho log(1/delta)), rounded up."""
    with working_precision(BITS):
        return upward(rho + (4 * rho * _log_inverse(exact_delta(delta))).sqrt())


def epsilon_at(curve: Curve, alpha: Fraction, delta: Fraction) -> arb:
    """The epsilon that goes with delta by the divergence of one order."""
    order = ball(alpha - 1)
    a = ball(alpha)
    return curve(alpha) + (_log_inverse(delta) - a.log()) / order + (-1 / a).log1p()


def delta_at(curve: Curve, alpha: Fraction, epsilon: Fraction) -> arb:
    """The delta that goes with epsilon by the divergence of one order."""
    order = ball(alpha - 1)
    exponent = order * (curve(alpha) - ball(epsilon)) + ball(alpha) * (-1 / ball(alpha)).log1p()
    return exponent.exp() / order


def epsilon_on_grid(curve: Curve, delta: Fraction, grid: Iterable[Fraction] = PAPER_GRID) -> AtAlpha:
    """The least epsilon over a grid of orders, rounded up; never below 0."""
    needed = exact_delta(delta)
    with working_precision(BITS):
        return min((AtAlpha(_positive(epsilon_at(curve, alpha, needed)), alpha) for alpha in grid), key=_value)


def epsilon_minimised(curve: Curve, delta: Fraction) -> AtAlpha:
    """The least epsilon over all orders, as near as the search comes, rounded up; never below 0."""
    needed = exact_delta(delta)
    with working_precision(BITS):
        return _least(lambda alpha: _positive(epsilon_at(curve, alpha, needed)))


def delta_minimised(curve: Curve, epsilon: Fraction) -> AtAlpha:
    """The least delta over all orders, as near as the search comes, rounded up; never above 1."""
    wanted = exact_epsilon(epsilon)
    with working_precision(BITS):
        return _least(lambda alpha: min(upward(delta_at(curve, alpha, wanted)), 1.0))


def _positive(value: arb) -> float:
    return max(upward(value), 0.0)


def _value(found: AtAlpha) -> float:
    return found.value


def _log_inverse(delta: Fraction) -> arb:
    return ball(1 / delta).log()


def _least(objective: Callable[[Fraction], float]) -> AtAlpha:
    """Search alpha = 1 + 2^t: every half step from 2^-40 to 2^200, then ever closer around the best.

    The range covers budgets from 1e-100 to 1e20 at any delta that can be written.
    """

    def at(t: Fraction) -> AtAlpha:
        # 2^t for a fraction t is rounded to a float: which order is used is free.
        whole = t.numerator // t.denominator
        order = Fraction(2.0 ** float(t - whole)) * Fraction(2) ** whole
        return AtAlpha(objective(1 + order), 1 + order)

    step = Fraction(1, 2)
    tried = {t * step: at(t * step) for t in range(-80, 401, 4)}
    best = min(tried, key=lambda t: tried[t].value)
    width = 4 * step
    while width > Fraction(1, 1 << 16):
        width /= 2
        for t in (best - width, best + width):
            tried[t] = at(t)
        best = min((best - width, best, best + width), key=lambda t: tried[t].value)
    return tried[best]
