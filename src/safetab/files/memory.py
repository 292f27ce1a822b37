"""Tables in memory, read as if they were Parquet: pandas, polars, pyarrow, DuckDB relations, anything that Arrow reads.

In: an object with Arrow's stream interface (`__arrow_c_stream__`), a polars LazyFrame or a pyarrow dataset, and the
names of the columns wanted. Out: those columns as an Arrow table, or the dataset itself, or findings. Promise: columns
nobody wants are not converted; columns that are Arrow's already are not copied; a stream is read once, because it may
not be there a second time. A finding says table, column and row, never a value.
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from safetab.errors import Finding
from safetab.files.parquet import plain, text_columns
from safetab.files.schemas import Column, PartSchema, columns_of, schema_findings
from safetab.files.text import TextTable
from safetab.rules import file_rules

#: Rows that are hashed at a time.
_HASHED_ROWS = 1 << 16
#: Columns that pandas makes of an index.
_INDEX = "__index_level_"


@dataclass(frozen=True, slots=True, eq=False)
class MemoryTable:
    """A table that a caller holds, and what findings call it."""

    name: str
    content: Any


@dataclass(frozen=True, slots=True, eq=False)
class ReadColumns:
    """The wanted columns of a table in memory: an Arrow table, or a dataset that is read anew each time."""

    name: str
    table: Any
    #: Every column that the table has, wanted or not.
    all_names: tuple[str, ...]


def is_table(value: object) -> bool:
    """Whether a value is a table that can be read here."""
    return hasattr(value, "__arrow_c_stream__") or _is_dataset(value) or _is_lazy(value)


def read_columns(source: MemoryTable, wanted: Sequence[str], findings: list[Finding]) -> ReadColumns | None:
    """The wanted columns, or everything that keeps them from being read."""
    before = len(findings)
    table: Any = None
    names: list[str] = []
    try:
        content = _opened(source.content, wanted)
        names = _names(source.content if _is_relation(source.content) else content)
        table = _select(source, content, [name for name in wanted if names.count(name) == 1], findings)
    except MemoryError:
        raise
    except Exception:
        # Whatever a caller's table raises may quote a record.
        findings.append(Finding(file_rules.NOT_ARROW, source.name))
    if len(findings) > before:
        return None
    if isinstance(table, pa.Table):
        table = pa.table({name: plain(table[name]) for name in table.column_names})
    read = {column.name: column for column in columns_of(table.schema)}
    columns = [read.get(name, Column(name, "not read", is_readable=True)) for name in names]
    findings += schema_findings(source.name, [PartSchema(source.name, tuple(columns))], wanted)
    if len(findings) > before:
        return None
    return ReadColumns(source.name, table, tuple(name for name in names if not name.startswith(_INDEX)))


def read_as_text(
    source: MemoryTable,
    wanted: Sequence[str],
    widths: Mapping[str, int],
    findings: list[Finding],
    may_be_null: Collection[str] = (),
) -> TextTable | None:
    """The wanted columns as text, rows counted from 1."""
    found = read_columns(source, wanted, findings)
    if found is None:
        return None
    table = found.table if isinstance(found.table, pa.Table) else found.table.to_table(columns=list(wanted))
    text = text_columns(source.name, table, wanted, widths, findings, may_be_null)
    if text is not None and not text.num_rows:
        findings.append(Finding(file_rules.NO_ROWS, source.name))
        return None
    return None if text is None else TextTable(source.name, text, (), unit="row")


def add_to_digest(table: Any, digest: Any) -> None:
    """Add a table or a dataset to a hash, as the bytes of an Arrow stream.

    The pieces that a table is in memory in make no difference; the order of its rows and its types do.
    """
    is_table_of_arrow = isinstance(table, pa.Table)
    starts = range(0, table.num_rows, _HASHED_ROWS) if is_table_of_arrow else ()
    pieces = (table.slice(start, _HASHED_ROWS).combine_chunks() for start in starts)
    sink = pa.PythonFile(_Digesting(digest), mode="w")
    with pa.ipc.new_stream(sink, table.schema) as stream:
        for piece in pieces if is_table_of_arrow else table.to_batches():
            stream.write(piece)


class _Digesting(io.RawIOBase):
    """A file that keeps nothing but a hash of what is written to it."""

    def __init__(self, digest: Any) -> None:
        super().__init__()
        self._digest = digest

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._digest.update(data)
        return len(data)


def _opened(content: Any, wanted: Sequence[str]) -> Any:
    """A frame, a dataset, or the one reader of a stream."""
    if _is_lazy(content):
        names = content.collect_schema().names()
        return content.select([name for name in names if name in wanted]).collect()
    if _is_frame(content) or _is_dataset(content):
        return content
    return pa.RecordBatchReader.from_stream(_columns_of(content, wanted) if _is_relation(content) else content)


def _columns_of(relation: Any, wanted: Sequence[str]) -> Any:
    """Some columns of a DuckDB relation, which is asked once: on all cores, which a stream of it is not."""
    names = [name for name in relation.columns if name in wanted]
    if not names or len(set(names)) < len(names):
        return relation
    listed = ", ".join(f'"{name.replace(chr(34), 2 * chr(34))}"' for name in names)
    return relation.project(listed).to_arrow_table()


def _names(content: Any) -> list[str]:
    has_columns = _is_frame(content) or _is_relation(content)
    return [str(name) for name in (content.columns if has_columns else content.schema.names)]


def _select(source: MemoryTable, content: Any, names: Sequence[str], findings: list[Finding]) -> Any:
    """Some columns as a table; a dataset as it is."""
    if _is_dataset(content):
        return content
    if _is_frame(content):
        return _of_frame(source, content, names, findings)
    schema = pa.schema([content.schema.field(name) for name in names])
    return pa.Table.from_batches([batch.select(list(names)) for batch in content], schema)


def _of_frame(source: MemoryTable, frame: Any, names: Sequence[str], findings: list[Finding]) -> pa.Table | None:
    """Some columns of a frame of pandas or polars, which may have values of several types in one column."""
    try:
        return _of_polars(frame, names) if _is_polars(frame) else pa.table(frame[list(names)])
    except (pa.ArrowException, TypeError, ValueError):
        for name in names:
            try:
                pa.table(frame[[name]])
            except (pa.ArrowException, TypeError, ValueError):
                findings.append(Finding(file_rules.NOT_ARROW, source.name, key=name))
        return None


def _of_polars(frame: Any, names: Sequence[str]) -> pa.Table:
    """Some columns of a frame of polars: side by side, because it builds the dictionary of a column on one core."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        columns = list(pool.map(lambda name: pa.table(frame[[name]])[0], names))
    return pa.table(columns, names=list(names))


def _is_dataset(value: object) -> bool:
    return type(value).__module__ == "pyarrow._dataset" and hasattr(value, "to_table") and hasattr(value, "schema")


def _is_polars(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "polars"


def _is_frame(value: object) -> bool:
    """Whether a value is a frame of pandas or polars, whose columns are chosen by their names."""
    return type(value).__module__.partition(".")[0] in {"pandas", "polars"} and hasattr(value, "columns")


def _is_relation(value: object) -> bool:
    return type(value).__module__.partition(".")[0] in {"duckdb", "_duckdb"} and hasattr(value, "project")


def _is_lazy(value: object) -> bool:
    return _is_polars(value) and hasattr(value, "collect") and not hasattr(value, "__arrow_c_stream__")
