"""The logical plan, once for every engine: how records are read and judged, in plain SQL over a few relations.

Relations an engine provides: `raw` (the records as they are), `blocks` (block columns, block_set), `age_atoms` (age,
atom). A dialect spells the few things that engines spell differently. Promise: whichever engine reads a record, its
values become the same small integers, and it breaks the same rules.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

from safetab.engines.layout import RecordLayout
from safetab.rules.record_rules import FAULTS

#: Index of "no code here" and of "not in the code list".
_NO_CODE, _UNKNOWN = -1, -2
#: All whole numbers of so many digits fit into 64 bits.
_MOST_DIGITS = 18
#: What a float that is no whole number counts as: a text that is no code, no sex and no part of a block.
_FRACTION = "'not a whole number'"


class Dialect(Protocol):
    """What engines spell differently."""

    def code_index(self, text: str) -> str:
        """SQL for a code's index in the code list, NULL where it is not in it."""
        ...

    def whole_number(self, text: str) -> str:
        """SQL for text of digits as an integer, NULL where it is anything else."""
        ...

    def is_integer(self, column: str) -> bool:
        """Whether a column of `raw` holds whole numbers rather than text."""
        ...

    def is_float(self, column: str) -> bool:
        """Whether a column of `raw` holds floats, of which the whole ones are read."""
        ...


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column of `raw` as an SQL name; engines that quote otherwise replace the marks."""
    return '"' + name.replace('"', '""') + '"'


def _padded(name: str, width: int | None) -> str:
    """A whole number as text with its leading zeros; a number that is wider than its column stays whole.

    `lpad` alone would cut it, and 172 would be the state 17.
    """
    text = f"CAST({name} AS VARCHAR(20))"
    if not width:
        return text
    largest = 10 ** min(width, _MOST_DIGITS) - 1
    return f"CASE WHEN {name} BETWEEN 0 AND {largest} THEN lpad({text}, {width}, '0') ELSE {text} END"


def _is_spelled(text: str, width: int | None) -> bool:
    """Whether a text is what `_padded` makes of some whole number."""
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdecimal() or len(digits) > _MOST_DIGITS:
        return False
    return text == (str(int(text)) if text != digits else str(int(text)).zfill(width or 0))


def _whole(name: str) -> str:
    """A float as a whole number, which it equals if it is one; NULL where there is none, such as infinity."""
    return f"TRY_CAST({name} AS BIGINT)"


class RecordQueries:
    """The queries over one run's records."""

    def __init__(self, layout: RecordLayout, dialect: Dialect) -> None:
        self.layout, self.dialect = layout, dialect

    def columns_read(self) -> list[str]:
        return list(self.layout.columns_read)

    #: What `code_of` gives for "no code here" and for "not in the code list".
    NO_CODE, UNKNOWN = _NO_CODE, _UNKNOWN

    def text_of(self, column: str) -> str:
        """SQL for a column of `raw` as the text that the files would have."""
        name, width = identifier(column), self.layout.width_of(column)
        if self.dialect.is_integer(column):
            return _padded(name, width)
        if self.dialect.is_float(column):
            whole = _whole(name)
            return (
                f"CASE WHEN {name} = {whole} THEN {_padded(whole, width)} WHEN {name} IS NOT NULL THEN {_FRACTION} END"
            )
        return name

    def holds_text(self, column: str) -> bool:
        """Whether a column of `raw` holds text rather than numbers."""
        return not self.dialect.is_integer(column) and not self.dialect.is_float(column)

    def age(self) -> str:
        """SQL for the age as a whole number, NULL where it is none. Without ages everybody is in the bin of age 0."""
        column = self.layout.columns.age
        if column is None:
            return "0"
        name = identifier(column)
        if self.dialect.is_integer(column):
            return name
        if self.dialect.is_float(column):
            return f"CASE WHEN {name} = {_whole(name)} THEN {_whole(name)} END"
        return self.dialect.whole_number(name)

    def sex(self) -> str:
        """SQL for the index of the sex, -1 where it is none. Without sexes everybody has the first."""
        column, texts = self.layout.columns.sex, self.layout.columns.sexes
        if column is None:
            return "0"
        tried, values = self.text_of(column), [quoted(text) for text in texts]
        if self.dialect.is_integer(column):
            # Numbers are compared as they are: spelling each out took a tenth of the time of reading.
            width = self.layout.width_of(column)
            tried, values = identifier(column), [text if _is_spelled(text, width) else "NULL" for text in texts]
        cases = " ".join(f"WHEN {value} THEN {number}" for number, value in enumerate(values))
        return f"CASE {tried} {cases} ELSE -1 END"

    def code_of(self, column: str) -> str:
        """SQL for the index of a column's code."""
        text = self.text_of(column)
        no_code = quoted(self.layout.columns.no_code)
        # Where there is no code there is nothing to look up: seven times in eight, with eight columns.
        index = f"COALESCE({self.dialect.code_index(f'NULLIF({text}, {no_code})')}, {_UNKNOWN})"
        return f"CASE WHEN {text} IS NULL OR {text} = {no_code} THEN {_NO_CODE} ELSE {index} END"

    def where(self) -> str:
        """The records of this run: all but those of the geography file's other regions.

        What is in no region of the file comes along, so that it is found to lie in no block instead of getting lost.
        """
        only, left_out = self.layout.only, self.layout.left_out
        if only is None or not left_out:
            return ""
        text = self.text_of(only.column)
        return f" WHERE {text} IS NULL OR {text} NOT IN ({', '.join(map(quoted, left_out))})"

    def indexed(self) -> str:
        """Records with every value but those of the block as a small integer."""
        return f"SELECT {', '.join([*self.block_sex_and_age(), *self.codes()])} FROM raw{self.where()}"

    def block_sex_and_age(self) -> list[str]:
        """A record's block, age and sex, under the names b0, b1, ..., age and sex."""
        columns = self.layout.columns
        return [
            *(f"{self.text_of(name)} AS b{i}" for i, name in enumerate(columns.block)),
            f"{self.age()} AS age",
            f"{self.sex()} AS sex",
        ]

    def codes(self) -> list[str]:
        """The indices of a record's codes, under the names i0, i1, ..., and ethnicity."""
        columns = self.layout.columns
        return [
            *(f"{self.code_of(name)} AS i{number}" for number, name in enumerate(columns.race_codes)),
            f"{self.code_of(columns.ethnicity)} AS ethnicity" if columns.ethnicity else "0 AS ethnicity",
        ]

    def faults(self, which: slice = slice(None)) -> str:
        """A bit for each rule a record breaks, in the order of `FAULTS`, or for some of these rules."""
        columns = self.layout.columns
        indices = [f"i{number}" for number in range(len(columns.race_codes))]
        gaps = [f"({left} = {_NO_CODE} AND {right} <> {_NO_CODE})" for left, right in pairwise(indices)]
        beyond = indices[self.layout.max_race_codes :]
        conditions = [
            "block_set IS NULL",
            "atom IS NULL",
            "sex = -1",
            " OR ".join(f"{index} = {_UNKNOWN}" for index in indices),
            " OR ".join(gaps) or "FALSE",
            " OR ".join(f"{index} <> {_NO_CODE}" for index in beyond) or "FALSE",
            " AND ".join(f"{index} = {_NO_CODE}" for index in indices),
            "ethnicity < 0" if columns.ethnicity else "FALSE",
        ]
        bits = list(enumerate(zip(conditions, FAULTS, strict=True)))
        return " + ".join(f"CASE WHEN {test} THEN {1 << bit} ELSE 0 END" for bit, (test, _) in bits[which])
