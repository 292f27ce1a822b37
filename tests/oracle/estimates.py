"""What a published total says about the true count, by trying every true count. Imports none of SafeTab.

A row has two noisy counts: X = N + noise, published only when lo <= X < hi, and S = N + the noise of some cells,
published only when S >= least. T = aX + bS. For each N the law of T given publication is written out, value by value;
the ends are read off by the words of the definition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.oracle.laws import Floats, convolved, gaussian_pmf, geometric_pmf

Integers = npt.NDArray[np.int64]


def centred(mechanism: str, parameter: float, cells: int = 1) -> Floats:
    """The chances of noise -last..last that are above 1e-24: sigma squared of "gaussian", epsilon of "geometric"."""
    if mechanism == "gaussian":
        one = gaussian_pmf(parameter, int(11 * math.sqrt(parameter)) + 4)
    else:
        one = geometric_pmf(parameter, int(56 / parameter) + 4)
    chances = convolved(one, cells)
    unlikely = int((chances[: len(chances) // 2] < 1e-24).sum())
    return chances[unlikely : len(chances) - unlikely]


@dataclass(frozen=True, eq=False)
class Row:
    """One kind of row. Without a stage 1, `stage_1` is a single 1 and `a` is 0."""

    stage_1: Floats
    sum_of_cells: Floats
    a: int
    b: int
    lo: float = -math.inf
    hi: float = math.inf
    least: float = -math.inf

    def counts(self, n: int) -> tuple[Integers, Floats, Integers, Floats]:
        """The values of X and S, with the chance of each and of publication, when the true count is n."""
        x = n + np.arange(len(self.stage_1)) - len(self.stage_1) // 2
        s = n + np.arange(len(self.sum_of_cells)) - len(self.sum_of_cells) // 2
        chance_x = np.where((x >= self.lo) & (x < self.hi), self.stage_1, 0.0)
        chance_s = np.where(s >= self.least, self.sum_of_cells, 0.0)
        return x, chance_x, s, chance_s

    def chance_published(self, n: int) -> float:
        _, chance_x, _, chance_s = self.counts(n)
        return math.fsum(chance_x) * math.fsum(chance_s)

    def law_of_t(self, n: int) -> tuple[Integers, Floats]:
        """The values of T in order and their chances, given publication."""
        x, chance_x, s, chance_s = self.counts(n)
        chance_x, chance_s = chance_x / math.fsum(chance_x), chance_s / math.fsum(chance_s)
        t = (self.a * x[:, None] + self.b * s[None, :]).ravel()
        chances = (chance_x[:, None] * chance_s[None, :]).ravel()
        least, most = int(t.min()), int(t.max())
        if most - least < 10 * len(t):
            return np.arange(least, most + 1), np.bincount(t - least, chances).astype(np.float64)
        values, place = np.unique(t, return_inverse=True)
        return values, np.bincount(place, chances).astype(np.float64)


class Oracle:
    """The inversion, with the true counts up to `last` whose row is published at least once in 1e13 times."""

    def __init__(self, row: Row, last: int) -> None:
        self.counts = [n for n in range(last + 1) if row.chance_published(n) >= 1e-13]
        self.laws = {n: row.law_of_t(n) for n in self.counts}
        self.sums = {n: np.cumsum(chances) for n, (_, chances) in self.laws.items()}

    def at_most(self, n: int, t: int) -> float:
        """P[T <= t | published] when the true count is n."""
        place = int(np.searchsorted(self.laws[n][0], t, side="right"))
        return float(self.sums[n][place - 1]) if place else 0.0

    def estimate(self, t: int) -> tuple[int, int, int] | None:
        """Estimate, lower and upper end; None where one of them may be a true count that is not tried."""
        at_least = {n: 1 - self.at_most(n, t - 1) for n in self.counts}
        low = next((n for n in self.counts if at_least[n] > 0.025), None)
        middle = next((n for n in self.counts if at_least[n] > 0.5), None)
        high = next((n for n in reversed(self.counts) if self.at_most(n, t) > 0.025), None)
        if low is None or middle is None or high == self.counts[-1]:
            return None
        if self.counts[0] > 0 and (low == self.counts[0] or high is None):
            return None
        return middle, min(low, middle), max(high or 0, middle)
