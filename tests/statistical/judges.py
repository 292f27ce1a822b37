"""Judges of a sample: each returns the chance that a right sampler would look at least this bad.

In: a law, described by its enclosures, and draws from some sampler. Out: named p-values. Sums of squares are referred
to the chi-square law (every cell expects a thousand draws or more in a sample of ten million), single counts to the
binomial law, exactly.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from safetab.noise.ball_arithmetic import working_precision
from safetab.noise.laws import Law

#: A verdict below this is a failure. See test_noise.py for what that makes of the whole suite.
LIMIT = 1e-10
LEVELS = (Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4), Fraction(1, 10**6))
LAGS = (1, 2, 3, 1 << 15)
_CLASSES = 8

Array = NDArray[np.int64]


class Cells:
    """The integers in cells that mirror each other about 0, each with its exact probability as a float at the end."""

    def __init__(self, law: Law, steps: int, smallest: float) -> None:
        wanted = [Fraction(1, 2) + Fraction(i, 2 * steps) for i in range(1, steps)]
        wanted += [Fraction(999, 1000), Fraction(9999, 10000)]
        outer = sorted({law.quantile(p) for p in wanted})
        outer = [edge for edge in outer if float(law.tail(edge, 60)) >= smallest] or outer[:1]
        self.law = law
        self.edges = np.array([*(-edge - 1 for edge in reversed(outer)), *outer], np.int64)
        self.chances = self._chances()
        keep = [i for i in range(len(outer)) if self._width(i) >= smallest] or [0]
        if len(keep) < len(outer):
            outer = [outer[i] for i in keep]
            self.edges = np.array([*(-edge - 1 for edge in reversed(outer)), *outer], np.int64)
            self.chances = self._chances()

    def _width(self, i: int) -> float:
        """The chance of the cell that begins above the i-th positive edge."""
        return float(self.chances[len(self.edges) // 2 + 1 + i])

    def _chances(self) -> NDArray[np.float64]:
        with working_precision(300):
            sums = [self.law.cumulative(int(edge), 250) for edge in self.edges]
            steps = [sums[0], *(b - a for a, b in pairwise(sums)), 1 - sums[-1]]
            return np.array([float(step) for step in steps])

    def of(self, draws: Array) -> Array:
        """The cell of each draw; by a table where the draws lie close enough together for one."""
        low, high = int(draws.min()), int(draws.max())
        if high - low > 1 << 20:
            return np.searchsorted(self.edges, draws, side="left").astype(np.int64)
        return np.take(np.searchsorted(self.edges, np.arange(low, high + 1), side="left"), draws - low)

    def counts(self, draws: Array) -> Array:
        return np.bincount(self.of(draws), minlength=len(self.chances)).astype(np.int64)


@lru_cache(maxsize=64)
def cells_of(law: Law, steps: int = 100, smallest: float = 1e-4) -> Cells:
    """The cells of a law, made once: a hundred certified quantiles take a while."""
    return Cells(law, steps, smallest)


def _two_sided(count: int, trials: int, chance: float) -> float:
    below, above = stats.binom.cdf(count, trials, chance), stats.binom.sf(count - 1, trials, chance)
    return float(min(1.0, 2 * min(below, above)))


def chi_square(cells: Cells, counts: Array) -> float:
    """All cells against their chances."""
    return float(stats.chisquare(counts, cells.chances / cells.chances.sum() * counts.sum()).pvalue)


def log_ratio(law: Law, draws: Array) -> float:
    """Each cell against the middle one: given their sum, the count is binomial. Smallest of all, times their number.

    The cells are wide, a twentieth of the draws each, because a ratio is only as sure as its smaller count.
    """
    cells = cells_of(law, 10)
    counts = cells.counts(draws)
    middle = len(counts) // 2
    others = [i for i in range(len(counts)) if i != middle]
    verdicts = [
        _two_sided(
            int(counts[i]),
            int(counts[i] + counts[middle]),
            float(cells.chances[i] / (cells.chances[i] + cells.chances[middle])),
        )
        for i in others
    ]
    return min(1.0, min(verdicts) * len(verdicts))


def symmetry(counts: Array) -> float:
    """Each cell against its mirror image, a fair coin given their sum. Smallest of all, times their number."""
    half = len(counts) // 2
    verdicts = [_two_sided(int(counts[i]), int(counts[i] + counts[-1 - i]), 0.5) for i in range(half)]
    return min(1.0, min(verdicts) * half)


def tails(law: Law, draws: Array) -> dict[str, float]:
    """How many draws lie beyond the quantiles of each level, above and below."""
    verdicts = {}
    for level in LEVELS:
        edge = law.quantile(1 - level)
        chance = float(law.tail(edge, 60))
        verdicts[f"above {edge}"] = _two_sided(int((draws > edge).sum()), draws.size, chance)
        verdicts[f"below {-edge}"] = _two_sided(int((draws < -edge).sum()), draws.size, chance)
    return verdicts


def independence(cells: Cells, places: Array, lag: int) -> float:
    """Pairs of draws `lag` apart, no draw in two pairs, in a table of 8 by 8 classes with known chances."""
    groups = (np.cumsum(cells.chances) - cells.chances / 2) * _CLASSES
    class_of_cell = np.minimum(groups.astype(np.int64), _CLASSES - 1)
    chances = np.bincount(class_of_cell, weights=cells.chances, minlength=_CLASSES)
    whole = places.size // (2 * lag) * (2 * lag)
    blocks = np.take(class_of_cell, places[:whole]).reshape(-1, 2, lag)
    pairs = np.bincount((blocks[:, 0] * _CLASSES + blocks[:, 1]).ravel(), minlength=_CLASSES**2)
    expected = np.outer(chances, chances).ravel()
    there = expected > 0
    return float(stats.chisquare(pairs[there], expected[there] / expected.sum() * pairs.sum()).pvalue)


def scale_verdicts(law: Law, draws: Array) -> dict[str, float]:
    """The judges that see the scale: of these, every one must fail on a sampler that is off by one percent."""
    cells = cells_of(law)
    return {
        "chi-square": chi_square(cells, cells.counts(draws)),
        "log-ratio": log_ratio(law, draws),
        "tails": min(1.0, min((found := tails(law, draws)).values()) * len(found)),
    }


def all_verdicts(law: Law, draws: Array) -> dict[str, float]:
    """Every judge's verdict on one sample."""
    cells = cells_of(law)
    places = cells.of(draws)
    counts = np.bincount(places, minlength=len(cells.chances)).astype(np.int64)
    verdicts = {"chi-square": chi_square(cells, counts), "log-ratio": log_ratio(law, draws)}
    verdicts |= tails(law, draws)
    verdicts["symmetry"] = symmetry(counts)
    verdicts |= {f"lag {lag}": independence(cells, places, lag) for lag in LAGS}
    return verdicts


def two_samples(cells: Cells, one: Array, other: Array) -> float:
    """Whether two samplers draw from one law: homogeneity over the cells."""
    table: Any = np.array([cells.counts(one), cells.counts(other)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False).pvalue)
