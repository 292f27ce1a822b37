"""Random folders of parts give exactly the people that pandas reads, or are refused with the entry named."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import given

from safetab.engines.choice import DuckDb
from safetab.engines.protocol import CellQuestion, ChosenGroups, Members, Records
from safetab.errors import InputError
from safetab.params.load import Parameters, load
from safetab.pipeline.inputs import Inputs, open_records, read_geographies
from safetab.population.geography import Geography
from safetab.population.membership import Pairs
from tests import profile
from tests.oracle.folders import people_of
from tests.worlds import tiny
from tests.worlds.census import AGE_STARTS
from tests.worlds.part_folders import BLOCKS, WIDTHS, PartFolder, part_folders

#: Block set, codes of a race or an ethnicity, sex, age bin.
Seen = Counter[tuple[int, tuple[str, ...], int, int]]


@cache
def world() -> tuple[Parameters, dict[str, Geography]]:
    with tempfile.TemporaryDirectory() as folder:
        config = json.dumps(tiny.config() | {"run_pr": False})
        tiny.write(Path(folder), tiny.files() | {"params/config.json": config})
        parameters = load(Path(folder) / "params")
        return parameters, read_geographies(parameters.release, Path(folder) / "data", [])


@profile.examples("folders of parts", quick=15, long=500)
@given(part_folders())
def test_everybody_is_counted_or_the_entry_is_named(parts: PartFolder) -> None:
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own) / "person-records"
        parts.write(folder)
        parameters, geographies = world()
        with closing(DuckDb().start(Path(own))) as engine:
            try:
                opened = open_records(engine, Inputs(parameters, geographies, str(folder)))
            except InputError as error:
                told = [finding.sentence() for finding in error.findings]
                assert parts.strangers or parts.misfits, told
                assert all(any(name in line for line in told) for name in parts.strangers), told
                assert not parts.misfits or any(name in line for name in parts.misfits for line in told), told
                return
            assert not parts.strangers
            assert not parts.misfits
            assert counted(opened["us"], parameters, geographies["us"]) == expected(folder, geographies["us"])


def counted(records: Records, parameters: Parameters, geography: Geography) -> Seen:
    """Everybody, once by race codes and once by ethnicity, asked for as tables of groups."""
    codes = parameters.catalogue.codes
    sets = [tuple(codes[code] for code in row if code >= 0) for row in records.code_sets()]
    names = [*sets, *((code,) for code in codes)]
    race = Pairs(np.arange(len(sets)), np.arange(len(sets), dtype=np.int16))
    ethnicity = Pairs(np.arange(len(codes)), np.arange(len(sets), len(names), dtype=np.int16))
    regions = np.arange(geography.block_sets, dtype=np.int32)
    region = np.repeat(regions.astype(np.int64), len(names))
    group = np.tile(np.arange(len(names), dtype=np.int64), len(regions))
    chosen = ChosenGroups(region, group, np.full(len(region), 3))
    found: Seen = Counter()
    members = Members(race, ethnicity, np.arange(len(names)))
    for batch in records.cells([CellQuestion(regions, members, chosen)]):
        for number, sex, age_bin, count in zip(batch.group, batch.sex, batch.age_bin, batch.true_count, strict=True):
            kind = "ethnicity" if group[number] >= len(sets) else "race"
            found[int(region[number]), (kind, *names[group[number]]), int(sex), int(age_bin)] += int(count)
    return found


def expected(folder: Path, geography: Geography) -> Seen:
    """The same of the people that pandas reads."""
    columns = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
    named = zip(geography.blocks.to_pylist(), geography.block_set_of_block.tolist(), strict=True)
    block_set = {tuple(row[name] for name in columns): number for row, number in named}
    assert len({block_set[block] for block in BLOCKS}) == len(BLOCKS)
    found: Seen = Counter()
    for person in people_of(folder, WIDTHS):
        place = block_set[tuple(person[name] for name in columns)]
        sex, age = "12".index(person["QSEX"] or ""), int(person["QAGE"] or "")
        age_bin = sum(start <= age for start in AGE_STARTS[2]) - 1
        for codes in codes_of(person):
            found[place, codes, sex, age_bin] += 1
    return found


def codes_of(person: dict[str, str | None]) -> Iterator[tuple[str, ...]]:
    race = [person[f"QRACE{number}"] for number in range(1, 9)]
    yield "race", *(code for code in race if code not in (None, "Null") and code)
    yield "ethnicity", person["QSPAN"] or ""
