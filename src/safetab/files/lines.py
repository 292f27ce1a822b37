"""The lines of a large text table, judged without parsing their values.

In: a path and its form. Out: findings with the first line numbers, never what a line contains. Promise: `judge_lines`
reads the file once at the speed of the disk and misses none of NUL bytes, mixed or lone line ends, blank lines inside,
wrong quotation marks and lines that continue a record; `line_findings` reads line by line and says where each fault is,
lines with too few or too many fields and bytes that are no text included. It is run only where something is known to be
wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from safetab.errors import LINES_SHOWN, Finding, Rule
from safetab.files.compressed import open_bytes
from safetab.files.delimited import QUOTE, TextForm, ToldForm, wrong_quotes
from safetab.files.quotes import quoted_lines
from safetab.rules import file_rules

_CHUNK = 8 << 20
#: A line of a sound table is far shorter; a file without line ends is read in pieces of this size.
_LONGEST_LINE = 1 << 20
_MARK = b"\xef\xbb\xbf"
_QUOTED = re.compile(rb'"[^"]*"')


def judge_lines(path: Path, form: TextForm, told: ToldForm) -> list[Finding]:
    """What is wrong with the lines of a table, as far as it can be told without looking at their fields."""
    if not form.is_quoted:
        return [] if _looks_uniform(path) else line_findings(path, form, told)
    lines = quoted_lines(path, form.delimiter)
    if lines.wrong is not None:
        return [wrong_quotes(path.name, lines.wrong, told)]
    found = [] if lines.is_uniform else line_findings(path, form, told)
    if len(lines.continued):
        first = tuple(lines.continued[:LINES_SHOWN].tolist())
        found.append(Finding(file_rules.CONTINUED_LINE, path.name, lines=first, count=len(lines.continued)))
    return found


def _looks_uniform(path: Path) -> bool:
    """Whether all lines end alike; no blank inside, no NUL byte."""
    feeds = pairs = returns = 0
    blank_before_more = False
    before = b""
    with open_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            if b"\0" in chunk:
                return False
            feeds += chunk.count(b"\n")
            if b"\r" in chunk or before == b"\r":
                returns += chunk.count(b"\r")
                pairs += chunk.count(b"\r\n") + (before == b"\r" and chunk.startswith(b"\n"))
            # Blank lines at the end of the file are no fault; so each is held against what comes after it.
            joined = before + chunk
            bare = joined.replace(b"\r", b"") if b"\r" in joined else joined
            if blank_before_more and bare.strip(b"\n"):
                return False
            blank = bare.find(b"\n\n")
            if blank >= 0:
                if bare[blank:].strip(b"\n"):
                    return False
                blank_before_more = True
            before = joined[-2:]
    return returns == pairs and pairs in (0, feeds)


def line_findings(path: Path, form: TextForm, told: ToldForm) -> list[Finding]:
    """Every fault of the lines of a text table: fields, blanks, line ends, quotes, bytes that are no text."""
    places = _Places(path.name, form)
    blank: list[int] = []
    number, delimiters, end = 1, None, b""
    try:
        with open_bytes(path) as file:
            for record in _records(file, form):
                if delimiters is None:
                    delimiters, end = _delimiters(record, form), _end(record[-1])
                    record[0] = record[0].removeprefix(_MARK)
                places.judge_bytes(number, record, end)
                if not record[0].strip(b"\r\n"):
                    blank.append(number)
                else:
                    for held in blank:
                        places.note(file_rules.BLANK_LINE, held)
                    blank.clear()
                    if _delimiters(record, form) != delimiters:
                        places.note(file_rules.FIELD_COUNT, number)
                number += len(record)
    except _UnclosedQuoteError:
        return [wrong_quotes(path.name, number, told)]
    return places.findings()


def _delimiters(record: list[bytes], form: TextForm) -> int:
    return _outside_quotes(record, form).count(form.delimiter.encode())


def _outside_quotes(record: list[bytes], form: TextForm) -> bytes:
    """A record without what is quoted in it."""
    whole = b"".join(record)
    return _QUOTED.sub(b"", whole) if form.is_quoted else whole


class _UnclosedQuoteError(Exception):
    """A quoted field does not end."""


def _records(file: BinaryIO, form: TextForm) -> Iterator[list[bytes]]:
    """The lines of each record: one, or several where quoted fields have line breaks."""
    quote = QUOTE.encode()
    while line := file.readline(_LONGEST_LINE):
        record, marks = [line], line.count(quote)
        while form.is_quoted and marks % 2:
            line = file.readline(_LONGEST_LINE)
            if not line:
                raise _UnclosedQuoteError
            record.append(line)
            marks += line.count(quote)
        yield record


class _Places:
    """Counts faults and keeps the first few lines of each."""

    def __init__(self, file: str, form: TextForm) -> None:
        self._file, self._form = file, form
        self._count: dict[Rule, int] = {}
        self._first: dict[Rule, list[int]] = {}

    def note(self, rule: Rule, line: int) -> None:
        self._count[rule] = self._count.get(rule, 0) + 1
        first = self._first.setdefault(rule, [])
        if len(first) < LINES_SHOWN:
            first.append(line)

    def judge_bytes(self, number: int, record: list[bytes], end: bytes) -> None:
        """Judge the lines of a record, of which the first is line `number`."""
        for line in record:
            if b"\0" in line:
                self.note(file_rules.NUL_BYTE, number)
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                self.note(file_rules.NOT_UTF8, number)
            number += 1
        text = _outside_quotes(record, self._form).removesuffix(b"\n").removesuffix(b"\r")
        # The last line may lack its end.
        if b"\r" in text or _end(record[-1]) not in (end, b""):
            self.note(file_rules.MIXED_LINE_ENDS, number - 1)

    def findings(self) -> list[Finding]:
        return [
            Finding(rule, self._file, lines=tuple(self._first[rule]), count=count)
            for rule, count in self._count.items()
        ]


def _end(line: bytes) -> bytes:
    return b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else b""
