"""What an engine hands over: every person once for each group, nothing for groups without people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import safetab.engines.duckdb.streaming
import safetab.engines.spark.tables
from safetab.engines.layout import RecordLayout
from safetab.engines.protocol import CellQuestion, Cells, ChosenGroups, IntArray, Members
from safetab.params.load import load
from safetab.pipeline.inputs import read_geographies
from safetab.population.membership import Pairs
from tests.contract.conftest import UnderContract, leave_to_long_profile
from tests.oracle.membership import Group
from tests.oracle.tabulation import Person
from tests.worlds.census import AGE_STARTS, Block, CensusWorld
from tests.worlds.tiny import config

CODES = ("1000", "1001", "1002")
BLOCKS = (Block("01", "001", "000100", "1000"), Block("01", "003", "000100", "1000"), Block("02", "001", "000100", "1"))
GROUPS = (
    Group("0001", 0, "True", "Null", "Null", frozenset(CODES[:1])),
    Group("0002", 0, "", "Null", "Null", frozenset(CODES[:1])),
    Group("1001", 1, "True", "False", "False", frozenset(CODES[:2])),
    Group("1002", 1, "", "False", "False", frozenset(CODES[:1])),
    Group("2001", 2, "True", "False", "False", frozenset(CODES[:1])),
)
PEOPLE = tuple(
    Person(BLOCKS[number % 2].key, number % 100, "12"[number % 2], CODES[: 1 + number % 3], CODES[number % 2])
    for number in range(60)
)
#: The group's place in the question, sex, age bin.
Cell = tuple[int, int, int]
REGION_OF_BLOCK_SET = np.array([0, 1, 2], dtype=np.int32)


def bin_of(age: int, table: int) -> int:
    return sum(start <= age for start in AGE_STARTS[table]) - 1


def is_in(person: Person, iteration: int) -> bool:
    """Iteration 0 holds every code set, 1 those with two codes or more, 2 nobody; 3 holds one ethnicity."""
    return (True, len(person.race_codes) > 1, False, person.ethnicity == CODES[0])[iteration]


def wanted(people: Sequence[Person], regions: list[int], groups: list[tuple[int, int, int]]) -> Counter[Cell]:
    """The cells of some groups, person by person; people live in the first and the second block set by turns."""
    found: Counter[Cell] = Counter()
    for place, (region, iteration, stat_level) in enumerate(groups):
        for number, person in enumerate(people):
            if regions[number % 2] == region and is_in(person, iteration):
                found[place, "12".index(person.sex), bin_of(person.age, stat_level - 1)] += 1
    return found


def as_columns(groups: list[tuple[int, int, int]]) -> IntArray:
    return np.array(groups, dtype=np.int64).reshape(-1, 3).T


def counter_of(cells: Cells) -> Counter[Cell]:
    found: Counter[Cell] = Counter()
    for group, sex, age_bin, count in zip(cells.group, cells.sex, cells.age_bin, cells.true_count, strict=True):
        assert (int(group), int(sex), int(age_bin)) not in found
        found[int(group), int(sex), int(age_bin)] = int(count)
    return found


@pytest.mark.parametrize("parquet", [False, True], ids=["text, at once", "Parquet, in slices"])
def test_counts(contracted: UnderContract, tmp_path: Path, parquet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not parquet:
        leave_to_long_profile(contracted, "the same from Parquet, or a release of text,")
    if parquet:
        # As for tables of many millions of rows: handed over in slices, and no table small enough to be treated as one.
        monkeypatch.setattr(safetab.engines.duckdb.streaming, "BATCH_ROWS", 3)
        monkeypatch.setattr(safetab.engines.spark.tables, "BATCH_ROWS", 3)
        monkeypatch.setattr(safetab.engines.spark.tables, "_SMALL_TABLE_ROWS", 1)
    settings = config() | {"run_pr": False, "state_filter_us": ["01", "02"]}
    blocks = tuple(Block(b.state, b.county, b.tract, b.block.ljust(4, "0")) for b in BLOCKS)
    people = tuple(Person((*p.block[:3], "1000"), p.age, p.sex, p.race_codes, p.ethnicity) for p in PEOPLE)
    CensusWorld(settings, CODES, GROUPS, blocks, people).write(tmp_path, parquet=parquet)
    parameters = load(tmp_path / "params")
    run = parameters.release.runs[0]
    geography = read_geographies(parameters.release, tmp_path / "data", [])[run.name]
    place = tmp_path / "data" / ("person-records.parquet" if parquet else "person-records.txt")
    layout = RecordLayout.of(str(place), parameters.release, run, parameters.catalogue, geography)
    with closing(contracted.engine(tmp_path / "engine")) as engine:
        records = engine.open(layout, geography)
        sets = records.code_sets()
        found = sorted(tuple(parameters.catalogue.codes[code] for code in row if code >= 0) for row in sets)
        assert found == [CODES[:1], CODES[:2], CODES]
        # Who is in what, as `is_in` has it.
        sizes = (sets >= 0).sum(axis=1)
        row = np.concatenate([np.arange(3), np.flatnonzero(sizes >= 2)])
        iteration = np.array([0, 0, 0, 1, 1], dtype=np.int16)
        ethnicity = np.array([parameters.catalogue.codes.index(CODES[0])])
        members = Members(Pairs(row, iteration), Pairs(ethnicity, np.array([3], dtype=np.int16)), np.arange(4))
        batches = list(records.totals(REGION_OF_BLOCK_SET, members))
        totals = [key for b in batches for key in zip(b.region.tolist(), b.iteration.tolist(), strict=True)]
        counts = [int(count) for b in batches for count in b.true_count]
        expected: Counter[tuple[int, int]] = Counter()
        for number, person in enumerate(people):
            expected[number % 2, 0] += 1
            expected[number % 2, 1] += len(person.race_codes) > 1
            expected[number % 2, 3] += person.ethnicity == CODES[0]
        assert len(set(totals)) == len(totals), "each group in one batch only"
        assert totals == sorted(totals), "in the order of the regions"
        assert dict(zip(totals, counts, strict=True)) == {key: count for key, count in expected.items() if count}
        # All levels at once: everybody together, regions that cross, some of nobody, one level with nothing chosen.
        asked = [
            ([0, 1, 2], [(0, 0, 1), (1, 0, 2), (2, 0, 1), (0, 1, 1)]),
            ([0, 0, 0], [(0, 1, 3), (0, 3, 1)]),
            ([1, 0, -1], [(1, 0, 1), (0, 3, 2), (0, 2, 1)]),
            ([1, 1, 0], []),
            ([0, 1, 2], [(1, 3, 3), (2, 1, 1)]),
        ]
        questions = [
            CellQuestion(np.array(regions, dtype=np.int32), members, ChosenGroups(*as_columns(groups)))
            for regions, groups in asked
        ]
        answers = list(records.cells(questions))
        for (regions, groups), cells in zip(asked, answers, strict=True):
            assert counter_of(cells) == wanted(people, regions, groups)
        # A coarser level after a finer one, one that leaves a cell out, and the finer one again.
        for regions in ([0, 0, 0], [0, -1, -1], [0, 1, 2]):
            of_region: Counter[int] = Counter()
            for some in records.totals(np.array(regions, dtype=np.int32), members):
                for region, group, count in zip(some.region, some.iteration, some.true_count, strict=True):
                    of_region[int(region)] += int(count) if group == 0 else 0
            assert of_region == Counter(regions[number % 2] for number in range(60) if regions[number % 2] >= 0)
