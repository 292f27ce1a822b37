"""Faults of the person records: what a file of records must not hold.

Most change the first record of the smallest part.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.engines import rules
from safetab.files.rules import MIXED_LINE_ENDS, UNREAD_COLUMN
from safetab.params.census import COLUMNS
from safetab.synth.faults.site import Fault, Site
from safetab.synth.records import RECORDS_STEM, Format, write_lines

_RACE: tuple[str, ...] = tuple(COLUMNS["race_codes"])
_NONE: str = COLUMNS["no_code"]
_NOWHERE = "0000"


def change_first_row(table: pa.Table, values: Mapping[str, str]) -> pa.Table:
    """The table with some values of its first row changed; numbers stay numbers where they can."""
    for name, value in values.items():
        column = table[name]
        changed = pa.array([value, *column.slice(1).cast(pa.string()).to_pylist()], pa.string())
        if pa.types.is_integer(column.type) and value.isdigit():
            changed = changed.cast(column.type)
        elif pa.types.is_dictionary(column.type):
            changed = changed.dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, changed)
    return table


def _first(**values: str) -> Callable[[Site], None]:
    return lambda site: site.edit_table(RECORDS_STEM, lambda table: change_first_row(table, values))


def _codes(*codes: str) -> dict[str, str]:
    return dict(zip(_RACE, [*codes, *[_NONE] * (len(_RACE) - len(codes))], strict=True))


def _gap(site: Site) -> None:
    """A code after the first Null."""

    def edit(table: pa.Table) -> pa.Table:
        code = table["QRACE1"][0].as_py()
        return change_first_row(table, _codes(code, _NONE, code))

    site.edit_table(RECORDS_STEM, edit)


def _too_many_codes(site: Site) -> None:
    """Allow one code and leave the records as they are: some have more."""
    config = site.config()
    config["max_race_codes"] = 1
    site.write_config(config)

    def edit(table: pa.Table) -> pa.Table:
        codes = sorted(set(table["QRACE1"].cast(pa.string()).to_pylist()))
        return change_first_row(table, _codes(codes[0], codes[-1]))

    site.edit_table(RECORDS_STEM, edit)


def _age_in_words(site: Site) -> None:
    """In every part, because parts whose ages are of different types break another rule."""
    site.edit_table(RECORDS_STEM, lambda table: change_first_row(table, {"QAGE": "old"}), every_part=True)


def _no_records(site: Site) -> None:
    site.edit_table(RECORDS_STEM, lambda table: table.slice(0, 0), every_part=True)


def _another_column(site: Site) -> None:
    def edit(table: pa.Table) -> pa.Table:
        return table.append_column("SHOE_SIZE", pa.array(["9"] * table.num_rows, pa.string()))

    site.edit_table(RECORDS_STEM, edit, every_part=True)


def _mixed_line_ends(site: Site) -> None:
    """The records as text, the first of them with another line end than the others."""
    parts = site.parts(RECORDS_STEM)
    if site.table_format is Format.PARQUET:
        tables = [pq.read_table(part) for part in parts]
        path = site.data / f"{RECORDS_STEM}.{site.table_format.suffix}"
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        text = site.data / f"{RECORDS_STEM}.{Format.TEXT.suffix}"
        with text.open("wb") as file:
            file.write(("|".join(tables[0].column_names) + "\n").encode())
            for table in tables:
                write_lines(file, table)
        parts = [text]
    header, first, rest = parts[0].read_bytes().split(b"\n", 2)
    parts[0].write_bytes(header + b"\n" + first + b"\r\n" + rest)


FAULTS = (
    Fault("age-out-of-range", rules.AGE, "a person of 116", _first(QAGE="116")),
    Fault("age-not-a-number", rules.AGE, "an age in words", _age_in_words),
    Fault("bad-sex", rules.SEX, "a sex that is neither 1 nor 2", _first(QSEX="3")),
    Fault("unknown-block", rules.UNKNOWN_BLOCK, "a block that the geography file lacks", _first(TABBLK="9999")),
    Fault("unknown-code", rules.UNKNOWN_CODE, "a race code that is not defined", _first(QRACE1=_NOWHERE)),
    Fault("code-after-null", rules.CODE_AFTER_GAP, "a race code after the first Null", _gap),
    Fault("too-many-codes", rules.TOO_MANY_CODES, "more race codes than max_race_codes allows", _too_many_codes),
    Fault("no-race-code", rules.NO_RACE_CODE, "a person without a race code", _first(**_codes())),
    Fault("unknown-ethnicity", rules.ETHNICITY, "an ethnicity code that is not defined", _first(QSPAN=_NOWHERE)),
    Fault("no-records", rules.NO_RECORDS, "records without a record", _no_records),
    Fault("mixed-line-ends", MIXED_LINE_ENDS, "records that end in LF and in CRLF", _mixed_line_ends),
    Fault("unread-column", UNREAD_COLUMN, "a column of the records that nothing reads", _another_column),
)
