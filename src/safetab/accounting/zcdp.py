"""Zero-concentrated differential privacy: the rho of a count, of levels together, and the epsilon that follows.

In: the mechanism and the budget of a count whose true value changes by 1, or the events of levels; an exact delta. Out:
balls that contain rho, and an epsilon that is rounded up. The promise: the rho of geometric noise is the least there
is, which is smaller than the paper's. `lem:discrete-gaussian-satisfies-zcdp`, `thm:safetab-satisfies-zcdp` and
`lem:zcdp-to-approx-dp-loose`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from safetab.accounting.approximate_dp import WORKING_BITS, exact_delta, log_inverse
from safetab.accounting.composition import cost_of
from safetab.accounting.events import LevelEvents
from safetab.accounting.rounding import float_above
from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.laws import Mechanism


def rho_of_count(mechanism: Mechanism, budget: Fraction) -> arb:
    """The least rho for which one count is rho-zCDP: the budget itself, or epsilon tanh(epsilon / 2).

    Claim. With w = alpha - 1/2, (alpha - 1) D_alpha = log cosh(eps w) - log cosh(eps / 2), and (alpha - 1) alpha = w^2
    - 1/4. So D_alpha / alpha is the difference quotient, between v = 1/4 and v = w^2, of F(v) = log cosh(eps sqrt v).
    F'(v) = eps tanh(eps sqrt v) / (2 sqrt v) falls because tanh(x)/x does, so F is concave, the quotient falls in
    alpha, and its supremum is F'(1/4) = eps tanh(eps / 2). It is below eps^2 / 2, the bound the paper quotes.
    """
    if mechanism is Mechanism.DISCRETE_GAUSSIAN:
        return ball(budget)
    return ball(budget) * (ball(budget) / 2).tanh()


def total_rho(levels: Iterable[LevelEvents]) -> arb:
    """The rho of these levels together, with each group's worst kind."""
    return cost_of(levels)(rho_of_count)


def epsilon_analytic(rho: arb, delta: Fraction) -> float:
    """rho + sqrt(4 rho log(1/delta)), rounded up."""
    with working_precision(WORKING_BITS):
        return float_above(rho + (4 * rho * log_inverse(exact_delta(delta))).sqrt())
