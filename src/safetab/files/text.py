"""Pipe-separated text, read into Arrow columns of strings.

In: a path and the names of the columns wanted. Out: a `TextTable`, or None with the reasons in `findings`.
Promise: a table that comes back has every wanted column, the same number of fields on every line and no blank line
inside; each row knows its line in the file. CRLF line ends, a byte-order mark and a final blank line are accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from safetab.errors import LINES_SHOWN, Finding, Rule
from safetab.files import rules

#: Large enough that a nation's geography streams quickly, small enough that memory stays flat.
_BLOCK_BYTES = 8 << 20
_OTHER_DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons"}


@dataclass(frozen=True, slots=True)
class TextTable:
    """Columns of text and, for each row, where in the file it stands."""

    file: str
    columns: pa.Table
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
        for skipped in self.skipped_lines:
            numbers[numbers >= skipped] += 1
        return [int(number) for number in numbers]


def read_text(path: Path, columns: Sequence[str], findings: list[Finding]) -> TextTable | None:
    """Read some columns of a pipe-separated file, or say everything that keeps it from being read."""
    header = read_header(path, findings)
    if header is None or not header_is_sound(path.name, header, columns, findings):
        return None
    ragged: list[int] = []

    def on_ragged(row: pa_csv.InvalidRow) -> str:
        ragged.append(row.number)
        return "skip"

    try:
        table = _parse(path, columns, None)
    except pa.ArrowInvalid:
        # Only now is it worth the time to look for the lines. Arrow decodes a ragged line before it asks what to do
        # with it, and prints a trace where it cannot; so bytes that are no text are looked for first.
        line = _first_undecodable_line(path)
        if line is not None:
            findings.append(Finding(rules.NOT_UTF8, path.name, lines=(line,)))
            return None
        try:
            table = _parse(path, columns, on_ragged)
        except pa.ArrowInvalid:
            # A header without a line end is an "empty block" to Arrow.
            findings.append(Finding(rules.NO_ROWS, path.name))
            return None
    if ragged:
        findings.append(Finding.at_lines(rules.FIELD_COUNT, path.name, ragged))
    return _without_blank_lines(path, table, ragged, findings)


def read_bytes(path: Path, findings: list[Finding]) -> bytes | None:
    """A whole small file, or a finding that says why it cannot be had."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        findings.append(Finding(rules.MISSING_FILE, path.name))
    except OSError:
        findings.append(Finding(rules.UNREADABLE, path.name))
    return None


def read_header(path: Path, findings: list[Finding]) -> str | None:
    """The first line, or None with the reason in `findings`."""
    try:
        with path.open("rb") as file:
            first_line = file.readline(1 << 20)
    except FileNotFoundError:
        findings.append(Finding(rules.MISSING_FILE, path.name))
        return None
    except OSError:
        findings.append(Finding(rules.UNREADABLE, path.name))
        return None
    if not first_line.removeprefix(b"\xef\xbb\xbf").strip():
        findings.append(Finding(rules.EMPTY_FILE, path.name))
        return None
    if b"\x00" in first_line:
        findings.append(Finding(rules.NUL_BYTE, path.name, lines=(1,)))
        return None
    try:
        # A file with lone CRs as line ends is one "line" here; only its first part is the header.
        return first_line.decode("utf-8-sig").splitlines()[0]
    except UnicodeDecodeError:
        findings.append(Finding(rules.NOT_UTF8, path.name, lines=(1,)))
        return None


def header_is_sound(file: str, header: str, columns: Sequence[str], findings: list[Finding]) -> bool:
    """Whether a header names every wanted column once."""
    names = header.split("|")
    missing = [name for name in columns if name not in names]
    if missing and len(names) == 1 and len(columns) > 1:
        for delimiter, word in _OTHER_DELIMITERS.items():
            if delimiter in header:
                findings.append(Finding(rules.WRONG_DELIMITER, file, lines=(1,), seen=f"separated by {word}"))
                return False
    findings.extend(Finding(rules.MISSING_COLUMN, file, key=name) for name in missing)
    repeated = [name for name in columns if names.count(name) > 1]
    findings.extend(Finding(rules.REPEATED_COLUMN, file, key=name) for name in repeated)
    return not missing and not repeated


def _parse(path: Path, columns: Sequence[str], on_ragged: Callable[[pa_csv.InvalidRow], str] | None) -> pa.Table:
    # One thread: Arrow then tells the number of a ragged line.
    reader = pa_csv.open_csv(
        path,
        read_options=pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
        parse_options=pa_csv.ParseOptions(
            delimiter="|", quote_char=False, ignore_empty_lines=False, invalid_row_handler=on_ragged
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in columns},
            include_columns=list(columns),
            strings_can_be_null=False,
        ),
    )
    return reader.read_all()


def _first_undecodable_line(path: Path) -> int | None:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


def _without_blank_lines(
    path: Path, table: pa.Table, ragged: Sequence[int], findings: list[Finding]
) -> TextTable | None:
    empty = np.ones(table.num_rows, dtype=bool)
    for column in table.columns:
        empty &= pc.equal(pc.binary_length(column), 0).to_numpy()
    rows = np.flatnonzero(empty)
    result = TextTable(path.name, table, tuple(ragged))
    if len(rows) and rows[-1] == table.num_rows - 1 and _ends_with_blank_line(path):
        table, rows = table.slice(0, table.num_rows - 1), rows[:-1]
        result = TextTable(path.name, table, tuple(ragged))
    if len(rows):
        findings.append(Finding.at_lines(rules.BLANK_LINE, path.name, result.lines(rows)))
    if table.num_rows == 0 and not ragged:
        findings.append(Finding(rules.NO_ROWS, path.name))
        return None
    return None if len(rows) or ragged else result


def _ends_with_blank_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4))
        tail = file.read().replace(b"\r\n", b"\n")
    return tail.endswith(b"\n\n")


def empty_values(table: TextTable, names: Sequence[str]) -> list[Finding]:
    """One finding for each column that has lines without a value."""
    found: list[Finding] = []
    for name in names:
        rows = np.flatnonzero(pc.equal(pc.binary_length(table.columns[name]), 0).to_numpy())
        if len(rows):
            found.append(at_rows(rules.EMPTY_VALUE, table, rows, key=name))
    return found


def at_rows(rule: Rule, table: TextTable, rows: Sequence[int] | np.ndarray, key: str = "", seen: str = "") -> Finding:
    """A finding on some rows of a table, told by their line numbers."""
    first = tuple(table.lines(rows[:LINES_SHOWN]))
    return Finding(rule, table.file, key=key, lines=first, count=len(rows), seen=seen, unit=table.unit)
