"""Plain floats and integers in place of the certified laws: weights, convolutions, draws. Imports none of SafeTab."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def geometric_pmf(epsilon: float, last: int) -> Floats:
    """P[X = k] for k = -last..last, from the definition."""
    k = np.abs(np.arange(-last, last + 1))
    return (math.exp(epsilon) - 1) / (math.exp(epsilon) + 1) * np.exp(-epsilon * k)


def gaussian_pmf(sigma_squared: float, last: int) -> Floats:
    """P[X = k] for k = -last..last, normalised over a range that is far wider."""
    wide = np.arange(-20 * last - 100, 20 * last + 101)
    total = np.exp(-(wide**2) / (2 * sigma_squared)).sum()
    k = np.arange(-last, last + 1)
    weights: Floats = np.exp(-(k**2) / (2 * sigma_squared)) / total
    return weights


def convolved(pmf: Floats, times: int) -> Floats:
    """The law of the sum of independent draws, still centred."""
    result = np.array([1.0])
    for _ in range(times):
        result = np.convolve(result, pmf)
    return result


def within(pmf: Floats, m: int) -> float:
    """P[|X| <= m] of a centred law."""
    centre = len(pmf) // 2
    return math.fsum(pmf[max(centre - m, 0) : centre + m + 1])


def bernoulli_exp(rate: Fraction, rng: random.Random) -> bool:
    """True with chance exp(-rate), by the alternating series of Canonne, Kamath and Steinke."""
    while rate > 1:
        if not bernoulli_exp(Fraction(1), rng):
            return False
        rate -= 1
    k = 1
    while rng.randrange(rate.denominator * k) < rate.numerator:
        k += 1
    return k % 2 == 1


def draw_geometric(epsilon: Fraction, rng: random.Random) -> int:
    """A draw with P[k] proportional to exp(-epsilon |k|), in integers."""
    # exp(-u/t) for uniform u below t, times a number of whole steps, is geometric with rate 1/t.
    t = epsilon.denominator
    while True:
        u = rng.randrange(t)
        if not bernoulli_exp(Fraction(u, t), rng):
            continue
        whole = 0
        while bernoulli_exp(Fraction(1), rng):
            whole += 1
        size = (u + t * whole) // epsilon.numerator
        negative = rng.randrange(2) == 1
        if negative and size == 0:
            continue
        return -size if negative else size


def draw_gaussian(sigma_squared: Fraction, rng: random.Random) -> int:
    """A draw with P[k] proportional to exp(-k^2 / (2 sigma_squared)), by rejection from the two-sided geometric."""
    t = math.isqrt(int(sigma_squared)) + 1
    while True:
        y = draw_geometric(Fraction(1, t), rng)
        if bernoulli_exp((abs(y) - sigma_squared / t) ** 2 / (2 * sigma_squared), rng):
            return y
