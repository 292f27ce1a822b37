"""Delimited text, read into Arrow columns of strings.

In: a path, the names of the columns wanted, and what was told about its form. Out: a `TextTable`, or None with the
reasons in `findings`. Promise: a table that comes back has every wanted column, the same number of fields in every
record and no blank line inside; each row knows the line in the file that it begins on, also after quoted line breaks.
CRLF line ends, a byte-order mark and a final blank line are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from safetab.errors import LINES_SHOWN, Finding, Rule
from safetab.files import arrow
from safetab.files.compressed import looks_compressed, not_there, open_bytes, reading_failed
from safetab.files.delimited import (
    NOTHING_TOLD,
    QUOTE,
    TextForm,
    ToldForm,
    judged_form,
    looks_quoted,
    wrong_quotes,
)
from safetab.files.quotes import quoted_lines
from safetab.rules import file_rules

#: Large enough that a nation's geography streams quickly, small enough that memory stays flat.
_BLOCK_BYTES = 8 << 20
_LONGEST_HEADER = 1 << 20
#: Up to the first line end outside quotes; a quote that nobody closes goes to the end.
_QUOTED_HEADER = re.compile(r'(?:[^"\r\n]|"[^"]*(?:"|$))+')


@dataclass(frozen=True, slots=True)
class TextTable:
    """Columns of text and, for each row, where it is in the file."""

    file: str
    columns: pa.Table
    #: Lines that are no row: those that continue one, and those that were not read. In order.
    skipped_lines: tuple[int, ...]
    unit: str = "line"

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def column(self, name: str) -> list[str]:
        values: list[str] = self.columns[name].to_pylist()
        return values

    def lines(self, rows: Sequence[int] | np.ndarray) -> list[int]:
        """Where some rows stand: line numbers with the header as line 1 (text), or row numbers from 1 (Parquet)."""
        numbers = np.asarray(rows, dtype=np.int64) + (2 if self.unit == "line" else 1)
        return [int(number) for number in past_lines(self.skipped_lines, numbers)]


def past_lines(skipped: Sequence[int] | np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The line numbers that some numbers are once lines are skipped: each skipped line before one moves it down."""
    before = np.asarray(skipped, dtype=np.int64) - np.arange(len(skipped))
    return numbers + np.searchsorted(before, numbers, side="right")


def read_text(
    path: Path, columns: Sequence[str], findings: list[Finding], told: ToldForm = NOTHING_TOLD
) -> TextTable | None:
    """Read some columns of a text file, or say everything that keeps it from being read."""
    form = form_of_file(path, columns, findings, told)
    if form is None:
        return None
    try:
        marks = quoted_lines(path, form.delimiter) if form.is_quoted else None
        if marks is not None and marks.wrong is not None:
            findings.append(wrong_quotes(path.name, marks.wrong, told))
            return None
        return _read(path, columns, form, () if marks is None else tuple(marks.continued.tolist()), findings)
    except OSError:
        findings.append(reading_failed(path))
        return None


def form_of_file(
    path: Path, columns: Sequence[str], findings: list[Finding], told: ToldForm = NOTHING_TOLD
) -> TextForm | None:
    """The form of a text file that has the columns wanted; only its header line is read."""
    header = read_header(path, findings, may_be_quoted=told.is_quoted is not False)
    return None if header is None else judged_form(path.name, header, columns, told, findings)


def _read(
    path: Path, columns: Sequence[str], form: TextForm, continued: tuple[int, ...], findings: list[Finding]
) -> TextTable | None:
    ragged: list[int] = []

    def on_ragged(row: pa_csv.InvalidRow) -> str:
        ragged.append(row.number)
        return "skip"

    try:
        table = _parse(path, columns, form, None, breaks=bool(continued))
    except pa.ArrowInvalid:
        # Only now is it worth the time to look for the lines. Arrow decodes a ragged line before it asks what to do
        # with it, and prints a trace where it cannot; so bytes that are no text are looked for first.
        line = _first_undecodable_line(path)
        if line is not None:
            findings.append(Finding(file_rules.NOT_UTF8, path.name, lines=(line,)))
            return None
        try:
            table = _parse(path, columns, form, on_ragged, breaks=bool(continued))
        except pa.ArrowInvalid:
            # A header without a line end is an "empty block" to Arrow.
            findings.append(Finding(file_rules.NO_ROWS, path.name))
            return None
    # Arrow counts records, not lines.
    ragged = past_lines(continued, np.asarray(ragged, dtype=np.int64)).tolist()
    if ragged:
        findings.append(Finding.at_lines(file_rules.FIELD_COUNT, path.name, ragged))
    result = TextTable(path.name, table, tuple(sorted({*continued, *ragged})))
    sound = _without_blank_lines(path, result, findings)
    if sound is not None and not len(sound) and not ragged:
        findings.append(Finding(file_rules.NO_ROWS, path.name))
        return None
    return None if ragged else sound


def read_bytes(path: Path, findings: list[Finding]) -> bytes | None:
    """A whole small file, or a finding that says why it cannot be had."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        findings.append(Finding(file_rules.MISSING_FILE, path.name))
    except OSError:
        findings.append(Finding(file_rules.UNREADABLE, path.name))
    return None


def read_header(path: Path, findings: list[Finding], *, may_be_quoted: bool = True) -> str | None:
    """The header, which has several lines if a quoted name has, or None with the reason in `findings`."""
    try:
        with open_bytes(path) as file:
            first_line = file.readline(_LONGEST_HEADER)
            if may_be_quoted and looks_quoted(first_line.decode("utf-8-sig", errors="replace")):
                while first_line.count(b'"') % 2 and (more := file.readline(_LONGEST_HEADER - len(first_line))):
                    first_line += more
    except FileNotFoundError:
        findings.append(not_there(path, path.name))
        return None
    except OSError:
        findings.append(reading_failed(path))
        return None
    if looks_compressed(first_line):
        findings.append(Finding(file_rules.DAMAGED_COMPRESSION, path.name))
        return None
    if not first_line.removeprefix(b"\xef\xbb\xbf").strip():
        findings.append(Finding(file_rules.EMPTY_FILE, path.name))
        return None
    if b"\x00" in first_line:
        findings.append(Finding(file_rules.NUL_BYTE, path.name, lines=(1,)))
        return None
    try:
        text = first_line.decode("utf-8-sig")
        # A file with lone CRs as line ends is one "line" here; only its first part is the header.
        whole = _QUOTED_HEADER.match(text) if may_be_quoted and looks_quoted(text) else None
        return whole[0] if whole else text.splitlines()[0]
    except UnicodeDecodeError:
        findings.append(Finding(file_rules.NOT_UTF8, path.name, lines=(1,)))
        return None


def _parse(
    path: Path,
    columns: Sequence[str],
    form: TextForm,
    on_ragged: Callable[[pa_csv.InvalidRow], str] | None,
    *,
    breaks: bool,
) -> pa.Table:
    # One thread: Arrow then tells the number of a ragged line.
    reader = pa_csv.open_csv(
        path,
        read_options=pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
        parse_options=pa_csv.ParseOptions(
            delimiter=form.delimiter,
            quote_char=QUOTE if form.is_quoted else False,
            ignore_empty_lines=False,
            newlines_in_values=breaks,
            invalid_row_handler=on_ragged,
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in columns},
            include_columns=list(columns),
            strings_can_be_null=False,
        ),
    )
    return reader.read_all()


def _first_undecodable_line(path: Path) -> int | None:
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


def _without_blank_lines(path: Path, table: TextTable, findings: list[Finding]) -> TextTable | None:
    """The table without the blank line at its end; other blank lines, and lines without any value, are findings."""
    empty = np.ones(len(table), dtype=bool)
    for column in table.columns.columns:
        empty &= arrow.values(pc.binary_length(column)) == 0
    rows = np.flatnonzero(empty)
    if not len(rows):
        return table
    # A line may also have delimiters alone, or values of other columns alone.
    is_blank = np.isin(table.lines(rows), _blank_lines(path))
    if is_blank[-1] and rows[-1] == len(table) - 1:
        table = replace(table, columns=table.columns.slice(0, len(table) - 1))
        rows, is_blank = rows[:-1], is_blank[:-1]
    names = ", ".join(table.columns.column_names)
    for rule, key, found in (
        (file_rules.BLANK_LINE, "", rows[is_blank]),
        (file_rules.EMPTY_VALUE, names, rows[~is_blank]),
    ):
        if len(found):
            findings.append(at_rows(rule, table, found, key=key))
    return None if len(rows) else table


def _blank_lines(path: Path) -> list[int]:
    """The lines of a file that have nothing on them."""
    with open_bytes(path) as file:
        lines = enumerate((line for piece in file for line in piece.splitlines()), start=1)
        return [number for number, line in lines if not line]


def empty_values(table: TextTable, names: Sequence[str]) -> list[Finding]:
    """One finding for each column that has lines without a value."""
    found: list[Finding] = []
    for name in names:
        rows = np.flatnonzero(arrow.values(pc.binary_length(table.columns[name])) == 0)
        if len(rows):
            found.append(at_rows(file_rules.EMPTY_VALUE, table, rows, key=name))
    return found


def repeated_rows(values: Sequence[Hashable]) -> list[int]:
    """The rows whose value an earlier row has too."""
    first: dict[Hashable, int] = {}
    return [row for row, value in enumerate(values) if first.setdefault(value, row) != row]


def at_rows(rule: Rule, table: TextTable, rows: Sequence[int] | np.ndarray, key: str = "", seen: str = "") -> Finding:
    """A finding on some rows of a table, told by their line numbers."""
    first = tuple(table.lines(rows[:LINES_SHOWN]))
    return Finding(rule, table.file, key=key, lines=first, count=len(rows), seen=seen, unit=table.unit)
