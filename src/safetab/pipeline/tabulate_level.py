"""One population group level, from true counts to noisy ones: the body of the paper's Algorithm 1, and Algorithm 2.

In: an engine's records and a `GroupDomain`. Out: parts that hold nothing but noisy numbers. True counts live in this
module and in the engine; everything that comes out of here has passed the gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import CountEvent, Stage
from safetab.engines.protocol import ChosenGroups, Members, Records
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.measure import Counts, Gate
from safetab.population.ages import AgeBins, StatLevel

#: Dense groups handled at a time: 16 MiB of counts, small enough for any machine, large enough for array code.
_GROUPS_AT_A_TIME = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTotals:
    """Noisy totals of some groups of consecutive regions, all measured with the same event.

    `is_measured` has a row for each region from `first_region` on and a column for each iteration of the domain;
    `noisy_count` has the counts of those groups where it is true, row by row.
    """

    event: CountEvent
    first_region: int
    is_measured: npt.NDArray[np.bool_]
    noisy_count: Counts

    def groups(self, kept: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Region and iteration of some of the counts; cheap where few are kept."""
        place = np.flatnonzero(self.is_measured)[kept]
        row, iteration = np.divmod(place, self.is_measured.shape[1])
        return row + self.first_region, iteration


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTables:
    """Noisy sex by age tables of all groups of one stat level: one row a group, then sex, then age bin."""

    event: CountEvent
    stat_level: StatLevel
    region: npt.NDArray[np.int64]
    iteration: npt.NDArray[np.int64]
    noisy_count: Counts


@dataclass(frozen=True, slots=True, eq=False)
class _TrueTotals:
    """Confidential: the totals of the groups that have anybody, in order of region."""

    region: npt.NDArray[np.int32]
    iteration: npt.NDArray[np.int16]
    true_count: Counts

    def dense(self, first: int, last: int, iterations: int) -> Counts:
        """The totals of every group of the regions first to last - 1, zeros included."""
        low, high = np.searchsorted(self.region, [first, last])
        table = np.zeros((last - first, iterations), dtype=np.int64)
        table[self.region[low:high] - first, self.iteration[low:high]] = self.true_count[low:high]
        return table


def tabulate_level(
    records: Records, domain: GroupDomain, members: Members, gate: Gate, age_bins: tuple[AgeBins, ...], sexes: int
) -> Iterator[NoisyTotals | NoisyTables]:
    """Tabulate every population group of a level (Algorithm 2 for each of them), some regions at a time.

    Every group is in exactly one of the parts that come out, and nothing but noisy numbers comes out.
    """
    true_totals = _count_totals(records, domain, members)
    chosen: list[ChosenGroups] = []
    for first, last in _chunks(domain):
        true = true_totals.dense(first, last, len(domain.iterations))
        is_total_only = np.broadcast_to(domain.is_total_only, true.shape)
        if domain.plan.has_total_only:
            yield _measure_totals(true, is_total_only, first, domain.plan.event(Stage.TOTAL_ONLY), gate)
        if domain.plan.has_two_stage:
            stat_levels = _choose_stat_levels(true, ~is_total_only, domain, gate)
            gets_total = stat_levels == StatLevel.TOTAL
            yield _measure_totals(true, gets_total, first, domain.plan.event(Stage.STAGE_2), gate)
            chosen.append(_groups_with_tables(stat_levels, first))
    yield from _tabulate_cells(records, domain, members, _joined(chosen), gate, age_bins, sexes)


def _count_totals(records: Records, domain: GroupDomain, members: Members) -> _TrueTotals:
    batches = list(records.totals(domain.region_of_cell, members))
    empty = np.empty(0, dtype=np.int64)
    region = np.concatenate([empty, *(batch.region for batch in batches)]).astype(np.int32)
    iteration = np.concatenate([empty, *(batch.iteration for batch in batches)]).astype(np.int16)
    true_count = np.concatenate([empty, *(batch.true_count for batch in batches)])
    order = np.argsort(region, kind="stable")
    return _TrueTotals(region[order], iteration[order], true_count[order])


def _chunks(domain: GroupDomain) -> Iterator[tuple[int, int]]:
    """Consecutive regions, so many at a time that memory stays bounded however many there are."""
    step = max(1, _GROUPS_AT_A_TIME // max(1, len(domain.iterations)))
    for first in range(0, len(domain.regions), step):
        yield first, min(first + step, len(domain.regions))


def _measure_totals(
    true: Counts, is_measured: npt.NDArray[np.bool_], first: int, event: CountEvent, gate: Gate
) -> NoisyTotals:
    """One noisy count of each group that gets a total: TotalOnly groups, or stage 2 of those at stat level 0."""
    return NoisyTotals(event, first, is_measured, gate.measure(true[is_measured], event))


def _choose_stat_levels(
    true: Counts, is_two_stage: npt.NDArray[np.bool_], domain: GroupDomain, gate: Gate
) -> npt.NDArray[np.int8]:
    """Stage 1: how many thresholds each group's noisy total reaches; -1 for TotalOnly groups, which have no stage 1."""
    noisy = gate.measure(true[is_two_stage], domain.plan.event(Stage.STAGE_1))
    # Three comparisons of whole arrays: ten times as fast as a search for each count.
    reached = np.zeros(noisy.shape, dtype=np.int8)
    for threshold in domain.level.thresholds:
        reached += noisy >= threshold
    stat_levels = np.full(true.shape, -1, dtype=np.int8)
    stat_levels[is_two_stage] = reached
    return stat_levels


def _groups_with_tables(stat_levels: npt.NDArray[np.int8], first: int) -> ChosenGroups:
    region, iteration = np.nonzero(stat_levels > StatLevel.TOTAL)
    return ChosenGroups(region + first, iteration, stat_levels[region, iteration].astype(np.int64))


def _joined(parts: list[ChosenGroups]) -> ChosenGroups:
    empty = np.empty(0, dtype=np.int64)
    return ChosenGroups(
        np.concatenate([empty, *(part.region for part in parts)]),
        np.concatenate([empty, *(part.iteration for part in parts)]),
        np.concatenate([empty, *(part.stat_level for part in parts)]),
    )


def _tabulate_cells(
    records: Records,
    domain: GroupDomain,
    members: Members,
    chosen: ChosenGroups,
    gate: Gate,
    age_bins: tuple[AgeBins, ...],
    sexes: int,
) -> Iterator[NoisyTables]:
    """Stage 2 of the groups that get a sex by age table: every cell of the table, empty ones too."""
    if not len(chosen.region):
        return
    widths = np.array([0, *(sexes * len(bins) for bins in age_bins)])
    # The cells of all groups lie one after another, group by group, in one array.
    ends = np.cumsum(widths[chosen.stat_level])
    starts = ends - widths[chosen.stat_level]
    true = np.zeros(int(ends[-1]), dtype=np.int64)
    bins_of_group = widths[chosen.stat_level] // sexes
    for batch in records.cells(domain.region_of_cell, members, chosen):
        true[starts[batch.group] + batch.sex * bins_of_group[batch.group] + batch.age_bin] = batch.true_count
    event = domain.plan.event(Stage.STAGE_2)
    for stat_level in (StatLevel.COARSE, StatLevel.MEDIUM, StatLevel.FINE):
        groups = np.flatnonzero(chosen.stat_level == stat_level)
        if len(groups):
            cells = true[starts[groups][:, None] + np.arange(widths[stat_level])]
            noisy = gate.measure(cells, event).reshape(len(groups), sexes, -1)
            yield NoisyTables(event, stat_level, chosen.region[groups], chosen.iteration[groups], noisy)
