"""Population group levels, from true counts to noisy ones: the body of the paper's Algorithm 1, and Algorithm 2.

In: an engine's records and `GroupDomain`s. Out: noisy totals and noisy tables with the stage 1 counts of the same
groups, which are noisy too, and nothing else. True counts live in this module and in the engine; everything that comes
out of here has passed the gate.

Algorithm 2 is in two parts, because all tables are asked for together: the totals of a level with its stage 1, and the
tables of the groups that stage 1 chose. Noise is drawn afresh for every count, so the order changes no probability.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import CountEvent, Stage
from safetab.engines.protocol import CellQuestion, Cells, ChosenGroups, Members, Records, Totals
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.measure import Counts, Gate
from safetab.population.ages import AgeBins, StatLevel

#: Dense groups handled at a time: 4 MiB of counts. With more the system gives and takes memory all the time.
_GROUPS_AT_A_TIME = 500_000


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTotals:
    """Noisy totals of some groups of consecutive regions, all measured with the same event.

    `is_measured` has a row for each region from `first_region` on and a column for each iteration of the domain;
    `noisy_count` has the counts of those groups where it is true, row by row. `stage_1_count` has the shape of
    `is_measured`; TotalOnly groups have none.
    """

    event: CountEvent
    first_region: int
    is_measured: npt.NDArray[np.bool_]
    noisy_count: Counts
    stage_1_count: Counts | None

    def places(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Where some of the counts are among all groups of these regions.

        Cheap where few are kept and few groups have no count: a count has moved up by as many places as there are
        groups without one before it.
        """
        without = np.flatnonzero(~self.is_measured)
        number = np.flatnonzero(kept)
        return number + np.searchsorted(without - np.arange(len(without)), number, side="right")

    def groups(self, places: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Region and iteration of the groups at some places."""
        row, iteration = np.divmod(places, self.is_measured.shape[1])
        return row + self.first_region, iteration

    def stage_1_at(self, places: npt.NDArray[np.int64]) -> Counts | None:
        """The noisy stage 1 counts of the groups at some places."""
        return None if self.stage_1_count is None else self.stage_1_count.reshape(-1)[places]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTables:
    """Noisy sex by age tables of all groups of one stat level: one row a group, then sex, then age bin."""

    event: CountEvent
    stat_level: StatLevel
    region: npt.NDArray[np.int64]
    iteration: npt.NDArray[np.int64]
    noisy_count: Counts
    stage_1_count: Counts


class TrueTotals:
    """Confidential: the true totals of a level, taken from the engine when their regions are due.

    The finest level of a large country has more groups than there is memory for, so they are not gathered first.
    """

    def __init__(self, batches: Iterator[Totals], iterations: int) -> None:
        self._batches, self._iterations = batches, iterations
        self._waiting: deque[Totals] = deque()
        self._last_taken = -1

    def dense(self, first: int, last: int) -> Counts:
        """The totals of all groups of the regions first to last - 1, zeros included; regions are asked for in order."""
        table = np.zeros((last - first, self._iterations), dtype=np.int64)
        while self._last_taken < last and (batch := next(self._batches, None)) is not None:
            self._take(batch)
        for batch in self._waiting:
            low, high = np.searchsorted(batch.region, np.array([first, last], dtype=batch.region.dtype))
            table[batch.region[low:high] - first, batch.iteration[low:high]] = batch.true_count[low:high]
        while self._waiting and self._waiting[0].region[-1] < last:
            self._waiting.popleft()
        return table

    def _take(self, batch: Totals) -> None:
        if not len(batch.region):
            return
        # Otherwise people would be left out silently.
        if batch.region[0] <= self._last_taken or np.any(batch.region[1:] < batch.region[:-1]):
            raise AssertionError("an engine gave totals that are not in the order of their regions")
        self._waiting.append(batch)
        self._last_taken = int(batch.region[-1])


class MeasuredLevel:
    """A level while it is measured: the groups that stage 1 chose for a sex by age table, with their stage 1 counts."""

    def __init__(self, domain: GroupDomain, members: Members) -> None:
        self.domain, self.members = domain, members
        self._chosen: list[ChosenGroups] = []
        self._stage_1_counts: list[Counts] = []

    def choose(self, stat_levels: npt.NDArray[np.int8], stage_1: Counts, first_region: int) -> None:
        """Add those groups of some regions whose stat level has a table."""
        groups = np.flatnonzero(stat_levels > StatLevel.TOTAL)
        region, iteration = np.divmod(groups, stat_levels.shape[1])
        stat_level = stat_levels.reshape(-1)[groups].astype(np.int64)
        self._chosen.append(ChosenGroups(region + first_region, iteration, stat_level))
        self._stage_1_counts.append(stage_1.reshape(-1)[groups])

    def question(self) -> CellQuestion:
        """What an engine is asked for stage 2."""
        columns = ("region", "iteration", "stat_level")
        chosen = ChosenGroups(*(_joined([getattr(some, name) for some in self._chosen]) for name in columns))
        return CellQuestion(self.domain.region_of_block_set, self.members, chosen)

    def stage_1_counts(self) -> Counts:
        """The stage 1 count of each chosen group."""
        return _joined(self._stage_1_counts)


def tabulate_totals(records: Records, level: MeasuredLevel, gate: Gate) -> Iterator[NoisyTotals]:
    """Stage 1 of every population group of a level, some regions at a time, and a noisy total of each without a table.

    Every group is in exactly one of the totals that come out, or chosen in `level`.
    """
    domain = level.domain
    true_totals = TrueTotals(records.totals(domain.region_of_block_set, level.members), len(domain.iterations))
    for first, last in _chunks(domain):
        true = true_totals.dense(first, last)
        if domain.planned.noise.has_total_only:
            is_total_only = np.broadcast_to(domain.is_total_only, true.shape)
            yield _measure_totals(true, is_total_only, first, domain.planned.noise.event(Stage.TOTAL_ONLY), gate)
        if domain.planned.noise.has_two_stage:
            stage_1 = _measure_stage_1(true, domain, gate)
            stat_levels = _choose_stat_levels(stage_1, domain)
            gets_total = stat_levels == StatLevel.TOTAL
            yield _measure_totals(true, gets_total, first, domain.planned.noise.event(Stage.STAGE_2), gate, stage_1)
            level.choose(stat_levels, stage_1, first)


def tabulate_tables(
    records: Records, levels: Sequence[MeasuredLevel], gate: Gate, age_bins: tuple[AgeBins, ...], sexes: int
) -> Iterator[tuple[GroupDomain, Iterator[NoisyTables]]]:
    """Stage 2 of the groups that get a table: the tables of each level, to be taken before those of the next."""
    questions = [level.question() for level in levels]
    answers = records.cells(questions)
    for level, question in zip(levels, questions, strict=True):
        yield level.domain, _measure_tables(level, question.chosen, answers, gate, age_bins, sexes)
    # Otherwise levels would have got parts of each other's answers silently.
    if next(answers, None) is not None:
        raise AssertionError("an engine gave more answers than it was asked questions")


def _chunks(domain: GroupDomain) -> Iterator[tuple[int, int]]:
    """Consecutive regions, so many at a time that memory stays bounded however many there are."""
    step = max(1, _GROUPS_AT_A_TIME // max(1, len(domain.iterations)))
    for first in range(0, len(domain.regions), step):
        yield first, min(first + step, len(domain.regions))


def _measure_totals(
    true: Counts,
    is_measured: npt.NDArray[np.bool_],
    first: int,
    event: CountEvent,
    gate: Gate,
    stage_1: Counts | None = None,
) -> NoisyTotals:
    """One noisy count of each group that gets a total: TotalOnly groups, or stage 2 of those at stat level 0."""
    return NoisyTotals(event, first, is_measured, gate.measure(true[is_measured], event), stage_1)


def _measure_stage_1(true: Counts, domain: GroupDomain, gate: Gate) -> Counts:
    """Stage 1: a noisy total of each group with two stages, in the shape of the groups; 0 where there is no stage 1."""
    event = domain.planned.noise.event(Stage.STAGE_1)
    if not domain.is_total_only.any():
        # Most levels: the same counts in the same order, without a copy of some millions of them.
        return gate.measure(true, event)
    noisy = np.zeros(true.shape, dtype=np.int64)
    noisy[:, ~domain.is_total_only] = gate.measure(true[:, ~domain.is_total_only], event)
    return noisy


def _choose_stat_levels(noisy: Counts, domain: GroupDomain) -> npt.NDArray[np.int8]:
    """How many thresholds each group's stage 1 count reaches; -1 for TotalOnly groups, which have no stage 1."""
    thresholds = domain.planned.level.thresholds
    reached = np.zeros(noisy.shape, dtype=np.int8)
    # Thresholds are in order and few groups reach the first: one comparison of a whole array, the others of these few.
    some = np.flatnonzero(noisy >= thresholds[0])
    for threshold in thresholds:
        reached.reshape(-1)[some] += noisy.reshape(-1)[some] >= threshold
    reached[:, domain.is_total_only] = -1
    return reached


def _joined(arrays: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays])


def _measure_tables(
    level: MeasuredLevel,
    chosen: ChosenGroups,
    answers: Iterator[Cells],
    gate: Gate,
    age_bins: tuple[AgeBins, ...],
    sexes: int,
) -> Iterator[NoisyTables]:
    """The noisy tables of the chosen groups of a level: every cell of a table, empty ones too."""
    widths = np.array([0, *(sexes * len(bins) for bins in age_bins)])
    # The cells of all groups lie one after another, group by group, in one array.
    ends = np.cumsum(widths[chosen.stat_level])
    starts = ends - widths[chosen.stat_level]
    true = np.zeros(int(ends.max(initial=0)), dtype=np.int64)
    bins_of_group = widths[chosen.stat_level] // sexes
    cells = next(answers, None)
    if cells is None:
        raise AssertionError("an engine gave fewer answers than it was asked questions")
    true[starts[cells.group] + cells.sex * bins_of_group[cells.group] + cells.age_bin] = cells.true_count
    event, stage_1_counts = level.domain.planned.noise.event(Stage.STAGE_2), level.stage_1_counts()
    for stat_level in (StatLevel.COARSE, StatLevel.MEDIUM, StatLevel.FINE):
        groups = np.flatnonzero(chosen.stat_level == stat_level)
        if len(groups):
            true_cells = true[starts[groups][:, None] + np.arange(widths[stat_level])]
            noisy = gate.measure(true_cells, event).reshape(len(groups), sexes, -1)
            region, iteration = chosen.region[groups], chosen.iteration[groups]
            yield NoisyTables(event, stat_level, region, iteration, noisy, stage_1_counts[groups])
