"""The stat levels of the groups of a synthetic country without noise.

Looks at groups that have one code, whose size is the number of people with that code. Works state by state, as a
nation does not fit into memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from safetab.params.load import load
from safetab.params.release import PopulationGroupLevel, Run
from safetab.population.iterations import Kind
from tests.unit.synth.observed import Numbers, numbers, place_numbers

_CODES = 10_000


def stat_levels(folder: Path, iteration_level: int = 2) -> dict[str, set[int]]:
    """The stat levels that occur at each geography level."""
    parameters = load(folder / "params")
    catalogue = parameters.catalogue
    level_of = {
        level.geography.name: (run, level)
        for run in parameters.release.runs
        for level in run.levels_on
        if level.iteration_level == iteration_level
    }
    adaptive = [it for it in catalogue.tabulated(iteration_level, local=True) if it.is_tabulated(local=False)]
    race = {c for it in adaptive if it.kind is Kind.COMBINATION and len(it.members) == 1 for c in it.members}
    # Of an origin with several codes, the commonest alone bounds the group from below.
    origins = {c for it in adaptive if it.kind is Kind.ETHNICITY for c in it.members}
    seen: dict[str, set[int]] = defaultdict(set)
    across: dict[str, Numbers] = {}
    for part in sorted((folder / "data" / "person-records.parquet").iterdir()):
        _count_part(part, folder, level_of, race, origins, seen, across)
    for name, counts in across.items():
        _judge(name, level_of[name][1], counts, seen)
    return dict(seen)


def _count_part(
    part: Path,
    folder: Path,
    level_of: Mapping[str, tuple[Run, PopulationGroupLevel]],
    race: set[str],
    origins: set[str],
    seen: dict[str, set[int]],
    across: dict[str, Numbers],
) -> None:
    records = pq.read_table(part)
    state = part.stem.removeprefix("state-")
    blocks = pq.read_table(folder / "data" / "GRF-C.parquet" / part.name)
    key_of_block = place_numbers(blocks)
    order = np.argsort(key_of_block)
    block = order[np.searchsorted(key_of_block[order], place_numbers(records))]
    for name, (run, level) in level_of.items():
        if run.only is not None and state not in run.only.values:
            continue
        columns = level.geography.columns
        shared = name in {"USA", "AIANNH"}
        if not columns:
            region_of_block, regions = np.zeros(blocks.num_rows, dtype=np.int64), 1
        elif shared:
            region_of_block, regions = numbers(blocks[columns[0]]), _CODES
        else:
            region_of_block, regions = _numbered(blocks, columns)
        is_absent = np.zeros(blocks.num_rows, dtype=bool)
        for column, value in level.geography.absent.items():
            is_absent |= numbers(blocks[column]) == int(value)
        region = np.where(is_absent, -1, region_of_block)[block]
        counts = _counts(records, region, regions, race, origins)
        if shared:
            across[name] = across.get(name, np.zeros_like(counts)) + counts
        else:
            _judge(name, level, counts, seen)


def _numbered(blocks: pa.Table, columns: tuple[str, ...]) -> tuple[Numbers, int]:
    key = np.zeros(blocks.num_rows, dtype=np.int64)
    for name in columns:
        key = key * 10**6 + numbers(blocks[name])
    names, number = np.unique(key, return_inverse=True)
    return number, len(names)


def _counts(records: pa.Table, region: Numbers, regions: int, race: set[str], origins: set[str]) -> Numbers:
    """How many people each region has with each code, for codes that are groups of their own."""
    index = np.full(_CODES, -1)
    index[[int(code) for code in sorted(race)]] = np.arange(len(race))
    total = np.zeros(regions * (len(race) + len(origins)), dtype=np.int64)
    width = len(race) + len(origins)
    origin_index = np.full(_CODES, -1)
    origin_index[[int(code) for code in sorted(origins)]] = np.arange(len(race), width)
    columns = [(f"QRACE{number}", index) for number in range(1, 9)] + [("QSPAN", origin_index)]
    for name, group_of_code in columns:
        group = group_of_code[numbers(records[name])]
        inside = (group >= 0) & (region >= 0)
        total += np.bincount(region[inside] * width + group[inside], minlength=len(total))
    return total


def _judge(name: str, level: PopulationGroupLevel, counts: Numbers, seen: dict[str, set[int]]) -> None:
    seen[name] |= set(np.unique(np.searchsorted(level.thresholds, counts, side="right")).tolist())
