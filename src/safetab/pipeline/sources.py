"""Where the data of a release are: in a folder, in files that are named one by one, or in memory.

In: the argument `data` of a caller, and perhaps another place for the records. Out: frozen `DataSources`. Promise: what
is no folder, no path and no table that Arrow reads is refused at once, with words on what to pass instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetab.arguments import as_path
from safetab.engines.layout import is_address
from safetab.errors import Finding
from safetab.files.memory import MemoryTable, is_table
from safetab.files.parquet import locate
from safetab.rules import file_rules

#: A folder, or a mapping with the keys below, each a path or a table in memory.
Data = str | os.PathLike[str] | Mapping[str, Any]
_KEYS = ("records", "geography")
_MAPPING = 'a mapping {"records": ..., "geography": ...}.'
_BOTH = 'a mapping has both, {"records": ..., "geography": ...}.'
_TABLES = "a DataFrame of pandas or polars, a pyarrow table, reader or dataset, or a DuckDB relation"


@dataclass(frozen=True, slots=True)
class DataSources:
    """A data folder, and tables that are somewhere else. Without a folder both tables are."""

    folder: Path | None = None
    geography: Path | MemoryTable | None = None
    #: A local path, an address that the engine knows, or a table.
    records: str | MemoryTable | None = None

    def places(self) -> Iterator[str | Path]:
        """The paths and addresses among them."""
        for place in (self.folder, self.geography, self.records):
            if place is not None and not isinstance(place, MemoryTable):
                yield place

    def find_geography(self, file: str, findings: list[Finding]) -> Path | MemoryTable | None:
        """The geography table: the one that was named, else the file in the folder."""
        if self.geography is None:
            return None if self.folder is None else locate(self.folder, file, findings)
        if isinstance(self.geography, Path) and not self.geography.exists():
            findings.append(Finding(file_rules.MISSING_FILE, str(self.geography)))
            return None
        return self.geography

    def find_records(self, file: str, findings: list[Finding]) -> str | MemoryTable | None:
        """The records: those that were named, else the file in the folder."""
        if self.records is None:
            found = None if self.folder is None else locate(self.folder, file, findings)
            return None if found is None else str(found)
        if isinstance(self.records, str) and not is_address(self.records) and not Path(self.records).exists():
            findings.append(Finding(file_rules.MISSING_FILE, self.records))
            return None
        return self.records


NO_SOURCES = DataSources()


def data_sources(
    data: Data, records: str | os.PathLike[str] | None = None, *, may_lack_records: bool = False
) -> DataSources:
    """What a caller means by `data`, with the records where `records` says; raises where it means nothing."""
    if not isinstance(data, Mapping):
        if is_table(data):
            raise TypeError('data is a table: say which one, {"records": table, "geography": ...}.')
        if not isinstance(data, str | os.PathLike):
            raise TypeError(f"data is of type {type(data).__name__}: pass the data folder, or {_MAPPING}")
        found = DataSources(folder=as_path(data, "data"))
    else:
        found = _of_mapping(data)
    if records is None:
        if found.folder is None and found.records is None and not may_lack_records:
            raise ValueError(f'data has no "records": {_BOTH}')
        return found
    if found.records is not None:
        raise ValueError('The records are named twice: in data["records"] and in the argument `records`.')
    as_path(records, "records")
    return replace(found, records=os.fspath(records))


def _of_mapping(data: Mapping[str, Any]) -> DataSources:
    if unknown := [key for key in data if key not in _KEYS]:
        raise ValueError(f'data has the key {unknown[0]!r}: its keys are "records" and "geography".')
    if "geography" not in data:
        raise ValueError(f'data has no "geography": {_BOTH}')
    found = {key: _source(key, value) for key, value in data.items()}
    geography, records = found["geography"], found.get("records")
    return DataSources(
        geography=Path(geography) if isinstance(geography, str) else geography,
        records=records,
    )


def _source(key: str, value: Any) -> str | MemoryTable:
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if is_table(value):
        return MemoryTable(f'data["{key}"]', value)
    raise TypeError(f'data["{key}"] is of type {type(value).__name__}: pass a path or {_TABLES}.')
