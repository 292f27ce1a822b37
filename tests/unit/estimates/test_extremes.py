"""Huge counts, huge and tiny noise, rows that should not exist: every answer is finite, in order, and quick."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.accounting.events import law_of
from safetab.estimates import Publication, estimates_95, intervals
from safetab.estimates.conditional import Combination
from safetab.estimates.noise_tails import spread, tails_of_sum
from safetab.noise.laws import DiscreteGaussian, Law, Mechanism, TwoSidedGeometric
from safetab.noise.sampler import add_noise, can_draw
from safetab.noise.source import SeededSourceNotPrivate
from tests.profile import size

LAWS: list[tuple[Law, Law]] = [
    (DiscreteGaussian(Fraction(variance) * 9), DiscreteGaussian(Fraction(variance)))
    for variance in ("0.001", "30", "4000000", "1e30")
] + [
    (TwoSidedGeometric(Fraction(epsilon) / 9), TwoSidedGeometric(Fraction(epsilon)))
    for epsilon in ("40", "0.5", "0.001", "1e-9")
]


#: In the quick profile each pair of laws is tried at one stat level, in turn.
TRIED = [
    (laws, *kind)
    for place, laws in enumerate(LAWS)
    for turn, kind in enumerate([(1, 0), (8, 1), (46, 3)])
    if turn == place % 3 or size(quick=0, long=1)
]


@pytest.mark.parametrize(("laws", "n_cells", "stat_level"), TRIED, ids=repr)
def test_any_scale_covers_across_a_threshold(laws: tuple[Law, Law], n_cells: int, stat_level: int) -> None:
    """The share of intervals that hold, over rows that were drawn and published; a false alarm has a chance of 1e-9."""
    wide = int(spread(laws[0])) + 1
    thresholds = 10 * wide, 14 * wide, 24 * wide
    published = Publication.two_stage(*laws, n_cells, thresholds, stat_level, laws[1].quantile(Fraction("0.9999")))
    source = SeededSourceNotPrivate(7)
    edge = thresholds[max(stat_level - 1, 0)]
    for n in (0, edge - wide, edge, edge + wide):
        true = np.full(12000 // n_cells, n)
        x = add_noise(true, laws[0], source)
        cells = np.zeros((len(true), n_cells), dtype=np.int64)
        s = true + add_noise(cells, laws[1], source).sum(axis=1)
        is_published = (x[:, None] >= np.array(thresholds)).sum(axis=1) == stat_level
        if published.least_sum is not None:
            is_published &= s >= published.least_sum
        found = estimates_95(published, x[is_published], s[is_published])
        rows = int(is_published.sum())
        held = int(((found.low_95 <= n) & (n <= found.high_95)).sum())
        assert held >= 0.95 * rows - 6 * (rows * 0.0475) ** 0.5
    assert Combination(published).unit <= max(1, wide // 30)


@pytest.mark.parametrize("law", [DiscreteGaussian(Fraction(10) ** 12), TwoSidedGeometric(Fraction(1, 10**6))], ids=repr)
def test_wide_noise_makes_ends_coarser_by_a_hundredth(law: Law) -> None:
    """Far from thresholds the interval of a single count is its margin of error, and a unit more at the most."""
    published = Publication.total_only(law)
    margin = law.two_sided_quantile(Fraction(95, 100))
    found = estimates_95(published, None, np.array([10**9]))
    assert margin <= 10**9 - found.low_95[0] <= margin * 1.005
    assert margin <= found.high_95[0] - 10**9 <= margin * 1.005
    assert abs(found.estimate[0] - 10**9) <= margin * 0.005


@pytest.mark.parametrize("laws", LAWS[:3] + LAWS[4:7], ids=repr)
@pytest.mark.parametrize("stat_level", [0, 1, 3])
def test_rows_that_noise_hardly_ever_makes_have_an_interval_too(laws: tuple[Law, Law], stat_level: int) -> None:
    published = Publication.two_stage(*laws, 8 if stat_level else 1, (1000, 2000, 3000), stat_level, 10)
    x = {0: [-(10**6), 999], 1: [1000, 1999], 3: [3000, 10**6]}[stat_level]
    s = np.array([11, 10**4, 10**6, 10**12])
    for stage_1 in x:
        found = estimates_95(published, np.full(4, stage_1), s)
        assert (np.diff(found.low_95) >= 0).all()
        assert (np.diff(found.high_95) >= 0).all()
        assert (found.low_95 <= found.estimate).all()
        assert (found.estimate <= found.high_95).all()
        # The sum still counts: where the stage 1 count is bounded above, the truth is wherever the sum says.
        assert stat_level == 3 or found.high_95[-1] > 10**11


def test_suppression_that_hardly_anything_passes() -> None:
    law = DiscreteGaussian(Fraction(25))
    least = law.quantile(1 - Fraction(1, 10**400)) + 1
    found = estimates_95(Publication(law, least_sum=least), None, np.array([least, least + 1, least + 200]))
    assert (found.low_95[0], found.low_95[-1]) == (0, least + 190)
    assert (found.low_95 <= found.high_95).all()


def test_no_rows_and_rows_that_do_not_fit() -> None:
    two_stage = Publication.two_stage(*LAWS[1], 8, (5, 6, 7), 3)
    none = np.array([], dtype=np.int64)
    assert estimates_95(two_stage, none, none).low_95.size == 0
    with pytest.raises(ValueError, match="pass stage 1 counts exactly where"):
        estimates_95(two_stage, None, np.array([1]))
    with pytest.raises(ValueError, match="too large"):
        estimates_95(two_stage, np.array([2**61]), np.array([1]))
    with pytest.raises(ValueError, match="only totals are suppressed"):
        Publication(LAWS[1][1], 8, LAWS[1][0], least_sum=3)
    with pytest.raises(ValueError, match="pass its law"):
        Publication(LAWS[1][1], least_stage_1=3)


def test_many_rows_are_answered_like_few() -> None:
    """By a table of the values that occur, or value by value where these lie far apart."""
    published = Publication.two_stage(*LAWS[1], 8, (1000, 2000, 3000), 3)
    x = np.concatenate([np.arange(3000, 3400), np.array([10**9])])
    spread_out = estimates_95(published, x, x - 3)
    together = estimates_95(published, x[:-1], x[:-1] - 3)
    for name in ("estimate", "low_95", "high_95"):
        assert (getattr(spread_out, name)[:-1] == getattr(together, name)).all()


#: Budgets of 1e-13 and 1e60, fractions next to 0 and to 1; noise that cannot be drawn is refused by check.
WILD = [
    (mechanism, budget, gamma)
    for mechanism in Mechanism
    for budget in ("1e-13", "0.001", "1e6", "1e60")
    for gamma in ("1e-9", "0.1", "0.99999999")
    if can_draw(law_of(mechanism, Fraction(budget) * min(Fraction(gamma), 1 - Fraction(gamma))), 280)
]


@pytest.mark.parametrize(("mechanism", "budget", "gamma"), WILD, ids=str)
def test_whatever_check_accepts_is_estimated_with_bounded_work(mechanism: Mechanism, budget: str, gamma: str) -> None:
    """Tables stay short and true counts that are tried stay few, so that neither scale nor threshold costs time."""
    laws = [law_of(mechanism, Fraction(budget) * share) for share in (Fraction(gamma), 1 - Fraction(gamma))]
    thresholds = (-(10**30), 3, 10**30)
    for n_cells, stat_level, dropped in ((1, 0, None), (280, 1, None), (46, 2, None), (1, 0, 4)):
        bounds = (3, 3, 5) if stat_level == 0 else thresholds
        published = Publication.two_stage(laws[0], laws[1], n_cells, bounds, stat_level, dropped)
        combination = Combination(published)
        assert sum(last - first for first, last in combination.zones) < 40_000
        found = estimates_95(published, np.array([2, 2, 2]), np.array([5, 7, 10**6]))
        assert (np.diff(found.estimate) >= 0).all()
        assert (found.low_95 <= found.estimate).all()
        assert (found.estimate <= found.high_95).all()
        assert len(tails_of_sum(laws[1], n_cells, combination.unit, combination.far)) < 4_000_000


@pytest.mark.parametrize("law", [DiscreteGaussian(Fraction(30)), TwoSidedGeometric(Fraction("0.2"))], ids=repr)
def test_estimates_do_not_depend_on_what_was_asked_before(law: Law) -> None:
    """Values are kept with their estimates: near ones, far ones, more than are kept, and the first ones again."""
    published = Publication.total_only(law, 20)
    near = np.arange(21, 400)
    asked = [near[100:150], near, near + 30_000, near + 10**9, np.arange(21, 100_000, 3), near[::-1], near * 1_000]
    for sums in asked:
        together = estimates_95(published, None, sums)
        intervals._solver.cache_clear()
        alone = estimates_95(published, None, sums)
        for column in ("estimate", "low_95", "high_95"):
            assert (getattr(together, column) == getattr(alone, column)).all()
        assert (together.low_95 <= together.high_95).all()
        for before in asked:
            estimates_95(published, None, before)
