"""The records as Spark finds them: text or Parquet, at a local path or at any address that Spark reads.

In: a `RecordLayout`. Out: a DataFrame with the records' columns, and Spark's spelling of the logical plan. Promise: a
line that is not a record, a part that lacks a column and a file that cannot be read are faults, never people left out.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.engines import rules
from safetab.engines.protocol import RecordLayout
from safetab.engines.queries import identifier, quoted
from safetab.errors import Finding, InputError
from safetab.files.parquet import part_files
from safetab.files.rules import MISSING_COLUMN, NO_ROWS, PARTS_DIFFER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_GLOB = re.compile(r"([\\{}\[\]*?])")
_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_READERS = 8


class SparkDialect:
    """Spark's spelling; codes are looked up by joins, which `with_code_positions` adds."""

    def __init__(self, types: dict[str, str]) -> None:
        self.types = types
        self._looked_up: list[str] = []

    def code_index(self, text: str) -> str:
        if text not in self._looked_up:
            self._looked_up.append(text)
        return _position(self._looked_up.index(text))

    def whole_number(self, text: str) -> str:
        return rf"CASE WHEN regexp_like({text}, '\A[0-9]{{1,4}}\z') THEN TRY_CAST({text} AS SMALLINT) END"

    def is_integer(self, column: str) -> bool:
        return self.types[column] in _INTEGERS

    def with_code_positions(self) -> str:
        """SQL for `records` with the position in `code_list` of every text that the plan looks up."""
        numbers = range(len(self._looked_up))
        hint = f"/*+ BROADCAST({', '.join(f'list_{n}' for n in numbers)}) */"
        positions = ", ".join(f'list_{n}."safetab position" AS {_position(n)}' for n in numbers)
        joins = " ".join(
            f'LEFT JOIN code_list AS list_{n} ON {text} = list_{n}."safetab code"'
            for n, text in enumerate(self._looked_up)
        )
        return f"SELECT {hint} records.*, {positions} FROM records {joins}"


def _position(number: int) -> str:
    # Names with a blank, so that no column of the records is likely to have them.
    return f'"safetab position {number}"'


def read_records(session: SparkSession, layout: RecordLayout, columns: list[str]) -> DataFrame:
    """The records with the columns wanted, as they are."""
    found = _read_parquet(session, layout, columns) if layout.is_parquet else _read_text(session, layout, columns)
    return found.selectExpr(*(identifier(name) for name in columns))


def _addresses(layout: RecordLayout) -> list[str]:
    """What Spark is asked to read: an address untouched; a local path by its scheme, whatever the cluster's own is."""
    if layout.is_address:
        return [layout.path]
    path = Path(layout.path).absolute()
    parts = part_files(path) if layout.is_parquet else [path]
    if not parts:
        raise InputError(Finding(NO_ROWS, layout.name, seen="a folder without .parquet files"))
    return ["file://" + _GLOB.sub(r"\\\1", str(part)) for part in parts]


def _read_parquet(session: SparkSession, layout: RecordLayout, columns: list[str]) -> DataFrame:
    found = session.read.parquet(*_addresses(layout))
    _refuse_missing(layout, columns, found.columns)
    _refuse_parts_that_differ(session, layout, columns, found)
    return found


def _refuse_parts_that_differ(session: SparkSession, layout: RecordLayout, columns: list[str], all_: DataFrame) -> None:
    """Spark takes the columns of one part for those of all, and reads a column that a part lacks as empty."""
    parts = all_.inputFiles()
    if len(parts) < 2:
        return
    # A column that comes from the folders' names (STATE=01/part.parquet) is in no part, and right for all of them.
    inside = [name for name in columns if name in _schema(session, parts[0]).names]
    with ThreadPoolExecutor(_READERS) as pool:
        schemas = list(pool.map(lambda part: _schema(session, part), parts))
    for name in inside:
        kinds = {schema[name].dataType.simpleString() if name in schema.names else "missing" for schema in schemas}
        if "missing" in kinds:
            raise InputError(Finding(MISSING_COLUMN, layout.name, key=name))
        if len(kinds) > 1:
            seen = f"of types {', '.join(sorted(kinds))}"
            raise InputError(Finding(PARTS_DIFFER, layout.name, key=name, seen=seen))


def _schema(session: SparkSession, part: str) -> StructType:
    return session.read.parquet(_GLOB.sub(r"\\\1", part)).schema


def _read_text(session: SparkSession, layout: RecordLayout, columns: list[str]) -> DataFrame:
    """Lines cut at every `|`, all columns text; Spark's own CSV reader would mend and drop lines in silence."""
    address = _addresses(layout)[0]
    read = session.read.option("lineSep", "\n").text(address)
    first = read.first()
    header = "" if first is None else _stripped(first[0])
    names = header.split("|")
    _refuse_missing(layout, columns, names)
    lines = read.selectExpr(
        "_metadata.file_path AS file",
        "endswith(value, '\r') AS has_return",
        "is_valid_utf8(value) AS is_utf8",
        "regexp_replace(value, '^\ufeff|\r$', '') AS line",
    )
    _refuse_broken_lines(lines, layout, header, len(names))
    fields = lines.where(f"line <> '' AND line <> {quoted(header)}").selectExpr("split(line, '[|]', -1) AS fields")
    return fields.selectExpr(*(f"fields[{names.index(name)}] AS {identifier(name)}" for name in columns))


def _stripped(line: str) -> str:
    return line.removeprefix("\ufeff").removesuffix("\r")


def _refuse_broken_lines(lines: DataFrame, layout: RecordLayout, header: str, width: int) -> None:
    """Raise unless every line is a header that begins a file, a record, or a blank that ends a file."""
    is_header = f"line = {quoted(header)}"
    counted = lines.selectExpr(
        "count(DISTINCT file) AS files",
        f"count_if({is_header}) AS headers",
        "count_if(line = '') AS blanks",
        f"count_if(line <> '' AND (NOT is_utf8 OR size(split(line, '[|]', -1)) <> {width})) AS broken",
        "count_if(has_return) AS returns",
        "count(*) AS lines",
    ).first()
    if counted is None:
        return
    # The last line of a file may lack the line end that all others have.
    without_return = counted["lines"] - counted["returns"]
    is_mixed = counted["returns"] > 0 and without_return > counted["files"]
    if counted["broken"] or counted["headers"] != counted["files"] or counted["blanks"] > counted["files"] or is_mixed:
        broken = counted["broken"]
        seen = f"{broken:,} line{'s' if broken > 1 else ''}" if broken else ""
        raise InputError(
            Finding(rules.NOT_A_TABLE, layout.name, seen=seen), state="No noise was drawn and no budget was spent."
        )


def _refuse_missing(layout: RecordLayout, wanted: list[str], present: list[str]) -> None:
    missing = [name for name in wanted if name not in present]
    if missing:
        raise InputError([Finding(MISSING_COLUMN, layout.name, key=name) for name in missing])
