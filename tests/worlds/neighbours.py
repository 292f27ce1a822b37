"""Worlds with one person more or less, made to be nasty: random ones, and a few worked out by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from itertools import combinations

from hypothesis import strategies as st

from tests.oracle.membership import Group, groups_of_person
from tests.oracle.tabulation import Person
from tests.worlds import tiny
from tests.worlds.census import Block, CensusWorld
from tests.worlds.random_census import CODES, census_worlds

EIGHT = CODES[:8]


def _group(number: int, level: int, alone: str, members: tuple[str, ...], kind: str = "common") -> Group:
    flags = {"common": ("False", "False"), "detailed": ("True", "False"), "coarse": ("False", "True")}[kind]
    return Group(f"{number}", level, alone, *flags, frozenset(members))


#: At level 2 eight codes lie in eight groups, of three kinds, and in one alone group: stability 10. At level 1 all
#: eight lie in one group: stability 3, whatever their number.
NASTY_GROUPS = (
    _group(1001, 1, "True", EIGHT),
    _group(1002, 1, "False", EIGHT),
    _group(1003, 1, "", CODES),
    _group(2000, 2, "True", EIGHT),
    *(_group(2001 + n, 2, "False", (code,), "detailed" if n < 3 else "common") for n, code in enumerate(EIGHT)),
    *(_group(2101 + n, 2, "False", (code,), "coarse") for n, code in enumerate(EIGHT[:3])),
    _group(2201, 2, "", CODES[:5]),
    _group(2202, 2, "", CODES[5:], "detailed"),
)


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """A world, and one person who is in one of the two sets of records only."""

    world: CensusWorld
    person: Person
    position: int
    added: bool
    seed: int
    groups_at_a_time: int
    #: The level whose stability the person was made to attain, if any.
    attained: tuple[str, int] | None

    def both(self) -> tuple[CensusWorld, CensusWorld]:
        people = list(self.world.people)
        people.insert(self.position, self.person)
        more = dataclasses.replace(self.world, people=tuple(people))
        return (self.world, more) if self.added else (more, self.world)


def most_groups(world: CensusWorld, level: int, local: bool) -> tuple[tuple[str, ...], str]:
    """Race codes and an ethnicity code of somebody in as many groups of a level as anybody can be."""

    def belongs(race: tuple[str, ...], ethnicity: str) -> int:
        return len(groups_of_person(race, ethnicity, world.groups, level, local))

    sizes = range(1, world.config["max_race_codes"] + 1)
    race = max((codes for size in sizes for codes in combinations(CODES, size)), key=lambda c: belongs(c, ""))
    return race, max(CODES, key=lambda code: belongs((), code))


@st.composite
def neighbours(draw: st.DrawFn, most_levels: int | None = None) -> Neighbours:
    world = draw(census_worlds(most_levels))
    if draw(st.booleans()):
        world = dataclasses.replace(world, groups=NASTY_GROUPS)
    # One reservation that two states share, and a place that two counties share.
    blocks = {block.key: block for block in world.blocks} | {
        block.key: block
        for block in (
            Block("01", "009", "000100", "1000", "00009", "0009"),
            Block("01", "008", "000100", "1000", "00009", "9999"),
            Block("02", "009", "000100", "1000", "99999", "0009"),
        )
    }
    world = dataclasses.replace(world, blocks=tuple(blocks[key] for key in sorted(blocks)))
    most = world.config["max_race_codes"]
    race = draw(
        st.one_of(
            st.just(EIGHT[:most]),
            st.just((CODES[8],)),
            st.just((CODES[0],) * most),
            st.lists(st.sampled_from(CODES), min_size=1, max_size=most).map(tuple),
        )
    )
    ethnicity = draw(st.sampled_from(CODES))
    block = draw(st.sampled_from(world.blocks))
    attained = None
    levels = [
        (name, level)
        for name in (*tiny.US_LEVELS, *tiny.PR_LEVELS)
        for level in (1, 2)
        if world.config[f"privacy_budget_p_level_{level}_{name}"] and lives_in(block, name)
    ]
    attains = draw(st.booleans())
    if levels and attains:
        attained = draw(st.sampled_from(levels))
        race, ethnicity = most_groups(world, attained[1], is_local(attained[0]))
    age = draw(st.sampled_from([0, 4, 5, 17, 18, 21, 44, 45, 64, 65, 84, 85, 115]))
    person = Person(block.key, age, draw(st.sampled_from("12")), race, ethnicity)
    return Neighbours(
        world,
        person,
        draw(st.integers(0, len(world.people))),
        draw(st.booleans()),
        draw(st.integers(0, 2**32)),
        draw(st.sampled_from([1, 12, 2_000_000])),
        attained,
    )


def is_local(name: str) -> bool:
    return name not in {"usa", "state", "pr_state"}


def lives_in(block: Block, name: str) -> bool:
    """Whether somebody in a block is in some region of a level."""
    if block.state not in ("01", "02", "72"):
        return False
    return (block.state == "72") == name.startswith("pr_") and block.region(name.upper().replace("_", "-")) is not None


def full_world(people: tuple[Person, ...], thresholds: list[int], levels: Collection[str] = ()) -> CensusWorld:
    """The nasty groups with all levels on, or with some."""
    config = tiny.config()
    for key in config["thresholds_p"]:
        config["thresholds_p"][key] = thresholds
        if levels and key not in levels:
            name, number = key.strip("()").lower().replace("-", "_").split(", ")
            config[f"privacy_budget_p_level_{number}_{name}"] = 0
    blocks = (Block("01", "001", "000100", "1000", "00001", "0001"), Block("72", "001", "000100", "1000", "00001"))
    return CensusWorld(config, CODES, NASTY_GROUPS, blocks, people)


#: Race codes, and how many groups of level 2 they put a person in who is in an ethnicity group: at USA, in a county.
IN_GROUPS = {
    "eight codes in eight groups": (EIGHT, 10, 10),
    "eight codes in one group": ((CODES[0],) * 8, 3, 3),
    "eight codes, one in no group": ((*EIGHT[:7], CODES[8]), 8, 8),
    "one code in no group": ((CODES[8],), 1, 1),
}


TABLES_AND_TOTALS = {"tables": [-50, 0, 2], "totals": [10**6] * 3}
