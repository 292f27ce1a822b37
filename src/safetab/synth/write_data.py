"""Writing the data files of a synthetic country, as Parquet or as text.

In: the land of a state, chunks of its people and the form of the records. Out: for each of the two tables, one part
file per state; as text they are joined at the end. Promise: the bytes depend only on what is written.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from safetab.files.delimited import BARS, TextForm
from safetab.synth.communities import Communities
from safetab.synth.geography import Land
from safetab.synth.people import Chunk
from safetab.synth.record_form import HOUSEHOLDER, MAJOR_GROUPS, RecordForm

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
        """A little more than a person takes on the disk, to see beforehand whether there is enough space."""
        return 12.0 if self is Format.PARQUET else 95.0


def table_path(data: Path, name: str, table_format: Format) -> Path:
    """Where a table is: under the name that the release gives it, or as Parquet under the same stem."""
    return data / name if table_format is Format.TEXT else data / f"{Path(name).stem}.parquet"


def part_path(data: Path, name: str, state: str, table_format: Format) -> Path:
    """The path of the part file of one state, in a folder that has the path of the table."""
    return table_path(data, name, table_format) / f"state-{state}.{table_format.suffix}"


class RecordWriter:
    """Writes the people of one state; makes the dictionaries of the columns once."""

    def __init__(self, form: RecordForm, land: Land, communities: Communities) -> None:
        self._form, self._block = form, [column.name for column in land.names]
        codes = _text([*communities.race_codes, form.no_code])
        self._dictionaries = {
            HOUSEHOLDER: _text(["False", "True"]),
            MAJOR_GROUPS: _text([f"{number:02d}" for number in range(64)]),
            **dict.fromkeys(form.race_codes, codes),
            form.sex: _text(form.sexes),
            form.ethnicity: _text(communities.ethnicity_codes),
            **{column.name: _text(column.values) for column in land.names},
        }
        self._numbers = {form.age, form.sex} if form.is_bureau else {form.age}
        widths = {column.name: pa.from_numpy_dtype(column.index.dtype) for column in land.names}
        widths |= {HOUSEHOLDER: pa.int8(), MAJOR_GROUPS: pa.uint8(), form.sex: pa.uint16()}
        self.schema = pa.schema(
            [
                pa.field(
                    name,
                    pa.uint8() if name in self._numbers else pa.dictionary(widths.get(name, pa.int16()), pa.string()),
                    nullable=False,
                )
                for name in form.names
            ]
        )

    def table(self, chunk: Chunk) -> pa.Table:
        """A chunk as an Arrow table; no value is copied."""
        form = self._form
        columns: dict[str, npt.NDArray[np.generic]] = {
            form.age: chunk.age,
            form.sex: chunk.sex + np.uint8(1) if form.is_bureau else chunk.sex.astype(np.uint16),
            HOUSEHOLDER: chunk.householder,
            MAJOR_GROUPS: chunk.cenrace,
            form.ethnicity: chunk.ethnicity,
        }
        columns |= dict(zip(self._block, chunk.block, strict=True))
        columns |= dict(zip(form.race_codes, chunk.race, strict=False))
        arrays = [
            pa.array(columns[name])
            if name in self._numbers
            else pa.DictionaryArray.from_arrays(columns[name], self._dictionaries[name], safe=False)
            for name in form.names
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def write(self, path: Path, chunks: Iterable[Chunk], table_format: Format) -> Iterator[int]:
        """Write each chunk as it comes, and yield its number of persons."""
        path.parent.mkdir(exist_ok=True)
        if table_format is Format.TEXT:
            with path.open("wb") as file:
                for chunk in chunks:
                    _write_lines(file, self.table(chunk), self._form.text)
                    yield len(chunk)
            return
        # Records are in the order of their blocks. The smallest and largest values of other columns help no reader, and
        # take half of the time of writing.
        in_order = list(self._form.block[: max(1, len(self._form.block) - 1)])
        with pq.ParquetWriter(path, self.schema, compression=_COMPRESSION, write_statistics=in_order) as writer:
            for chunk in chunks:
                writer.write_table(self.table(chunk), row_group_size=len(chunk))
                yield len(chunk)


def _text(values: Sequence[str]) -> pa.Array:
    return pa.array(list(values), pa.string())


def write_text_table(path: Path, columns: Sequence[str], tables: Iterable[pa.Table]) -> None:
    """Write tables, one after the other, as one text file with a header, `|` between the fields."""
    with path.open("wb") as file:
        _write_header(file, columns, BARS)
        for table in tables:
            _write_lines(file, table, BARS)


def _write_header(file: BinaryIO, columns: Sequence[str], form: TextForm) -> None:
    _write_lines(file, pa.table([_text([name]) for name in columns], names=list(map(str, range(len(columns))))), form)


def _write_lines(file: BinaryIO, table: pa.Table, form: TextForm) -> None:
    plain = pa.table([column.cast(pa.string()) for column in table.columns], names=table.column_names)
    quoting = "needed" if form.is_quoted else "none"
    pa_csv.write_csv(
        plain,
        file,
        pa_csv.WriteOptions(include_header=False, delimiter=form.delimiter, quoting_style=quoting),
    )


def write_geography(land: Land, path: Path, table_format: Format, form: TextForm) -> None:
    """Write the blocks of one state."""
    path.parent.mkdir(exist_ok=True)
    table = land.table()
    if table_format is Format.TEXT:
        with path.open("wb") as file:
            _write_lines(file, table, form)
    else:
        pq.write_table(table, path, compression=_COMPRESSION)


def join_text(target: Path, columns: Sequence[str], form: TextForm) -> None:
    """Join the text files of the states into one file with a header, and remove each once it is copied."""
    folder = target.with_name(f".{target.name}")
    target.rename(folder)
    with target.open("wb") as file:
        _write_header(file, columns, form)
        for state in sorted(folder.iterdir()):
            with state.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
            state.unlink()
    folder.rmdir()
