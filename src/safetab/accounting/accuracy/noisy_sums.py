"""Sums of independent noisy cells: the law of a T1 total that is added up from T2 cells, and of a sex marginal.

In: the law of one cell and the number of cells n. Out: balls that contain P[|S| <= m], the chance that the noise S of
the sum is at most m in size. The promise: every series that is cut and every wrap-around carries its proven bound, at
any scale: a wide law costs no more than a narrow one. Section "Post-processing" of the specification; the paper gives
margins of error for single counts only.

Geometric. The generating function of S is [(1-q)^2 / ((1-qz)(1-q/z))]^n with q = exp(-epsilon). Its partial fractions
in 1/(1-qz)^i have the coefficients a_i of `_fractions`, and the upper tail of 1/(1-qz)^i is that of a negative
binomial law, a finite sum. All terms are positive, so nothing cancels. The work grows with n^2, so sums of many cells
are done by Fourier as below: there phi(t) = p^2 / (p^2 + 4 q sin^2(t/2)) with p = 1 - q, which is positive and falls on
[0, pi], and P[|S| >= x] <= 2 exp(-ux) E[exp(uX)]^n with E exp(uX) = p^2 / (p^2 - 4 q sinh^2(u/2)), for any u that makes
4 q sinh^2(u/2) a share a < 1 of p^2.

Fourier. With phi the characteristic function of a cell, D_m(t) = sin((2m+1)t/2) / sin(t/2) and t_j = 2 pi
j/N, the sum over j of phi(t_j)^n D_m(t_j) / N is P[S mod N is within m of 0] exactly: it exceeds P[|S| <= m] by at most
P[|S| >= N - m]. What is left out after J terms is at most phi(t_J)^n ln(N / 2J), where phi is positive and falls on
[0, pi].

Discrete Gaussian. P[|S| >= x] is bounded by 2 exp(-x^2 / (2 n sigma^2)): a discrete Gaussian is sub-Gaussian with
sigma^2, because E exp(uX) = exp(u^2 sigma^2 / 2) times the normaliser of a shifted lattice over that of the unshifted
one, and the unshifted one is the largest. phi is a ratio of theta functions, by the triple product a product of
positive, falling factors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, isqrt, log, sqrt

from flint import arb

from safetab.arguments import chance, whole_number
from safetab.noise.ball_arithmetic import ball, between_zero_and, is_at_least, smallest_integer_near, working_precision
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric

#: Bits of work beyond the absolute accuracy asked for.
_GUARD = 64
#: From so many cells on, geometric sums are done by Fourier: phi^n then falls quickly.
_MANY_CELLS = 100


@dataclass(frozen=True, slots=True)
class NoisySum:
    """The noise of a sum of `n_cells` cells, each with noise of its own by the same law."""

    law: Law
    n_cells: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_cells", whole_number(self.n_cells, "n_cells", 1))

    def within(self, m: int, bits: int) -> arb:
        """P[|S| <= m], with an absolute error of about 2^-bits."""
        m = whole_number(m, "m", 0)
        with working_precision(bits + _GUARD):
            if isinstance(self.law, TwoSidedGeometric) and self.n_cells >= _MANY_CELLS:
                return _geometric_within(self.law.epsilon, self.n_cells, m, bits)
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
        needed = chance(confidence, "confidence")
        if self.n_cells == 1:
            return self.law.two_sided_quantile(needed)
        # A sum of many cells is nearly normal. That decides where the search begins, and nothing else.
        spread = sqrt(self.n_cells * float(self.law.variance(_GUARD)))
        guess = round(_normal_quantile(float((1 - needed) / 2)) * spread)
        return smallest_integer_near(lambda m: m >= 0 and is_at_least(lambda bits: self.within(m, bits), needed), guess)


def _normal_quantile(tail: float) -> float:
    """What a normal variable exceeds with a chance of at most 1/2, to within 0.0005: Abramowitz and Stegun, 26.2.23."""
    t = sqrt(-2 * log(max(tail, 1e-300)))
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))


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
    """P[|S| <= m] of discrete Gaussian cells."""
    # exp(-far^2 / 2ns) <= 2^-(bits+2), as 7/10 > ln 2.
    far = isqrt(int(2 * n * s * (bits + 2) * Fraction(7, 10))) + 1
    whole = _characteristic(s, arb(0), bits)
    return _fourier_within(lambda t: _characteristic(s, t, bits) / whole, far, n, m, bits)


def _geometric_within(epsilon: Fraction, n: int, m: int, bits: int) -> arb:
    """P[|S| <= m] of many geometric cells."""
    p, q = -ball(-epsilon).expm1(), ball(-epsilon).exp()
    # Whatever share is chosen, the bound below holds; this one makes it small.
    share = arb(min(bits, n)) / (2 * n)
    u = 2 * ((share / q).sqrt() * p / 2).asinh()
    # exp(-u far) E[exp(uX)]^n <= 2^-(bits+2)
    bound = ((bits + 2) * arb(2).log() - n * (1 - share).log()) / u
    far = int(bound.upper().ceil().fmpz()) + 1
    return _fourier_within(lambda t: p * p / (p * p + 4 * q * (t / 2).sin() ** 2), far, n, m, bits)


def _fourier_within(phi: Callable[[arb], arb], far: int, n: int, m: int, bits: int) -> arb:
    """P[|S| <= m] by the finite Fourier sum of the module's head, given that P[|S| >= far] <= 2^-(bits+1)."""
    accuracy = arb(2) ** -bits
    if m >= far:
        return 1 - between_zero_and(accuracy)
    period = m + far + 1
    period += 1 - period % 2  # odd, so that every angle but 0 has its mirror image
    angle = 2 * arb.pi() / period
    total, steps = arb(2 * m + 1), (period - 1) // 2
    for j in range(1, steps + 1):
        t = angle * j
        weight = phi(t) ** n
        total += 2 * weight * (t * (2 * m + 1) / 2).sin() / (t / 2).sin()
        left_out = weight * (ball(Fraction(period, 2 * j))).log()
        if left_out < accuracy:
            total += period * (between_zero_and(left_out) - between_zero_and(left_out))
            break
    return total / period - between_zero_and(accuracy)
