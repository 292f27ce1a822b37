"""A release on disk: its regions, groups, levels and names, its tables, and rows as they are asked for.

In: the folder that `safetab tabulate` wrote. Out: an `Opened`. The promise: OUT alone is read, and no more of it than
is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from safetab.errors import Finding, InputError, UsageError
from safetab.files import arrow
from safetab.reading.groups import Group, read_groups
from safetab.reading.levels import Level, read_levels
from safetab.reading.regions import RegionsOfRun
from safetab.reading.rows import Key, RowsOfRun, Total
from safetab.reading.sums import Region, Row
from safetab.rules import reading_rules, usage_rules

LEDGER_FILE, DICTIONARY_FILE = "ledger.json", "data-dictionary.json"
#: A region as people write it: "COUNTY/01001", ("COUNTY", "01001") or a name that one region alone has.
RegionWords = str | tuple[str, str] | Region
#: A group as people write it: its iteration code or its exact name.
GroupWords = str | Group


class Opened:
    """A published release."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / LEDGER_FILE).is_file() or not (folder / DICTIONARY_FILE).is_file():
            raise InputError(Finding(usage_rules.NOT_A_RELEASE, str(folder)), "")
        self.ledger: dict[str, Any] = json.loads((folder / LEDGER_FILE).read_text(encoding="utf-8"))
        self._totals: dict[tuple[str, Key], Total | None] = {}
        self._cells: dict[tuple[str, Key], list[tuple[int, int, str, int]]] = {}
        if "has_noise" not in self.ledger or not (folder / "parquet" / "geography").is_dir():
            raise InputError(Finding(reading_rules.OLD_RELEASE, str(folder)), "")

    def __repr__(self) -> str:
        title = self.ledger["title"] or "untitled"
        return f"{type(self).__name__}({str(self.folder)!r}, {title!r}{'' if self.is_private else ', NOT PRIVATE'})"

    @property
    def is_private(self) -> bool:
        return bool(self.ledger["is_private"])

    @cached_property
    def dictionary(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / DICTIONARY_FILE).read_text(encoding="utf-8"))
        return found

    @property
    def has_ages(self) -> bool:
        """Whether T2 has numbers by age."""
        return "age" in self.dictionary["detail"].split(" by ")

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The runs, each over people of its own."""
        return tuple(run["name"] for run in self.ledger["runs"])

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The population group levels that were tabulated."""
        return tuple(read_levels(self.ledger, self.dictionary))

    @cached_property
    def groups(self) -> Mapping[str, Group]:
        """The groups, by iteration code."""
        return read_groups(self.dictionary)

    @cached_property
    def region_names(self) -> Mapping[str, Mapping[str, str]]:
        """The names of regions, by type and id; empty where the geography file has none."""
        names: Mapping[str, Mapping[str, str]] = self.dictionary["regions"]
        return names

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """Every region, by type and id."""
        found = (
            Region(level, region)
            for run in self.runs
            for level in self.regions_of_run(run).levels
            for region in self.regions_of_run(run).ids(level)
        )
        return tuple(dict.fromkeys(found))

    def regions_of_run(self, run: str) -> RegionsOfRun:
        return self._regions[run]

    @cached_property
    def _regions(self) -> Mapping[str, RegionsOfRun]:
        return {run: RegionsOfRun(run, self._file("geography", run)) for run in self.runs}

    @cached_property
    def _rows(self) -> Mapping[str, RowsOfRun]:
        return {run: RowsOfRun(self._file("t1", run), self._file("t2", run)) for run in self.runs}

    def rows_of_run(self, run: str) -> RowsOfRun:
        return self._rows[run]

    def _file(self, table: str, run: str) -> Path:
        folder = self.folder / "parquet" / table
        private = folder / f"{run}.parquet"
        return private if private.exists() else folder / f"{run}.NOT-PRIVATE.parquet"

    def levels_of_group(self, run: str, group: Group) -> Mapping[str, Level]:
        """The levels of a run that tabulate a group, by geography level."""
        return {
            level.geography: level
            for level in self.levels
            if level.run == run
            and level.iteration_level == group.iteration_level
            and group.is_tabulated(is_local=level.is_local)
        }

    def level_of(self, row: Row) -> Level:
        """How a row was measured."""
        return self.levels_of_group(row.run, self.groups[row.code])[row.region.type]

    def group(self, words: GroupWords) -> Group:
        """The group that an iteration code or an exact name stands for."""
        if isinstance(words, Group):
            return words
        key = str(words)
        found = [self.groups[key]] if key in self.groups else self._groups_of_name.get(key, [])
        if len(found) != 1:
            seen = f"the name of {' and '.join(group.code for group in found)}" if found else ""
            raise UsageError(Finding(reading_rules.NO_SUCH_GROUP, str(self.folder), key=key, seen=seen), "")
        return found[0]

    @cached_property
    def _groups_of_name(self) -> Mapping[str, list[Group]]:
        names: dict[str, list[Group]] = {}
        for group in self.groups.values():
            names.setdefault(group.name, []).append(group)
        return names

    def region(self, words: RegionWords) -> Region:
        """The region that TYPE/ID, (type, id), or a name or id that one region alone has stands for."""
        kind_and_id = words.split("/", 1) if isinstance(words, str) else words
        found = Region(*kind_and_id) if is_pair(kind_and_id) else Region(str(words), "")
        if any(self.regions_of_run(run).index(*found) is not None for run in self.runs):
            return found
        named = self._named(words) if isinstance(words, str) else []
        if len(named) == 1:
            return named[0]
        rule = usage_rules.REGION_OF_SEVERAL_TYPES if named else reading_rules.NO_SUCH_PLACE
        seen = ", ".join(map(str, named))
        key = str(found) if found.id else str(words)
        raise UsageError(Finding(rule, str(self.folder), key=key, seen=seen), "")

    def _named(self, words: str) -> list[Region]:
        by_name = [
            Region(kind, region)
            for kind, regions in self.region_names.items()
            for region, name in regions.items()
            if name == words
        ]
        by_id = [
            Region(level, words)
            for run in self.runs
            for level in self.regions_of_run(run).levels
            if self.regions_of_run(run).index(level, words) is not None
        ]
        return list(dict.fromkeys(by_name or by_id))

    def name_of(self, thing: Region | Group) -> str:
        """The name of a group, or of a region; its id where it has none."""
        if isinstance(thing, Group):
            return thing.name
        return self.region_names.get(thing.type, {}).get(thing.id, str(thing))

    def find(self, words: str) -> pa.Table:
        """Groups and regions whose name, or code or id, contains some words in any case: KIND, KEY and NAME of each."""
        if not isinstance(words, str):
            raise TypeError(f"words is of type {type(words).__name__}: pass text.")
        wanted = words.casefold()
        groups = [("group", group.code, group.name) for group in self.groups.values()]
        named = [
            ("region", f"{kind}/{region}", name)
            for kind, regions in self.region_names.items()
            for region, name in regions.items()
        ]
        without = [("region", str(region), "") for region in self.regions if wanted in str(region).casefold()]
        found = [entry for entry in (*groups, *named) if wanted in entry[1].casefold() or wanted in entry[2].casefold()]
        known = {entry[1] for entry in found}
        found += [entry for entry in without if entry[1] not in known]
        columns = zip(*found, strict=True) if found else ((), (), ())
        return pa.table(dict(zip(("KIND", "KEY", "NAME"), map(arrow.texts, columns), strict=True)))

    def table(self, name: str, form: Literal["arrow", "pandas", "polars"] = "arrow") -> Any:
        """T1 or T2 of all runs as an Arrow table, or as a data frame of pandas or polars where that is installed."""
        import pyarrow.parquet as pq

        if name not in ("t1", "t2"):
            raise ValueError(f'the table is {name!r}: it must be "t1" or "t2".')
        files = [self._file(name, run) for run in self.runs]
        found = pa.concat_tables([pq.read_table(file) for file in files])
        if form == "pandas":
            return found.to_pandas()
        if form == "polars":
            return import_module("polars").from_arrow(found)
        if form != "arrow":
            raise ValueError(f'form is {form!r}: it must be "arrow", "pandas" or "polars".')
        return found

    def sex_by_age(self, group: GroupWords, region: RegionWords) -> pa.Table:
        """The sex by age table of a group in a region: AGESTART, AGEEND, SEX, ESTIMATE, LOW_95, HIGH_95, by age.

        Empty where it has none; the rows that sum over all ages are left out.
        """
        place, code = self.region(region), self.group(group).code
        columns = ["AGESTART", "AGEEND", "SEX", "ESTIMATE", "LOW_95", "HIGH_95"]
        here = [run for run in self.runs if self.regions_of_run(run).index(*place) is not None]
        key = place.type, place.id, code
        found = pa.concat_tables(self._rows[run].table("t2", [key], columns, "AGESTART <> '*'") for run in here)
        rows = found.select(columns).to_pylist()
        rows.sort(key=lambda row: (int(row["AGESTART"]), row["SEX"]))
        return pa.Table.from_pylist(rows, schema=found.select(columns).schema)

    def fetch(self, rows: Sequence[Row]) -> None:
        """Read rows that are not known yet, all at once."""
        wanted: dict[str, list[Key]] = {}
        tables: dict[str, list[Key]] = {}
        for row in rows:
            key = _key(row)
            if (row.run, key) not in self._totals:
                wanted.setdefault(row.run, []).append(key)
            if row.cells is not None and (row.run, key) not in self._cells:
                tables.setdefault(row.run, []).append(key)
        for run, keys in wanted.items():
            found = self._rows[run].totals(keys)
            self._totals.update({(run, key): found.get(key) for key in keys})
        for run, keys in tables.items():
            cells = self._rows[run].cells(keys, has_ages=self.has_ages)
            self._cells.update({(run, key): cells.get(key, []) for key in keys})

    def total_row(self, row: Row) -> Total | None:
        """The row of T1, once it was fetched; None where it was left out."""
        return self._totals[row.run, _key(row)]

    def cells_row(self, row: Row) -> list[tuple[int, int, str, int]]:
        """The cells of a group's table, once they were fetched; empty where it has none."""
        return self._cells[row.run, _key(row)]

    def pairs(self, groups: Iterable[GroupWords], regions: Iterable[RegionWords]) -> list[tuple[Group, Region]]:
        """Every group in every region."""
        places = [self.region(region) for region in regions]
        return [(self.group(group), region) for group in groups for region in places]


def is_pair(words: Any) -> bool:
    """Whether this is two things: a type and an id, a group and a region, a first and a last age."""
    return isinstance(words, list | tuple) and len(words) == 2


def _key(row: Row) -> Key:
    return row.region.type, row.region.id, row.code
