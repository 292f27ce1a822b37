"""Sums of independent noisy cells: the law of a T1 total that is added up from T2 cells, and of a sex marginal.

In: the law of one cell and the number of cells n. Out: balls that contain P[|S| <= m], the chance that the noise S of
the sum is at most m in size. The promise: every series that is cut and every wrap-around carries its proven bound, at
any scale: a wide law costs no more than a narrow one. Section "Post-processing" of the specification; the paper gives
margins of error for single counts only.

Geometric. The generating function of S is [(1-q)^2 / ((1-qz)(1-q/z))]^n with q = exp(-epsilon). Its partial fractions
in 1/(1-qz)^i have the coefficients a_i of `_fractions`, and the upper tail of 1/(1-qz)^i is that of a negative
binomial law, a finite sum. All terms are positive, so nothing cancels.

Discrete Gaussian. With phi the characteristic function of a cell, D_m(t) = sin((2m+1)t/2) / sin(t/2) and t_j = 2 pi
j/N, the sum over j of phi(t_j)^n D_m(t_j) / N is P[S mod N is within m of 0] exactly: it exceeds P[|S| <= m] by at most
P[|S| >= N - m]. That is bounded by 2 exp(-x^2 / (2 n sigma^2)): a discrete Gaussian is sub-Gaussian with sigma^2,
because E exp(uX) = exp(u^2 sigma^2 / 2) times the normaliser of a shifted lattice over that of the unshifted one, and
the unshifted one is the largest. phi is positive and falls on [0, pi] (it is a ratio of theta functions, by the
triple product a product of falling factors), so what is left out after J terms is at most phi(t_J)^n ln(N / 2J).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, isqrt

from flint import arb

from safetab.accounting.calibration import exact_confidence, whole_moe
from safetab.accounting.rules import CELLS_ARE_WHOLE
from safetab.errors import Finding, InputError
from safetab.noise.enclosure import ball, between_zero_and, is_at_least, working_precision
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric

#: Bits of work beyond the absolute accuracy asked for.
_GUARD = 64


@dataclass(frozen=True, slots=True)
class NoisySum:
    """The noise of a sum of `n_cells` cells, each with noise of its own by the same law."""

    law: Law
    n_cells: int

    def __post_init__(self) -> None:
        _check_cells(self.n_cells)

    def within(self, m: int, bits: int) -> arb:
        """P[|S| <= m], with an absolute error of about 2^-bits."""
        whole_moe(m)
        with working_precision(bits + _GUARD):
            if isinstance(self.law, TwoSidedGeometric) and self.n_cells > 1:
                return 1 - 2 * _geometric_tail(self.law.epsilon, self.n_cells, m, bits)
            if isinstance(self.law, DiscreteGaussian) and self.n_cells > 1:
                return _gaussian_within(self.law.sigma_squared, self.n_cells, m, bits)
            return 1 - 2 * self.law.tail(m, bits)

    def variance(self, bits: int) -> arb:
        """The variance of S."""
        with working_precision(bits + _GUARD):
            return self.n_cells * self.law.variance(bits)

    def two_sided_quantile(self, confidence: Fraction) -> int:
        """The smallest m with P[|S| <= m] >= confidence, certified."""
        needed = exact_confidence(confidence)
        if self.n_cells == 1:
            return self.law.two_sided_quantile(needed)

        def reaches(m: int) -> bool:
            return is_at_least(lambda bits: self.within(m, bits), needed)

        missed, reached = -1, 0
        while not reaches(reached):
            missed, reached = reached, 2 * reached + 1
        while reached - missed > 1:
            middle = (reached + missed) // 2
            if reaches(middle):
                reached = middle
            else:
                missed = middle
        return reached


def _check_cells(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(Finding(CELLS_ARE_WHOLE, "accuracy", key="n_cells", seen=repr(value)))


@lru_cache(maxsize=256)
def _fractions(epsilon: Fraction, n: int, bits: int) -> tuple[arb, ...]:
    """a_1 to a_n, with which P[S = k] is the sum of a_i C(k+i-1, i-1) q^k for k >= 1.

    Put u = 1 - qz, x = q^2, w = 1 - x. Then (1 - q/z)^-n = ((w-u) + x)^n / (w-u)^n is the sum over j of
    C(n,j) x^j (w-u)^-j, whose coefficient at u^r is the sum over j of C(n,j) x^j C(j+r-1, r) w^(-j-r): that, times
    (1-q)^(2n), is a_(n-r).
    """
    with working_precision(bits + _GUARD):
        square = ball(-2 * epsilon).exp()
        w = -ball(-2 * epsilon).expm1()
        whole = (-ball(-epsilon).expm1()) ** (2 * n)
        ratio = [(square / w) ** j for j in range(n + 1)]
        coefficients = []
        for i in range(1, n + 1):
            r = n - i
            total = sum((comb(n, j) * comb(j + r - 1, r) * ratio[j] for j in range(1, n + 1)), arb(1 if r == 0 else 0))
            coefficients.append(whole * total / w**r)
        return tuple(coefficients)


def _geometric_tail(epsilon: Fraction, n: int, m: int, bits: int) -> arb:
    """P[S > m] for m >= 0: the sum of a_i times sum_{k>m} C(k+i-1, i-1) q^k.

    The inner sum is (1-q)^-i times the chance of fewer than i successes, each of chance 1-q, in m+i trials.
    """
    q, p = ball(-epsilon).exp(), -ball(-epsilon).expm1()
    odds = p / q
    total = arb(0)
    for i, coefficient in enumerate(_fractions(epsilon, n, bits), start=1):
        term, successes = arb(1), arb(0)
        for done in range(i):
            successes += term
            term = term * (m + i - done) / (done + 1) * odds
        total += coefficient * successes * q**i / p**i
    return total * ball(-epsilon * m).exp()


def _characteristic(s: Fraction, t: arb, bits: int) -> arb:
    """E cos(tX) for 0 <= t <= pi, times a constant that is the same for every t.

    For s >= 1/6 by Poisson summation, exp(-s (t + 2 pi k)^2 / 2) over all k; else exp(-k^2 / 2s) cos(kt). Either way
    neighbouring terms beyond the last one kept shrink by more than half.
    """
    wide = s >= Fraction(1, 6)
    last = isqrt(bits // 3 + 1) + 3
    if not wide:
        terms = [(ball(-Fraction(k * k) / (2 * s))).exp() for k in range(1, last + 2)]
        total = 1 + 2 * sum((terms[k - 1] * (k * t).cos() for k in range(1, last + 1)), arb(0))
        rest = between_zero_and(4 * terms[last])
        return total + rest - rest
    half = ball(s) / 2
    turn = 2 * arb.pi()
    total = (-half * t * t).exp()
    for k in range(1, last + 1):
        added = (-half * (t - turn * k) ** 2).exp() + (-half * (t + turn * k) ** 2).exp()
        total += added
        if k > 1 and added < arb(2) ** (-2 * bits) * total:
            break
    return total + between_zero_and(2 * added)


def _gaussian_within(s: Fraction, n: int, m: int, bits: int) -> arb:
    """P[|S| <= m] by the finite Fourier sum of the module's head."""
    accuracy = arb(2) ** -bits
    # exp(-far^2 / 2ns) <= 2^-(bits+2), as 7/10 > ln 2.
    far = isqrt(int(2 * n * s * (bits + 2) * Fraction(7, 10))) + 1
    if m >= far:
        return 1 - between_zero_and(accuracy)
    period = m + far + 1
    period += 1 - period % 2  # odd, so that every angle but 0 has its mirror image
    whole = _characteristic(s, arb(0), bits)
    angle = 2 * arb.pi() / period
    total, steps = arb(2 * m + 1), (period - 1) // 2
    for j in range(1, steps + 1):
        t = angle * j
        weight = (_characteristic(s, t, bits) / whole) ** n
        total += 2 * weight * (t * (2 * m + 1) / 2).sin() / (t / 2).sin()
        left_out = weight * (ball(Fraction(period, 2 * j))).log()
        if left_out < accuracy:
            total += period * (between_zero_and(left_out) - between_zero_and(left_out))
            break
    return total / period - between_zero_and(accuracy)
