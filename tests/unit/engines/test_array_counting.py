"""Counting with arrays gives the oracle's counts, whatever the limits are, and sums in 64 bits."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.engines.arrays.kinds import Kinds
from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.people import Packing, PeopleFolder, Piece, parts_of_block_sets
from safetab.engines.arrays.questions import ChosenCells
from safetab.engines.arrays.records import ArrayRecords, FoldedPeople
from safetab.engines.arrays.shelf import Shelf
from safetab.engines.layout import RecordLayout
from safetab.engines.protocol import CellQuestion, Cells, ChosenGroups, IntArray, Members
from safetab.params.release import RecordColumns
from safetab.population.ages import AgeBins
from safetab.population.geography import Geography, GeographyLevel
from safetab.population.membership import Pairs
from tests import profile
from tests.oracle import counting as oracle
from tests.oracle.counting import Counted
from tests.worlds.cramped import TINY

AGE_STARTS = {1: (0, 18), 2: (0, 5, 18), 3: (0, 5, 18, 20)}
ATOMS = (0, 5, 18, 20)
OLDEST = 99
LAYOUT = RecordLayout(
    path="records.txt",
    is_parquet=False,
    columns=RecordColumns(("block",), "age", "sex", ("1", "2"), ("race",), "ethnicity", "Null", {}),
    codes=(),
    code_width=None,
    max_race_codes=1,
    age_bins=tuple(AgeBins(starts, OLDEST) for starts in AGE_STARTS.values()),
    only=None,
)
ROOMY = Limits()


@dataclass(frozen=True)
class World:
    """People of a few kinds in a few block sets; three code sets, two ethnicity codes, so six kinds."""

    people: tuple[Counted, ...]
    #: A row for each level, the region of each block set.
    levels: tuple[tuple[int, ...], ...]
    #: Which of five iterations hold a code set, and which hold an ethnicity code.
    of_code_set: tuple[frozenset[int], ...]
    of_ethnicity: tuple[frozenset[int], ...]

    @property
    def iterations_of_kind(self) -> dict[int, set[int]]:
        return {kind: set(self.of_code_set[kind // 2] | self.of_ethnicity[kind % 2]) for kind in range(6)}

    @property
    def members(self) -> Members:
        return Members(_pairs(self.of_code_set), _pairs(self.of_ethnicity), np.array([7, 3, 5, 0, 4]))

    @property
    def geography(self) -> Geography:
        regions = np.array(self.levels, dtype=np.int32).T.reshape(-1, len(self.levels))
        ids = tuple(tuple(str(region) for region in range(max(level) + 1)) for level in self.levels)
        names = tuple(GeographyLevel(str(number), ("column",)) for number in range(len(self.levels)))
        # Two blocks in each block set.
        block_set = np.repeat(np.arange(len(regions), dtype=np.int32), 2)
        blocks = pa.table({"block": [str(number) for number in range(len(block_set))]})
        return Geography(names, ids, regions, blocks, block_set)


def _pairs(iterations: Sequence[frozenset[int]]) -> Pairs:
    listed = [(row, iteration) for row, found in enumerate(iterations) for iteration in sorted(found)]
    rows, numbers = zip(*listed, strict=True) if listed else ((), ())
    return Pairs(np.array(rows, dtype=np.int64), np.array(numbers, dtype=np.int16))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    block_sets = draw(st.integers(1, 20))
    # Race iterations are 0 to 2, ethnicity iterations 3 and 4. Any region at any level: levels cross.
    levels = st.tuples(*[st.integers(-1, 3) for _ in range(block_sets)])
    person = st.builds(
        Counted,
        st.integers(0, draw(st.sampled_from([0, block_sets - 1]))),
        st.integers(0, 5),
        st.integers(0, 1),
        st.integers(0, OLDEST),
    )
    nested = tuple(number // 9 for number in range(block_sets))
    return World(
        tuple(draw(st.lists(person, max_size=60))),
        (*draw(st.lists(levels, min_size=1, max_size=3)), nested, (0,) * block_sets),
        tuple(draw(st.frozensets(st.integers(0, 2))) for _ in range(3)),
        tuple(draw(st.frozensets(st.integers(3, 4))) for _ in range(2)),
    )


def counted(world: World, limits: Limits, folder: Path, batch: int = 7) -> ArrayRecords:
    """The people of a world, as they would stream in."""
    geography = world.geography
    packing = Packing(geography.block_sets, 6, 2 * len(ATOMS))
    shelf = Shelf(folder, limits.bytes_in_memory)
    blocks = np.full(geography.block_sets, 2)
    people = PeopleFolder(packing, parts_of_block_sets(blocks, limits.blocks_of_part), shelf, limits)
    packed = [
        person.block_set * packing.block_set_unit
        + person.kind * packing.kind_unit
        + person.sex * len(ATOMS)
        + sum(start <= person.age for start in ATOMS)
        - 1
        for person in world.people
    ]
    batches = [np.array(packed[start : start + batch], dtype=np.int64) for start in range(0, len(packed), batch)]
    kinds = Kinds(np.arange(6, dtype=np.int32) // 2, np.arange(6, dtype=np.int16) % 2)
    sets = np.zeros((3, 1), dtype=np.int16)
    return ArrayRecords(LAYOUT, geography, FoldedPeople(packing, people.pieces(batches), kinds, sets), shelf, limits)


def totals_of(records: ArrayRecords, regions: Sequence[int], members: Members) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for batch in records.totals(np.array(regions, dtype=np.int32), members):
        for region, iteration, count in zip(batch.region, batch.iteration, batch.true_count, strict=True):
            assert (int(region), int(iteration)) not in found, "each group in one batch only"
            found[int(region), int(iteration)] = int(count)
    return found


def chosen_groups(regions: int) -> Iterator[tuple[int, int, int]]:
    """Groups of three of the five iterations, in no order, at all stat levels."""
    for iteration in (4, 0, 2):
        for region in range(regions):
            yield region, iteration, 1 + (region + iteration) % 3


def as_columns(groups: Sequence[tuple[int, int, int]]) -> IntArray:
    return np.array(groups, dtype=np.int64).reshape(-1, 3).T


def counter_of(cells: Cells) -> Counter[tuple[int, int, int]]:
    found: Counter[tuple[int, int, int]] = Counter()
    for group, sex, age_bin, count in zip(cells.group, cells.sex, cells.age_bin, cells.true_count, strict=True):
        assert (int(group), int(sex), int(age_bin)) not in found
        found[int(group), int(sex), int(age_bin)] = int(count)
    return found


def check(world: World, limits: Limits) -> None:
    members, of_kind = world.members, world.iterations_of_kind
    with tempfile.TemporaryDirectory() as name:
        records = counted(world, limits, Path(name) / "shelf")
        for regions in world.levels:
            assert totals_of(records, regions, members) == oracle.totals(world.people, of_kind, regions)
        groups_of = [list(chosen_groups(max(regions) + 1)) for regions in world.levels]
        questions = [
            CellQuestion(np.array(regions, dtype=np.int32), members, ChosenGroups(*as_columns(groups)))
            for regions, groups in zip(world.levels, groups_of, strict=True)
        ]
        answers = records.cells(questions)
        for regions, groups, cells in zip(world.levels, groups_of, answers, strict=True):
            assert counter_of(cells) == oracle.cells(world.people, of_kind, regions, groups, AGE_STARTS)


@profile.examples("random people counted with arrays", quick=60, long=1_000)
@given(worlds(), st.sampled_from([ROOMY, TINY]))
def test_counts_are_the_oracles(world: World, limits: Limits) -> None:
    check(world, limits)


#: Forty block sets in eight states of five; the second level crosses the states.
MANY = World(
    tuple(Counted(number * 7 % 40, number % 6, number % 2, number % 100) for number in range(200)),
    (
        tuple(number // 5 for number in range(40)),
        tuple(number % 4 - 1 for number in range(40)),
        tuple(range(40)),
        (0,) * 40,
    ),
    (frozenset({0}), frozenset({0, 1}), frozenset({2})),
    (frozenset({3}), frozenset({4})),
)


@pytest.mark.parametrize("limits", [ROOMY, TINY], ids=["roomy", "tiny"])
@pytest.mark.parametrize("block_sets", [range(40), range(5), range(17, 18)], ids=["all states", "one state", "one set"])
def test_a_country_by_hand(limits: Limits, block_sets: range) -> None:
    people = tuple(Counted(block_sets[p.block_set % len(block_sets)], p.kind, p.sex, p.age) for p in MANY.people)
    check(World(people, MANY.levels, MANY.of_code_set, MANY.of_ethnicity), limits)


def test_small_limits_write_files_and_large_ones_do_not(tmp_path: Path) -> None:
    for limits, name in ((ROOMY, "roomy"), (TINY, "tiny")):
        records = counted(MANY, limits, tmp_path / name)
        totals_of(records, MANY.levels[0], MANY.members)
    assert not (tmp_path / "roomy").exists()
    assert (tmp_path / "tiny").stat().st_mode & 0o777 == 0o700
    assert len(list((tmp_path / "tiny").iterdir())) > 100


def test_a_part_is_folded_when_it_is_full_and_when_too_many_wait(tmp_path: Path) -> None:
    packing = Packing(4, 1, 1)
    parts = parts_of_block_sets(np.full(4, 10), 20)
    assert parts.tolist() == [0, 0, 1, 1]
    limits = Limits(people_of_piece=4, people_waiting=5)
    folder = PeopleFolder(packing, parts, Shelf(tmp_path, 1 << 20), limits)
    batches = [np.array(batch, dtype=np.int64) for batch in ([0, 3, 1, 0, 1, 2], [2, 0, 0], [], [1])]
    pieces = folder.pieces(batches)
    found = [(piece.first, piece.last, *(array.tolist() for array in piece.load())) for piece in pieces]
    # The first part was full; then five waited, of both parts; one came last.
    assert found == [(0, 1, [0, 1], [2, 2]), (0, 0, [0], [2]), (2, 3, [2, 3], [2, 1]), (1, 1, [1], [1])]


def test_more_people_than_32_bits_hold(tmp_path: Path) -> None:
    """Three pieces, each with three thousand million people in one block set, and half of them alike."""
    packing, shelf = Packing(1, 6, 2 * len(ATOMS)), Shelf(tmp_path, 1 << 20)
    rows = [np.array([packing.kind_unit * kind for kind in (0, 1)]), np.full(2, 1_500_000_000, dtype=np.int32)]
    pieces = [Piece(0, 0, shelf.keep(rows)) for _ in range(3)]
    world = World((), ((0,),), MANY.of_code_set, MANY.of_ethnicity)
    kinds = Kinds(np.arange(6, dtype=np.int32) // 2, np.arange(6, dtype=np.int16) % 2)
    people = FoldedPeople(packing, pieces, kinds, np.zeros((3, 1), dtype=np.int16))
    records = ArrayRecords(LAYOUT, world.geography, people, shelf, ROOMY)
    assert totals_of(records, [0], world.members) == {
        (0, 0): 9_000_000_000,
        (0, 3): 4_500_000_000,
        (0, 4): 4_500_000_000,
    }
    chosen = ChosenGroups(np.array([0]), np.array([0]), np.array([1]))
    (cells,) = records.cells([CellQuestion(np.array([0], dtype=np.int32), world.members, chosen)])
    assert cells.true_count.tolist() == [9_000_000_000]


def test_regions_with_numbers_far_apart_need_no_large_table() -> None:
    far = 1 << 40
    chosen = ChosenGroups(np.array([far, 5, far]), np.array([9, 9, 2]), np.array([1, 1, 1]))
    cells = ChosenCells(chosen, LAYOUT, ROOMY.table_entries)
    assert cells.iterations.tolist() == [2, 9]
    found = cells.groups(np.array([5, 5, 6, far, far]), np.array([0, 1, 1, 0, 1]))
    assert found.tolist() == [-1, 0, -1, 1, 2]
    # None of the regions between these two has a chosen group.
    assert cells.groups(np.array([6, far - 1]), np.array([0, 1])).tolist() == [-1, -1]


def test_what_does_not_fit_into_63_bits_is_refused() -> None:
    assert Packing((1 << 20) - 1, 1 << 31, 1 << 12).block_set_unit == 1 << 43
    with pytest.raises(OverflowError):
        # The end of the last block set would need one bit more.
        Packing(1 << 20, 1 << 31, 1 << 12)
