"""People as packed integers, folded piece by piece while they stream in.

In: batches of packed people in any order. Out: pieces; a piece holds how many people are alike in block set, kind and
cell, in order, for block sets that lie near each other. Promise: every person is in exactly one piece, and is counted
there once; people beyond the limits are kept on the shelf and not in memory, also when all of them live in one block or
when the batches come from one unsorted file.

A *kind* is a code set with an ethnicity code; a *cell* is a sex with an age atom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.shelf import Kept, Shelf
from safetab.engines.protocol import IntArray
from safetab.engines.workers import side_by_side


@dataclass(frozen=True, slots=True)
class Packing:
    """How a person becomes one integer: block set, then kind, then cell, each in bits of its own."""

    block_sets: int
    kinds: int
    cells: int

    def __post_init__(self) -> None:
        if self.block_set_unit * max(self.block_sets, 1) >= 1 << 63:
            raise OverflowError("block sets, code sets and ages together do not fit into 63 bits")

    @property
    def cell_bits(self) -> int:
        return (self.cells - 1).bit_length()

    @property
    def kind_bits(self) -> int:
        return max(self.kinds - 1, 0).bit_length()

    @property
    def kind_unit(self) -> int:
        """What one kind adds to a packed person."""
        return 1 << self.cell_bits

    @property
    def block_set_unit(self) -> int:
        """What one block set adds to a packed person."""
        return 1 << self.cell_bits + self.kind_bits

    def block_set(self, packed: IntArray) -> IntArray:
        return packed >> self.cell_bits + self.kind_bits

    def kind(self, packed: IntArray) -> IntArray:
        return packed >> self.cell_bits & (1 << self.kind_bits) - 1

    def cell(self, packed: IntArray) -> IntArray:
        return packed & self.kind_unit - 1

    def without_cell(self, packed: IntArray) -> IntArray:
        """The same for everybody who is alike in block set and kind."""
        return packed & -self.kind_unit


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some people of the block sets `first` to `last`: distinct packed people in order, and how many are alike."""

    first: int
    last: int
    rows: Kept

    def load(self) -> tuple[IntArray, IntArray]:
        packed, people = self.rows.load()
        return packed, people.astype(np.int64)


def parts_of_block_sets(blocks_of_block_set: IntArray, blocks_of_part: int) -> npt.NDArray[np.int16]:
    """The part of each block set: neighbours go together until a part has its number of blocks.

    Block sets are numbered in the order of their regions, so a part is a state, or a piece of one.
    """
    before = np.cumsum(blocks_of_block_set) - blocks_of_block_set
    parts = before // max(blocks_of_part, -(-int(blocks_of_block_set.sum()) // _MOST_PARTS), 1)
    return parts.astype(np.int16)


#: Each part has people who wait; very many parts would make very small pieces.
_MOST_PARTS = 1_000


class PeopleFolder:
    """Takes people in, and folds those of a part whenever there are enough of them."""

    def __init__(
        self, packing: Packing, part_of_block_set: npt.NDArray[np.int16], shelf: Shelf, limits: Limits
    ) -> None:
        self._packing, self._part_of_block_set = packing, part_of_block_set
        self._shelf, self._limits = shelf, limits

    def pieces(self, batches: Iterable[IntArray]) -> list[Piece]:
        """Fold everybody; batches are taken in while others are folded."""
        return list(side_by_side(self._fold, self._full_parts(batches)))

    def _full_parts(self, batches: Iterable[IntArray]) -> Iterator[list[IntArray]]:
        """People of one part, whenever there are enough of them, too many wait, or all are in."""
        waiting: list[list[IntArray]] = [[] for _ in range(int(self._part_of_block_set.max(initial=-1)) + 1)]
        sizes = [0] * len(waiting)
        for batch in batches:
            for part, people in self._by_part(batch):
                waiting[part].append(people)
                sizes[part] += len(people)
                if sizes[part] >= self._limits.people_of_piece:
                    yield waiting[part]
                    waiting[part], sizes[part] = [], 0
            if sum(sizes) >= self._limits.people_waiting:
                yield from filter(None, waiting)
                waiting, sizes = [[] for _ in waiting], [0] * len(sizes)
        yield from filter(None, waiting)

    def _by_part(self, packed: IntArray) -> Iterator[tuple[int, IntArray]]:
        """The people of a batch, part by part."""
        if not len(packed):
            return
        ends = self._packing.block_set(np.array([packed.min(), packed.max()]))
        first, last = self._part_of_block_set[ends].tolist()
        if first == last:
            # So it is nearly always in a file that is in order of its blocks.
            yield first, packed
            return
        part = self._part_of_block_set.take(self._packing.block_set(packed))
        # Two bytes are sorted in linear time.
        order = np.argsort(part, kind="stable")
        part, packed = part.take(order), packed.take(order)
        starts = stretch_starts(part)
        for number, people in zip(part[starts].tolist(), np.split(packed, starts[1:]), strict=True):
            # A copy: a few people who wait for long must not keep all others of their batch in memory.
            yield number, people.copy()

    def _fold(self, waiting: list[IntArray]) -> Piece:
        """How many of some people are alike."""
        packed = np.concatenate(waiting)
        # Nobody needs these any more, and sorting takes memory.
        waiting.clear()
        packed.sort()
        starts = stretch_starts(packed)
        people = np.diff(starts, append=len(packed))
        distinct = packed.take(starts)
        first, last = self._packing.block_set(distinct[[0, -1]]).tolist()
        return Piece(first, last, self._shelf.keep([distinct, narrow(people)]))


def narrow(people: IntArray) -> npt.NDArray[np.integer[Any]]:
    """Numbers of people in as few bytes as hold the largest: most of what is kept are these."""
    return people.astype(np.min_scalar_type(int(people.max(initial=0))))


def stretch_starts(ordered: npt.NDArray[np.integer[Any]]) -> IntArray:
    """Where each stretch of equal values begins."""
    is_start = np.empty(len(ordered), dtype=np.bool_)
    is_start[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)
