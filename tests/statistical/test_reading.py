"""Coverage of the intervals of sums, differences, ratios and ranks over drawn releases, and of the wrong ways.

Noise comes from SafeTab's own sampler with a seed. Stat levels and suppression are decided here, by the words of the
specification, and answers are put together by `estimates.linear` as `reading` does. Truths are fixed, near thresholds
and suppression above all.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from safetab.estimates import estimates_95
from safetab.estimates.left_out import Suppressible
from safetab.estimates.linear import CHANCE_OF_A_ROW, Pieces, Weighted, chance_of_a_row, chance_of_noise, interval
from safetab.estimates.publication import Publication
from safetab.estimates.settled import TWELVE, RowKind, Settled, settle
from safetab.noise import DiscreteGaussian, Law, SeededSourceNotPrivate, TwoSidedGeometric, draw
from tests.profile import size

TRIALS = size(quick=2_000, long=20_000)
#: A coverage of 95 % falls this far below with a chance of 1e-7 (5.2 standard errors).
LEAST = 0.95 - 5.2 * (0.05 * 0.95 / TRIALS) ** 0.5
CELLS = (1, 8, 18, 46)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """One level: laws, thresholds, what is left out."""

    stage_1: Law
    stage_2: Law
    thresholds: tuple[int, int, int]
    up_to: int

    def kind(self, stat_level: int, survived: int) -> RowKind:
        known = Publication.two_stage(
            self.stage_1, self.stage_2, CELLS[stat_level], self.thresholds, stat_level, self.up_to
        )
        return RowKind(known).for_sum_of(survived)

    @property
    def suppressible(self) -> Suppressible:
        return Suppressible(self.stage_2, self.up_to)


GAUSSIAN = World(DiscreteGaussian(Fraction(15000, 53)), DiscreteGaussian(Fraction(5000, 159)), (971, 4971, 19971), 21)
GEOMETRIC = World(TwoSidedGeometric(Fraction(1, 20)), TwoSidedGeometric(Fraction(9, 20)), (200, 400, 600), 18)
WORLDS = {"gaussian": GAUSSIAN, "geometric": GEOMETRIC}


@dataclass(frozen=True)
class Drawn:
    """One group, many times: its stat level, -1 where it was left out, and its counts."""

    stat_level: npt.NDArray[np.int64]
    stage_1: npt.NDArray[np.int64]
    sums: npt.NDArray[np.int64]


def drawn(world: World, n: int, seed: int) -> Drawn:
    source = SeededSourceNotPrivate(seed)
    x = n + draw(world.stage_1, TRIALS, source)
    cells = draw(world.stage_2, (TRIALS, max(CELLS)), source)
    stat_level = (x[:, None] >= np.array(world.thresholds)).sum(axis=1)
    sums = n + np.where(np.arange(max(CELLS)) < np.array(CELLS)[stat_level][:, None], cells, 0).sum(axis=1)
    return Drawn(np.where((stat_level == 0) & (sums <= world.up_to), -1, stat_level), x, sums)


@dataclass(frozen=True)
class Trials:
    """Some groups, many times: the ends of each, in twelfths, and which trials have the same stat levels."""

    world: World
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    stat_levels: npt.NDArray[np.int64]

    def intervals(self, factors: Sequence[float], confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Of the weighted sum of the true counts in each trial.

        An interval moves with the ends of its rows, so one is asked for each combination of stat levels, with ends 0.
        """
        weights = np.array(factors)[:, None]
        low = np.where(weights > 0, weights * self.low, weights * self.high).sum(axis=0) / TWELVE
        high = np.where(weights > 0, weights * self.high, weights * self.low).sum(axis=0) / TWELVE
        patterns, place = np.unique(self.stat_levels, axis=1, return_inverse=True)
        found = [
            interval([Weighted(f, self.row(levels, int(at))) for at, f in enumerate(factors)], confidence)
            for levels in patterns.T
        ]
        offsets = np.array(found)[place.reshape(-1)]
        return low + offsets[:, 0], high + offsets[:, 1]

    def row(self, levels: npt.NDArray[np.int64], at: int, low: int = 0, high: int = 0) -> Pieces:
        """One group of a trial in which all have these stat levels."""
        if levels[at] < 0:
            return Pieces.left_out(self.world.suppressible)
        settled = Settled(np.array([low]), np.array([low]), np.array([high]))
        kind = self.world.kind(int(levels[at]), int((levels == 0).sum()))
        return Pieces.of_rows(kind, settled, self.world.suppressible if levels[at] == 0 else None)


def trials(world: World, truths: Sequence[int], seed: int, chance: float | None = None) -> Trials:
    found = [drawn(world, n, seed * 1000 + number) for number, n in enumerate(truths)]
    return settled_trials(world, found, chance or chance_of_a_row(0.95, len(truths)))


def settled_trials(world: World, found: Sequence[Drawn], chance: float) -> Trials:
    """As `reading` does it: the more totals survived in a trial, the lower their floor."""
    stat_levels = np.stack([group.stat_level for group in found])
    survived = (stat_levels == 0).sum(axis=0)
    low, high = (np.zeros(stat_levels.shape, dtype=np.int64) for _ in range(2))
    for number, group in enumerate(found):
        for stat_level, rows in itertools.product(range(4), np.unique(survived)):
            here = (group.stat_level == stat_level) & (survived == rows)
            settled = settle(world.kind(stat_level, int(rows)), group.stage_1[here], group.sums[here], chance)
            low[number, here], high[number, here] = settled.low, settled.high
    return Trials(world, low, high, stat_levels)


SUMS = {
    "near suppression": [0, 3, 15, 21, 22, 30, 45, 60],
    "all just left out": [15] * 12,
    "near a threshold": [970, 960, 985, 1010],
    "at every stat level": [10, 500, 2000, 4950, 19980],
    "one that may be left out": [38],
    "two near suppression": [24, 24],
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("mechanism", WORLDS)
def test_sums(mechanism: str, name: str) -> None:
    truths = SUMS[name]
    low, high = trials(WORLDS[mechanism], truths, 1).intervals([1.0] * len(truths))
    assert covered(low, high, sum(truths)) >= LEAST


@pytest.mark.parametrize("mechanism", WORLDS)
@pytest.mark.parametrize("truths", [(24, 20), (972, 968), (3000, 40), (19975, 5000)])
def test_differences(mechanism: str, truths: tuple[int, int]) -> None:
    low, high = trials(WORLDS[mechanism], truths, 2).intervals([1.0, -1.0])
    assert covered(low, high, truths[0] - truths[1]) >= LEAST


@pytest.mark.parametrize("mechanism", WORLDS)
@pytest.mark.parametrize("n", [24, 972])
def test_a_gap_that_is_noise_alone_is_seldom_unlikely(mechanism: str, n: int) -> None:
    drawn_twice = trials(WORLDS[mechanism], (n, n), 3, CHANCE_OF_A_ROW)
    chances = []
    for levels, low, high in zip(drawn_twice.stat_levels.T, drawn_twice.low.T, drawn_twice.high.T, strict=True):
        rows = [drawn_twice.row(levels, at, int(low[at]), int(high[at])) for at in (0, 1)]
        chances.append(chance_of_noise([Weighted(1, rows[0]), Weighted(-1, rows[1])]))
    for p in (0.05, 0.3):
        assert np.mean(np.array(chances) <= p) <= p + 5.2 * (p * (1 - p) / TRIALS) ** 0.5


@pytest.mark.parametrize("mechanism", WORLDS)
@pytest.mark.parametrize("truths", [(25, 40), (300, 980), (10, 5000)])
def test_shares_of_a_part_in_the_sum_of_both(mechanism: str, truths: tuple[int, int]) -> None:
    """The part is one of the rows of the whole, so its noise is in both; the interval has r where a - r b may be 0."""
    r = truths[0] / sum(truths)
    low, high = trials(WORLDS[mechanism], truths, 4).intervals([1 - r, -r])
    assert covered(low, high, 0) >= LEAST


@pytest.mark.parametrize("mechanism", WORLDS)
def test_ratios_of_small_counts(mechanism: str) -> None:
    r = 30 / 26
    low, high = trials(WORLDS[mechanism], (30, 26), 5).intervals([1.0, -r])
    assert covered(low, high, 0) >= LEAST


@pytest.mark.parametrize("mechanism", WORLDS)
def test_ranks_hold_together(mechanism: str) -> None:
    """All pairs at once, by the share of the error that `rank` gives each."""
    truths = [22, 24, 30, 31, 60, 990]
    pairs = list(itertools.combinations(range(len(truths)), 2))
    each = 1 - 0.05 / len(pairs)
    world, chance = WORLDS[mechanism], chance_of_a_row(each, 2)
    found = [drawn(world, n, 6000 + number) for number, n in enumerate(truths)]
    is_right = np.ones(TRIALS, dtype=np.bool_)
    for one, other in pairs:
        low, high = settled_trials(world, [found[one], found[other]], chance).intervals([1.0, -1.0], each)
        gap = truths[one] - truths[other]
        is_right &= ~((low > 0) & (gap <= 0)) & ~((high < 0) & (gap >= 0))
    assert is_right.mean() >= LEAST


def covered(low: Floats, high: Floats, truth: float) -> float:
    return float(((low <= truth + 1e-9) & (truth - 1e-9 <= high)).mean())


@pytest.mark.parametrize("mechanism", WORLDS)
@pytest.mark.parametrize("cell", [0, 2, 40])
def test_sums_of_tables_whose_negative_counts_were_set_to_0(mechanism: str, cell: int) -> None:
    """Three tables of 8 cells, all with so many people: what is added is too large, the more so the fewer there are."""
    world = WORLDS[mechanism]
    noisy = cell + draw(world.stage_2, (TRIALS, 24), SeededSourceNotPrivate(9500))
    sums = np.maximum(noisy, 0).sum(axis=1)
    kind = RowKind(world.kind(1, 0).published, is_clipped=True)
    settled = Settled(*(np.zeros(3, dtype=np.int64) for _ in range(3)))
    offsets = interval([Weighted(1, Pieces.of_rows(kind, settled, None))], 0.95)
    assert covered(sums + offsets.low, sums + offsets.high, 24 * cell) >= LEAST
    plain = interval([Weighted(1, Pieces.of_rows(RowKind(Publication(world.stage_2, 8)), settled, None))], 0.95)
    if cell == 0:
        assert covered(sums + plain.low, sums + plain.high, 24 * cell) < LEAST


class TestWrongWays:
    """What readers do without the tools fails the same test."""

    def test_to_leave_out_what_is_missing(self) -> None:
        """Published counts plus and minus the root of the sum of squared margins."""
        truths = [15] * 12
        found = [drawn(GAUSSIAN, n, 7000 + number) for number, n in enumerate(truths)]
        there = np.stack([group.stat_level >= 0 for group in found])
        sums = np.where(there, np.stack([group.sums for group in found]), 0).sum(axis=0)
        margin = 1.96 * np.sqrt(float(GAUSSIAN.stage_2.variance(60)) * there.sum(axis=0))
        assert covered(sums - margin, sums + margin, sum(truths)) < 0.5

    def test_to_ignore_that_a_total_survived_suppression(self) -> None:
        group = drawn(GAUSSIAN, 15, 7100)
        sums = group.sums[group.stat_level == 0]
        margin = 1.96 * float(GAUSSIAN.stage_2.variance(60)) ** 0.5
        assert covered(sums - margin, sums + margin, 15) < LEAST

    def test_to_add_a_group_and_its_part_as_if_they_were_independent(self) -> None:
        """Total minus the sum of seven of its eight cells is the eighth cell: noise of one, not of fifteen, cells."""
        source = SeededSourceNotPrivate(7200)
        cells = draw(GAUSSIAN.stage_2, (TRIALS, 8), source)
        variance = float(GAUSSIAN.stage_2.variance(60))
        # Total plus one of its cells: as if independent the variance is 9, but 7 cells are in it once and one twice.
        errors = cells.sum(axis=1) + cells[:, 0] + cells[:, 1] + cells[:, 2]
        as_if = 1.96 * np.sqrt(variance * (8 + 3))
        assert covered(errors - as_if, errors + as_if, 0) < LEAST
        right = 1.96 * np.sqrt(variance * (5 + 3 * 4))
        assert covered(errors - right, errors + right, 0) >= LEAST

    def test_the_delta_method_at_small_counts(self) -> None:
        source = SeededSourceNotPrivate(7300)
        a, b = 40 + draw(GAUSSIAN.stage_2, TRIALS, source), 8 + draw(GAUSSIAN.stage_2, TRIALS, source)
        a, b = a[b > 0], b[b > 0]
        variance = float(GAUSSIAN.stage_2.variance(60))
        margin = 1.96 * np.sqrt(variance * (1 + (a / b) ** 2)) / b
        assert covered(a / b - margin, a / b + margin, 40 / 8) < LEAST

    @pytest.mark.parametrize("mechanism", WORLDS)
    def test_to_add_the_intervals_of_groups_that_are_empty(self, mechanism: str) -> None:
        """Twelve totals without suppression: each lower end is above 0 now and then, none is ever below."""
        law = WORLDS[mechanism].stage_2
        noise = draw(law, (TRIALS, 12), SeededSourceNotPrivate(7400))
        parts = estimates_95(Publication.total_only(law), None, noise.ravel())
        low, high = (ends.reshape(TRIALS, 12).sum(axis=1) for ends in (parts.low_95, parts.high_95))
        assert covered(low, high, 0) < LEAST - 0.05
        settled = Settled(*(np.zeros(12, dtype=np.int64) for _ in range(3)))
        kind = RowKind(Publication.total_only(law))
        right = interval([Weighted(1, Pieces.of_rows(kind, settled, None))], 0.95)
        sums = noise.sum(axis=1)
        assert covered(sums + right.low, sums + right.high, 0) >= LEAST

    def test_to_add_margins(self) -> None:
        """It covers, but is wider than need be: 3 times and more with nine rows."""
        truths = [300] * 9
        low, high = trials(GAUSSIAN, truths, 8).intervals([1.0] * 9)
        margin = float(GAUSSIAN.stage_2.two_sided_quantile(Fraction(95, 100)))
        assert (high - low).mean() * 2.5 < 2 * 9 * margin


@pytest.mark.parametrize("mechanism", WORLDS)
@pytest.mark.parametrize("n", [100, 300, 2500])
@pytest.mark.parametrize("rows", [2, pytest.param(5, marks=pytest.mark.long)])
def test_away_from_thresholds_sums_are_narrower_than_added_intervals(mechanism: str, n: int, rows: int) -> None:
    world = WORLDS[mechanism]
    found = [drawn(world, n, 9000 + number) for number in range(rows)]
    level = int(found[0].stat_level[0])
    same = np.all([group.stat_level == level for group in found], axis=0)
    low, high = settled_trials(world, found, chance_of_a_row(0.95, rows)).intervals([1.0] * rows)
    known = world.kind(level, rows).published
    parts = [estimates_95(known, group.stage_1[same], group.sums[same]) for group in found]
    added = sum(part.high_95 - part.low_95 for part in parts)
    assert (np.floor(high[same]) - np.ceil(low[same]) <= added).all()
