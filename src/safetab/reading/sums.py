"""From population groups to rows, and from rows to what `estimates.linear` adds.

In: population groups of one release, each a group and a region, perhaps of one sex and some ages. Out: the rows that
give their total with the least variance, each with a sign; then `Pieces`. The promise: a row that two answers share is
known to be the same row, and a total that was left out is known to be missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from safetab.errors import Finding, UsageError
from safetab.estimates.linear import Pieces
from safetab.estimates.settled import TWELVE, settle
from safetab.estimates.sum_laws import Part
from safetab.reading.cover import least_variance
from safetab.reading.groups import Group
from safetab.reading.levels import Level
from safetab.reading.rows import Total
from safetab.rules import reading_rules

if TYPE_CHECKING:
    from safetab.reading.opened import Opened


class Region(NamedTuple):
    """A region: its type and id."""

    type: str
    id: str

    def __str__(self) -> str:
        return f"{self.type}/{self.id}"


class Cells(NamedTuple):
    """Which cells of a sex by age table: of one sex or all, from a first to a last age."""

    sex: str | None
    ages: tuple[int, int] | None

    def __str__(self) -> str:
        sex = "all sexes" if self.sex is None else f"sex {self.sex}"
        return f"{sex}, {'all ages' if self.ages is None else f'ages {self.ages[0]} to {self.ages[1]}'}"

    def holds(self, first: int, last: int, sex: str) -> bool:
        """Whether a cell is among them."""
        return (self.sex is None or sex == self.sex) and (self.ages is None or self._has_ages(first, last))

    def _has_ages(self, first: int, last: int) -> bool:
        assert self.ages is not None  # noqa: S101
        return self.ages[0] <= first and last <= self.ages[1]

    def splits(self, first: int, last: int) -> bool:
        """Whether only some of the ages of a bin are among them."""
        return (
            self.ages is not None
            and not self._has_ages(first, last)
            and (first <= self.ages[1] and self.ages[0] <= last)
        )


class Row(NamedTuple):
    """One number of T1, or some cells of one table of T2."""

    run: str
    region: Region
    code: str
    cells: Cells | None


@dataclass
class Chosen:
    """Rows with the times that each is added, and totals that are missing."""

    times: Counter[Row] = field(default_factory=Counter)
    missing: Counter[Row] = field(default_factory=Counter)

    @property
    def n_missing(self) -> int:
        return sum(self.missing.values())

    def add(self, other: Chosen) -> None:
        self.times.update(other.times)
        self.missing.update(other.missing)


def choose(release: Opened, pairs: Iterable[tuple[Group, Region]], cells: Cells | None) -> Chosen:
    """The rows that give the sum of some population groups."""
    chosen = Chosen()
    by_group: dict[str, tuple[Group, list[Region]]] = {}
    for group, region in pairs:
        by_group.setdefault(group.code, (group, []))[1].append(region)
    for group, regions in by_group.values():
        for run in release.runs:
            here = [region for region in regions if release.regions_of_run(run).index(*region) is not None]
            for batch in _of_one_chain(release, run, group, here):
                chosen.add(_choose_in_run(release, run, group, batch, cells))
    return chosen


def _of_one_chain(release: Opened, run: str, group: Group, regions: Sequence[Region]) -> list[list[Region]]:
    """Regions in batches; in a batch all geography levels are made up of the finest. No region is in it twice."""
    allowed = release.levels_of_group(run, group)
    for region in regions:
        if region.type not in allowed:
            seen = f"group {group.code} in {region}"
            raise UsageError(Finding(reading_rules.NOT_TABULATED, str(release.folder), seen=seen), "")
    places = release.regions_of_run(run)
    batches: list[list[Region]] = []
    by_size = sorted({region.type for region in regions}, key=lambda name: -len(places.ids(name)))
    while by_size:
        finest = by_size[0]
        chain = places.chain_above(finest, allowed)
        taken = [name for name in by_size if name in chain]
        batch = [region for region in regions if region.type in taken]
        # A region that was named twice is counted twice, but only once by each choice of rows.
        while batch:
            once = list(dict.fromkeys(batch))
            for region in once:
                batch.remove(region)
            batches += _apart(release, run, once)
        by_size = [name for name in by_size if name not in taken]
    return batches


def _apart(release: Opened, run: str, regions: list[Region]) -> list[list[Region]]:
    """In one batch if no two of them overlap, else each by itself."""
    places = release.regions_of_run(run)
    return [regions] if (places.covered(places.nodes(regions)) <= 1).all() else [[region] for region in regions]


def _choose_in_run(release: Opened, run: str, group: Group, regions: list[Region], cells: Cells | None) -> Chosen:
    places, allowed = release.regions_of_run(run), release.levels_of_group(run, group)
    finest = max({region.type for region in regions}, key=lambda name: len(places.ids(name)))
    chain = places.chain_above(finest, allowed)
    asked = np.flatnonzero(np.isin(np.arange(len(places.ids(finest))), _leaves(release, run, regions, finest)))
    costs = partial(_costs, release, run, group, cells)
    least = {name: allowed[name].row_kind(0, is_total_only=group.is_total_only).variance for name in chain}
    variance, signs = least_variance(places, chain, asked, costs, least)
    row = partial(_row, run, group, cells)
    if variance < inf:
        return Chosen(Counter({row(Region(level, places.ids(level)[at])): sign for (level, at), sign in signs.items()}))
    chosen = Chosen()
    for region in regions:
        at = places.index(*region)
        is_there = costs(region.type, np.array([at]))[0] < inf
        if cells is not None and not is_there:
            seen = f"group {group.code} in {region}; {cells}"
            raise UsageError(Finding(reading_rules.NO_SUCH_CELLS, str(release.folder), seen=seen), "")
        (chosen.times if is_there else chosen.missing)[row(region)] += 1
    return chosen


def _row(run: str, group: Group, cells: Cells | None, region: Region) -> Row:
    return Row(run, region, group.code, cells)


def _leaves(release: Opened, run: str, regions: Sequence[Region], finest: str) -> npt.NDArray[np.int64]:
    """The regions of the finest level that make up some regions."""
    places = release.regions_of_run(run)
    leaves: list[npt.NDArray[np.int64]] = []
    by_type: dict[str, list[int]] = {}
    for region in regions:
        at = places.index(*region)
        assert at is not None  # noqa: S101
        by_type.setdefault(region.type, []).append(at)
    for name, found in by_type.items():
        if name == finest:
            leaves.append(np.array(found))
        else:
            parents = places.parents(finest, name)
            assert parents is not None  # noqa: S101
            leaves.append(np.flatnonzero(np.isin(parents, found)))
    return np.concatenate(leaves)


def _costs(
    release: Opened, run: str, group: Group, cells: Cells | None, level: str, at: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """What each row would add to the variance; infinite where it was not published."""
    ids, known = release.regions_of_run(run).ids(level), release.levels_of_group(run, group)[level]
    rows = [Row(run, Region(level, ids[place]), group.code, cells) for place in at.tolist()]
    release.fetch(rows)
    return np.array([_variance(release, known, group, row) for row in rows])


def _variance(release: Opened, level: Level, group: Group, row: Row) -> float:
    total = release.total_row(row)
    if total is None:
        return inf
    kind = level.row_kind(total.stat_level, is_total_only=group.is_total_only)
    if row.cells is None:
        return kind.variance if level.has_noise else 0.0
    found = release.cells_row(row)
    if not found or any(row.cells.splits(first, last) for first, last, _, _ in found):
        return inf
    n = sum(row.cells.holds(first, last, sex) for first, last, sex, _ in found)
    if not n:
        # No bin has any of these ages: nobody was asked for, and 0 is no answer.
        return inf
    return n * level.row_kind(0, is_total_only=False).variance if level.has_noise else 0.0


def pieces_of(
    release: Opened, classes: Mapping[Row, tuple[int, ...]], missing: Mapping[Row, tuple[int, ...]], chance: float
) -> dict[tuple[int, ...], Pieces]:
    """What rows add up to, for each class of rows that are added the same number of times."""
    totals: dict[tuple[tuple[int, ...], Level, int, bool], list[Total]] = {}
    result: dict[tuple[int, ...], Pieces] = {}
    for row, times in classes.items():
        group, total, level = release.groups[row.code], release.total_row(row), release.level_of(row)
        assert total is not None  # noqa: S101
        if not level.has_noise or row.cells is not None:
            result[times] = result.get(times, Pieces()) + _plain(release, level, row, total)
        else:
            totals.setdefault((times, level, total.stat_level, group.is_total_only), []).append(total)
    survived = sum(len(rows) for (_, level, stat, _), rows in totals.items() if not stat and level.suppressed_up_to)
    for (times, level, stat_level, is_total_only), rows in totals.items():
        kind = level.row_kind(stat_level, is_total_only=is_total_only).for_sum_of(survived)
        stage_1 = None if rows[0].stage_1_count is None else np.array([row.stage_1_count for row in rows])
        if kind.weight and stage_1 is None:
            kind = kind.without_stage_1()
        settled = settle(kind, stage_1, np.array([row.count for row in rows]), chance)
        known = level.suppressible(is_total_only=is_total_only) if stat_level == 0 else None
        estimates = [row.estimate for row in rows if row.estimate is not None]
        # A total that survived suppression is too large on average; its own estimate is not.
        value = TWELVE * sum(estimates) if known and len(estimates) == len(rows) else None
        result[times] = result.get(times, Pieces()) + Pieces.of_rows(kind, settled, known, value)
    for row, times in missing.items():
        known = release.level_of(row).suppressible(is_total_only=release.groups[row.code].is_total_only)
        if known is not None:
            result[times] = result.get(times, Pieces()) + Pieces.left_out(known)
    return result


def _plain(release: Opened, level: Level, row: Row, total: Total) -> Pieces:
    """Numbers that were not selected: cells, whose noise is independent of how the stat level was chosen; no noise."""
    if row.cells is None:
        return Pieces.exactly(total.count)
    counts = [count for first, last, sex, count in release.cells_row(row) if row.cells.holds(first, last, sex)]
    if not level.has_noise:
        return Pieces.exactly(sum(counts))
    law = level.law_of_total(is_total_only=False)
    noise = Counter({Part(law, TWELVE): len(counts)})
    above = Counter({Part(law, TWELVE, floor=0): len(counts)}) if level.is_clipped else noise
    at = TWELVE * sum(counts)
    variance = len(counts) * level.row_kind(0, is_total_only=False).variance
    return Pieces(1, at, at, at, noise, above, variance)
