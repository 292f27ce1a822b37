"""Divergences by plain summation over outcomes, from the definitions. Imports nothing of SafeTab."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tests.oracle.laws import Floats, gaussian_pmf, geometric_pmf


def pair(mechanism: str, budget: float, last: int) -> tuple[Floats, Floats]:
    """The laws of a noisy count of 1 and of 0, on the outcomes -last+1..last."""
    pmf = geometric_pmf(budget, last) if mechanism == "geometric" else gaussian_pmf(1 / (2 * budget), last)
    return pmf[:-1], pmf[1:]


def product(pairs: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The joint laws of independent counts, every combination of outcomes."""
    p, q = np.array([1.0]), np.array([1.0])
    for one, other in pairs:
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
    return p, q


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    """The least delta at epsilon: the sum of max(0, p - exp(eps) q)."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def renyi(p: Floats, q: Floats, alpha: float) -> float:
    """D_alpha(P || Q) by summation."""
    keep = (p > 0) & (q > 0)
    return math.log(float((p[keep] * (p[keep] / q[keep]) ** (alpha - 1)).sum())) / (alpha - 1)


def geometric_delta(counts: Sequence[tuple[float, int]], epsilon: float) -> float:
    """The delta of many geometric counts: their losses are +eps or -eps, so numbers of pluses are enough."""
    total = 0.0
    for pluses in itertools.product(*(range(times + 1) for _, times in counts)):
        loss = sum(eps * (2 * plus - times) for (eps, times), plus in zip(counts, pluses, strict=True))
        if loss > epsilon:
            chance = 1.0
            for (eps, times), plus in zip(counts, pluses, strict=True):
                up = 1 / (1 + math.exp(-eps))
                chance *= math.comb(times, plus) * up**plus * (1 - up) ** (times - plus)
            total += chance * -math.expm1(epsilon - loss)
    return total


def gaussian_delta(rho: float, times: int, epsilon: float) -> float:
    """The delta of equal discrete Gaussian counts: the loss is (times + 2 sum of noise) rho, the sum by convolution."""
    last = int(40 / math.sqrt(2 * rho)) + 40
    pmf = gaussian_pmf(1 / (2 * rho), last)
    total = np.array([1.0])
    for _ in range(times):
        total = np.convolve(total, pmf)
    centre = len(total) // 2
    losses = (times + 2 * (np.arange(len(total)) - centre)) * rho
    above = losses > epsilon
    return math.fsum(total[above] * -np.expm1(epsilon - losses[above]))
