"""The lines of a large text table, judged without parsing their values.

In: a path. Out: findings with the first line numbers, never what stands on a line. Promise: `looks_uniform` reads the
file once at the speed of the disk and misses none of NUL bytes, mixed or lone line ends, blank lines inside and, where
no line has too few fields, lines with too many;
`line_findings` reads line by line and says where each fault is. It is run only where something is known to be wrong.
"""

from __future__ import annotations

from pathlib import Path

from safetab.errors import LINES_SHOWN, Finding, Rule
from safetab.files import rules

_CHUNK = 8 << 20
#: A line of a sound table is far shorter; a file without line ends is read in pieces of this size.
_LONGEST_LINE = 1 << 20
#: As many bytes at the end are looked at for blank lines.
_TAIL = 4096
_MARK = b"\xef\xbb\xbf"


def looks_uniform(path: Path) -> bool:
    """Whether all lines end alike, with as many fields as they should have together; no blank inside, no NUL byte."""
    feeds = pairs = returns = bars = 0
    blank_before_more = False
    before = b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if b"\0" in chunk:
                return False
            feeds += chunk.count(b"\n")
            # An engine may take a line with a delimiter too many at its end for a sound one.
            bars += chunk.count(b"|")
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
        file.seek(0)
        fields = file.readline(_LONGEST_LINE).count(b"|")
        file.seek(max(0, path.stat().st_size - _TAIL))
        tail = file.read().replace(b"\r", b"")
    lines = feeds + 1 - (len(tail) - len(tail.rstrip(b"\n")))
    return returns == pairs and pairs in (0, feeds) and bars == fields * lines


def line_findings(path: Path) -> list[Finding]:
    """Every fault of the lines of a text table: fields, blanks, line ends, bytes that are no text."""
    places = _Places(path.name)
    blank: list[int] = []
    with path.open("rb") as file:
        header = file.readline(_LONGEST_LINE)
        fields, end = header.count(b"|"), _end(header)
        places.judge_bytes(1, header.removeprefix(_MARK), end)
        number = 1
        while line := file.readline(_LONGEST_LINE):
            number += 1
            places.judge_bytes(number, line, end)
            if not line.strip(b"\r\n"):
                blank.append(number)
                continue
            for held in blank:
                places.note(rules.BLANK_LINE, held)
            blank.clear()
            if line.count(b"|") != fields:
                places.note(rules.FIELD_COUNT, number)
    return places.findings()


class _Places:
    """Counts faults and keeps the first few lines of each."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count: dict[Rule, int] = {}
        self._first: dict[Rule, list[int]] = {}

    def note(self, rule: Rule, line: int) -> None:
        self._count[rule] = self._count.get(rule, 0) + 1
        first = self._first.setdefault(rule, [])
        if len(first) < LINES_SHOWN:
            first.append(line)

    def judge_bytes(self, number: int, line: bytes, end: bytes) -> None:
        if b"\0" in line:
            self.note(rules.NUL_BYTE, number)
        text = line.removesuffix(b"\n").removesuffix(b"\r")
        # The last line may lack its end.
        if b"\r" in text or _end(line) not in (end, b""):
            self.note(rules.MIXED_LINE_ENDS, number)
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            self.note(rules.NOT_UTF8, number)

    def findings(self) -> list[Finding]:
        return [
            Finding(rule, self._file, lines=tuple(self._first[rule]), count=count)
            for rule, count in self._count.items()
        ]


def _end(line: bytes) -> bytes:
    return b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else b""
