"""Estimates as they are published: every outcome of the noise goes through the real assembler, and no chance is used.

A region of the domain is one outcome: a stage 1 count and a stage 2 count that are possible at one true count. So the
chance that an interval holds, given that its row was published, is a sum of weights by the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import safetab
from safetab.accounting.events import LevelEvents, Stage
from safetab.estimates.conditional import Combination
from safetab.estimates.publication import Publication
from safetab.noise.laws import Mechanism
from safetab.params.plan import PlannedLevel
from safetab.params.release import PopulationGroupLevel
from safetab.pipeline.assemble import NO_STAGE_1, Assembler, KeyOrder, PostProcessing, Rows
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.precision import Precisions
from safetab.pipeline.tabulate_level import NoisyTables, NoisyTotals
from safetab.population.ages import StatLevel
from safetab.population.geography import GeographyLevel
from safetab.population.iterations import Iteration, Kind, Reach
from tests.oracle.estimates import Oracle, Row, centred
from tests.worlds import by_hand

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

CONFIDENCE = 0.95
ROUNDING = 1e-9
#: Rows that are published less often are not judged.
RARELY = 1e-9
CELLS = {0: 1, 1: 2, 2: 6, 3: 12}


@dataclass(frozen=True)
class Level:
    """A level by its plain numbers, for SafeTab and for the oracle."""

    mechanism: Mechanism
    budget: str
    thresholds: tuple[int, int, int] = (9, 14, 14)
    gamma: str = "0.2"
    chance: Fraction | None = None
    negative: bool = True
    stability: int = 1
    events: LevelEvents = field(init=False)

    def __post_init__(self) -> None:
        events = LevelEvents("(AREA, 1)", self.mechanism, Fraction(self.budget), self.stability, Fraction(self.gamma))
        object.__setattr__(self, "events", events)

    def noise(self, stage: Stage, cells: int = 1) -> Floats:
        """The weights of the noise of one stage, by the oracle."""
        budget = float(self.events.event(stage).budget)
        if self.mechanism is Mechanism.GEOMETRIC:
            return centred("geometric", budget, cells)
        return centred("gaussian", 1 / (2 * budget), cells)

    def domain(self, regions: int) -> GroupDomain:
        geography = GeographyLevel("AREA", ("A",), local=True)
        level = PopulationGroupLevel(geography, 1, Fraction(1), None, self.thresholds)
        iteration = Iteration("1000", "Somebody", 1, Kind.ALONE, Reach.COMMON, frozenset({"1"}))
        names = tuple(f"{number:07}" for number in range(regions))
        return GroupDomain(PlannedLevel(level, (iteration,), self.events), names, np.empty(0, dtype=np.int32))

    def dropped_up_to(self, stage: Stage) -> int | None:
        """By the words of the specification: the least t with P[noise <= t] >= p."""
        if self.chance is None:
            return None
        weights = self.noise(stage)
        return int(np.searchsorted(np.cumsum(weights), float(self.chance))) - len(weights) // 2

    def row(self, stat_level: int) -> Row:
        """The kind of rows at a stat level, for the oracle."""
        cells = CELLS[stat_level]
        laws = self.events.event(Stage.STAGE_1).law, self.events.event(Stage.STAGE_2).law
        a, b = Combination(Publication(laws[1], cells, laws[0])).weights
        edges = (-np.inf, *self.thresholds, np.inf)
        dropped = self.dropped_up_to(Stage.STAGE_2) if stat_level == 0 else None
        return Row(
            self.noise(Stage.STAGE_1),
            self.noise(Stage.STAGE_2, cells),
            a,
            b,
            edges[stat_level],
            edges[stat_level + 1],
            -np.inf if dropped is None else dropped + 1,
        )

    def published(self, x: Integers | None, s: Integers, stat_level: int) -> Rows:
        """T1 of groups with these noisy counts; a row's key is the number of its group."""
        domain = self.domain(len(s))
        policy = PostProcessing(self.chance, allow_negative_counts=self.negative, has_noise=True)
        assembler = Assembler(KeyOrder.of([domain]), policy, Precisions(has_noise=True))
        if stat_level == 0:
            stage = Stage.TOTAL_ONLY if x is None else Stage.STAGE_2
            stage_1 = None if x is None else x[:, None]
            measured = np.ones((len(s), 1), dtype=np.bool_)
            assembler.add(domain, NoisyTotals(self.events.event(stage), 0, measured, s, stage_1))
            return assembler.t1()
        assert x is not None
        # Cells that are far below 0: their sum is the noisy sum, whatever is published of them.
        cells = np.zeros((len(s), 2, CELLS[stat_level] // 2), dtype=np.int64)
        cells[:, 0, 0], cells[:, 1, 0] = s + 100, -100
        number = np.arange(len(s))
        zeros = np.zeros_like(number)
        event = self.events.event(Stage.STAGE_2)
        assembler.add(domain, NoisyTables(event, StatLevel(stat_level), number, zeros, cells, x))
        return assembler.t1()


LEVELS = [
    Level(mechanism, budget, chance=chance, negative=negative)
    for mechanism, budget in ((Mechanism.DISCRETE_GAUSSIAN, "0.3"), (Mechanism.GEOMETRIC, "2"))
    for chance, negative in ((None, True), (Fraction(99, 100), False))
]


def covered(rows: Rows, n: int) -> npt.NDArray[np.bool_]:
    return (rows.estimates.low_95 <= n) & (n <= rows.estimates.high_95)


@pytest.mark.parametrize("level", LEVELS, ids=repr)
@pytest.mark.parametrize("stat_level", [0, 1, 3])
def test_intervals_hold_given_what_is_published(level: Level, stat_level: int) -> None:
    row = level.row(stat_level)
    tried = 0
    for n in range(30):
        if row.chance_published(n) < RARELY:
            continue
        x, chance_x, s, chance_s = row.counts(n)
        x, chance_x = x[chance_x > 0], chance_x[chance_x > 0]
        # Sums that are suppressed have no chance, and are there to be dropped; the rarest of the others are not.
        s, chance_s = s[(chance_s == 0) | (chance_s > 1e-12)], chance_s[(chance_s == 0) | (chance_s > 1e-12)]
        pairs_x, pairs_s = (part.ravel() for part in np.meshgrid(x, s, indexing="ij"))
        rows = level.published(pairs_x, pairs_s, stat_level)
        # Suppression is the assembler's own: what it drops has no weight for the oracle, and nothing else has none.
        weights = (chance_x[:, None] * chance_s[None, :]).ravel()
        assert (weights[np.setdiff1d(np.arange(len(pairs_s)), rows.key)] == 0).all()
        assert rows.stage_1_count is not None
        assert (rows.stage_1_count == pairs_x[rows.key]).all()
        given = weights[rows.key] / weights.sum()
        assert given.sum() == pytest.approx(1)
        assert given[covered(rows, n)].sum() >= CONFIDENCE - ROUNDING, n
        assert given[rows.estimates.estimate <= n].sum() >= 0.5 - ROUNDING, n
        tried += 1
    assert tried > 10


@pytest.mark.parametrize("level", LEVELS, ids=repr)
@pytest.mark.parametrize("stat_level", [0, 1, 3])
def test_ends_are_those_of_the_oracle(level: Level, stat_level: int) -> None:
    """The interval of the right kind of row: not of another level, another number of cells or another threshold."""
    row = level.row(stat_level)
    oracle = Oracle(row, 45)
    lo, hi = (max(row.lo, 0), min(row.hi - 1, 30))
    x = np.arange(int(lo), int(hi) + 1)
    s = np.arange(max(int(lo) - 5, 0), int(hi) + 6)
    if level.chance is not None and stat_level == 0:
        s = s[s >= row.least]
    pairs_x, pairs_s = (part.ravel() for part in np.meshgrid(x, s, indexing="ij"))
    rows = level.published(pairs_x, pairs_s, stat_level)
    compared = 0
    for place, key in enumerate(rows.key):
        expected = oracle.estimate(int(row.a * pairs_x[key] + row.b * pairs_s[key]))
        found = rows.estimates
        if expected is not None:
            assert (found.estimate[place], found.low_95[place], found.high_95[place]) == expected
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("level", LEVELS, ids=repr)
def test_totals_of_one_stage_hold_too_and_have_no_stage_1_count(level: Level) -> None:
    for n in range(20):
        weights = level.noise(Stage.TOTAL_ONLY)
        s = n + np.arange(len(weights)) - len(weights) // 2
        rows = level.published(None, s, 0)
        assert rows.stage_1_count is not None
        assert (rows.stage_1_count == NO_STAGE_1).all()
        given = weights[rows.key] / weights[rows.key].sum()
        if weights[rows.key].sum() >= RARELY:
            assert given[covered(rows, n)].sum() >= CONFIDENCE - ROUNDING


PRODUCTION = Level(Mechanism.DISCRETE_GAUSSIAN, "0.159", (971, 4971, 19971), "0.1", Fraction(9999, 10000), stability=9)


@pytest.mark.parametrize("n", [0, 1, 5, 10, 15, 22, 30])
def test_published_local_totals_with_the_production_settings(n: int) -> None:
    """Today's margins hold never for a true count of 0, because only its largest noise is published."""
    row = PRODUCTION.row(0)
    x, chance_x, s, chance_s = row.counts(n)
    pairs_x, pairs_s = (part.ravel() for part in np.meshgrid(x, s, indexing="ij"))
    rows = PRODUCTION.published(pairs_x, pairs_s, 0)
    weights = (chance_x[:, None] * chance_s[None, :]).ravel()
    given = weights[rows.key] / weights.sum()
    assert given[covered(rows, n)].sum() >= CONFIDENCE
    if n == 0:
        margin = PRODUCTION.events.event(Stage.STAGE_2).law.two_sided_quantile(Fraction(95, 100))
        assert given[np.abs(rows.count - n) <= margin].sum() == 0


def test_t2_holds_given_the_stat_level_also_where_negative_counts_are_set_to_0() -> None:
    """One sex, two age bins: every pair of noisy cells, and the row that sums them."""
    for negative in (True, False):
        level = Level(Mechanism.DISCRETE_GAUSSIAN, "0.3", negative=negative)
        noise = level.noise(Stage.STAGE_2)
        values = np.arange(len(noise)) - len(noise) // 2
        first, second = (part.ravel() for part in np.meshgrid(values, values, indexing="ij"))
        weights = (noise[:, None] * noise[None, :]).ravel()
        number = np.arange(len(first))
        domain = level.domain(len(first))
        for true in ((0, 0), (0, 3), (7, 1)):
            policy = PostProcessing(None, allow_negative_counts=negative, has_noise=True)
            assembler = Assembler(KeyOrder.of([domain]), policy, Precisions(has_noise=True))
            cells = np.stack([true[0] + first, true[1] + second], axis=1)[:, None, :]
            event = level.events.event(Stage.STAGE_2)
            x = np.full(len(first), 9)
            assembler.add(domain, NoisyTables(event, StatLevel.COARSE, number, np.zeros_like(number), cells, x))
            t2 = assembler.t2()
            assert t2.stage_1_count is None
            for place, truth in enumerate((sum(true), *true)):
                rows = slice(place, None, 3)
                low, high = t2.estimates.low_95[rows], t2.estimates.high_95[rows]
                assert weights[(low <= truth) & (truth <= high)].sum() >= CONFIDENCE - ROUNDING
                # Cut at 0, the interval is that of the noisy sum itself.
                drawn = cells.sum(axis=(1, 2)) if place == 0 else cells[:, 0, place - 1]
                assert (t2.estimates.estimate[rows] == np.maximum(drawn, 0)).all()
                inside = low > 0
                assert (high - low)[inside].tolist() == [2 * int(drawn[inside][0] - low[inside][0])] * int(inside.sum())


def tabulated(folder: Path, **options: object) -> safetab.TabulatedRelease:
    return safetab.tabulate(folder / "params", folder / "data", folder / "out", **options)  # type: ignore[arg-type]


def test_with_the_noise_off_estimates_are_counts(tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    by_hand.choose(tmp_path, allow_negative_counts=False)
    release = tabulated(tmp_path, noise=False, not_private=True)
    for table in (release.t1, release.t2):
        for name in ("ESTIMATE", "LOW_95", "HIGH_95"):
            assert table[name].equals(table["COUNT"])


def test_stage_1_counts_are_published_and_chose_the_stat_levels(tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    release = tabulated(tmp_path)
    assert release.t1.num_rows
    total_only = {"2003", "2004", "2005", "2006"}
    for row in release.t1.to_pylist():
        is_total_only = row["REGION_TYPE"] in {"USA", "PR-STATE"} and row["ITERATION_CODE"] in total_only
        assert (row["STAGE_1_COUNT"] is None) is is_total_only
        if row["REGION_TYPE"] == "COUNTY":
            assert row["STAT_LEVEL"] == sum(row["STAGE_1_COUNT"] >= t for t in (1, 1, 2))
    measured = [m for run in release.ledger["runs"] for level in run["levels"] for m in level["measurements"]]
    assert {m["published_as"] for m in measured if m["stage"] == "stage 1"} == {"STAGE_1_COUNT of T1"}
