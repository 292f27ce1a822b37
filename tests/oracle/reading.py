"""Sums, ratios and what is left out, in the plainest code. Imports none of SafeTab.

Laws are dictionaries from whole numbers to chances. Everything is done by its definition: sums of noise by adding up
all pairs of values, quantiles by counting from the top, ratios by trying every ratio of a fine grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

Law = Mapping[int, float]


def noise(mechanism: str, parameter: float, last: int) -> dict[int, float]:
    """Noise from -last to last: sigma squared of "gaussian", epsilon of "geometric"."""
    power = 2 if mechanism == "gaussian" else 1
    rate = 1 / (2 * parameter) if mechanism == "gaussian" else parameter
    weights = {k: math.exp(-rate * abs(k) ** power) for k in range(-last, last + 1)}
    total = math.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def times(law: Law, factor: int) -> dict[int, float]:
    return {factor * k: chance for k, chance in law.items()}


def positive_part(law: Law) -> dict[int, float]:
    result: dict[int, float] = {}
    for k, chance in law.items():
        result[max(k, 0)] = result.get(max(k, 0), 0.0) + chance
    return result


def added(laws: Sequence[Law]) -> dict[int, float]:
    """The law of a sum of independent values."""
    result: dict[int, float] = {0: 1.0}
    for law in laws:
        longer: dict[int, float] = {}
        for (k, chance), (j, other) in itertools.product(result.items(), law.items()):
            longer[k + j] = longer.get(k + j, 0.0) + chance * other
        result = longer
    return result


def reached(law: Law, x: float) -> float:
    """P[value >= x]."""
    return math.fsum(chance for k, chance in law.items() if k >= x)


def exceeded(law: Law, chance: float) -> int:
    """The least value that is exceeded with no more than this chance."""
    return next(k for k in sorted(law) if reached(law, k + 1) <= chance)


def ratio_ends(a: int, b: int, law_a: Law, law_b: Law, error: float, grid: Sequence[float]) -> tuple[float, float]:
    """The least and the largest ratio of the grid that a two-sided test of a - r b = 0 does not reject."""
    kept = []
    for r in grid:
        gap = a - r * b
        pairs = [(k - r * j, p * q) for (k, p), (j, q) in itertools.product(law_a.items(), law_b.items())]
        above = math.fsum(chance for value, chance in pairs if value >= gap - 1e-12)
        below = math.fsum(chance for value, chance in pairs if value <= gap + 1e-12)
        if min(above, below) > error / 2:
            kept.append(r)
    return min(kept), max(kept)


def most_of_one(law: Law, up_to: int, chance: float) -> int:
    """The largest true count whose total is left out with more than this chance."""
    n = 0
    while math.fsum(weight for k, weight in law.items() if n + 1 + k <= up_to) >= chance:
        n += 1
    return n


def rank_of(truth: Sequence[int], place: int) -> tuple[int, int]:
    """The best and the worst rank that a group has, where others are as large."""
    return 1 + sum(n > truth[place] for n in truth), sum(n >= truth[place] for n in truth)


def holm(chances: Sequence[float], alpha: float) -> list[bool]:
    """Which hypotheses Holm's method rejects at alpha: in order of size, until the first that is too large."""
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    rejected = [False] * len(chances)
    for number, place in enumerate(order):
        if chances[place] > alpha / (len(chances) - number):
            break
        rejected[place] = True
    return rejected
