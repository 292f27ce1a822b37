"""Rényi divergences of one noisy count between neighbours, and the zCDP constants that follow.

In: the mechanism and the budget of a count whose true value changes by 1, and an order alpha > 1, all exact. Out: balls
that contain the divergence. The promise: what is called exact is a sum over the integers, not an integral; what the
paper prints is kept beside it under its own name. `lem:divergence-of-geometric-distribution`,
`cor:geometric-satisfies-renyi-dp` and `lem:discrete-gaussian-satisfies-zcdp`.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from safetab.noise.enclosure import ball
from safetab.noise.laws import Mechanism


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


def printed_divergence(epsilon: Fraction, alpha: Fraction) -> arb:
    """D_alpha of the geometric mechanism as the paper prints it, where an integral stands for the sum.

    It is smaller than the divergence at the paper's parameters and is no guarantee; docs/explanation/errata.md.
    """
    a, e = ball(alpha), ball(epsilon)
    first = a * ((a - 1) * e).exp()
    second = (a - 1) * (-a * e).exp()
    return ((e / 2).tanh() / e * 2 * (first + second) / (2 * a - 1)).log() / (a - 1)


def zcdp_rho(mechanism: Mechanism, budget: Fraction) -> arb:
    """The least rho for which one count is rho-zCDP: the budget itself, or epsilon tanh(epsilon / 2).

    Claim. With w = alpha - 1/2, (alpha - 1) D_alpha = log cosh(eps w) - log cosh(eps / 2), and (alpha - 1) alpha = w^2
    - 1/4. So D_alpha / alpha is the difference quotient, between v = 1/4 and v = w^2, of F(v) = log cosh(eps sqrt v).
    F'(v) = eps tanh(eps sqrt v) / (2 sqrt v) falls because tanh(x)/x does, so F is concave, the quotient falls in
    alpha, and its supremum is F'(1/4) = eps tanh(eps / 2). It is below eps^2 / 2, the bound the paper quotes.
    """
    if mechanism is Mechanism.DISCRETE_GAUSSIAN:
        return ball(budget)
    return ball(budget) * (ball(budget) / 2).tanh()
