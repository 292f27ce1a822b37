"""Random folders of part files: depths, names, types, columns in the names of folders, and what does not belong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

Row = dict[str, str]
#: The columns that are read, and how wide their numbers are.
WIDTHS = {"QAGE": 1, "QSEX": 1, "TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
WIDTHS |= {f"QRACE{number}": 4 for number in range(1, 9)} | {"QSPAN": 4}
BLOCKS = (("01", "001", "000100", "1000"), ("01", "003", "000200", "1000"), ("02", "001", "000100", "1000"))
CODES = (("1010",), ("1010", "1020"), ("3000", "9999"), ("1000", "1010", "1020"))
ETHNICITIES = ("9950", "2000", "2010")
AGES = ("0", "5", "30", "70", "115")

FOLDERS = ("more", "deep er", "x[1]", "x1", "p*", "a.parquet", "100 %")
STEMS = ("part", "part 0", "p[1]", "p1", "p*", "part-é", "b{1}", "100 %25")
SOUND_ENDS = (".parquet", ".PARQUET", ".parq", ".pq", ".Pq", ".snappy.parquet")
#: Names of files that hold nobody, and of files that might.
MARKERS = ("_SUCCESS", ".part.parquet.crc", "_metadata", "more/_common_metadata", "more/_SUCCESS")
STRANGERS = ("readme", "part.csv", "more/part.parquet.gz", "_part.parquet", ".part.parquet", "_temporary/0/p.parquet",
             "a.parquet.tmp", ".git/p.parquet", "deep er/p.parquet.crc2", "part.txt", "_started_1")  # fmt: skip
IN_FOLDERS = ("TABBLKST", "QSEX", "QSPAN", "QRACE2", "COLOUR")
KINDS: Mapping[str, pa.DataType] = {
    "text": pa.string(),
    "large text": pa.large_string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint16": pa.uint16(),
    "float": pa.float64(),
    "decimal": pa.decimal128(12, 2),
    "bytes": pa.binary(),
}
REFUSED_KINDS = ("decimal", "bytes")


@dataclass(frozen=True)
class PartFolder:
    """Part files by name, other files, and the names of which at least one must be told, if any."""

    parts: dict[str, pa.Table]
    others: tuple[str, ...]
    #: Each must be named.
    strangers: tuple[str, ...]
    #: One must be named: a part whose columns cannot be read, or do not fit those of another part.
    misfits: tuple[str, ...]

    def write(self, folder: Path) -> None:
        for name in (*self.others, *self.strangers):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(b"PAR1")
        for name, table in self.parts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, folder / name)


@st.composite
def people(draw: st.DrawFn) -> Row:
    codes = draw(st.sampled_from(CODES))
    values = (
        draw(st.sampled_from(AGES)),
        draw(st.sampled_from("12")),
        *draw(st.sampled_from(BLOCKS)),
        *codes,
        *["Null"] * (8 - len(codes)),
        draw(st.sampled_from(ETHNICITIES)),
    )
    return dict(zip(WIDTHS, values, strict=True))


@st.composite
def part_folders(draw: st.DrawFn) -> PartFolder:
    """Most of them sound, some with a stranger, with parts that differ, or with a type that is not read."""
    given = draw(st.lists(st.sampled_from(IN_FOLDERS), max_size=2, unique=True)) if draw(st.booleans()) else []
    readable = [kind for kind in KINDS if kind not in REFUSED_KINDS]
    kinds = {name: draw(st.sampled_from(readable)) for name in WIDTHS}
    fault = draw(st.sampled_from(["none", "none", "none", "stranger", "type", "types differ", "folder missing"]))
    groups = draw(st.lists(st.lists(people(), min_size=1, max_size=4), min_size=1, max_size=4))
    # Arrow cannot read a folder of nulls alone.
    has_second_code = any(row["QRACE2"] != "Null" for group in groups for row in group)
    null = "__HIVE_DEFAULT_PARTITION__" if has_second_code else "Null"
    inside = [name for name in WIDTHS if name not in given]
    odd_column = draw(st.sampled_from(inside))
    if fault == "type":
        kinds[odd_column] = draw(st.sampled_from(REFUSED_KINDS))
    parts: dict[str, pa.Table] = {}
    for group in groups:
        for folder, rows in _divided(draw, group, given, null=null).items():
            between = draw(st.sampled_from(["", *(f"{name}/" for name in FOLDERS)]))
            name = f"{folder}{between}{draw(st.sampled_from(STEMS))}{draw(st.sampled_from(SOUND_ENDS))}"
            parts[name] = _table(rows, inside, kinds, with_note=draw(st.booleans()))
    misfits: tuple[str, ...] = tuple(parts) if fault == "type" else ()
    if fault == "types differ":
        other = "int64" if kinds[odd_column] != "int64" else "text"
        parts["other.parquet"] = _table([draw(people())], list(WIDTHS), kinds | {odd_column: other}, with_note=False)
        misfits = tuple(parts)
    if fault == "folder missing" and set(given) - {"COLOUR"}:
        parts["other.parquet"] = _table([draw(people())], inside, kinds, with_note=False)
        misfits = ("other.parquet",)
    strangers = draw(st.lists(st.sampled_from(STRANGERS), min_size=1, max_size=3, unique=True))
    others = draw(st.lists(st.sampled_from(MARKERS), max_size=3, unique=True))
    return PartFolder(parts, tuple(others), tuple(strangers) if fault == "stranger" else (), misfits)


def _divided(draw: st.DrawFn, group: list[Row], given: list[str], *, null: str) -> dict[str, list[Row]]:
    """The people of a group by the folders that say something of them."""
    divided: dict[str, list[Row]] = {}
    for row in group:
        folders = ""
        for name in given:
            value = row.get(name, "red")
            folders += f"{name}={null if value == 'Null' else value}/" + draw(st.sampled_from(["", "", "any/"]))
        divided.setdefault(folders, []).append(row)
    return divided


def _table(rows: list[Row], columns: list[str], kinds: Mapping[str, str], *, with_note: bool) -> pa.Table:
    table = pa.table({name: _array([row[name] for row in rows], kinds[name]) for name in columns})
    return table.append_column("NOTE", pa.array(["x"] * len(rows))) if with_note else table


def _array(texts: list[str], kind: str) -> pa.Array:
    """Values as text, or as numbers in which no code is a null."""
    if kind in ("text", "large text", "dictionary", "bytes"):
        values: list[Any] = [text.encode() for text in texts] if kind == "bytes" else texts
        return pa.array(values, KINDS[kind])
    return pa.array([None if text == "Null" else int(text) for text in texts], KINDS[kind])
