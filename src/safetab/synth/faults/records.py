"""Faults of the person records: what a file of records must not hold.

Each changes the first record of the smallest part. `safetab check` does not judge records by rules with codes yet, so
that these faults have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from safetab.params.census import COLUMNS
from safetab.synth.faults.site import Fault, Site
from safetab.synth.records import RECORDS_STEM

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


FAULTS = (
    Fault("age-out-of-range", None, "a person of 116", _first(QAGE="116")),
    Fault("age-not-a-number", None, "an age in words", _first(QAGE="old")),
    Fault("bad-sex", None, "a sex that is neither 1 nor 2", _first(QSEX="3")),
    Fault("unknown-block", None, "a block that the geography file lacks", _first(TABBLK="9999")),
    Fault("unknown-code", None, "a race code that is not defined", _first(QRACE1=_NOWHERE)),
    Fault("code-after-null", None, "a race code after the first Null", _gap),
    Fault("too-many-codes", None, "more race codes than max_race_codes allows", _too_many_codes),
    Fault("no-race-code", None, "a person without a race code", _first(**_codes())),
    Fault("unknown-ethnicity", None, "an ethnicity code that is not defined", _first(QSPAN=_NOWHERE)),
)
