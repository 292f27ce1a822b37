"""The records of one run as pieces of folded people, and what they answer.

In: pieces, the kinds of people among them, the geography. Out: what `protocol.Records` promises. Claim: with P people,
the true total of a group is the number of those people who live in a block set of the region and whose kind is in the
iteration; a true cell counts those of them who have the sex and the age. Nobody is counted twice: a person is in one
piece, has one block set, one kind and one cell, and an iteration lists a kind once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from safetab.engines.arrays.kinds import KindMembers, Kinds, members_of_kinds
from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.people import Packing, Piece
from safetab.engines.arrays.questions import (
    ChosenCells,
    CountedTables,
    add_people,
    add_tables,
    positions,
    totals_of_regions,
)
from safetab.engines.arrays.shelf import Shelf
from safetab.engines.arrays.tables import Places, Shape, TableCounter
from safetab.engines.layout import RecordLayout
from safetab.engines.protocol import CellQuestion, Cells, IntArray, Members, RegionOfBlockSet, Totals
from safetab.population.geography import Geography, region_of_finer
from safetab.population.membership import CodeSets

#: Zones are worth counting when they are this many times fewer than the block sets.
_BLOCK_SETS_OF_ZONE = 8


@dataclass(frozen=True, slots=True, eq=False)
class FoldedPeople:
    """Everybody in one run, folded."""

    packing: Packing
    pieces: Sequence[Piece]
    kinds: Kinds
    code_sets: CodeSets


class ArrayRecords:
    """The records of one run, counted with arrays."""

    def __init__(
        self, layout: RecordLayout, geography: Geography, people: FoldedPeople, shelf: Shelf, limits: Limits
    ) -> None:
        self._layout, self._people, self._limits = layout, people, limits
        self._members: dict[int, tuple[Members, KindMembers]] = {}
        self._zone_of_block_set = zones(geography)
        block_sets = np.arange(geography.block_sets, dtype=np.int32)
        self._by_block_set = _Tables(people, block_sets, 1, shelf, limits)
        self._by_zone = _Tables(people, self._zone_of_block_set, people.packing.cells, shelf, limits)

    def code_sets(self) -> CodeSets:
        """The distinct code sets."""
        return self._people.code_sets

    def totals(self, region_of_block_set: RegionOfBlockSet, members: Members) -> Iterator[Totals]:
        """True totals of every group that has anybody, in order of the regions."""
        counted = self._by_block_set.of(members.numbers, self._of_kinds(members))
        yield from totals_of_regions(counted, region_of_block_set, members.numbers, self._limits.table_entries)

    def cells(self, questions: Sequence[CellQuestion]) -> Iterator[Cells]:
        """The true sex by age cells of chosen groups, level by level as they are taken."""
        return map(self._cells_of, questions)

    def _cells_of(self, question: CellQuestion) -> Cells:
        """From tables of zones, or from people where regions are small."""
        region_of_block_set, members = question.region_of_block_set, question.members
        of_kinds, entries = self._of_kinds(members), self._limits.table_entries
        cells = ChosenCells(question.chosen, self._layout, entries)
        region_of_zone = region_of_finer(self._zone_of_block_set, region_of_block_set)
        if region_of_zone is not None:
            counted = self._by_zone.of(members.numbers, of_kinds, asked=members.numbers[cells.iterations])
            add_tables(cells, counted, region_of_zone, members.numbers[cells.iterations])
        else:
            some = of_kinds.restricted(positions(np.arange(len(members.numbers)), cells.iterations))
            people = self._people
            add_people(cells, people.pieces, people.packing, region_of_block_set, some, self._limits.rows_at_a_time)
        return cells.result()

    def _of_kinds(self, members: Members) -> KindMembers:
        """The iterations of each kind; levels with the same iterations share them."""
        if id(members) not in self._members:
            self._members[id(members)] = members, members_of_kinds(members, self._people.kinds)
        return self._members[id(members)][1]


class _Tables:
    """Tables of one kind of place, over the iterations that were asked for so far."""

    def __init__(self, people: FoldedPeople, place_of_block_set: Places, cells: int, shelf: Shelf, limits: Limits):
        self._people, self._cells = people, cells
        self._counter = TableCounter(people.packing, place_of_block_set, shelf, limits)
        self._counted: list[CountedTables] = []

    def of(self, numbers: IntArray, members: KindMembers, asked: IntArray | None = None) -> list[CountedTables]:
        """Tables that hold the iterations asked for; what was counted for another level is not counted again."""
        known = np.concatenate([np.empty(0, dtype=np.int64), *(counted.numbers for counted in self._counted)])
        if not np.isin(numbers if asked is None else asked, known).all():
            missing = np.setdiff1d(numbers, known)
            shape = Shape(len(missing), self._cells)
            tables = self._counter.count(self._people.pieces, members.restricted(positions(numbers, missing)), shape)
            self._counted.append(CountedTables(missing, tables))
        return self._counted


def zones(geography: Geography) -> Places:
    """The zone of each block set: block sets of one zone lie in the same regions at every coarse level.

    Coarse levels are those with the fewest regions, as many as leave the zones few; levels that cross may be among
    them.
    """
    regions = geography.block_set_regions
    zone = np.zeros(geography.block_sets, dtype=np.int32)
    coarse: list[int] = []
    for column in np.argsort([len(ids) for ids in geography.regions], kind="stable").tolist():
        tried = _distinct(regions[:, sorted([*coarse, column])])
        if (tried.max(initial=-1) + 1) * _BLOCK_SETS_OF_ZONE > geography.block_sets:
            break
        coarse.append(column)
        zone = tried
    return zone


def _distinct(rows: Places) -> Places:
    """Number the distinct rows in their order."""
    number = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        # Both are below 2^31.
        _, number = np.unique(number * (int(column.max(initial=0)) + 2) + column + 1, return_inverse=True)
    return number.astype(np.int32)
