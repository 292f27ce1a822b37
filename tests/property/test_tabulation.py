"""With noise off, T1 and T2 are the oracle's, cell by cell, on worlds in the Bureau's formats, in any limits."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import safetab
from safetab.engines.choice import DuckDb, EngineChoice
from tests import profile
from tests.oracle.membership import Group
from tests.oracle.tabulation import Person
from tests.worlds import tiny
from tests.worlds.census import Block, CensusWorld, read_t1, read_t2
from tests.worlds.cramped import Cramped
from tests.worlds.random_census import census_worlds

ENGINES: tuple[EngineChoice, ...] = (DuckDb(), Cramped())


def check(world: CensusWorld, engine: EngineChoice, *, parquet: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = world.write(Path(name), parquet=parquet)
        out = folder / "out"
        safetab.tabulate(folder / "params", folder / "data", out, engine=engine, noise=False, not_private=True)
        for run in ("us", "pr"):
            t1, t2 = world.expected(run)
            assert read_t1(out / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
            assert read_t2(out / "t2" / f"{run}.NOT-PRIVATE.csv") == t2


@profile.examples("random worlds compared with the oracle, with DuckDB", quick=25, long=600)
@given(census_worlds(), st.booleans(), st.sampled_from(ENGINES))
def test_tables_are_the_oracles(world: CensusWorld, parquet: bool, engine: EngineChoice) -> None:
    check(world, engine, parquet=parquet)


CODES = tuple(f"{1000 + number}" for number in range(5))
GROUPS = (
    Group("0001", 0, "True", "Null", "Null", frozenset(CODES[:1])),
    Group("0002", 0, "", "Null", "Null", frozenset(CODES[:1])),
    Group("1001", 1, "True", "False", "False", frozenset(CODES[:3])),
    Group("1002", 1, "False", "False", "False", frozenset(CODES[:3])),
    Group("1003", 1, "", "False", "False", frozenset(CODES[3:])),
    Group("2001", 2, "True", "False", "False", frozenset(CODES[:1])),
    Group("2002", 2, "False", "True", "False", frozenset(CODES[1:2])),
    Group("2003", 2, "False", "False", "True", frozenset(CODES[1:3])),
)
#: Two hundred blocks: far fewer counties than block sets. Places cross tracts, the reservation crosses all.
BLOCKS = tuple(
    Block(
        ("01", "02", "04", "05")[number // 50],
        f"00{number // 25 % 2}",
        f"00010{number % 25 // 5}",
        f"100{number % 5}",
        ("99999", "00001", "00002")[number % 3],
        ("9999", "0001")[number % 7 == 0],
    )
    for number in range(200)
)
PUERTO_RICO = Block("72", "001", "000100", "1000", "00001")
#: Which blocks have people: a step of 37 goes through all of them, far from the order of the file.
PLACES = {
    "many states": BLOCKS,
    "one state": BLOCKS[:50],
    "one block": BLOCKS[77:78],
}


@pytest.mark.parametrize("engine", ENGINES, ids=["roomy", "cramped"])
@pytest.mark.parametrize("parquet", [False, True], ids=["one unsorted text file", "Parquet"])
@pytest.mark.parametrize("places", PLACES)
def test_countries_by_hand(places: str, parquet: bool, engine: EngineChoice) -> None:
    where = PLACES[places]
    people = [
        Person(
            where[number * 37 % len(where)].key,
            number * 13 % 116,
            "12"[number % 2],
            CODES[number % 4 : number % 4 + 1 + number % 2],
            CODES[number % 5],
        )
        for number in range(1_500)
    ]
    people.append(Person(PUERTO_RICO.key, 30, "1", CODES[:1], CODES[1]))
    settings = tiny.config() | {"state_filter_us": ["01", "02", "04", "05"]}
    check(CensusWorld(settings, CODES, GROUPS, (*BLOCKS, PUERTO_RICO), tuple(people)), engine, parquet=parquet)
