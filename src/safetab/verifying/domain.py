"""Which rows a run can have: its regions, its groups, and how each of them was measured.

In: the ledger, the data dictionary and the table of block sets. Out: a `RunDomain`, which numbers keys and levels. The
promise: a key is the place of a row in the order of published rows, so that keys that rise mean rows in order, each
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from safetab.reading.groups import Group
from safetab.reading.levels import Level
from safetab.reading.opened import Opened

Integers = npt.NDArray[np.int64]
#: In place of the number of what is not in the release.
NONE = -1
_ALL = "*"


@dataclass(frozen=True)
class Detail:
    """The tables of T2: sexes, the age bins of each stat level from 1 on, and whether rows sum over ages."""

    sexes: tuple[str, ...]
    starts: tuple[tuple[int, ...], ...]
    oldest: int
    #: What T2 is by: sex and age, one of them, or nothing.
    by: frozenset[str]

    @classmethod
    def of(cls, dictionary: Mapping[str, Any]) -> Detail:
        starts = dictionary["age_starts"]
        return cls(
            tuple(dictionary["sexes"]),
            tuple(tuple(starts[key]) for key in sorted(starts)),
            dictionary["oldest_age"],
            frozenset(dictionary["detail"].split(" by ")) - {""},
        )

    @property
    def has_ages(self) -> bool:
        return "age" in self.by

    @property
    def has_sexes(self) -> bool:
        return "sex" in self.by

    @property
    def has_tables(self) -> bool:
        return self.has_ages or self.has_sexes

    @property
    def has_marginals(self) -> bool:
        return self.has_ages and self.has_sexes

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells a table of stat level 1, 2, 3 has."""
        return tuple(len(self.sexes) * len(starts) for starts in self.starts)

    def labels(self, stat_level: int) -> list[tuple[str, str]]:
        """AGESTART and AGEEND of each age bin of a stat level."""
        starts = self.starts[stat_level - 1]
        if not self.has_ages:
            return [(_ALL, _ALL)]
        ends = (*(start - 1 for start in starts[1:]), self.oldest)
        return [(str(start), str(end)) for start, end in zip(starts, ends, strict=True)]


class RunDomain:
    """The population groups of one run."""

    def __init__(self, release: Opened, run: Mapping[str, Any]) -> None:
        self.release, self.entry, self.name = release, run, str(run["name"])
        self.detail = Detail.of(release.dictionary)
        self.levels: tuple[Level, ...] = tuple(level for level in release.levels if level.run == self.name)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of any level, in the order of their codes."""
        found = {group.code: group for level in self.levels for group in self.groups_of(level)}
        return tuple(found[code] for code in sorted(found))

    def groups_of(self, level: Level) -> list[Group]:
        return [
            group
            for group in self.release.groups.values()
            if group.iteration_level == level.iteration_level and group.is_tabulated(is_local=level.is_local)
        ]

    def is_total_only(self, level: Level, group: Group) -> bool:
        return group.is_total_only or level.stage_1 is None

    def regions_of(self, level: Level) -> Sequence[str]:
        return self.release.regions_of_run(self.name).ids(level.geography)

    @cached_property
    def regions(self) -> list[tuple[str, str]]:
        """Id and type of the regions of any level, in order."""
        types = {level.geography: level for level in self.levels}
        return sorted((region, kind) for kind, level in types.items() for region in self.regions_of(level))

    def keys(self, rows: pa.Table) -> Integers:
        """The place of each row among all regions times all groups; NONE where it is of no region or no group."""
        joined = pc.binary_join_element_wise(rows["REGION_ID"], rows["REGION_TYPE"], "|")
        region = _place(joined, [f"{region}|{kind}" for region, kind in self.regions])
        group = _place(rows["ITERATION_CODE"], [group.code for group in self.groups])
        return np.where((region == NONE) | (group == NONE), NONE, region * max(len(self.groups), 1) + group)

    def level_numbers(self, keys: Integers) -> Integers:
        """The number of the level that each key belongs to; NONE where no level has it."""
        if not self.regions or not self.groups:
            return np.full(keys.shape, NONE, dtype=np.int64)
        types = {kind: number for number, kind in enumerate(sorted({kind for _, kind in self.regions}))}
        table = np.full((len(types), len(self.groups)), NONE, dtype=np.int64)
        place = {group.code: number for number, group in enumerate(self.groups)}
        for number, level in enumerate(self.levels):
            if level.geography in types:
                table[types[level.geography], [place[group.code] for group in self.groups_of(level)]] = number
        type_of_region = np.array([types[kind] for _, kind in self.regions], dtype=np.int64)
        region, group = np.divmod(keys, len(self.groups))
        return np.where(keys == NONE, NONE, table[type_of_region[region], group])

    def total_only(self, keys: Integers, level_numbers: Integers) -> npt.NDArray[np.bool_]:
        """Whether each key is of a group that gets a total and nothing else."""
        by_level = np.array([level.stage_1 is None for level in self.levels] + [False], dtype=np.bool_)
        by_group = np.array([group.is_total_only for group in self.groups] + [False], dtype=np.bool_)
        group = np.where(keys == NONE, NONE, keys % max(len(self.groups), 1))
        return np.asarray(by_level[level_numbers] | by_group[group])


def _place(column: pa.ChunkedArray, words: Sequence[str]) -> Integers:
    """The place of each text in a list; NONE where it is not there."""
    if not words:
        return np.full(len(column), NONE, dtype=np.int64)
    found = pc.index_in(column, value_set=pa.array(words, pa.string()), skip_nulls=True)
    return np.asarray(pc.fill_null(found, NONE).to_numpy(), dtype=np.int64)


def column(rows: pa.Table, name: str) -> Integers:
    """A column of whole numbers without nulls."""
    if rows[name].null_count:
        raise ValueError(f"{name} has nulls")
    return np.asarray(rows[name].to_numpy(), dtype=np.int64)
