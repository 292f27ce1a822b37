"""One population group level, from true counts to noisy ones: the body of the paper's Algorithm 1, and Algorithm 2.

In: an engine's records and a `GroupDomain`. Out: `NoisyLevel`, which holds nothing but noisy numbers. True counts live
in this module and in the engine; everything that returns from here has passed the gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from safetab.accounting.events import Stage
from safetab.engines.protocol import ChosenGroups, Members, Records
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.measure import Counts, Gate
from safetab.population.ages import AgeBins, StatLevel

#: Dense groups handled at a time: 16 MiB of counts, small enough for any machine, large enough for array code.
_GROUPS_AT_A_TIME = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTotals:
    """Noisy totals of some groups: region and iteration index into the level's domain."""

    region: npt.NDArray[np.int32]
    iteration: npt.NDArray[np.int16]
    noisy_count: Counts
    is_total_only: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTables:
    """Noisy sex by age tables of all groups of one stat level: one row a group, then sex, then age bin."""

    stat_level: StatLevel
    region: npt.NDArray[np.int32]
    iteration: npt.NDArray[np.int16]
    noisy_count: Counts


@dataclass(frozen=True, slots=True, eq=False)
class NoisyLevel:
    """What leaves the confidential side for one level: every group is in exactly one of the parts."""

    domain: GroupDomain
    totals: tuple[NoisyTotals, ...]
    tables: tuple[NoisyTables, ...]


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
) -> NoisyLevel:
    """Tabulate every population group of a level (Algorithm 2 for each of them)."""
    true_totals = _count_totals(records, domain, members)
    totals: list[NoisyTotals] = []
    chosen: list[ChosenGroups] = []
    for first, last in _chunks(domain):
        true = true_totals.dense(first, last, len(domain.iterations))
        totals.extend(_measure_total_only(true, first, domain, gate))
        stat_levels = _choose_stat_levels(true, domain, gate)
        totals.append(_measure_totals(true, stat_levels, first, domain, gate))
        chosen.append(_groups_with_tables(stat_levels, first))
    tables = _tabulate_cells(records, domain, members, _joined(chosen), gate, age_bins, sexes)
    return NoisyLevel(domain, tuple(totals), tables)


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


def _measure_total_only(true: Counts, first: int, domain: GroupDomain, gate: Gate) -> Iterator[NoisyTotals]:
    columns = np.flatnonzero(domain.is_total_only)
    if len(columns):
        noisy = gate.measure(np.ascontiguousarray(true[:, columns]), domain.plan.event(Stage.TOTAL_ONLY))
        row, column = np.indices(noisy.shape).reshape(2, -1)
        yield NoisyTotals(
            (row + first).astype(np.int32),
            columns[column].astype(np.int16),
            noisy.ravel(),
            np.ones(noisy.size, dtype=np.bool_),
        )


def _choose_stat_levels(true: Counts, domain: GroupDomain, gate: Gate) -> npt.NDArray[np.int8]:
    """Stage 1: how many thresholds each group's noisy total reaches; -1 for TotalOnly groups, which have no stage 1."""
    stat_levels = np.full(true.shape, -1, dtype=np.int8)
    columns = np.flatnonzero(~domain.is_total_only)
    if len(columns):
        noisy = gate.measure(np.ascontiguousarray(true[:, columns]), domain.plan.event(Stage.STAGE_1))
        stat_levels[:, columns] = np.searchsorted(np.array(domain.level.thresholds), noisy, side="right")
    return stat_levels


def _measure_totals(
    true: Counts, stat_levels: npt.NDArray[np.int8], first: int, domain: GroupDomain, gate: Gate
) -> NoisyTotals:
    """Stage 2 of the groups that get a total."""
    region, iteration = np.nonzero(stat_levels == StatLevel.TOTAL)
    noisy = true[region, iteration]
    if noisy.size:
        noisy = gate.measure(noisy, domain.plan.event(Stage.STAGE_2))
    return NoisyTotals(
        (region + first).astype(np.int32), iteration.astype(np.int16), noisy, np.zeros(noisy.size, dtype=np.bool_)
    )


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
) -> tuple[NoisyTables, ...]:
    """Stage 2 of the groups that get a sex by age table: every cell of the table, empty ones too."""
    if not len(chosen.region):
        return ()
    stat_levels = (StatLevel.COARSE, StatLevel.MEDIUM, StatLevel.FINE)
    widths = np.array([0, *(sexes * len(bins) for bins in age_bins)])
    # The cells of all groups lie one after another, group by group, in one array.
    ends = np.cumsum(widths[chosen.stat_level])
    starts = ends - widths[chosen.stat_level]
    true = np.zeros(int(ends[-1]), dtype=np.int64)
    bins_of_group = widths[chosen.stat_level] // sexes
    for batch in records.cells(domain.region_of_cell, members, chosen, _bin_of_age(age_bins)):
        true[starts[batch.group] + batch.sex * bins_of_group[batch.group] + batch.age_bin] = batch.true_count
    tables: list[NoisyTables] = []
    for stat_level in stat_levels:
        groups = np.flatnonzero(chosen.stat_level == stat_level)
        if len(groups):
            cells = true[starts[groups][:, None] + np.arange(widths[stat_level])]
            noisy = gate.measure(cells, domain.plan.event(Stage.STAGE_2))
            tables.append(
                NoisyTables(
                    stat_level,
                    chosen.region[groups].astype(np.int32),
                    chosen.iteration[groups].astype(np.int16),
                    noisy.reshape(len(groups), sexes, -1),
                )
            )
    return tuple(tables)


def _bin_of_age(age_bins: tuple[AgeBins, ...]) -> pa.Table:
    """The age bin of every age at every stat level, as the engine's look-up table."""
    ages = len(age_bins[0].bin_of_age())
    return pa.table(
        {
            "stat_level": np.repeat(np.arange(1, len(age_bins) + 1, dtype=np.int8), ages),
            "age": np.tile(np.arange(ages, dtype=np.int16), len(age_bins)),
            "age_bin": np.concatenate([bins.bin_of_age() for bins in age_bins]),
        }
    )
