"""Random worlds in the Bureau's formats: groups, thresholds, blocks and people of every kind that is sound."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.oracle.membership import Group
from tests.oracle.tabulation import Person
from tests.worlds import tiny
from tests.worlds.census import Block, CensusWorld

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
def levels_on(draw: st.DrawFn, most: int) -> set[tuple[str, int]]:
    """At most so many population group levels, at least one of each run."""
    of_us, of_pr = ([(name, level) for name in names for level in (1, 2)] for names in (tiny.US_LEVELS, tiny.PR_LEVELS))
    more = draw(st.sets(st.sampled_from(of_us + of_pr), max_size=most - 2))
    return {draw(st.sampled_from(of_us)), draw(st.sampled_from(of_pr)), *more}


@st.composite
def census_worlds(draw: st.DrawFn, most_levels: int | None = None) -> CensusWorld:
    """Worlds with any levels, or with few of them for an engine that takes long over each.

    To an engine a level is the regions of the block sets and who belongs where, so few levels try it as many would.
    """
    config: dict[str, Any] = tiny.config()
    on = None if most_levels is None else draw(levels_on(most_levels))
    names = (*tiny.US_LEVELS, *tiny.PR_LEVELS)
    for name in names:
        label = name.upper().replace("_", "-")
        for level in (1, 2):
            budgets = [0, 1, 1, 1] if on is None else [int((name, level) in on)]
            config[f"privacy_budget_p_level_{level}_{name}"] = draw(st.sampled_from(budgets))
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
    return CensusWorld(config, CODES, draw(groups()), tuple(distinct), tuple(people))
