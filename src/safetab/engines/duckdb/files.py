"""The records as DuckDB finds them: in files on this machine, or in memory.

In: a `RecordLayout`. Out: SQL for the records, over what was registered with the connection. Promise: files are read as
they are, with no guessing, and rows keep their order. No name of a file is taken for a pattern.

Text is read by Arrow (`files/text_stream.py`), not by DuckDB's own reader: of files with quoted line breaks that one
returns no rows at all at times, without an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np

from safetab.engines.faults import PART, ROW
from safetab.engines.layout import RecordLayout
from safetab.engines.logical_plan import identifier, quoted
from safetab.errors import UNSPENT, Finding, InputError
from safetab.files.parts import Part, list_parts, partition_columns
from safetab.files.quotes import quoted_lines
from safetab.files.text import form_of_file, past_lines
from safetab.files.text_stream import TextStream
from safetab.rules.file_rules import NO_ROWS

_GLOB = re.compile(r"([\[*?])")
#: The columns with the path of a record's part, and with the path in which the names of folders are looked up. Names
#: with a blank, as no column of the records is likely to have them.
_FILE, _FOLDER = "safetab file", "safetab folder"
#: The column that DuckDB adds for a row's number in its file; it refuses to where the file has one of this name.
_NUMBER = "file_row_number"
#: Records that do not come from Parquet, as they are registered.
_RECORDS = "safetab records"


def records(connection: duckdb.DuckDBPyConnection, layout: RecordLayout) -> str:
    """SQL for every record."""
    if layout.is_parquet:
        return _with_values_of_folders(layout, _listed_parts(layout), "")
    connection.register(_RECORDS, _text(layout) if layout.is_text else layout.table)
    return f"SELECT {', '.join(map(identifier, layout.columns_read))} FROM {identifier(_RECORDS)}"


def records_with_places(layout: RecordLayout, columns: Collection[str]) -> str:
    """SQL for every record with its file and its line or row there; right only if rows keep their order.

    `columns` are all that the files have. Records of text are numbered as if each were one line.
    """
    if not layout.is_parquet:
        # The header is line 1.
        first = 2 if layout.is_text else 1
        row = f"row_number() OVER () + {first - 1}"
        return f"SELECT {quoted(layout.name)} AS {PART}, {row} AS {ROW}, * FROM raw"
    parts = _listed_parts(layout)
    if _NUMBER in map(str.lower, columns):
        return " UNION ALL ".join(_counted_part(layout, part) for part in parts)
    names = {part.address: part.name for part in parts}
    # All parts are in the folder of the table: their names are what follows it.
    (before,) = {address.removesuffix(name) for address, name in names.items()}
    numbered = _with_values_of_folders(layout, parts, f", filename = {quoted(_FILE)}, {_NUMBER} = true")
    return (
        f"SELECT substring({identifier(_FILE)}, {len(before) + 1}) AS {PART}, {_NUMBER} + 1 AS {ROW}, * "
        f"FROM ({numbered}) AS numbered"
    )


def _counted_part(layout: RecordLayout, part: Part) -> str:
    """SQL for the records of one part, counted as they come."""
    wanted = ", ".join(map(identifier, layout.columns_read))
    inside = _with_values_of_folders(layout, [part], "")
    return f"SELECT {quoted(part.name)} AS {PART}, row_number() OVER () AS {ROW}, {wanted} FROM ({inside}) AS inside"


def with_lines(layout: RecordLayout, findings: list[Finding]) -> list[Finding]:
    """Findings with the lines that their records begin on, where quoted fields may have line breaks."""
    if not layout.is_text or not (stream := _text(layout)).form.is_quoted:
        return findings
    continued = quoted_lines(stream.path, stream.form.delimiter).continued
    return [replace(found, lines=tuple(past_lines(continued, np.array(found.lines)).tolist())) for found in findings]


def _text(layout: RecordLayout) -> TextStream:
    findings: list[Finding] = []
    form = form_of_file(Path(layout.path), layout.columns_read, findings, layout.told)
    if form is None:
        raise InputError(findings, state=UNSPENT)
    return TextStream(Path(layout.path), form, layout.columns_read)


def _with_values_of_folders(layout: RecordLayout, parts: list[Part], options: str) -> str:
    """SQL for the parts, each record with what the names of its part's folders say of it."""
    listed = ", ".join(_literally(part.address) for part in parts)
    given = partition_columns(parts, layout.columns_read)
    if not given:
        return f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false{options})"
    if not options:
        options = f", filename = {quoted(_FILE)}"
    rows = [[part.address, *layout.values_of_folders(part, given)] for part in parts]
    values = ", ".join(f"({', '.join(map(_text_literal, row))})" for row in rows)
    names = ", ".join(map(identifier, given))
    # A path that DuckDB spells otherwise must not become a null, which may mean that there is no race code.
    known = ", ".join(
        f"CASE WHEN folders.{identifier(_FOLDER)} IS NULL THEN error('unknown part') ELSE folders.{name} END AS {name}"
        for name in map(identifier, given)
    )
    return (
        f"SELECT inside.*, {known} FROM read_parquet([{listed}], hive_partitioning = false{options}) AS inside "
        f"LEFT JOIN (VALUES {values}) AS folders ({identifier(_FOLDER)}, {names}) "
        f"ON inside.{identifier(_FILE)} = folders.{identifier(_FOLDER)}"
    )


def _text_literal(text: str | None) -> str:
    return "CAST(NULL AS VARCHAR)" if text is None else quoted(text)


def _listed_parts(layout: RecordLayout) -> list[Part]:
    parts, _ = list_parts(Path(layout.path))
    if not parts:
        raise InputError(Finding(NO_ROWS, layout.name, seen="a folder without part files"))
    return parts


def _literally(path: str) -> str:
    """A path as an SQL literal in which nothing is a pattern: `part[1].parquet` is not `part1.parquet`."""
    return quoted(_GLOB.sub(r"[\1]", path))
