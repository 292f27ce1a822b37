"""Estimates by enumeration: every pair of noisy counts with its exact chance, and no chance in the test."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from safetab.estimates import Estimates, Publication, estimates_95
from safetab.estimates.conditional import Combination
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric
from tests.oracle.estimates import Integers, Oracle, Row, centred
from tests.oracle.laws import Floats
from tests.profile import size

#: True counts whose row is published less often are not judged.
RARELY = 1e-9
#: Chances in floats, a few thousand of them added up.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Kind:
    """A kind of row by its plain numbers, for SafeTab and for the oracle."""

    mechanism: str
    budget: str
    gamma: str
    cells: int
    lo: int | None = None
    hi: int | None = None
    dropped_up_to: int | None = None
    last: int = 60

    def parameter(self, share: Fraction) -> Fraction:
        budget = Fraction(self.budget) * share
        return budget if self.mechanism == "geometric" else 1 / (2 * budget)

    def law(self, share: Fraction) -> Law:
        parameter = self.parameter(share)
        return TwoSidedGeometric(parameter) if self.mechanism == "geometric" else DiscreteGaussian(parameter)

    @property
    def publication(self) -> Publication:
        gamma = Fraction(self.gamma)
        if not gamma:
            return Publication.total_only(self.law(Fraction(1)), self.dropped_up_to)
        laws = self.law(gamma), self.law(1 - gamma)
        # Thresholds that coincide: both are reached at once.
        if self.lo is not None and self.hi is not None:
            thresholds, stat_level = (self.lo, self.lo, self.hi), 2
        elif self.lo is not None:
            thresholds, stat_level = (1, self.lo, self.lo), 3
        elif self.hi is not None:
            thresholds, stat_level = (self.hi, self.hi, 1000), 0
        else:
            return Publication(laws[1], self.cells, laws[0])
        return Publication.two_stage(*laws, self.cells, thresholds, stat_level, self.dropped_up_to)

    @property
    def row(self) -> Row:
        gamma = Fraction(self.gamma)
        a, b = Combination(self.publication).weights
        return Row(
            centred(self.mechanism, float(self.parameter(gamma))) if gamma else np.ones(1),
            centred(self.mechanism, float(self.parameter(1 - gamma)), self.cells),
            a,
            b,
            -np.inf if self.lo is None else self.lo,
            np.inf if self.hi is None else self.hi,
            -np.inf if self.dropped_up_to is None else self.dropped_up_to + 1,
        )


def kinds() -> list[Kind]:
    """Both laws, scales from almost nothing up, every place of the thresholds, suppression or none."""
    found: list[Kind] = []
    for mechanism, budgets in (("gaussian", ("0.02", "0.2", "60")), ("geometric", ("1", "2", "25"))):
        for budget in budgets:
            for gamma in ("0.1", "0.5", "0.85"):
                found += [
                    Kind(mechanism, budget, gamma, 1, hi=20),
                    Kind(mechanism, budget, gamma, 1, hi=20, dropped_up_to=4),
                    Kind(mechanism, budget, gamma, 8, lo=20, hi=27),
                    # One stage 1 count between two thresholds; many, where X is so sure that the ends are far away.
                    Kind(mechanism, budget, gamma, 5, lo=20, hi=21 if gamma == "0.1" else 80, last=100),
                    Kind(mechanism, budget, gamma, 18, lo=27),
                    Kind(mechanism, budget, gamma, 3),
                ]
            found += [Kind(mechanism, budget, "0", 1), Kind(mechanism, budget, "0", 1, dropped_up_to=7)]
    return found


@dataclass(frozen=True)
class Enumerated:
    """Every pair of noisy counts that has a chance to speak of, and what is said about it."""

    x: Integers
    s: Integers
    estimates: Estimates


def enumerated(kind: Kind, row: Row, counts: list[int]) -> Enumerated:
    values = [row.counts(n) for n in (counts[0], counts[-1])]
    ends = [[v[(c > 0)] for v, c in ((value[0], value[1]), (value[2], value[3]))] for value in values]
    x, s = (
        np.arange(min(end[i].min() for end in ends), max(end[i].max() for end in ends) + 1).astype(np.int64)
        for i in (0, 1)
    )
    pairs_x, pairs_s = (part.ravel() for part in np.meshgrid(x, s, indexing="ij"))
    found = estimates_95(kind.publication, pairs_x if Fraction(kind.gamma) else None, pairs_s)
    return Enumerated(x, s, found)


def chances_of_pairs(row: Row, n: int, table: Enumerated) -> Floats:
    """The chance of every pair given publication, in the order of the table."""
    x, chance_x, s, chance_s = row.counts(n)
    dense_x, dense_s = np.zeros(len(table.x)), np.zeros(len(table.s))
    for values, chances, grid, dense in ((x, chance_x, table.x, dense_x), (s, chance_s, table.s, dense_s)):
        there = chances > 0
        dense[(values[there] - grid[0]).astype(int)] = chances[there]
        dense /= dense.sum()
    result: Floats = (dense_x[:, None] * dense_s[None, :]).ravel()
    return result


def granularity(row: Row, n: int) -> float:
    """The chance of the median of T, where n - 1 has the same median, so that T cannot tell them apart by it."""
    values, chances = row.law_of_t(n)
    values_below, chances_below = row.law_of_t(n - 1)
    place, place_below = (int((1 - np.cumsum(law) > 0.5).sum()) for law in (chances, chances_below))
    return 0.0 if values_below[place_below] < values[place] else float(chances[place])


@pytest.mark.parametrize("kind", kinds(), ids=str)
def test_given_publication_the_interval_covers_and_the_estimate_is_a_median(kind: Kind) -> None:
    row = kind.row
    counts = [n for n in range(kind.last + 1) if row.chance_published(n) >= RARELY]
    table = enumerated(kind, row, counts)
    found = table.estimates
    assert (found.low_95 >= 0).all()
    assert (found.low_95 <= found.estimate).all()
    assert (found.estimate <= found.high_95).all()
    for n in counts:
        chances = chances_of_pairs(row, n, table)
        covered = chances[(found.low_95 <= n) & (n <= found.high_95)].sum()
        assert covered >= 0.95 - ROUNDING, f"{n} is covered with {covered}"
        assert chances[found.estimate <= n].sum() >= 0.5 - ROUNDING, f"{n} is estimated too high"
        enough = chances[found.estimate >= n].sum()
        if n > counts[0] and enough < 0.5 - ROUNDING:
            assert enough >= 0.5 - granularity(row, n) - ROUNDING, f"{n} is estimated too low"


@pytest.mark.parametrize("kind", kinds(), ids=str)
def test_the_ends_are_those_of_plain_inversion(kind: Kind) -> None:
    row = kind.row
    published = [n for n in range(kind.last + 1) if row.chance_published(n) >= RARELY]
    oracle = Oracle(row, published[-1] + 15)
    table = enumerated(kind, row, published)
    # Values that some true count makes at all likely, each once.
    likely = (
        np.max([chances_of_pairs(row, n, table) for n in published[:: max(1, len(published) // 12)]], axis=0) > 1e-8
    )
    x, s = (part.ravel()[likely] for part in np.meshgrid(table.x, table.s, indexing="ij"))
    t, first = np.unique(row.a * x + row.b * s, return_index=True)
    chosen = slice(None, None, max(1, len(t) // size(quick=90, long=1500)))
    compared = 0
    for value, place in zip(t[chosen], first[chosen], strict=True):
        expected = oracle.estimate(int(value))
        if expected is None:
            continue
        found = table.estimates
        at = np.flatnonzero(likely)[place]
        assert (found.estimate[at], found.low_95[at], found.high_95[at]) == expected, f"T is {value}"
        compared += 1
    assert compared >= 3


PRODUCTION = Fraction("0.159") / 9
STAGE_1, STAGE_2 = (DiscreteGaussian(1 / (2 * PRODUCTION * share)) for share in (Fraction("0.1"), Fraction("0.9")))
COUNTY_THRESHOLDS = (971, 4971, 19971)


@pytest.mark.parametrize("n", [0, 1, 5, 10, 15, 22, 30, 50])
def test_local_totals_with_production_budgets_cover_given_that_they_survived_suppression(n: int) -> None:
    drops = STAGE_2.quantile(Fraction("0.9999"))
    published = Publication.two_stage(STAGE_1, STAGE_2, 1, COUNTY_THRESHOLDS, 0, drops)
    a, b = Combination(published).weights
    row = Row(
        centred("gaussian", float(STAGE_1.sigma_squared)),
        centred("gaussian", float(STAGE_2.sigma_squared)),
        a,
        b,
        hi=COUNTY_THRESHOLDS[0],
        least=drops + 1,
    )
    x, chance_x, s, chance_s = row.counts(n)
    pairs_x, pairs_s = (part.ravel() for part in np.meshgrid(x, s, indexing="ij"))
    chances = (chance_x[:, None] * chance_s[None, :]).ravel() / row.chance_published(n)
    found = estimates_95(published, pairs_x, pairs_s)
    covered = chances[(found.low_95 <= n) & (n <= found.high_95)].sum()
    assert 0.95 <= covered <= (0.977 if n == 0 else 0.955)
    if n == 15:
        # Published 12 % of the time, then 24 on average; the estimate is not so far off.
        assert row.chance_published(n) == pytest.approx(0.12, abs=0.01)
        assert (chances * pairs_s).sum() == pytest.approx(24.3, abs=0.1)
        assert (chances * found.estimate).sum() == pytest.approx(14.3, abs=0.1)


def test_two_local_totals_by_hand() -> None:
    published = Publication.two_stage(STAGE_1, STAGE_2, 1, COUNTY_THRESHOLDS, 0, STAGE_2.quantile(Fraction("0.9999")))
    found = estimates_95(published, np.array([22, 45]), np.array([22, 45]))
    assert found.estimate.tolist() == [10, 45]
    assert found.low_95.tolist() == [0, 35]
    assert found.high_95.tolist() == [29, 55]


@pytest.mark.parametrize(("stat_level", "n_cells", "half_width"), [(1, 8, 22.2), (2, 18, 26.6), (3, 46, 29.7)])
def test_half_widths_far_from_thresholds(stat_level: int, n_cells: int, half_width: float) -> None:
    published = Publication.two_stage(STAGE_1, STAGE_2, n_cells, COUNTY_THRESHOLDS, stat_level)
    n = (2500, 10000, 50000)[stat_level - 1]
    # Many sums next to each other: whole ends are a little nearer now and a little farther then.
    found = estimates_95(published, np.full(900, n), np.arange(n, n + 900) - 450)
    assert (found.high_95 - found.low_95).mean() / 2 == pytest.approx(half_width, abs=0.1)


def test_a_stat_level_between_thresholds_that_coincide_does_not_exist() -> None:
    laws = STAGE_1, STAGE_2
    assert Publication.two_stage(*laws, 1, (20, 20, 30), 0).stage_1_below == 20
    with pytest.raises(ValueError, match="no group has this stat level"):
        Publication.two_stage(*laws, 8, (20, 20, 30), 1)
    between = Publication.two_stage(*laws, 18, (20, 20, 30), 2)
    assert (between.least_stage_1, between.stage_1_below) == (20, 30)
    last = Publication.two_stage(*laws, 46, (20, 20, 20), 3, dropped_up_to=5)
    assert (last.least_stage_1, last.stage_1_below, last.least_sum) == (20, None, None)
