"""The data files of a synthetic country, as Parquet parts or as pipe-separated text.

In: the land of a state and chunks of its people. Out: one part a state for each of the two tables; the parts of a text
table are joined at the end. Promise: the bytes depend on what is written and on nothing else.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from safetab.params.census import COLUMNS
from safetab.synth.communities import Communities
from safetab.synth.geography import BLOCK_CODES, GEOGRAPHY_COLUMNS, Land
from safetab.synth.people import Chunk

GEOGRAPHY_STEM, RECORDS_STEM = "GRF-C", "person-records"
RECORD_COLUMNS = (
    "QAGE", "QSEX", "HOUSEHOLDER", "TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "CENRACE",
    *COLUMNS["race_codes"], "QSPAN",
)  # fmt: skip
_NUMBERS = {"QAGE", "QSEX"}
#: Fast, and read by every Parquet reader; these columns are small before they are compressed.
_COMPRESSION = "snappy"


class Format(Enum):
    """How tables are written."""

    PARQUET = "parquet"
    TEXT = "text"

    @property
    def suffix(self) -> str:
        return "parquet" if self is Format.PARQUET else "txt"

    @property
    def bytes_per_person(self) -> float:
        """A little more than a person takes on disk, for asking beforehand whether there is room."""
        return 12.0 if self is Format.PARQUET else 95.0


def part_path(data: Path, stem: str, state: str, table_format: Format) -> Path:
    """Where the part of one state goes: a folder named after the table."""
    return data / f"{stem}.{table_format.suffix}" / f"state-{state}.{table_format.suffix}"


class RecordWriter:
    """Writes the people of one state; the dictionaries of its columns are made once."""

    def __init__(self, land: Land, communities: Communities) -> None:
        codes = _text([*communities.race_codes, COLUMNS["no_code"]])
        self._dictionaries = {
            "HOUSEHOLDER": _text(["False", "True"]),
            "TABBLKST": _text([land.state]),
            "TABBLKCOU": _text(land.county_codes),
            "TABTRACTCE": _text(land.tract_codes),
            "TABBLK": _text(BLOCK_CODES),
            "CENRACE": _text([f"{number:02d}" for number in range(64)]),
            **dict.fromkeys(COLUMNS["race_codes"], codes),
            "QSPAN": _text(communities.ethnicity_codes),
        }
        index_types = {"HOUSEHOLDER": pa.int8(), "TABBLKST": pa.int8(), "CENRACE": pa.uint8()}
        self.schema = pa.schema(
            [
                pa.field(
                    name,
                    pa.uint8() if name in _NUMBERS else pa.dictionary(index_types.get(name, pa.int16()), pa.string()),
                    nullable=False,
                )
                for name in RECORD_COLUMNS
            ]
        )

    def table(self, chunk: Chunk) -> pa.Table:
        """A chunk as an Arrow table; no value is copied."""
        columns: dict[str, npt.NDArray[np.generic]] = {
            "QAGE": chunk.age,
            "QSEX": chunk.sex,
            "HOUSEHOLDER": chunk.householder,
            "TABBLKST": np.zeros(len(chunk), dtype=np.int8),
            "TABBLKCOU": chunk.county,
            "TABTRACTCE": chunk.tract,
            "TABBLK": chunk.block,
            "CENRACE": chunk.cenrace,
            "QSPAN": chunk.ethnicity,
        }
        columns |= dict(zip(COLUMNS["race_codes"], chunk.race, strict=True))
        arrays = [
            pa.array(columns[name])
            if name in _NUMBERS
            else pa.DictionaryArray.from_arrays(columns[name], self._dictionaries[name], safe=False)
            for name in RECORD_COLUMNS
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def write(self, path: Path, chunks: Iterable[Chunk], table_format: Format) -> Iterator[int]:
        """Write chunks as they come, and say how many persons each had."""
        path.parent.mkdir(exist_ok=True)
        if table_format is Format.TEXT:
            with path.open("wb") as file:
                for chunk in chunks:
                    write_lines(file, self.table(chunk))
                    yield len(chunk)
            return
        with pq.ParquetWriter(path, self.schema, compression=_COMPRESSION) as writer:
            for chunk in chunks:
                writer.write_table(self.table(chunk), row_group_size=len(chunk))
                yield len(chunk)


def _text(values: Sequence[str]) -> pa.Array:
    return pa.array(list(values), pa.string())


def write_lines(file: object, table: pa.Table) -> None:
    """Append a table to a text file, without a header."""
    plain = pa.table([column.cast(pa.string()) for column in table.columns], names=table.column_names)
    options = pa_csv.WriteOptions(include_header=False, delimiter="|", quoting_style="none")
    pa_csv.write_csv(plain, file, options)


def write_geography(land: Land, path: Path, table_format: Format) -> None:
    """Write the blocks of one state."""
    path.parent.mkdir(exist_ok=True)
    table = land.table()
    if table_format is Format.TEXT:
        with path.open("wb") as file:
            write_lines(file, table)
    else:
        pq.write_table(table, path, compression=_COMPRESSION)


def join_text(data: Path, stem: str, columns: Sequence[str]) -> None:
    """Join the text parts of a table into one file with a header; each part is removed once it is copied."""
    target = data / f"{stem}.txt"
    parts = target.with_name(f".{stem}")
    target.rename(parts)
    with target.open("wb") as file:
        file.write(("|".join(columns) + "\n").encode())
        for part in sorted(parts.iterdir()):
            with part.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
            part.unlink()
    parts.rmdir()


def join_tables(data: Path) -> None:
    """Join the parts of both text tables."""
    join_text(data, GEOGRAPHY_STEM, GEOGRAPHY_COLUMNS)
    join_text(data, RECORDS_STEM, RECORD_COLUMNS)
