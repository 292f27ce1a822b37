"""The logical plan, once for every engine: plain SQL over a few relations.

Relations an engine provides: `raw` (the records as they are), `blocks` (block columns, cell), `age_atoms` (age, atom),
`region_of_cell` (cell, region), `region_of_part` (part, region), `race_members` (set_id, iteration),
`ethnicity_members` (ethnicity, iteration), `chosen` (group_id, region, iteration, stat_level), `bin_of_atom`
(stat_level, atom, age_bin). A dialect spells the few things that engines spell differently. The plan keeps what is
confidential inside: only counts leave.

Each step below is kept by the engine under its own name, and each is smaller than the one before: records are folded
to `coded` while they are read (5 million synthetic persons to 2.9 million rows), and to `region_race` once for each
geography level, so that nothing is counted person by person more than once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from safetab.engines.protocol import RecordLayout
from safetab.engines.rules import FAULTS
from safetab.population.membership import CodeSets

#: Index of "no code here" and of "not in the code list".
_NO_CODE, _UNKNOWN = -1, -2
#: Packed keys stay below 2^62, so no engine's 64-bit integer overflows.
_KEY_LIMIT = 1 << 62


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


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column of `raw` as an SQL name; engines that quote otherwise replace the marks."""
    return '"' + name.replace('"', '""') + '"'


class RecordQueries:
    """The queries over one run's records."""

    def __init__(self, layout: RecordLayout, dialect: Dialect) -> None:
        self.layout, self.dialect = layout, dialect
        base, digits = len(layout.codes) + 1, 1
        while base ** (digits + 1) < _KEY_LIMIT:
            digits += 1
        codes = list(range(len(layout.columns.race_codes)))
        #: Which race code columns each packed key holds, most significant first.
        self.keys: list[list[int]] = [codes[start : start + digits] for start in range(0, len(codes), digits)]
        self.base = base

    @property
    def key_names(self) -> list[str]:
        return [f"k{number}" for number in range(len(self.keys))]

    def columns_read(self) -> list[str]:
        return list(self.layout.columns_read)

    #: What `code_of` gives for "no code here" and for "not in the code list".
    NO_CODE, UNKNOWN = _NO_CODE, _UNKNOWN

    def text_of(self, column: str) -> str:
        """SQL for a column of `raw` as the text that the files would have."""
        columns = self.layout.columns
        is_code = column in (*columns.race_codes, columns.ethnicity)
        return self._text(column, self.layout.code_width if is_code else columns.widths.get(column))

    def code_of(self, column: str) -> str:
        """SQL for the index of a column's code."""
        return self._code(column)

    def where(self) -> str:
        """The records of this run: all but those of the geography file's other regions.

        What is in no region of the file comes along, so that it is found to lie in no block instead of getting lost.
        """
        only, left_out = self.layout.only, self.layout.left_out
        if only is None or not left_out:
            return ""
        text = self.text_of(only.column)
        return f" WHERE {text} IS NULL OR {text} NOT IN ({', '.join(map(quoted, left_out))})"

    def _text(self, column: str, width: int | None) -> str:
        """A column as text; whole numbers get their leading zeros back."""
        name = identifier(column)
        if not self.dialect.is_integer(column):
            return name
        text = f"CAST({name} AS VARCHAR(20))"
        return f"lpad({text}, {width}, '0')" if width else text

    def _code(self, column: str) -> str:
        text = self._text(column, self.layout.code_width)
        no_code = quoted(self.layout.columns.no_code)
        index = f"COALESCE({self.dialect.code_index(text)}, {_UNKNOWN})"
        return f"CASE WHEN {text} IS NULL OR {text} = {no_code} THEN {_NO_CODE} ELSE {index} END"

    def _indexed(self) -> str:
        """Records with every value as a small integer."""
        columns, widths = self.layout.columns, self.layout.columns.widths
        block = [f"{self._text(name, widths.get(name))} AS b{i}" for i, name in enumerate(columns.block)]
        sexes = " ".join(f"WHEN {quoted(value)} THEN {i}" for i, value in enumerate(columns.sexes))
        age = identifier(columns.age)
        chosen = [
            *block,
            f"{age if self.dialect.is_integer(columns.age) else self.dialect.whole_number(age)} AS age",
            f"CASE {self._text(columns.sex, None)} {sexes} ELSE -1 END AS sex",
            *(f"{self._code(name)} AS i{number}" for number, name in enumerate(columns.race_codes)),
            f"{self._code(columns.ethnicity)} AS ethnicity" if columns.ethnicity else "0 AS ethnicity",
        ]
        return f"SELECT {', '.join(chosen)} FROM raw{self.where()}"

    def _faults(self) -> str:
        """A bit for each rule a record breaks, in the order of `FAULTS`."""
        columns = self.layout.columns
        indices = [f"i{number}" for number in range(len(columns.race_codes))]
        gaps = [f"({left} = {_NO_CODE} AND {right} <> {_NO_CODE})" for left, right in pairwise(indices)]
        beyond = indices[self.layout.max_race_codes :]
        conditions = [
            "cell IS NULL",
            "atom IS NULL",
            "sex = -1",
            " OR ".join(f"{index} = {_UNKNOWN}" for index in indices),
            " OR ".join(gaps) or "FALSE",
            " OR ".join(f"{index} <> {_NO_CODE}" for index in beyond) or "FALSE",
            " AND ".join(f"{index} = {_NO_CODE}" for index in indices),
            "ethnicity < 0" if columns.ethnicity else "FALSE",
        ]
        bits = zip(conditions, FAULTS, strict=True)
        return " + ".join(f"CASE WHEN {test} THEN {1 << bit} ELSE 0 END" for bit, (test, _) in enumerate(bits))

    def coded(self) -> str:
        """How many records are alike in cell, packed code set, ethnicity, sex, age atom and the faults they have."""
        blocks = range(len(self.layout.columns.block))
        packed = [
            " + ".join(
                f"CAST(i{code} + 1 AS BIGINT) * {self.base**power}" for power, code in enumerate(reversed(codes))
            )
            for codes in self.keys
        ]
        keys = ", ".join(f"{key} AS {name}" for key, name in zip(packed, self.key_names, strict=True))
        joined = " AND ".join(f"indexed.b{i} = blocks.b{i}" for i in blocks)
        alike = f"cell, {', '.join(self.key_names)}, ethnicity, sex, atom, faults"
        return (
            f"SELECT {alike}, count(*) AS n FROM ("
            f"SELECT cell, {keys}, ethnicity, sex, atom, {self._faults()} AS faults "
            f"FROM ({self._indexed()}) AS indexed LEFT JOIN blocks ON {joined} "
            f"LEFT JOIN age_atoms ON indexed.age = age_atoms.age) AS judged GROUP BY {alike}"
        )

    def unpacked(self, keys: Sequence[npt.NDArray[np.int64]]) -> CodeSets:
        """The code sets that packed keys stand for, one a row."""
        columns = [
            (values // self.base**power % self.base - 1).astype(np.int16)
            for codes, values in zip(self.keys, keys, strict=True)
            for power in reversed(range(len(codes)))
        ]
        return np.stack(columns, axis=1)


def code_sets(keys: Sequence[str]) -> str:
    """Each distinct packed code set once, with a number; `coded` is what `RecordQueries.coded` gives."""
    listed = ", ".join(keys)
    return (
        f"SELECT row_number() OVER (ORDER BY {listed}) - 1 AS set_id, {listed} "
        f"FROM (SELECT DISTINCT {listed} FROM coded WHERE faults = 0) AS distinct_sets"
    )


def race_people(keys: Sequence[str]) -> str:
    """Sound records by cell, number of the code set, sex and age atom.

    People who differ in ethnicity alone stay apart: they are one row in 17, and folding them doubled the time of this.
    """
    listed = ", ".join(keys)
    return f"SELECT cell, set_id, sex, atom, n FROM coded JOIN code_sets USING ({listed}) WHERE faults = 0"


FAULT_COUNTS = "SELECT faults, CAST(sum(n) AS BIGINT) AS records FROM coded GROUP BY faults"
ETHNICITY_PEOPLE = (
    "SELECT cell, ethnicity, sex, atom, CAST(sum(n) AS BIGINT) AS n FROM coded "
    "WHERE faults = 0 GROUP BY cell, ethnicity, sex, atom"
)

#: People of each region of a geography level, before they are put into groups. A region's people are its cells'.
REGION_RACE = (
    "SELECT region, set_id, sex, atom, CAST(sum(n) AS BIGINT) AS n FROM race_people "
    "JOIN region_of_cell USING (cell) GROUP BY region, set_id, sex, atom"
)
REGION_ETHNICITY = (
    "SELECT region, ethnicity, sex, atom, CAST(sum(n) AS BIGINT) AS n FROM ethnicity_people "
    "JOIN region_of_cell USING (cell) GROUP BY region, ethnicity, sex, atom"
)

#: The same, where the regions are made up of those of the level before, as states are of counties: `region_of_part`
#: (part, region) says how, and the people of the finer level are fewer rows than those of the cells.
COARSER_RACE = (
    "SELECT whole.region, set_id, sex, atom, CAST(sum(n) AS BIGINT) AS n FROM region_race "
    "JOIN region_of_part AS whole ON region_race.region = whole.part GROUP BY whole.region, set_id, sex, atom"
)
COARSER_ETHNICITY = (
    "SELECT whole.region, ethnicity, sex, atom, CAST(sum(n) AS BIGINT) AS n FROM region_ethnicity "
    "JOIN region_of_part AS whole ON region_ethnicity.region = whole.part "
    "GROUP BY whole.region, ethnicity, sex, atom"
)

#: True totals: a group's people are those whose code set, or ethnicity, is in it. Sexes and ages are summed before code
#: sets become iterations, because a code set has several.
TOTALS = (
    "SELECT region, iteration, CAST(sum(n) AS BIGINT) AS true_count FROM "
    "(SELECT region, set_id, sum(n) AS n FROM region_race GROUP BY region, set_id) AS sets "
    "JOIN race_members USING (set_id) GROUP BY region, iteration "
    "UNION ALL "
    "SELECT region, iteration, CAST(sum(n) AS BIGINT) AS true_count FROM "
    "(SELECT region, ethnicity, sum(n) AS n FROM region_ethnicity GROUP BY region, ethnicity) AS ethnicities "
    "JOIN ethnicity_members USING (ethnicity) GROUP BY region, iteration"
)

#: True sex by age cells of the chosen groups.
CELLS = (
    "SELECT group_id, sex, age_bin, CAST(sum(n) AS BIGINT) AS true_count FROM ("
    "SELECT region, iteration, sex, atom, n FROM region_race JOIN race_members USING (set_id) "
    "UNION ALL "
    "SELECT region, iteration, sex, atom, n FROM region_ethnicity JOIN ethnicity_members USING (ethnicity)"
    ") AS memberships JOIN chosen USING (region, iteration) JOIN bin_of_atom USING (stat_level, atom) "
    "GROUP BY group_id, sex, age_bin"
)
