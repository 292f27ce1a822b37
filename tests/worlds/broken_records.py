"""Records for the tiny world, sound ones and every way to break them: a row, the text, the Parquet file."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

HEADER = ["QAGE", "QSEX", "TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", *(f"QRACE{n}" for n in range(1, 9)), "QSPAN"]
Rows = list[list[str | None]]
SOUND: list[str | None] = ["30", "1", "01", "001", "000100", "1000", "1010", *["Null"] * 7, "9950"]
PUERTO_RICO: list[str | None] = ["40", "2", "72", *SOUND[3:]]
Change = Callable[[Rows], object]


def sound_rows() -> Rows:
    """Seven people of state 01 and one of Puerto Rico; line 2 is the first."""
    return [list(SOUND) for _ in range(7)] + [list(PUERTO_RICO)]


def put(column: str, value: str | None, *lines: int) -> Change:
    """A value in a column on some lines of the file."""

    def change(rows: Rows) -> None:
        for line in lines:
            rows[line - 2][HEADER.index(column)] = value

    return change


def codes(line: int, *values: str) -> Change:
    return lambda rows: [put(f"QRACE{n}", value, line)(rows) for n, value in enumerate(values, start=1)]


@dataclass(frozen=True)
class Case:
    name: str
    change: Change
    code: str
    column: str
    lines: tuple[int, ...]
    count: int
    secret: str = ""


CASES = [
    Case("an age beyond the oldest", put("QAGE", "987", 3), "RECORDS-002", "QAGE", (3,), 1, "987"),
    Case("an age below 0", put("QAGE", "-31", 2), "RECORDS-002", "QAGE", (2,), 1, "-31"),
    Case("an age in words", put("QAGE", "thirty-one", 4), "RECORDS-002", "QAGE", (4,), 1, "thirty-one"),
    Case("a fraction of an age", put("QAGE", "31.5", 4), "RECORDS-002", "QAGE", (4,), 1, "31.5"),
    Case("an age in other digits", put("QAGE", "\u0663\u0661", 4), "RECORDS-002", "QAGE", (4,), 1, "\u0663"),
    Case("no age", put("QAGE", "", 4, 5), "FILE-009", "QAGE", (4, 5), 2),
    Case("a third sex", put("QSEX", "77", 2), "RECORDS-003", "QSEX", (2,), 1, "77"),
    Case("a sex with a blank", put("QSEX", "1 ", 2), "RECORDS-003", "QSEX", (2,), 1),
    Case("no sex", put("QSEX", "", 8), "FILE-009", "QSEX", (8,), 1),
    Case(
        "an unknown block", put("TABBLK", "8765", 2, 3, 4, 5, 6, 7), "RECORDS-001", "TABBLK", (2, 3, 4, 5, 6), 6, "8765"
    ),
    Case("an unknown tract", put("TABTRACTCE", "999998", 2), "RECORDS-001", "TABTRACTCE", (2,), 1, "999998"),
    Case("a block that lost its zeros", put("TABBLKCOU", "1", 2), "RECORDS-012", "TABBLKCOU", (2,), 1),
    Case("a state that lost its zero", put("TABBLKST", "1", 6), "RECORDS-012", "TABBLKST", (6,), 1),
    Case("a state that is nowhere", put("TABBLKST", "98", 6), "RECORDS-001", "TABBLKST", (6,), 1),
    Case("no state", put("TABBLKST", "", 6), "FILE-009", "TABBLKST", (6,), 1),
    Case("an unknown code", put("QRACE1", "6543", 5), "RECORDS-004", "QRACE1", (5,), 1, "6543"),
    Case("a code with a zero too many", codes(5, "1010", "01020"), "RECORDS-012", "QRACE2", (5,), 1, "01020"),
    Case("an ethnicity with a zero too many", put("QSPAN", "09950", 3), "RECORDS-012", "QSPAN", (3,), 1, "09950"),
    Case("an unknown second code", codes(5, "1010", "6543"), "RECORDS-004", "QRACE2", (5,), 1, "6543"),
    Case("a code in lower case", put("QRACE1", "null", 5), "RECORDS-004", "QRACE1", (5,), 1),
    Case("an empty code", codes(5, "1010", ""), "FILE-009", "QRACE2", (5,), 1),
    Case("a code after a gap", codes(7, "1010", "Null", "1020"), "RECORDS-005", "QRACE3", (7,), 1, "1020"),
    Case("no race code", codes(7, "Null"), "RECORDS-007", "QRACE1", (7,), 1),
    Case("an unknown ethnicity", put("QSPAN", "5432", 3), "RECORDS-008", "QSPAN", (3,), 1, "5432"),
    Case("no ethnicity", put("QSPAN", "", 3), "FILE-009", "QSPAN", (3,), 1),
    Case("Null for an ethnicity", put("QSPAN", "Null", 3), "RECORDS-008", "QSPAN", (3,), 1),
]
#: The same as bytes: what only a text file can have.
TEXT_CASES: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "last line cut off": (lambda text: text[:-30], "FILE-007", "line 9"),
    "a field too many": (lambda text: text.replace(b"|9950\n", b"|9950|x\n", 1), "FILE-007", "line 2"),
    "a delimiter too many": (lambda text: text.replace(b"|9950\n", b"|9950|\n", 1), "FILE-007", "line 2"),
    "mixed line ends": (lambda text: text.replace(b"9950\n", b"9950\r\n", 2), "FILE-018", "lines 2, 3"),
    "a lone carriage return": (lambda text: text.replace(b"9950\n", b"9950\r", 1), "FILE-018", "line 2"),
    "carriage returns alone": (lambda text: text.replace(b"\n", b"\r"), "FILE-018", "line 1"),
    "Latin 1": (
        lambda text: text.replace(b"|30|", b"|30|").replace(b"30|1|01", b"30|\xe9|01", 1),
        "FILE-003",
        "line 2",
    ),
    "a NUL byte": (lambda text: text.replace(b"1010", b"10\x0010", 1), "FILE-017", "line 2"),
    "UTF-16": (lambda text: text.decode().encode("utf-16-le"), "FILE-017", "line 1"),
    "a blank line inside": (lambda text: text.replace(b"9950\n", b"9950\n\n", 1), "FILE-008", "line 3"),
    "no header": (lambda text: text.split(b"\n", 1)[1], "FILE-005", "QAGE"),
    "a column missing": (lambda text: text.replace(b"QSPAN", b"SPAN", 1), "FILE-005", "QSPAN"),
    "a column twice": (lambda text: text.replace(b"QSEX", b"QAGE", 1), "FILE-006", "QAGE"),
    "colons": (lambda text: text.replace(b"|", b":"), "FILE-031", "line 1"),
    "no bytes": (lambda _: b"", "FILE-002", "person-records.txt"),
}

#: Records that are sound and leave runs without anybody, and those runs.
EMPTY_RUNS: dict[str, tuple[Callable[[Rows], object], tuple[str, ...]]] = {
    "nobody in Puerto Rico": (lambda rows: rows.pop(), ("run pr",)),
    "nobody at all": (lambda rows: rows.clear(), ("run us", "run pr")),
}


def as_text(rows: Rows) -> bytes:
    lines = ["|".join(HEADER), *("|".join(str(value) for value in row) for row in rows)]
    return "".join(line + "\n" for line in lines).encode()


def as_table(rows: Rows) -> pa.Table:
    return pa.table({name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(HEADER)})


def parquet_bytes(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="none", use_dictionary=False)
    return buffer.getvalue()


PARQUET_CASES: dict[str, tuple[Callable[[pa.Table], dict[str, bytes]], str, str]] = {
    "cut off": (lambda t: {"person-records.parquet": parquet_bytes(t)[:-20]}, "FILE-012", "person-records.parquet"),
    "not Parquet": (lambda _: {"person-records.parquet": b"PAR1 no"}, "FILE-012", "person-records.parquet"),
    "damaged inside": (
        lambda t: {"person-records.parquet": damaged(parquet_bytes(t))},
        "FILE-012",
        "person-records.parquet",
    ),
    "a part damaged": (
        lambda t: {"person-records.parquet/a.parquet": parquet_bytes(t), "person-records.parquet/b.parquet": b"PAR1"},
        "FILE-012",
        "b.parquet",
    ),
    "parts that differ": (
        lambda t: {
            "person-records.parquet/a.parquet": parquet_bytes(t),
            "person-records.parquet/b.parquet": parquet_bytes(with_type(t, "QAGE", pa.int32())),
        },
        "FILE-016",
        "QAGE",
    ),
    "a part without a column": (
        lambda t: {
            "person-records.parquet/a.parquet": parquet_bytes(t),
            "person-records.parquet/b.parquet": parquet_bytes(t.drop_columns(["QSPAN"])),
        },
        "FILE-005",
        "b.parquet, QSPAN",
    ),
    "ages as decimals": (
        lambda t: {"person-records.parquet": parquet_bytes(with_type(t, "QAGE", pa.decimal128(5, 1)))},
        "FILE-014",
        "QAGE",
    ),
    "an age that is a fraction": (
        lambda t: {"person-records.parquet": parquet_bytes(with_float(t, "QAGE", 30.5))},
        "RECORDS-002",
        "QAGE, row 3",
    ),
    "an age that is not a number": (
        lambda t: {"person-records.parquet": parquet_bytes(with_float(t, "QAGE", math.nan))},
        "RECORDS-002",
        "QAGE, row 3",
    ),
    "an infinite second code": (
        lambda t: {"person-records.parquet": parquet_bytes(second_code(t, math.inf))},
        "RECORDS-004",
        "QRACE2, row 3",
    ),
    "a state wider than its column": (
        lambda t: {"person-records.parquet": parquet_bytes(with_number(t, "TABBLKST", 720))},
        "RECORDS-001",
        "row 3",
    ),
    "a code wider than its column": (
        lambda t: {"person-records.parquet": parquet_bytes(with_number(t, "QRACE1", 10105))},
        "RECORDS-004",
        "QRACE1, row 3",
    ),
    "an ethnicity wider than its column": (
        lambda t: {"person-records.parquet": parquet_bytes(with_number(t, "QSPAN", 99501))},
        "RECORDS-008",
        "QSPAN, row 3",
    ),
    "a part of text": (
        lambda t: {"person-records/a.parquet": parquet_bytes(t), "person-records/more/b.csv": b"x"},
        "FILE-020",
        "more/b.csv",
    ),
    "a hidden part": (
        lambda t: {"person-records/a.parquet": parquet_bytes(t), "person-records/_b.parquet": parquet_bytes(t)},
        "FILE-020",
        "_b.parquet",
    ),
    "a part that is being written": (
        lambda t: {
            "person-records/a.parquet": parquet_bytes(t),
            "person-records/_temporary/0/b.parquet": parquet_bytes(t),
        },
        "FILE-020",
        "_temporary/0/b.parquet",
    ),
    "parts of which one is in a state": (
        lambda t: {
            "person-records/a.parquet": parquet_bytes(t),
            "person-records/TABBLKST=01/b.parquet": parquet_bytes(t.drop_columns(["TABBLKST"])),
        },
        "FILE-016",
        "TABBLKST",
    ),
    "a column inside and in the folder": (
        lambda t: {"person-records/TABBLKST=01/a.parquet": parquet_bytes(t)},
        "FILE-006",
        "TABBLKST=01/a.parquet, TABBLKST",
    ),
    "a folder of a state nobody knows": (
        lambda t: {"person-records/TABBLKST=011/a.parquet": parquet_bytes(t.drop_columns(["TABBLKST"]))},
        "RECORDS-001",
        "TABBLKST=011/a.parquet",
    ),
    "a folder without a state": (
        lambda t: {
            "person-records/TABBLKST=__HIVE_DEFAULT_PARTITION__/a.parquet": parquet_bytes(t.drop_columns(["TABBLKST"]))
        },
        "FILE-009",
        "/a.parquet, TABBLKST",
    ),
    "a null age": (
        lambda t: {"person-records.parquet": parquet_bytes(null_age(with_type(t, "QAGE", pa.int32())))},
        "FILE-009",
        "QAGE, row 3",
    ),
    "no parts": (lambda _: {"person-records.parquet/readme": b""}, "FILE-002", "person-records.parquet"),
    "text too": (
        lambda t: {"person-records.parquet": parquet_bytes(t), "person-records.txt": b""},
        "FILE-015",
        "person-records.txt",
    ),
}


def with_type(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, table[name].cast(kind))


def with_number(table: pa.Table, name: str, number: int) -> pa.Table:
    """A column as whole numbers, the third of them another one."""
    numbers = [int(value) for value in table[name].to_pylist()]
    numbers[2] = number
    return table.set_column(table.column_names.index(name), name, pa.array(numbers, pa.int32()))


def with_float(table: pa.Table, name: str, number: float) -> pa.Table:
    """A column as floats, the third of them another one."""
    numbers = [float(value) for value in table[name].to_pylist()]
    numbers[2] = number
    return table.set_column(table.column_names.index(name), name, pa.array(numbers, pa.float64()))


def second_code(table: pa.Table, number: float) -> pa.Table:
    """Second codes as floats, null but for the third."""
    numbers = [number if row == 2 else None for row in range(table.num_rows)]
    return table.set_column(table.column_names.index("QRACE2"), "QRACE2", pa.array(numbers, pa.float64()))


def null_age(table: pa.Table) -> pa.Table:
    ages = table["QAGE"].to_pylist()
    ages[2] = None
    return table.set_column(0, "QAGE", pa.array(ages, table["QAGE"].type))


def damaged(content: bytes) -> bytes:
    """The pages overwritten; the footer, and so the schema, is sound."""
    return content[:4] + b"\xff" * 400 + content[404:]
