"""Text as people have it: the same table with other delimiters, quotes, line ends, marks and compression."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product

import pyarrow as pa

#: What a column that nobody reads holds: names as they are, and what a quoted field alone can hold.
PLAIN_NOTES = ("Te Ōhau", "", "Zażółć gęślą", "a b", "'x'", " ")
QUOTED_NOTES = ("Ōkarun, Lower; \\ | \t", 'say "no"', "two\nlines", "\r\n", "", '""', "1,2\n3,4\n", "\n\n", '"')


class Quoting(Enum):
    """Which fields are in quotes."""

    NONE = "none"
    NEEDED = "needed"
    ALL = "all"


@dataclass(frozen=True)
class TextVariant:
    """One way to write a table."""

    delimiter: str = "|"
    quoting: Quoting = Quoting.NONE
    end: str = "\n"
    mark: bytes = b""
    compression: str = ""

    def __str__(self) -> str:
        names = {"|": "bars", ",": "commas", ";": "semicolons", "\t": "tabs"}
        parts = [names[self.delimiter], f"quotes {self.quoting.value}", "CRLF" if self.end == "\r\n" else "LF"]
        return ", ".join([*parts, *(["mark"] if self.mark else []), *([self.compression] if self.compression else [])])

    def written(self, rows: Sequence[Sequence[str]]) -> bytes:
        """A header and its lines, with a column of notes in the middle that nobody reads."""
        notes = PLAIN_NOTES if self.quoting is Quoting.NONE else QUOTED_NOTES
        header, *lines = [list(row) for row in rows]
        # Bars have quoting only if the header shows it.
        header.insert(2, "NOTE" if self.quoting is Quoting.NONE else "NOTE\nof them")
        for number, line in enumerate(lines):
            line.insert(2, notes[number % len(notes)])
        text = "".join(self.delimiter.join(map(self._field, line)) + self.end for line in [header, *lines])
        return self._packed(self.mark + text.encode())

    def first_lines(self, rows: Sequence[Sequence[str]]) -> list[int]:
        """The line of the file that each row of data begins on."""
        notes = PLAIN_NOTES if self.quoting is Quoting.NONE else QUOTED_NOTES
        breaks = [notes[number % len(notes)].count("\n") for number in range(len(rows) - 1)]
        first = 2 if self.quoting is Quoting.NONE else 3
        return [first + number + sum(breaks[:number]) for number in range(len(breaks))]

    def _field(self, text: str) -> str:
        special = {self.delimiter, '"', "\n", "\r"}
        is_quoted = self.quoting is Quoting.ALL or (self.quoting is Quoting.NEEDED and special & set(text))
        return '"' + text.replace('"', '""') + '"' if is_quoted else text

    def _packed(self, content: bytes) -> bytes:
        if self.compression == ".gz":
            return gzip.compress(content)
        return bytes(pa.compress(content, codec="zstd", asbytes=True)) if self.compression else content


VARIANTS = tuple(
    TextVariant(*dimensions)
    for dimensions in product("|,;\t", Quoting, ("\n", "\r\n"), (b"", b"\xef\xbb\xbf"), ("", ".gz", ".zst"))
)
