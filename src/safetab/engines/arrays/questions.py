"""From tables to the regions and groups of one level.

In: sparse tables of places, the region of each place, the groups that were chosen. Out: true totals of regions, some
regions at a time, and the true cells of chosen groups. Promise: a region's count is the sum of its places' counts, and
places that lie in no region of the level are left out; sums have 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from safetab.engines.arrays.kinds import KindMembers, expand
from safetab.engines.arrays.people import Packing, Piece, stretch_starts
from safetab.engines.arrays.tables import Places, SparseTable
from safetab.engines.layout import RecordLayout
from safetab.engines.protocol import Cells, ChosenGroups, IntArray, Totals
from safetab.engines.workers import side_by_side
from safetab.population.ages import AgeBins
from safetab.population.geography import NO_REGION


@dataclass(frozen=True, slots=True, eq=False)
class CountedTables:
    """Tables over some iterations of the catalogue, which `numbers` lists."""

    numbers: IntArray
    tables: Sequence[SparseTable]

    def columns(self, numbers: IntArray) -> IntArray:
        """For each iteration of the tables its position in `numbers`, or -1."""
        return positions(self.numbers, numbers)


def positions(numbers: IntArray, among: IntArray) -> IntArray:
    """The position of each number in a list without repetitions; -1 where it is not in it."""
    most = max(int(numbers.max(initial=-1)), int(among.max(initial=-1)))
    position = np.full(most + 1, -1, dtype=np.int64)
    position[among] = np.arange(len(among))
    return position[numbers]


def totals_of_regions(
    counted: Sequence[CountedTables], region_of_place: Places, numbers: IntArray, entries: int
) -> Iterator[Totals]:
    """True totals of every region and of the iterations `numbers`, zeros left out, in order of the regions."""
    regions, iterations = int(region_of_place.max(initial=NO_REGION)) + 1, len(numbers)
    step = max(1, entries // max(1, iterations))
    columns_of = [(some, columns) for some in counted if (columns := some.columns(numbers)).max(initial=-1) >= 0]

    def of_some(first: int) -> Totals:
        last = min(first + step, regions) - 1
        dense = np.zeros((last - first + 1) * iterations, dtype=np.int64)
        for some, columns in columns_of:
            for table in some.tables:
                _add_table(dense, table, region_of_place, columns, first, last)
        found = np.flatnonzero(dense)
        region = found // iterations
        return Totals(region + first, found - region * iterations, dense.take(found))

    yield from side_by_side(of_some, range(0, regions, step))


def _add_table(
    dense: IntArray, table: SparseTable, region_of_place: Places, columns: IntArray, first: int, last: int
) -> None:
    """Add what a table says about the regions first to last; `dense` has a row for each of them."""
    near = region_of_place[table.first : table.last + 1]
    if not np.any((near >= first) & (near <= last)):
        return
    place, column, _, people = table.load()
    region, iteration = region_of_place.take(place), columns.take(column)
    is_asked = (region >= first) & (region <= last) & (iteration >= 0)
    index = (region.compress(is_asked).astype(np.int64) - first) * (len(dense) // (last - first + 1))
    index += iteration.compress(is_asked)
    np.add.at(dense, index, people.compress(is_asked))


class ChosenCells:
    """The cells of chosen groups, one group after another, each cut as its stat level says.

    People find their group in a dense table of at most `entries`, or by a search.
    """

    def __init__(self, chosen: ChosenGroups, layout: RecordLayout, entries: int) -> None:
        age_bins, sexes = layout.age_bins, len(layout.columns.sexes)
        self._entries = entries
        self.iterations = np.unique(chosen.iteration)
        self._order = np.lexsort((chosen.iteration, chosen.region))
        self._region = chosen.region[self._order]
        self._iteration = positions(chosen.iteration[self._order], self.iterations)
        self._bins = np.array([0, *(len(bins) for bins in age_bins)])
        self._stat_level = chosen.stat_level[self._order]
        widths = self._bins[self._stat_level] * sexes
        self._starts = np.cumsum(widths) - widths
        self._counts = np.zeros(int(widths.sum()), dtype=np.int64)
        self._lock = Lock()
        self._place_of_cell = self._places_of_cells(age_bins, layout.age_atoms.starts, sexes)

    @staticmethod
    def _places_of_cells(age_bins: Sequence[AgeBins], first_ages: Sequence[int], sexes: int) -> npt.NDArray[np.int64]:
        """Where a cell of sex and age atom is in a group's table, for each stat level."""
        of_level = [np.zeros(sexes * len(first_ages), dtype=np.int64)]
        for bins in age_bins:
            age_bin = bins.bin_of_age()[np.array(first_ages)].astype(np.int64)
            of_level.append((np.arange(sexes)[:, None] * len(bins) + age_bin).ravel())
        return np.stack(of_level)

    def has_any(self, regions: Places) -> npt.NDArray[np.bool_]:
        """Which of some regions have a chosen group."""
        is_chosen = np.zeros(max(int(regions.max(initial=-1)), int(self._region.max(initial=-1))) + 2, dtype=np.bool_)
        is_chosen[self._region] = True
        # NO_REGION is the last one, which nobody chooses.
        return is_chosen[regions]

    def groups(self, region: Places, iteration: IntArray) -> IntArray:
        """The chosen group of each region and iteration, or -1; `iteration` is a position in `iterations`."""
        if not len(region):
            return iteration
        first, last = int(region.min()), int(region.max())
        low, high = np.searchsorted(self._region, [first, last + 1])
        width = len(self.iterations)
        index = (region - first) * np.int64(width)
        index += iteration
        of_groups = (self._region[low:high] - first) * width + self._iteration[low:high]
        if (last - first + 1) * width > self._entries:
            # People who are near each other may live in regions with numbers far apart, of a level that crosses others.
            place = low + np.searchsorted(of_groups, index)
            is_chosen = np.append(of_groups, -1).take(place - low) == index
            return np.where(is_chosen, place, -1)
        group_of = np.full((last - first + 1) * width, -1, dtype=np.int64)
        group_of[of_groups] = np.arange(low, high)
        return group_of.take(index)

    def add(self, group: IntArray, cell: IntArray, people: IntArray) -> None:
        """Add people to a cell of a chosen group. Threads may add some at the same time."""
        of_level = self._stat_level.take(group) * self._place_of_cell.shape[1]
        of_level += cell
        place = self._place_of_cell.take(of_level)
        place += self._starts.take(group)
        with self._lock:
            np.add.at(self._counts, place, people)

    def result(self) -> Cells:
        """The true cells that are not zero."""
        found = np.flatnonzero(self._counts)
        group = np.searchsorted(self._starts, found, side="right") - 1
        sex, age_bin = np.divmod(found - self._starts[group], self._bins[self._stat_level[group]])
        return Cells(self._order[group], sex, age_bin, self._counts[found])


def add_tables(
    chosen: ChosenCells, counted: Sequence[CountedTables], region_of_place: Places, numbers: IntArray
) -> None:
    """Count the cells of chosen groups from tables; `numbers` are those of `chosen.iterations`."""

    def add_table(question: tuple[SparseTable, IntArray]) -> None:
        table, columns = question
        place, column, cell, people = table.load()
        region, iteration = region_of_place.take(place), columns.take(column)
        inside = np.flatnonzero((region != NO_REGION) & (iteration >= 0))
        group = chosen.groups(region.take(inside), iteration.take(inside))
        kept = inside.compress(group >= 0)
        chosen.add(group.compress(group >= 0), cell.take(kept), people.take(kept))

    questions = [
        (table, columns)
        for some in counted
        if (columns := some.columns(numbers)).max(initial=-1) >= 0
        for table in some.tables
        if chosen.has_any(region_of_place[table.first : table.last + 1]).any()
    ]
    list(side_by_side(add_table, questions))


def add_people(
    chosen: ChosenCells,
    pieces: Sequence[Piece],
    packing: Packing,
    region_of_block_set: Places,
    members: KindMembers,
    rows_at_a_time: int,
) -> None:
    """Count the cells of chosen groups from the people of those regions that have any."""
    is_looked_at = chosen.has_any(region_of_block_set)

    def add_piece(piece: Piece) -> None:
        packed, people = piece.load()
        kept = np.flatnonzero(is_looked_at.take(packing.block_set(packed)))
        for start in range(0, len(kept), rows_at_a_time):
            some = kept[start : start + rows_at_a_time]
            _add_rows(chosen, packed.take(some), people.take(some), packing, region_of_block_set, members)

    asked = [piece for piece in pieces if is_looked_at[piece.first : piece.last + 1].any()]
    list(side_by_side(add_piece, asked))


def _add_rows(
    chosen: ChosenCells,
    packed: IntArray,
    people: IntArray,
    packing: Packing,
    region_of_block_set: Places,
    members: KindMembers,
) -> None:
    """Find the groups of people who are alike in block set and kind, then add them sex by sex and age by age."""
    starts = stretch_starts(packing.without_cell(packed))
    of_stretch = packed.take(starts)
    stretch, iteration = members.expand(packing.kind(of_stretch))
    group = chosen.groups(region_of_block_set.take(packing.block_set(of_stretch)).take(stretch), iteration)
    is_chosen = group >= 0
    pair, row = expand(np.append(starts, len(packed)), stretch.compress(is_chosen))
    chosen.add(group.compress(is_chosen).take(pair), packing.cell(packed).take(row), people.take(row))
