"""Parquet tables, one file or a folder of parts, read into the same columns of text as text files.

In: a path, the names of the columns wanted and their widths. Out: a `TextTable` whose rows are counted from 1.
Promise: whole numbers, also those in a column of floats, become text padded with zeros to the column's width, so that 6
in TABBLKST is `06` from either kind of file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from safetab.errors import LINES_SHOWN, Finding, Rule
from safetab.files import arrow
from safetab.files.compressed import COMPRESSIONS, not_there
from safetab.files.delimited import NOTHING_TOLD, ToldForm
from safetab.files.parts import Part, is_parquet_name, list_parts
from safetab.files.schemas import is_text, read_schemas, schema_findings
from safetab.files.text import TextTable, read_text
from safetab.rules import file_rules

#: From here on a float does not tell neighbouring whole numbers apart.
_WHOLE_UP_TO = 1 << 53


def locate(folder: Path, name: str, findings: list[Finding]) -> Path | None:
    """Find a table in a folder: the text file `name`, perhaps compressed, or Parquet under the same stem."""
    text = folder / name
    forms = {text.name, *(text.name + end for end in COMPRESSIONS)}
    entries = sorted(text.parent.iterdir()) if text.parent.is_dir() else []
    present = [entry for entry in entries if entry.name in forms or _is_parquet_of(text.stem, entry)]
    if len(present) > 1:
        findings.append(Finding(file_rules.TWO_FORMS, name, seen=" and ".join(path.name for path in present)))
        return None
    if not present:
        findings.append(not_there(text, name, f"neither {name} nor {text.stem}.parquet"))
        return None
    return present[0]


def locate_text(folder: Path, name: str, findings: list[Finding]) -> Path | None:
    """Find a text table in a folder: the file `name`, perhaps compressed. One that is not there is named as it is."""
    compressed = [path for end in COMPRESSIONS if (path := folder / (name + end)).exists()]
    present = [path for path in (folder / name,) if path.exists() or not compressed] + compressed
    if len(present) > 1:
        findings.append(Finding(file_rules.TWO_FORMS, name, seen=" and ".join(path.name for path in present)))
        return None
    return present[0]


def _is_parquet_of(stem: str, entry: Path) -> bool:
    """Whether a file or a folder of parts has the stem of a table."""
    return (entry.stem == stem and is_parquet_name(entry.name)) or (entry.name == stem and entry.is_dir())


def is_parquet(path: Path) -> bool:
    """Whether a table is Parquet, a file or a folder of parts, rather than text."""
    return path.is_dir() or is_parquet_name(path.name)


def read_table(
    path: Path,
    columns: Sequence[str],
    widths: Mapping[str, int],
    findings: list[Finding],
    told: ToldForm = NOTHING_TOLD,
    may_be_null: Collection[str] = (),
) -> TextTable | None:
    """Read some columns of a table as text, whichever of the two kinds of file it is in."""
    if is_parquet(path):
        return _read_parquet(path, columns, widths, findings, may_be_null)
    return read_text(path, columns, findings, told)


def _read_parquet(
    path: Path,
    columns: Sequence[str],
    widths: Mapping[str, int],
    findings: list[Finding],
    may_be_null: Collection[str],
) -> TextTable | None:
    before = len(findings)
    parts = judged_parts(path, findings)
    findings += schema_findings(path.name, read_schemas(parts, findings), columns)
    if len(findings) > before:
        return None
    tables = [_read_part(part, columns, widths, findings, may_be_null) for part in parts]
    if len(findings) > before:
        return None
    whole = pa.concat_tables(table for table in tables if table is not None)
    if whole.num_rows == 0:
        findings.append(Finding(file_rules.NO_ROWS, path.name))
        return None
    return TextTable(path.name, whole, (), unit="row")


def judged_parts(path: Path, findings: list[Finding]) -> list[Part]:
    """The parts of a Parquet table; what is no part of it, and a folder without any, are findings."""
    parts, found = list_parts(path)
    findings += found
    if not parts:
        findings.append(Finding(file_rules.EMPTY_FILE, path.name, seen="a folder without part files"))
    return parts


def _read_part(
    part: Part,
    columns: Sequence[str],
    widths: Mapping[str, int],
    findings: list[Finding],
    may_be_null: Collection[str],
) -> pa.Table | None:
    given = {name for name, _ in part.partition}
    try:
        # Not read_table: it imports all of Arrow's datasets, which takes 0.04 s of CPU, to read one file.
        with pq.ParquetFile(part.path) as file:
            table = file.read(columns=[name for name in columns if name not in given])
    except (pa.ArrowInvalid, OSError):
        findings.append(Finding(file_rules.NOT_PARQUET, part.name))
        return None
    for name in given & set(columns):
        value = arrow.text(part.value(name, widths.get(name)))
        table = table.append_column(name, pa.repeat(value, table.num_rows))
    return text_columns(part.name, table, columns, widths, findings, may_be_null)


def text_columns(
    file: str,
    table: pa.Table,
    columns: Sequence[str],
    widths: Mapping[str, int],
    findings: list[Finding],
    may_be_null: Collection[str] = (),
) -> pa.Table | None:
    """Some columns of a table as text, whole numbers with their leading zeros; None with the reasons in `findings`."""
    arrays = [_as_text(file, name, table[name], widths.get(name), findings, name in may_be_null) for name in columns]
    sound = [array for array in arrays if array is not None]
    return pa.table(sound, names=list(columns)) if len(sound) == len(columns) else None


def _as_text(
    file: str, name: str, column: pa.ChunkedArray, width: int | None, findings: list[Finding], may_be_null: bool
) -> pa.ChunkedArray | None:
    column = plain(column)
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if column.null_count and not may_be_null:
        findings.append(_at_rows(file_rules.MISSING_VALUE, file, name, np.flatnonzero(column.is_null().to_numpy())))
        return None
    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        broken = np.flatnonzero(~(np.abs(values) <= _WHOLE_UP_TO) | (np.floor(values) != values))
        if len(broken):
            findings.append(_at_rows(file_rules.COLUMN_TYPE, file, name, broken))
            return None
        column = pc.cast(column, pa.int64())
    text = pc.cast(column, pa.string())
    if pa.types.is_integer(column.type) and width:
        text = pc.utf8_lpad(text, width, "0")
    return pc.fill_null(text, arrow.text("")) if column.null_count else text


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as engines read it: one of nulls alone is text, and a dictionary has texts that Arrow can cast."""
    if pa.types.is_null(column.type):
        return pc.cast(column, pa.string())
    if not pa.types.is_dictionary(column.type):
        return column
    kind = column.type.value_type
    if not is_text(kind):
        return pc.cast(column, kind)
    if not pa.types.is_string_view(kind):
        return column
    chunks = [pa.DictionaryArray.from_arrays(part.indices, part.dictionary.cast(pa.string())) for part in column.chunks]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, pa.string()))


def _at_rows(rule: Rule, file: str, name: str, rows: np.ndarray) -> Finding:
    first = tuple(int(row) + 1 for row in rows[:LINES_SHOWN])
    return Finding(rule, file, name, first, len(rows), unit="row")
