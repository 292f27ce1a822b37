"""Where the faults of records are: asked only after the first pass has counted some.

In: the plan of the first pass and its relation `numbered`: `raw` with the file (`part_of_row`) and the line or row
(`row_in_part`) of each record. Out: one query over all faults, and its answer as findings. Promise: a finding has file,
column, how many and the first few places; values only where the layout says that they may be shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from safetab.engines import rules
from safetab.engines.queries import RecordQueries, identifier, quoted
from safetab.errors import LINES_SHOWN, Finding, Rule
from safetab.files.rules import EMPTY_VALUE

#: A table of very many broken parts is told by its first ones.
_PARTS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ColumnFault:
    """A rule that a column can break, and the SQL condition under which a row does."""

    rule: Rule
    column: str
    condition: str


def counted_faults(file: str, counts: Mapping[int, int]) -> list[Finding]:
    """How many records of the first pass break each rule, should the second pass find none of them again."""
    return [
        Finding(rule, file, count=records)
        for bit, rule in enumerate(rules.FAULTS)
        if (records := sum(count for faults, count in counts.items() if faults >> bit & 1))
    ]


class FaultQueries:
    """Every way a record can be wrong, column by column."""

    def __init__(self, plan: RecordQueries, no_block: str | None = None) -> None:
        """`no_block` says in SQL that a row's block is unknown, where `numbered` has looked the block up already."""
        self._plan, self._layout = plan, plan.layout
        self._no_block = no_block or self._not_among_blocks()
        self.faults = tuple(self._all())

    def _all(self) -> list[ColumnFault]:
        columns = self._layout.columns
        empty = {name: self._is_empty(name) for name in self._plan.columns_read()}
        found = [ColumnFault(EMPTY_VALUE, name, test) for name, test in empty.items()]
        no_empty_block = " AND ".join(f"NOT ({empty[name]})" for name in columns.block)
        found.append(
            ColumnFault(rules.UNKNOWN_BLOCK, " + ".join(columns.block), f"{no_empty_block} AND {self._no_block}")
        )
        age, oldest = self._age(), self._layout.age_bins[0].oldest
        in_range = f"COALESCE({age} BETWEEN 0 AND {oldest}, FALSE)"
        found.append(ColumnFault(rules.AGE, columns.age, f"NOT ({empty[columns.age]}) AND NOT {in_range}"))
        sexes = ", ".join(map(quoted, columns.sexes))
        known_sex = f"COALESCE({self._plan.text_of(columns.sex)} IN ({sexes}), FALSE)"
        found.append(ColumnFault(rules.SEX, columns.sex, f"NOT ({empty[columns.sex]}) AND NOT {known_sex}"))
        found += self._of_race_codes(empty)
        if columns.ethnicity:
            code = self._plan.code_of(columns.ethnicity)
            unknown = f"NOT ({empty[columns.ethnicity]}) AND {code} < 0"
            found.append(ColumnFault(rules.ETHNICITY, columns.ethnicity, unknown))
        return found

    def _of_race_codes(self, empty: dict[str, str]) -> list[ColumnFault]:
        names = self._layout.columns.race_codes
        code = {name: self._plan.code_of(name) for name in names}
        none, unknown = RecordQueries.NO_CODE, RecordQueries.UNKNOWN
        found = [ColumnFault(rules.UNKNOWN_CODE, n, f"NOT ({empty[n]}) AND {code[n]} = {unknown}") for n in names]
        for before, name in pairwise(names):
            test = f"{code[before]} = {none} AND {code[name]} <> {none}"
            found.append(ColumnFault(rules.CODE_AFTER_GAP, name, test))
        beyond = names[self._layout.max_race_codes :]
        found += [ColumnFault(rules.TOO_MANY_CODES, name, f"{code[name]} <> {none}") for name in beyond]
        all_none = " AND ".join(f"{code[name]} = {none}" for name in names)
        found.append(ColumnFault(rules.NO_RACE_CODE, names[0], all_none))
        return found

    def _is_empty(self, column: str) -> str:
        """A null is a missing value; in a column of race codes it says that there is no code, as Parquet may."""
        name = identifier(column)
        tests = [] if column in self._layout.columns.race_codes else [f"{name} IS NULL"]
        if not self._plan.dialect.is_integer(column):
            tests.append(f"COALESCE({name} = '', FALSE)")
        return " OR ".join(tests) or "FALSE"

    def _not_among_blocks(self) -> str:
        columns = self._layout.columns
        same = [f"blocks.b{i} = {self._plan.text_of(name)}" for i, name in enumerate(columns.block)]
        return f"NOT EXISTS (SELECT 1 FROM blocks WHERE {' AND '.join(same)})"

    def _age(self) -> str:
        age, dialect = identifier(self._layout.columns.age), self._plan.dialect
        return age if dialect.is_integer(self._layout.columns.age) else dialect.whole_number(age)

    def located(self) -> str:
        """For each part, how many rows have each fault, and the first few of them; with their values if allowed."""
        flags = ", ".join(f"({fault.condition}) AS f{number}" for number, fault in enumerate(self.faults))
        shown = sorted({fault.column for fault in self.faults} & set(self._plan.columns_read()))
        values = {name: f"v{number}" for number, name in enumerate(shown)}
        carried = ""
        if self._layout.show_values:
            carried = "".join(f", {self._plan.text_of(name)} AS {alias}" for name, alias in values.items())
        chosen = []
        for number, fault in enumerate(self.faults):
            value = values.get(fault.column) if self._layout.show_values else None
            place = f"{{'row': row_in_part, 'value': {value or 'NULL'}}}"
            chosen.append(f"count(*) FILTER (WHERE f{number})")
            chosen.append(f"min({place}, {LINES_SHOWN}) FILTER (WHERE f{number})")
        return (
            f"SELECT part_of_row, {', '.join(chosen)} FROM "
            f"(SELECT part_of_row, row_in_part, {flags}{carried} FROM numbered{self._plan.where()}) AS judged "
            "GROUP BY part_of_row ORDER BY part_of_row"
        )

    def findings(self, answer: Sequence[tuple[Any, ...]], unit: str) -> list[Finding]:
        """The answer to `located` in words."""
        found: list[Finding] = []
        for number, fault in enumerate(self.faults):
            broken = [(row[0], row[1 + 2 * number], row[2 + 2 * number]) for row in answer if row[1 + 2 * number]]
            for part, count, places in broken[:_PARTS_SHOWN]:
                lines = tuple(int(place["row"]) for place in places)
                values = [str(place["value"]) for place in places if place["value"] is not None]
                seen = ", ".join(f'"{value}"' for value in values)
                found.append(Finding(fault.rule, part, fault.column, lines, int(count), seen=seen, unit=unit))
            if rest := broken[_PARTS_SHOWN:]:
                more = sum(int(count) for _, count, _ in rest)
                seen = f"broken in {more:,} rows of {len(rest):,} more parts"
                found.append(Finding(fault.rule, self._layout.name, fault.column, count=more, seen=seen))
        return found
