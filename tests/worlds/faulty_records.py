"""Records that break one rule each, all with the same word, for every engine to refuse and never to repeat."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.worlds import by_hand, tiny
from tests.worlds.census import RECORD_COLUMNS

#: A value that no message may hold.
POISON = "Zq7"
SOUND = ("30", "1", "1", "01", "001", "000100", "1000", "01", "1010", *["Null"] * 7, "9950")


def record(**changes: str) -> str:
    return "|".join(changes.get(name, value) for name, value in zip(RECORD_COLUMNS, SOUND, strict=True))


#: A fault, the code it gets, and the line that has it.
FAULTY = (
    ("a block nobody knows", "RECORDS-001", record(TABBLK=POISON)),
    ("an age in words", "RECORDS-002", record(QAGE=POISON)),
    ("an age too high", "RECORDS-002", record(QAGE="116")),
    ("an age with a blank", "RECORDS-002", record(QAGE="30 ")),
    ("a sex not listed", "RECORDS-003", record(QSEX=POISON)),
    ("a race code not listed", "RECORDS-004", record(QRACE1=POISON)),
    ("a code after a gap", "RECORDS-005", record(QRACE3="1010")),
    ("too many codes", "RECORDS-006", record(**{f"QRACE{n}": "1010" for n in range(1, 9)})),
    ("no race code at all", "RECORDS-007", record(QRACE1="Null")),
    ("an ethnicity not listed", "RECORDS-008", record(QSPAN=POISON)),
)
HEADER = "|".join(RECORD_COLUMNS)


def write(folder: Path, lines: list[str], *, parquet: bool) -> None:
    """The world by hand, one run, seven codes at most, with these records."""
    by_hand.write(folder)
    config = tiny.config() | {"run_pr": False, "max_race_codes": 7}
    tiny.write(folder, {"params/config.json": json.dumps(config)})
    text = folder / "data" / "person-records.txt"
    if not parquet:
        text.write_text("\n".join([HEADER, *lines]) + "\n")
        return
    text.unlink()
    columns = list(zip(*(line.split("|") for line in lines), strict=True))
    table = pa.table({name: list(values) for name, values in zip(RECORD_COLUMNS, columns, strict=True)})
    pq.write_table(table, folder / "data" / "person-records.parquet")
