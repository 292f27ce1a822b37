"""The part files of a Parquet table: itself, or every part in its folder, at any depth.

In: the path of a table, or the names of the files below it. Out: the parts in a fixed order, each with the columns that
the names of its folders give (`STATE=17/part.parquet`), and findings. Promise: every file in a folder is a part, a
known marker, or named in a finding, so that nobody is left out because of the name of a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from safetab.errors import Finding
from safetab.rules import file_rules
from safetab.rules.labels import has_control_characters

#: How the name of a part ends, in capitals or not.
PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
#: Files without records that programs leave in a folder of parts, beside checksums (`.part.parquet.crc`).
_MARKERS = {"_SUCCESS", "_metadata", "_common_metadata"}
#: How Hive, Spark and Arrow write a null into the name of a folder.
_NULL = "__HIVE_DEFAULT_PARTITION__"
#: As many files that are no parts are named; the others are counted.
_STRANGERS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A part file: where it is, what findings call it, and the columns that the names of its folders give."""

    address: str
    name: str
    partition: tuple[tuple[str, str | None], ...] = field(default=())

    @property
    def path(self) -> Path:
        """Where a part on this machine is."""
        return Path(self.address)

    def value(self, column: str, width: int | None) -> str | None:
        """What the folders say of a column: the text as it is, a whole number with the leading zeros of its width."""
        text = dict(self.partition)[column]
        return text.zfill(width) if text and width and text.isascii() and text.isdecimal() else text


def is_parquet_name(name: str) -> bool:
    """Whether a file is Parquet, to judge by its name."""
    return name.lower().endswith(PARQUET_SUFFIXES)


def list_parts(table: Path) -> tuple[list[Part], list[Finding]]:
    """The parts of a table on this machine, and what else there is in its folder that is no known marker."""
    if not table.is_dir():
        return [Part(str(table), table.name)], []
    findings: list[Finding] = []

    def refuse(error: OSError) -> None:
        findings.append(Finding(file_rules.UNREADABLE, Path(error.filename).name))

    names: list[str] = []
    odd: list[str] = []
    for folder, folders, files in os.walk(table, onerror=refuse):
        place = Path(folder).relative_to(table)
        # A link to a folder may lead round in a circle, so none is followed.
        odd += [str(place / name) for name in folders if (table / place / name).is_symlink()]
        for name in files:
            (names if (table / place / name).is_file() else odd).append(str(place / name))
    parts, strangers = sort_names(names)
    findings += stranger_findings(table.name, [*odd, *strangers])
    return [Part(str(table / name), name, partition_of(name)) for name in parts], findings


def part_files(table: Path) -> list[Path]:
    """The files of a Parquet table in a fixed order: itself, or the parts in its folder."""
    return [part.path for part in list_parts(table)[0]]


def sort_names(names: Iterable[str], *, is_parquet: bool = True) -> tuple[list[str], list[str]]:
    """Which names of files below a folder are parts, and which are neither parts nor markers.

    Parts of text may have any name that is not hidden.
    """
    parts: list[str] = []
    strangers: list[str] = []
    for name in sorted(names):
        pieces = name.split("/")
        if pieces[-1] in _MARKERS or pieces[-1].endswith(".crc"):
            continue
        # Spark and Arrow ignore such names; a program that is still writing uses them.
        is_hidden = any(piece.startswith(("_", ".")) for piece in pieces)
        is_part = is_parquet_name(name) or not is_parquet
        (parts if is_part and not is_hidden and _can_be_opened(name) else strangers).append(name)
    return parts, strangers


def _can_be_opened(name: str) -> bool:
    """Whether every engine takes a name as it is: bytes that are no UTF-8 fail, and a backslash may mean a folder."""
    return "\\" not in name.replace(os.sep, "/") and not has_control_characters(name)


def stranger_findings(table: str, strangers: list[str]) -> list[Finding]:
    """A finding for each of the first files that are neither parts nor markers, and one for all others."""
    strangers = sorted(map(_visible, strangers))
    findings = [Finding(file_rules.NOT_A_PART, name) for name in strangers[:_STRANGERS_SHOWN]]
    if more := len(strangers) - _STRANGERS_SHOWN:
        findings += [Finding(file_rules.NOT_A_PART, table, count=more, seen=f"{more:,} more")] if more > 0 else []
    return findings


def _visible(name: str) -> str:
    """A name that can be printed: control characters, and bytes that are no UTF-8, by their numbers."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(repr(letter)[1:-1] if has_control_characters(letter) else letter for letter in text)


def partition_of(name: str) -> tuple[tuple[str, str | None], ...]:
    """The columns and values that the folders in a part's name give: `STATE=17/part.parquet` is in state 17."""
    found: list[tuple[str, str | None]] = []
    for folder in name.split("/")[:-1]:
        column, equals, value = folder.partition("=")
        if column and equals:
            found.append((unquote(column), None if value == _NULL else unquote(value)))
    return tuple(found)


def partition_columns(parts: Iterable[Part], wanted: Iterable[str]) -> list[str]:
    """The wanted columns that the names of folders give."""
    given = {column for part in parts for column, _ in part.partition}
    return [column for column in wanted if column in given]
