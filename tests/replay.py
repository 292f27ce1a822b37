"""Tabulate a world, replay its noisy answers on the neighbour's records, and compare.

In: two neighbours and an engine. Out: what was measured on either side, once the promise is asserted: the same
questions, the same output, and true counts that differ by what is paid for.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import event

import safetab
from safetab.accounting.events import Stage
from safetab.engines.choice import EngineChoice
from safetab.errors import Finding
from safetab.noise.source import SeededSourceNotPrivate
from safetab.pipeline.request import MakeGate
from tests.oracle.membership import groups_of_person
from tests.oracle.tabulation import Person
from tests.replay_gates import Measurement, Tape, recording, replaying
from tests.worlds import tiny
from tests.worlds.census import CensusWorld
from tests.worlds.neighbours import IN_GROUPS, Neighbours, full_world, is_local, lives_in
from tests.worlds.random_census import CODES


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

    def read(self, share: float) -> None:
        """For the terminal of whoever has the records; it is not logged."""


def published(folder: Path) -> dict[str, bytes]:
    """All of an output; of the ledger all but the time it was written, which its hash has too."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert files.pop("ledger.sha256") == f"{sha256(files['ledger.json']).hexdigest()}  ledger.json\n".encode()
    ledger = json.loads(files["ledger.json"])
    del ledger["finished"]
    return files | {"ledger.json": json.dumps(ledger).encode()}


def tabulated(
    world: CensusWorld, case: Neighbours, folder: Path, engine: str | EngineChoice, gate: MakeGate
) -> tuple[dict[str, bytes], list[Any]]:
    listener = Listener()
    world.write(folder)
    with patch("safetab.pipeline.tabulate_level._GROUPS_AT_A_TIME", case.groups_at_a_time):
        safetab.tabulate(
            folder / "params",
            folder / "data",
            folder / "out",
            engine=engine,
            gate=gate,
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


def check(case: Neighbours, engine: str | EngineChoice) -> tuple[Tape, Tape]:
    """Tabulate, replay, compare; returns what was measured on either side."""
    first, second = case.both()
    with tempfile.TemporaryDirectory() as name:
        tape, other = Tape(), Tape()
        output, heard = tabulated(first, case, Path(name) / "a", engine, recording(tape))
        with replaying(tape, other) as gate:
            assert tabulated(second, case, Path(name) / "b", engine, gate) == (output, heard)
    found = changes(tape, other)
    sign = 1 if case.added else -1
    block = next(block for block in case.world.blocks if block.key == case.person.block)
    names = (tiny.US_LEVELS, tiny.PR_LEVELS)
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


def check_by_hand(
    name: str,
    thresholds: list[int],
    engine: str | EngineChoice,
    levels: Collection[str] = (),
    others: Collection[str] = ("01", "72"),
) -> None:
    """One of the neighbours above, with the numbers of groups worked out by hand; `others` are states of others."""
    race, national, local = IN_GROUPS[name]
    base = tuple(Person((state, "001", "000100", "1000"), 30, "1", (CODES[0],), CODES[1]) for state in others)
    person = Person(("01", "001", "000100", "1000"), 115, "2", race, CODES[1])
    case = Neighbours(full_world(base, thresholds, levels), person, 0, True, 5, 2_000_000, None)
    tape, other = check(case, engine)
    found = changes(tape, other)
    # At USA three of the eight groups get a total only; the rest, the alone and the ethnicity group have two stages.
    at_usa = len(found[0, "(USA, 2)", Stage.TOTAL_ONLY]) + len(found[0, "(USA, 2)", Stage.STAGE_1])
    assert (at_usa, len(found[0, "(COUNTY, 2)", Stage.STAGE_1])) == (national, local)
    assert stabilities(tape.runs[0])["(USA, 2)"] == 10
    assert stabilities(tape.runs[0])["(USA, 1)"] == 3
    assert all(np.abs(value) == 1 for values in found.values() for value in values)
