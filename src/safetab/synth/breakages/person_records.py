"""Breakages of the person records. Most change the first record of the smallest part file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from safetab.params.census import COLUMNS
from safetab.rules import record_rules
from safetab.rules.file_rules import CONTINUED_LINE, MIXED_LINE_ENDS, UNREAD_COLUMN
from safetab.synth.breakages.site import RECORDS_STEM, Breakage, Site, with_column
from safetab.synth.write_data import Format, write_text_table

_RACE: tuple[str, ...] = tuple(COLUMNS["race_codes"])
_NONE: str = COLUMNS["no_code"]
_NOWHERE = "0000"


def change_first_row(table: pa.Table, values: Mapping[str, str]) -> pa.Table:
    """The table with some values of its first row changed; numbers stay numbers if possible."""
    for name, value in values.items():
        column = table[name]
        changed = pa.array([value, *column.slice(1).cast(pa.string()).to_pylist()], pa.string())
        if pa.types.is_integer(column.type) and value.isdigit():
            changed = changed.cast(column.type)
        elif pa.types.is_dictionary(column.type):
            changed = changed.dictionary_encode()
        table = with_column(table, name, changed)
    return table


def _first(**values: str) -> Callable[[Site], None]:
    return lambda site: site.edit_table(RECORDS_STEM, lambda table: change_first_row(table, values))


def _codes(*codes: str) -> dict[str, str]:
    return dict(zip(_RACE, [*codes, *[_NONE] * (len(_RACE) - len(codes))], strict=True))


def _gap(site: Site) -> None:
    """Put a code after the first Null."""

    def edit(table: pa.Table) -> pa.Table:
        code = table["QRACE1"][0].as_py()
        return change_first_row(table, _codes(code, _NONE, code))

    site.edit_table(RECORDS_STEM, edit)


def _too_many_codes(site: Site) -> None:
    """Allow one code, and give the first record two."""
    site.edit_config(lambda config: config.update(max_race_codes=1))

    def edit(table: pa.Table) -> pa.Table:
        codes = sorted(set(table["QRACE1"].cast(pa.string()).to_pylist()))
        return change_first_row(table, _codes(codes[0], codes[-1]))

    site.edit_table(RECORDS_STEM, edit)


def _age_in_words(site: Site) -> None:
    """Change every part file, because ages of different types in two part files break another rule."""
    site.edit_table(RECORDS_STEM, lambda table: change_first_row(table, {"QAGE": "old"}), every_file=True)


def _lost_zeros(site: Site) -> None:
    """Make text without leading zeros of every tract; a column of numbers would get them back."""

    def edit(table: pa.Table) -> pa.Table:
        return with_column(table, "TABTRACTCE", pc.utf8_ltrim(pc.cast(table["TABTRACTCE"], pa.string()), "0"))

    site.edit_table(RECORDS_STEM, edit, every_file=True)


def _no_records(site: Site) -> None:
    site.edit_table(RECORDS_STEM, lambda table: table.slice(0, 0), every_file=True)


def _another_column(site: Site) -> None:
    def edit(table: pa.Table) -> pa.Table:
        return table.append_column("SHOE_SIZE", pa.array(["9"] * table.num_rows, pa.string()))

    site.edit_table(RECORDS_STEM, edit, every_file=True)


def _as_text(site: Site) -> Path:
    """Write the records as one text file in place of what they are in."""
    tables = [site.read_table(file) for file in site.part_files(RECORDS_STEM)]
    site.remove_table(RECORDS_STEM)
    text = site.data / f"{RECORDS_STEM}.{Format.TEXT.suffix}"
    write_text_table(text, tables[0].column_names, tables)
    return text


def _mixed_line_ends(site: Site) -> None:
    """Write the records as text, with another line end after the first record than after the others."""
    text = _as_text(site)
    header, first, rest = text.read_bytes().split(b"\n", 2)
    text.write_bytes(header + b"\n" + first + b"\r\n" + rest)


def _swallowed(site: Site) -> None:
    """Write the records as text with quoting, and begin the first with a quote that the second closes."""
    text = _as_text(site)
    header, first, second, rest = text.read_bytes().split(b"\n", 3)
    names = b"|".join(b'"' + name + b'"' for name in header.split(b"|"))
    _, after = second.split(b"|", 1)
    text.write_bytes(b"\n".join([names, b'"' + first, b'"|' + after, rest]))


BREAKAGES = (
    Breakage("age-out-of-range", record_rules.AGE, "a person aged 116", _first(QAGE="116")),
    Breakage("age-not-a-number", record_rules.AGE, "an age in words", _age_in_words),
    Breakage("bad-sex", record_rules.SEX, "a sex that is neither 1 nor 2", _first(QSEX="3")),
    Breakage(
        "unknown-block", record_rules.UNKNOWN_BLOCK, "a block that is not in the geography file", _first(TABBLK="9999")
    ),
    Breakage("unknown-code", record_rules.UNKNOWN_CODE, "a race code that is not defined", _first(QRACE1=_NOWHERE)),
    Breakage("lost-zeros", record_rules.LEADING_ZEROS, "tracts without their leading zeros", _lost_zeros),
    Breakage("code-after-null", record_rules.CODE_AFTER_GAP, "a race code after the first Null", _gap),
    Breakage(
        "too-many-codes", record_rules.TOO_MANY_CODES, "more race codes than max_race_codes allows", _too_many_codes
    ),
    Breakage("no-race-code", record_rules.NO_RACE_CODE, "a person without a race code", _first(**_codes())),
    Breakage(
        "unknown-ethnicity", record_rules.ETHNICITY, "an ethnicity code that is not defined", _first(QSPAN=_NOWHERE)
    ),
    Breakage("no-records", record_rules.NO_RECORDS, "a record file without records", _no_records),
    Breakage("mixed-line-ends", MIXED_LINE_ENDS, "records that end in LF and in CRLF", _mixed_line_ends),
    Breakage("swallowed-record", CONTINUED_LINE, "a record inside the quotation marks of another", _swallowed),
    Breakage("unread-column", UNREAD_COLUMN, "a column in the records that is not used", _another_column),
)
