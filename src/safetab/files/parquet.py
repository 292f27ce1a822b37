"""Parquet tables, one file or a folder of parts, read into the same columns of text as the pipe-separated files.

In: a path, the names of the columns wanted and their widths. Out: a `TextTable` whose rows are counted from 1.
Promise: whole numbers become text padded with zeros to the column's width, so that 6 in TABBLKST is `06` from
either kind of file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from safetab.errors import Finding
from safetab.files import rules
from safetab.files.text import TextTable, read_text


def locate(folder: Path, name: str, findings: list[Finding]) -> Path | None:
    """Find a table in a folder: the text file `name`, or Parquet under the same stem, a file or a folder of parts."""
    text = folder / name
    stem = Path(name).stem
    others = [folder / f"{stem}.parquet", folder / stem]
    present = [path for path in (text, others[0]) if path.exists()]
    present += [others[1]] if others[1].is_dir() else []
    present = list(dict.fromkeys(present))
    if len(present) > 1:
        findings.append(Finding(rules.TWO_FORMS, name, seen=" and ".join(path.name for path in present)))
        return None
    if not present:
        findings.append(Finding(rules.MISSING_FILE, name, seen=f"neither {name} nor {others[0].name}"))
        return None
    return present[0]


def read_table(
    path: Path, columns: Sequence[str], widths: Mapping[str, int], findings: list[Finding]
) -> TextTable | None:
    """Read some columns of a table as text, whichever of the two kinds of file it is in."""
    if path.suffix == ".parquet" or path.is_dir():
        return _read_parquet(path, columns, widths, findings)
    return read_text(path, columns, findings)


def part_files(path: Path) -> list[Path]:
    """The files of a Parquet table in a fixed order: itself, or the parts in its folder."""
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _read_parquet(
    path: Path, columns: Sequence[str], widths: Mapping[str, int], findings: list[Finding]
) -> TextTable | None:
    parts = part_files(path)
    if not parts:
        findings.append(Finding(rules.EMPTY_FILE, path.name, seen="a folder without .parquet files"))
        return None
    before = len(findings)
    schemas = {part: schema for part in parts if (schema := _schema_of(part, columns, findings)) is not None}
    for name in columns:
        kinds = {_plain_type(schema.field(name).type) for schema in schemas.values()}
        if len(kinds) > 1:
            findings.append(
                Finding(rules.PARTS_DIFFER, path.name, key=name, seen=f"of types {', '.join(sorted(kinds))}")
            )
    if len(findings) > before:
        return None
    tables = [_read_part(part, columns, widths, findings) for part in parts]
    if len(findings) > before:
        return None
    whole = pa.concat_tables(table for table in tables if table is not None)
    if whole.num_rows == 0:
        findings.append(Finding(rules.NO_ROWS, path.name))
        return None
    return TextTable(path.name, whole, (), unit="row")


def _plain_type(kind: pa.DataType) -> str:
    """A column's type, whether or not its values are kept in a dictionary."""
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _schema_of(part: Path, columns: Sequence[str], findings: list[Finding]) -> pa.Schema | None:
    try:
        schema = pq.read_schema(part)
    except (pa.ArrowInvalid, OSError):
        findings.append(Finding(rules.NOT_PARQUET, part.name))
        return None
    missing = [name for name in columns if name not in schema.names]
    findings.extend(Finding(rules.MISSING_COLUMN, part.name, key=name) for name in missing)
    return None if missing else schema


def _read_part(
    part: Path, columns: Sequence[str], widths: Mapping[str, int], findings: list[Finding]
) -> pa.Table | None:
    try:
        table = pq.read_table(part, columns=list(columns), partitioning=None)
    except (pa.ArrowInvalid, OSError):
        findings.append(Finding(rules.NOT_PARQUET, part.name))
        return None
    arrays = [_as_text(part.name, name, table[name], widths.get(name), findings) for name in columns]
    sound = [array for array in arrays if array is not None]
    return pa.table(sound, names=list(columns)) if len(sound) == len(columns) else None


def _as_text(
    file: str, name: str, column: pa.ChunkedArray, width: int | None, findings: list[Finding]
) -> pa.ChunkedArray | None:
    if column.null_count:
        findings.append(Finding(rules.MISSING_VALUE, file, key=name, count=column.null_count))
        return None
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_integer(column.type):
        text = pc.cast(column, pa.string())
        return pc.utf8_lpad(text, width, "0") if width else text
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.cast(column, pa.string())
    findings.append(Finding(rules.COLUMN_TYPE, file, key=name, seen=f"of type {column.type}"))
    return None
