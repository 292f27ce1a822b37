"""A sound world of twelve people in three blocks: small enough to tabulate very often."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.oracle.membership import Group
from tests.oracle.tabulation import Person
from tests.worlds import tiny
from tests.worlds.census import Block, CensusWorld

CODES = ("1000", "1001", "1002")
BLOCKS = (
    Block("01", "001", "000100", "1000", "00001"),
    Block("01", "003", "000100", "1000", "99999", "0001"),
    Block("72", "001", "000100", "1000"),
)
GROUPS = (
    Group("2001", 2, "True", "False", "False", frozenset(CODES[:2])),
    Group("2002", 2, "False", "False", "False", frozenset(CODES[:2])),
    Group("2003", 2, "False", "True", "False", frozenset(CODES[2:])),
    Group("4001", 2, "", "False", "False", frozenset(CODES[1:])),
    Group("1001", 1, "False", "False", "False", frozenset(CODES)),
)


def one_run(world: CensusWorld) -> CensusWorld:
    """The same people with those of the second run in a state more of the first."""
    blocks = tuple(replace(block, state="02") if block.state == "72" else block for block in world.blocks)
    people = tuple(
        replace(person, block=("02", *person.block[1:])) if person.block[0] == "72" else person
        for person in world.people
    )
    config = world.config | {"run_pr": False, "state_filter_us": ["01", "02"]}
    return replace(world, config=config, blocks=blocks, people=people)


def sound_world() -> CensusWorld:
    config = tiny.config() | {"state_filter_us": ["01"]}
    on = {"(USA, 1)", "(USA, 2)", "(COUNTY, 2)", "(PR-STATE, 2)"}
    for key in config["thresholds_p"]:
        name, level = key.strip("()").lower().replace("-", "_").split(", ")
        config["thresholds_p"][key] = [1, 2, 4]
        config[f"privacy_budget_p_level_{level}_{name}"] = int(key in on)
    rng = random.Random(7)
    people = tuple(
        Person(
            BLOCKS[rng.randrange(3) if number > 2 else number].key,
            rng.randrange(116),
            rng.choice("12"),
            tuple(rng.choices(CODES, k=rng.randrange(1, 4))),
            rng.choice(CODES),
        )
        for number in range(12)
    )
    return CensusWorld(config, CODES, GROUPS, BLOCKS, people)
