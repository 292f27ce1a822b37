"""With noise off, T1 and T2 are the oracle's, cell by cell, on random worlds in the Bureau's formats."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import safetab
from tests import worlds
from tests.census_world import Block, CensusWorld, read_t1, read_t2
from tests.oracle.membership import Group
from tests.oracle.tabulation import Person

CODES = tuple(f"{1000 + number}" for number in range(9))
FLAGS = {"common": ("False", "False"), "detailed": ("True", "False"), "coarse": ("False", "True")}


@st.composite
def groups(draw: st.DrawFn) -> tuple[Group, ...]:
    """Groups in which no code has two of one level, aloneness and kind of geography."""
    found: list[Group] = [Group("0001", 0, "True", "Null", "Null", frozenset(CODES[:1]))]
    found.append(Group("0002", 0, "", "Null", "Null", frozenset(CODES[:1])))
    for level in (1, 2):
        for alone in ("True", "False", ""):
            taken: dict[bool, set[str]] = {False: set(), True: set()}
            for _ in range(draw(st.integers(0, 3))):
                flags = draw(st.sampled_from(sorted(FLAGS)))
                places = {"common": (False, True), "detailed": (False,), "coarse": (True,)}[flags]
                free = set(CODES).difference(*(taken[place] for place in places))
                if not free:
                    continue
                members = draw(st.frozensets(st.sampled_from(sorted(free)), min_size=1, max_size=4))
                for place in places:
                    taken[place] |= members
                found.append(Group(f"{1000 + len(found)}", level, alone, *FLAGS[flags], members))
    return tuple(found)


@st.composite
def census_worlds(draw: st.DrawFn) -> CensusWorld:
    config: dict[str, Any] = worlds.config()
    names = (*worlds.US_LEVELS, *worlds.PR_LEVELS)
    for name in names:
        label = name.upper().replace("_", "-")
        for level in (1, 2):
            config[f"privacy_budget_p_level_{level}_{name}"] = draw(st.sampled_from([0, 1, 1, 1]))
            thresholds = sorted(draw(st.lists(st.integers(-1, 8), min_size=3, max_size=3)))
            config["thresholds_p"][f"({label}, {level})"] = thresholds
    config["max_race_codes"] = draw(st.integers(1, 8))
    config["allow_negative_counts"] = draw(st.booleans())
    config["privacy_defn"] = draw(st.sampled_from(["zcdp", "puredp"]))
    config["zero_suppression_chance"] = draw(st.sampled_from([0, 0.9999]))
    digit = st.sampled_from("12")
    blocks = {
        Block("01", "001", "000100", "1000"),
        Block("72", "001", "000100", "1000", "00001"),
        *draw(
            st.sets(
                st.builds(
                    Block,
                    st.sampled_from(["01", "02", "03", "72"]),
                    digit.map(lambda d: "00" + d),
                    digit.map(lambda d: "00010" + d),
                    digit.map(lambda d: "100" + d),
                    st.sampled_from(["99999", "00001", "00002"]),
                    st.sampled_from(["9999", "0001", "0002"]),
                ),
                max_size=10,
            )
        ),
    }
    distinct = sorted({block.key: block for block in sorted(blocks, key=str)}.values(), key=str)
    person = st.builds(
        Person,
        st.sampled_from([block.key for block in distinct]),
        st.sampled_from([0, 4, 5, 17, 18, 20, 21, 44, 45, 64, 65, 84, 85, 115]),
        st.sampled_from(["1", "2"]),
        st.lists(st.sampled_from(CODES), min_size=1, max_size=config["max_race_codes"]).map(tuple),
        st.sampled_from(CODES),
    )
    people = draw(st.lists(person, max_size=40))
    # Both runs need somebody.
    for block in (Block("01", "001", "000100", "1000"), Block("72", "001", "000100", "1000")):
        people.append(Person(block.key, 30, "1", (CODES[0],), CODES[1]))
    return CensusWorld(config, CODES, draw(groups()), tuple(distinct), tuple(people))


def check(world: CensusWorld, *, parquet: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = world.write(Path(name), parquet=parquet)
        out = folder / "out"
        safetab.tabulate(folder / "params", folder / "data", out, noise=False, not_private=True)
        for run in ("us", "pr"):
            t1, t2 = world.expected(run)
            assert read_t1(out / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
            assert read_t2(out / "t2" / f"{run}.NOT-PRIVATE.csv") == t2


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(census_worlds(), st.booleans())
def test_tables_are_the_oracles(world: CensusWorld, parquet: bool) -> None:
    check(world, parquet=parquet)


@pytest.mark.long
@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(census_worlds(), st.booleans())
def test_tables_are_the_oracles_on_many_worlds(world: CensusWorld, parquet: bool) -> None:
    check(world, parquet=parquet)
