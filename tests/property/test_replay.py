"""One person more or less: the same questions, the same output, and true counts that differ by what is paid for.

Each case is a world, a neighbour made to be nasty and the noisy answers of the first world replayed on the second. The
oracle says how many groups the person is in, so that the counts that change are not only few enough but exactly those.
Here with DuckDB; `tests/contract/test_replay.py` does the same with Spark.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import safetab
from safetab.accounting.events import Stage
from safetab.errors import Finding
from safetab.noise.source import SeededSourceNotPrivate
from tests import worlds
from tests.census_world import Block, CensusWorld
from tests.oracle.membership import Group, groups_of_person
from tests.oracle.tabulation import Person
from tests.property.test_tabulation import CODES, census_worlds
from tests.replay_gates import Measurement, Tape, recording, replaying

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
def neighbours(draw: st.DrawFn) -> Neighbours:
    world = draw(census_worlds())
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
        for name in (*worlds.US_LEVELS, *worlds.PR_LEVELS)
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


class Listener:
    """Remembers everything a tabulation says while it runs."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def note(self, text: str) -> None:
        self.heard.append(text)

    def warn(self, findings: Any) -> None:
        self.heard.extend(finding.sentence() for finding in findings if isinstance(finding, Finding))

    def advance(self, done: int, planned: int, what: str) -> None:
        self.heard.append((done, planned, what))


def published(folder: Path) -> dict[str, bytes]:
    """All of an output; of the ledger all but the time it was written."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    ledger = json.loads(files["ledger.json"])
    del ledger["finished"]
    return files | {"ledger.json": json.dumps(ledger).encode()}


def tabulated(
    world: CensusWorld, case: Neighbours, folder: Path, engine: str, session: Any
) -> tuple[dict[str, bytes], list[Any]]:
    listener = Listener()
    world.write(folder)
    with patch("safetab.pipeline.tabulate_level._GROUPS_AT_A_TIME", case.groups_at_a_time):
        safetab.tabulate(
            folder / "params",
            folder / "data",
            folder / "out",
            engine=engine,
            session=session,
            source=SeededSourceNotPrivate(case.seed),
            not_private=True,
            watcher=listener,
        )
    return published(folder / "out"), listener.heard


def changes(one: Tape, other: Tape) -> dict[tuple[int, str, Stage], list[int]]:
    """For each run, level and stage, the differences of the true counts that are not 0."""
    found: dict[tuple[int, str, Stage], list[int]] = {}
    for run, (left, right) in enumerate(zip(one.runs, other.runs, strict=True)):
        for before, after in zip(left, right, strict=True):
            different = (after.true - before.true).ravel()
            found.setdefault((run, before.event.level, before.event.stage), []).extend(
                int(value) for value in different[different != 0]
            )
    return found


def stabilities(run: list[Measurement]) -> dict[str, int]:
    return {measured.event.level: measured.event.stability for measured in run}


def check(case: Neighbours, engine: str, session: Any = None) -> tuple[Tape, Tape]:
    """Tabulate, replay, compare; returns what was measured on either side. `session` is Spark's."""
    first, second = case.both()
    with tempfile.TemporaryDirectory() as name:
        with recording() as tape:
            output, heard = tabulated(first, case, Path(name) / "a", engine, session)
        with replaying(tape) as other:
            assert tabulated(second, case, Path(name) / "b", engine, session) == (output, heard)
    found = changes(tape, other)
    sign = 1 if case.added else -1
    block = next(block for block in case.world.blocks if block.key == case.person.block)
    names = (worlds.US_LEVELS, worlds.PR_LEVELS)
    for run, (names_of_run, measured) in enumerate(zip(names, tape.runs, strict=True)):
        for level_name, most in stabilities(measured).items():
            geography, number = level_name.strip("()").lower().replace("-", "_").split(", ")
            assert geography in names_of_run
            of_stage = {stage: found.get((run, level_name, stage), []) for stage in Stage}
            total_only, stage_1, stage_2 = (of_stage[stage] for stage in Stage)
            assert set(total_only + stage_1 + stage_2) <= {sign}, "a count changed by more than one"
            assert len(total_only) + len(stage_1) <= most, "more groups changed than the noise is made for"
            assert len(total_only) + len(stage_2) <= most, "more counts of stage 2 changed than the noise is made for"
            expected = set[str]()
            if lives_in(block, geography):
                expected = groups_of_person(
                    case.person.race_codes, case.person.ethnicity, case.world.groups, int(number), is_local(geography)
                )
            assert len(total_only) + len(stage_1) == len(expected)
            assert len(stage_1) == len(stage_2)
            if case.attained == (geography, int(number)):
                event("a person in as many groups as the noise is made for")
                assert len(expected) == most, "the stability is larger than any person can use"
    return tape, other


#: Neighbours tried in `make test`, and in `make test-all`.
QUICK, MANY = 12, 500
SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(SETTINGS, max_examples=QUICK)
@given(case=neighbours())
def test_a_neighbour_changes_nothing_but_true_counts(case: Neighbours) -> None:
    check(case, "duckdb")


@pytest.mark.long
@settings(SETTINGS, max_examples=MANY)
@given(case=neighbours())
def test_many_neighbours_change_nothing_but_true_counts(case: Neighbours) -> None:
    check(case, "duckdb")


def full_world(people: tuple[Person, ...], thresholds: list[int]) -> CensusWorld:
    config = worlds.config()
    for key in config["thresholds_p"]:
        config["thresholds_p"][key] = thresholds
    blocks = (Block("01", "001", "000100", "1000", "00001", "0001"), Block("72", "001", "000100", "1000", "00001"))
    return CensusWorld(config, CODES, NASTY_GROUPS, blocks, people)


#: Race codes, and how many groups of level 2 they put a person in who is in an ethnicity group: at USA, in a county.
IN_GROUPS = {
    "eight codes in eight groups": (EIGHT, 10, 10),
    "eight codes in one group": ((CODES[0],) * 8, 3, 3),
    "eight codes, one in no group": ((*EIGHT[:7], CODES[8]), 8, 8),
    "one code in no group": ((CODES[8],), 1, 1),
}


def check_by_hand(name: str, thresholds: list[int], engine: str, session: Any = None) -> None:
    """One of the neighbours above, with the numbers of groups that were worked out by hand."""
    race, national, local = IN_GROUPS[name]
    base = tuple(Person((state, "001", "000100", "1000"), 30, "1", (CODES[0],), CODES[1]) for state in ("01", "72"))
    person = Person(base[0].block, 115, "2", race, CODES[1])
    case = Neighbours(full_world(base, thresholds), person, 0, True, 5, 2_000_000, None)
    tape, other = check(case, engine, session)
    found = changes(tape, other)
    # At USA three of the eight groups get a total only; the rest, the alone and the ethnicity group have two stages.
    at_usa = len(found[0, "(USA, 2)", Stage.TOTAL_ONLY]) + len(found[0, "(USA, 2)", Stage.STAGE_1])
    assert (at_usa, len(found[0, "(COUNTY, 2)", Stage.STAGE_1])) == (national, local)
    assert stabilities(tape.runs[0])["(USA, 2)"] == 10
    assert stabilities(tape.runs[0])["(USA, 1)"] == 3
    assert all(np.abs(value) == 1 for values in found.values() for value in values)


TABLES_AND_TOTALS = {"tables": [-50, 0, 2], "totals": [10**6] * 3}


@pytest.mark.parametrize("thresholds", TABLES_AND_TOTALS)
@pytest.mark.parametrize("name", IN_GROUPS)
def test_the_nastiest_neighbours_by_hand(name: str, thresholds: str) -> None:
    check_by_hand(name, TABLES_AND_TOTALS[thresholds], "duckdb")
