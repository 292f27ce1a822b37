"""Tables of all people by place, iteration and cell, counted piece by piece.

In: pieces of people, the place of each block set, the iterations of each kind. Out: sparse tables, one or more for
each piece. Promise: the sum over all tables is the number of people of each place, iteration and cell, exactly, in 64
bits; a dense table of at most so many entries is in memory at a time.

A place is a block set, or a *zone*: block sets that lie in the same regions at every coarse level. Regions are made up
of places, so what is counted once serves every level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.engines.arrays.kinds import KindMembers
from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.people import Packing, Piece, narrow, stretch_starts
from safetab.engines.arrays.shelf import Kept, Shelf
from safetab.engines.protocol import IntArray
from safetab.engines.workers import side_by_side

Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Shape:
    """How an entry of a table is numbered: place, then iteration, then cell."""

    iterations: int
    cells: int

    @property
    def entries_of_place(self) -> int:
        return self.iterations * self.cells

    def split(self, entry: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Place, iteration and cell of some entries."""
        # Dividing whole arrays by one number is several times as fast as what gives the rest too.
        place = entry // self.entries_of_place
        rest = entry - place * self.entries_of_place
        if self.cells == 1:
            return place, rest, np.zeros_like(rest)
        iteration = rest // self.cells
        return place, iteration, rest - iteration * self.cells


@dataclass(frozen=True, slots=True, eq=False)
class SparseTable:
    """The entries of a table that are not zero; its places are `first` to `last`."""

    first: int
    last: int
    shape: Shape
    entries: Kept

    def load(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Place, iteration, cell and number of people of each entry."""
        entry, people = self.entries.load()
        place, iteration, cell = self.shape.split(entry.astype(np.int64))
        place += self.first
        return place, iteration, cell, people.astype(np.int64)


class TableCounter:
    """Counts pieces into tables of one shape."""

    def __init__(self, packing: Packing, place_of_block_set: Places, shelf: Shelf, limits: Limits) -> None:
        self._packing, self._place_of_block_set = packing, place_of_block_set
        self._shelf, self._limits = shelf, limits

    def count(self, pieces: Sequence[Piece], members: KindMembers, shape: Shape) -> list[SparseTable]:
        """The tables of all pieces."""

        def of_piece(piece: Piece) -> list[SparseTable]:
            return list(self._of_piece(piece, members, shape))

        return [table for tables in side_by_side(of_piece, pieces) for table in tables]

    def _of_piece(self, piece: Piece, members: KindMembers, shape: Shape) -> Iterator[SparseTable]:
        packed, people = piece.load()
        if shape.cells == 1:
            packed, people = self._without_cells(packed, people)
        for first, last in self._slices(piece.first, piece.last, shape):
            # Packed people are in order of their block sets.
            low, high = np.searchsorted(packed, [edge * self._packing.block_set_unit for edge in (first, last + 1)])
            if low < high:
                places = self._place_of_block_set[first : last + 1]
                yield self._of_slice(packed[low:high], people[low:high], members, shape, places)

    def _without_cells(self, packed: IntArray, people: IntArray) -> tuple[IntArray, IntArray]:
        """People who are alike in block set and kind, whatever their sex and age."""
        alike = self._packing.without_cell(packed)
        starts = stretch_starts(alike)
        return alike.take(starts), np.add.reduceat(people, starts)

    def _slices(self, first: int, last: int, shape: Shape) -> Iterator[tuple[int, int]]:
        """Neighbouring block sets whose dense table is small enough, or a single one."""
        places = self._place_of_block_set[first : last + 1]
        width = int(places.max() - places.min()) + 1
        if first == last or width * shape.entries_of_place <= self._limits.table_entries:
            yield first, last
            return
        middle = (first + last) // 2
        yield from self._slices(first, middle, shape)
        yield from self._slices(middle + 1, last, shape)

    def _of_slice(
        self, packed: IntArray, people: IntArray, members: KindMembers, shape: Shape, places: Places
    ) -> SparseTable:
        first, last = int(places.min()), int(places.max())
        dense = np.zeros((last - first + 1) * shape.entries_of_place, dtype=np.int64)
        for start in range(0, len(packed), self._limits.rows_at_a_time):
            some = slice(start, start + self._limits.rows_at_a_time)
            place = self._place_of_block_set.take(self._packing.block_set(packed[some])) - first
            of_row = place * np.int64(shape.entries_of_place)
            if shape.cells > 1:
                of_row += self._packing.cell(packed[some])
            row, iteration = members.expand(self._packing.kind(packed[some]))
            entry = of_row.take(row)
            entry += iteration * shape.cells
            np.add.at(dense, entry, people[some].take(row))
        found = np.flatnonzero(dense)
        kept = self._shelf.keep([narrow(found), narrow(dense.take(found))])
        return SparseTable(first, last, shape, kept)
