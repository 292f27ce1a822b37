"""Theta series, sums of exp(-j^2 / 2s): normaliser, variance and tails of the discrete Gaussian, with proven bounds.

In: the variance parameter s as an exact rational, and a working precision already set. Out: balls that contain the
true sums. The promise: every truncated series carries a ball around its remainder, by the bound stated where it is
cut. `def:discrete-gaussian-distribution` in the paper.

The normaliser is a theta function. For s >= 1/6 Poisson summation turns it round,
    sum_j exp(-j^2/2s) = sqrt(2 pi s) * sum_j exp(-2 pi^2 s j^2),
so that the series in use always has terms exp(-a j^2) with a >= 3, and a dozen of them give hundreds of bits.
Tails are summed term by term where that takes few terms, and by Euler-Maclaurin where the law is wide.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from flint import arb, fmpq

from safetab.noise.ball_arithmetic import ball, between_zero_and

#: Poisson summation from here on: 2 pi^2 / 6 > 3 on one side, 1 / (2/6) = 3 on the other.
_TURN = Fraction(1, 6)
#: More terms than this and Euler-Maclaurin is tried first.
_DIRECT_TERMS = 256


def _rapid_sums(a: arb, bits: int) -> tuple[arb, arb]:
    """Sums over all integers j of exp(-a j^2) and of j^2 exp(-a j^2), for a >= 3.

    Consecutive terms shrink by at least 4 exp(-9) < 1/2, so what is left out is at most twice the first term left
    out, and twice that again for both signs of j.
    """
    last = isqrt(bits // 3) + 2
    terms = [(-a * (j * j)).exp() for j in range(1, last + 2)]
    zeroth = sum((terms[j - 1] for j in range(1, last + 1)), arb(0))
    second = sum((terms[j - 1] * (j * j) for j in range(1, last + 1)), arb(0))
    first_left_out = terms[last]
    zeroth += between_zero_and(2 * first_left_out)
    second += between_zero_and(2 * (last + 1) ** 2 * first_left_out)
    return 1 + 2 * zeroth, 2 * second


def normaliser(s: Fraction, bits: int) -> arb:
    """The sum over all integers j of exp(-j^2 / 2s)."""
    if s < _TURN:
        return _rapid_sums(ball(1 / (2 * s)), bits)[0]
    pi = arb.pi()
    return (2 * pi * ball(s)).sqrt() * _rapid_sums(2 * pi * pi * ball(s), bits)[0]


def variance(s: Fraction, bits: int) -> arb:
    """The variance of the law with weights exp(-j^2 / 2s).

    It is 2 s^2 Z'(s) / Z(s); through Poisson summation, s - 4 pi^2 s^2 * (second sum / zeroth sum).
    """
    if s < _TURN:
        zeroth, second = _rapid_sums(ball(1 / (2 * s)), bits)
        return second / zeroth
    pi = arb.pi()
    zeroth, second = _rapid_sums(2 * pi * pi * ball(s), bits)
    return ball(s) - (2 * pi * ball(s)) ** 2 * second / zeroth


def tail_sum(s: Fraction, start: int, bits: int) -> arb:
    """The sum over j >= start >= 1 of exp(-j^2 / 2s), with relative accuracy however far out `start` is."""
    few = min(isqrt(int(2 * s * bits)) + 1, int(s * bits) // start + 1)
    relative = _by_euler_maclaurin(s, start, bits) if few > _DIRECT_TERMS else None
    if relative is None:
        # Euler-Maclaurin is not enough for narrow laws at high precision, where there are few terms. Anywhere else the
        # working precision was too low: a ball without information makes the caller try again with more.
        if few > _DIRECT_TERMS * bits:
            return arb.nan()
        relative = _term_by_term(s, start, bits)
    return ball(-Fraction(start * start) / (2 * s)).exp() * relative


def tail_sums(s: Fraction, smallest: arb, bits: int) -> list[arb]:
    """The sums over j > k of exp(-j^2 / 2s) for k = 0, 1, ... up to the first that is below `smallest`.

    One pass makes the terms by two multiplications each, one pass back adds them up. Terms stop where the remainder
    (geometric, by the falling ratio) is below 2^-bits of `smallest`.
    """
    ratio = ball(-Fraction(1) / (2 * s)).exp()
    step = ratio * ratio
    negligible = smallest * arb(2) ** -bits
    term, terms = arb(1), []
    while True:
        term, ratio = term * ratio, ratio * step
        if ratio < 1 and term / (1 - ratio) < negligible:
            break
        terms.append(term)
    running = between_zero_and(term / (1 - ratio))
    sums = [running]
    for term in reversed(terms):
        running = running + term
        sums.append(running)
    sums.reverse()
    return sums[: next(k for k, value in enumerate(sums) if value < smallest) + 1]


def _term_by_term(s: Fraction, start: int, bits: int) -> arb:
    """The tail over its first term. Each ratio of neighbours is below the one before, which bounds the rest."""
    ratio = ball(-Fraction(2 * start + 1) / (2 * s)).exp()
    step = ball(-Fraction(1) / s).exp()
    enough = arb(2) ** -bits
    term, total = arb(1), arb(0)
    while not (ratio < 1 and term / (1 - ratio) < enough):
        total += term
        term, ratio = term * ratio, ratio * step
    return total + between_zero_and(term / (1 - ratio))


def _mills(half_square: Fraction) -> arb:
    """exp(y^2/2) times the integral of exp(-t^2/2) over t >= y, from y^2/2.

    flint's erfc is faster, but far out it loses accuracy that the exponential cannot restore; the confluent function
    U(1/2, 1/2, .) is the same quantity without the two factors.
    """
    z, half = ball(half_square), ball(Fraction(1, 2))
    if half_square < 1000:
        return (arb.pi() / 2).sqrt() * z.sqrt().erfc() * z.exp()
    return z.hypgeom_u(half, half) / arb(2).sqrt()


def _by_euler_maclaurin(s: Fraction, start: int, bits: int) -> arb | None:
    """The tail over its first term, or None where the expansion does not reach 2^-bits.

    With sigma = sqrt(s), y = start / sigma and He the Hermite polynomials, the sum over its first term is
        sigma * mills(y) + 1/2 + sum_{m=1..p} B_2m/(2m)! sigma^(1-2m) He_{2m-1}(y) + R,
        |R| <= |B_2p|/(2p)! sigma^(1-2p) G_2p,
    because the derivatives of exp(-x^2/2) are Hermite polynomials times it and |B_2p(x)| <= |B_2p| on [0, 1].
    G_n bounds the integral over t >= y of |He_n(t)| exp((y^2 - t^2)/2): take the coefficients of He_n positive,
    call that H_n, integrate by parts, and G_{n+1} = H_n(y) + 2 n G_{n-1} with G_0 = mills(y), G_1 = 1.
    """
    sigma = ball(s).sqrt()
    y = start / sigma
    mills = _mills(Fraction(start * start) / (2 * s))
    total = sigma * mills + ball(Fraction(1, 2))
    enough = arb(2) ** -bits
    # Values at n - 1 and n, beginning with n = 1.
    hermite, positive, bound = (arb(1), y), (arb(1), y), (mills, arb(1))
    weight = 1 / sigma  # sigma^(1 - 2m) / (2m)!, less the factor of this step
    remainder_before = arb.pos_inf()
    for n in range(1, 2 * bits):
        if n % 2 == 1:
            weight = weight / (n * (n + 1))
            coefficient = weight * arb(fmpq.bernoulli(n + 1))
            total += coefficient * hermite[1]
        else:
            remainder = abs(coefficient) * bound[1]
            if remainder < enough:
                return total + between_zero_and(remainder) - between_zero_and(remainder)
            if not remainder < remainder_before:
                return None
            remainder_before = remainder
            weight = weight / ball(s)
        hermite = hermite[1], y * hermite[1] - n * hermite[0]
        bound = bound[1], positive[1] + 2 * n * bound[0]
        positive = positive[1], y * positive[1] + n * positive[0]
    return None
