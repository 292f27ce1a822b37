"""How many people totals that were left out may hold.

In: of each kind of total how many could have been left out, and how many were. Out: a number that their sum exceeds
with no more than a stated chance, whatever the true counts are. The promise holds over everything that may be left out:
nothing is measured of a row that is not there, so nothing can be said given that it is missing.

With p_i(N) the chance that total i is left out when its true count is N, let Y_i be -log p_i if it is left out, and 0
if not. With U uniform, -log U has the exponential law and is at least -log p_i with the chance p_i: so Y_i is
stochastically at most exponential, and the sum of k independent ones at most Gamma(k). Hence, except with the stated
chance, the sum of -log p_i(N_i) over those left out is at most the quantile c of Gamma(k). By weak duality no such N
has a sum above lambda c + sum of max_N (N + lambda log p_i(N)), for any lambda > 0; the least of these is returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, lgamma, log

import numpy as np

from safetab.estimates.noise_tails import NoiseTail, reach, spread
from safetab.noise.laws import Law

_POINTS = 4000
_BITS = 400


@dataclass(frozen=True, slots=True)
class Suppressible:
    """Totals with noise `law` that are left out when they are at most `up_to`."""

    law: Law
    up_to: int


def most_left_out(missing: Mapping[Suppressible, int], at_risk: int, chance: float) -> int:
    """At most so many people are in the totals that are missing, of `at_risk` that could be, except with `chance`."""
    kinds = frozenset((kind, count) for kind, count in missing.items() if count)
    return _most_left_out(kinds, at_risk, chance) if kinds else 0


@lru_cache(maxsize=1024)
def _most_left_out(kinds: frozenset[tuple[Suppressible, int]], at_risk: int, chance: float) -> int:
    quantile = gamma_quantile(at_risk, chance)
    curves = [(count, *_curve(kind)) for kind, count in kinds]
    widest = max(spread(kind.law) for kind, _ in kinds)
    bounds: list[float] = []
    for price in np.geomspace(widest / 100, widest * 100, 300):
        worth = sum(count * (float(np.max(n - price * cost)) + step) for count, n, cost, step in curves)
        bounds.append(float(price) * quantile + worth)
    return ceil(min(bounds))


@lru_cache(maxsize=64)
def _curve(kind: Suppressible) -> tuple[np.ndarray, np.ndarray, int]:
    """True counts, at each -log of the chance to be left out, and the step between them minus one."""
    last = max(kind.up_to, 0) + reach(kind.law, 1, _BITS)
    step = max(1, last // _POINTS)
    n = np.arange(0, last + step, step, dtype=np.int64)
    chances = np.maximum(NoiseTail(kind.law, _BITS)(n - kind.up_to), 1e-300)
    # Between two points the cost is at least that of the lower one.
    return n.astype(np.float64), -np.log(chances), step - 1


def gamma_quantile(k: int, chance: float) -> float:
    """The x with P[Gamma(k) > x] = chance, or a little more: a Poisson variable of mean x is below k as often."""
    orders = np.arange(k)
    log_factorials = np.array([lgamma(j + 1) for j in range(k)])

    def above(x: float) -> float:
        terms = orders * log(x) - log_factorials - x
        most = float(terms.max())
        return most + log(float(np.exp(terms - most).sum()))

    low, high = 1e-9, float(k) + 1
    while above(high) > log(chance):
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > log(chance) else (low, middle)
    return high
