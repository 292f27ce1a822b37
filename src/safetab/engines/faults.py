"""Where the faults of records are: asked only after the first pass has counted some.

In: the plan of the first pass and its relation `numbered`: `raw` with the file (`PART`) and the line or row (`ROW`) of
each record. Out: a query for the faulty records, one that counts them, and its answer as findings.
Promise: a finding has file, column, how many and the first few places; values only where the layout says that they may
be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from safetab.engines.logical_plan import RecordQueries, identifier, quoted
from safetab.errors import LINES_SHOWN, Finding, Rule
from safetab.rules import record_rules
from safetab.rules.file_rules import EMPTY_VALUE

#: Where a record is: the file, and its line or row in it. Names with a blank, as no column of the records is likely to
#: have them.
PART, ROW = '"safetab part"', '"safetab row"'
_BLOCKS = '"safetab blocks"'
#: Of a table with very many broken part files only the first ones are named.
_PARTS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ColumnFault:
    """A rule that a column can break, the SQL condition under which a row does, and the rule it is first counted as."""

    rule: Rule
    column: str
    condition: str
    counted: Rule


def broken_rules(counts: Iterable[int]) -> frozenset[Rule]:
    """The rules that the first pass found broken, from the bits of its faulty records."""
    return frozenset(rule for bit, rule in enumerate(record_rules.FAULTS) if any(bits >> bit & 1 for bits in counts))


def counted_faults(file: str, counts: Mapping[int, int]) -> list[Finding]:
    """How many records of the first pass break each rule, should the second pass find none of them again."""
    return [
        Finding(rule, file, count=records)
        for bit, rule in enumerate(record_rules.FAULTS)
        if (records := sum(count for faults, count in counts.items() if faults >> bit & 1))
    ]


def without_zeros(text: str) -> str:
    """SQL for a text without its leading zeros."""
    return f"regexp_replace({text}, '^0+', '')"


def _unknown(rule: Rule, column: str, condition: str, is_like: str) -> list[ColumnFault]:
    """The fault of a value that is not known, and the one of a value that would be with other leading zeros."""
    is_like = f"COALESCE({is_like}, FALSE)"
    return [
        ColumnFault(rule, column, f"{condition} AND NOT {is_like}", rule),
        ColumnFault(record_rules.LEADING_ZEROS, column, f"{condition} AND {is_like}", rule),
    ]


class FaultQueries:
    """Every way a record can be wrong, column by column."""

    def __init__(
        self,
        plan: RecordQueries,
        broken: Collection[Rule] = record_rules.FAULTS,
        no_block: str | None = None,
        like_block: str | None = None,
    ) -> None:
        """`broken` are the rules that the first pass found broken: what else there may be needs no query.

        `no_block` says in SQL that a row's block is unknown, where `numbered` has looked the block up already, and
        `like_block` that it differs from a known one in leading zeros alone.
        """
        self._plan, self._layout = plan, plan.layout
        self._no_block = no_block or f"NOT {self._among_blocks(str)}"
        self._like_block = like_block or self._among_blocks(without_zeros)
        self.faults = tuple(fault for fault in self._all() if fault.counted in broken)

    def _all(self) -> list[ColumnFault]:
        columns = self._layout.columns
        empty = {name: self._is_empty(name) for name in self._plan.columns_read()}
        found = [ColumnFault(EMPTY_VALUE, name, test, self._counts_empty(name)) for name, test in empty.items()]
        no_empty_block = " AND ".join(f"NOT ({empty[name]})" for name in columns.block)
        unknown_block = f"{no_empty_block} AND {self._no_block}"
        found += _unknown(record_rules.UNKNOWN_BLOCK, " + ".join(columns.block), unknown_block, self._like_block)
        if columns.age:
            in_range = f"COALESCE({self._plan.age()} BETWEEN 0 AND {self._layout.age_bins[0].oldest}, FALSE)"
            out_of_range = f"NOT ({empty[columns.age]}) AND NOT {in_range}"
            found.append(ColumnFault(record_rules.AGE, columns.age, out_of_range, record_rules.AGE))
        if columns.sex:
            sexes = ", ".join(map(quoted, columns.sexes))
            known_sex = f"COALESCE({self._plan.text_of(columns.sex)} IN ({sexes}), FALSE)"
            unknown_sex = f"NOT ({empty[columns.sex]}) AND NOT {known_sex}"
            found.append(ColumnFault(record_rules.SEX, columns.sex, unknown_sex, record_rules.SEX))
        found += self._of_race_codes(empty)
        if columns.ethnicity:
            code = self._plan.code_of(columns.ethnicity)
            unknown = f"NOT ({empty[columns.ethnicity]}) AND {code} < 0"
            found += _unknown(record_rules.ETHNICITY, columns.ethnicity, unknown, self._like_code(columns.ethnicity))
        return found

    def _counts_empty(self, column: str) -> Rule:
        """What the first pass counts a row as that has no value in a column: a value that is not known."""
        columns = self._layout.columns
        of_column = {columns.age: record_rules.AGE, columns.sex: record_rules.SEX}
        of_column |= dict.fromkeys(columns.race_codes, record_rules.UNKNOWN_CODE)
        of_column |= dict.fromkeys(columns.block, record_rules.UNKNOWN_BLOCK)
        return record_rules.ETHNICITY if column == columns.ethnicity else of_column[column]

    def _of_race_codes(self, empty: dict[str, str]) -> list[ColumnFault]:
        names = self._layout.columns.race_codes
        code = {name: self._plan.code_of(name) for name in names}
        none, unknown = RecordQueries.NO_CODE, RecordQueries.UNKNOWN
        found: list[ColumnFault] = []
        for name in names:
            is_unknown = f"NOT ({empty[name]}) AND {code[name]} = {unknown}"
            found += _unknown(record_rules.UNKNOWN_CODE, name, is_unknown, self._like_code(name))
        for before, name in pairwise(names):
            test = f"{code[before]} = {none} AND {code[name]} <> {none}"
            found.append(ColumnFault(record_rules.CODE_AFTER_GAP, name, test, record_rules.CODE_AFTER_GAP))
        too_many = record_rules.TOO_MANY_CODES
        beyond = names[self._layout.max_race_codes :]
        found += [ColumnFault(too_many, name, f"{code[name]} <> {none}", too_many) for name in beyond]
        all_none = " AND ".join(f"{code[name]} = {none}" for name in names)
        found.append(ColumnFault(record_rules.NO_RACE_CODE, names[0], all_none, record_rules.NO_RACE_CODE))
        return found

    def _is_empty(self, column: str) -> str:
        """No text, or a null, is a missing value, unless it says that there is no further race code.

        A null may always say so in Parquet, no text if the release has chosen it as its word for no code.
        """
        name, columns = identifier(column), self._layout.columns
        is_race_code = column in columns.race_codes
        tests = [] if is_race_code else [f"{name} IS NULL"]
        if self._plan.holds_text(column) and not (is_race_code and columns.no_code == ""):
            tests.append(f"COALESCE({name} = '', FALSE)")
        return " OR ".join(tests) or "FALSE"

    def _among_blocks(self, spelled: Callable[[str], str]) -> str:
        """SQL for whether a row's block is one of the geography, with every value spelled in some way."""
        columns = list(enumerate(self._layout.columns.block))
        # Named anew: inside the query a column of the records that is called b0, or blocks, would be these.
        known = ", ".join(f'b{i} AS "safetab block {i}"' for i, _ in columns)
        same = [f"""{spelled(f'"safetab block {i}"')} = {spelled(self._plan.text_of(name))}""" for i, name in columns]
        return f"EXISTS (SELECT 1 FROM (SELECT {known} FROM blocks) AS {_BLOCKS} WHERE {' AND '.join(same)})"

    def _like_code(self, column: str) -> str:
        """SQL for whether a code of the list has the same text but for leading zeros."""
        spelled = sorted({code.lstrip("0") for code in self._layout.codes})
        return f"{without_zeros(self._plan.text_of(column))} IN ({', '.join(map(quoted, spelled))})"

    def _values(self) -> dict[str, str]:
        """The columns whose values may be shown, and what `faulty` calls them."""
        shown = sorted({fault.column for fault in self.faults} & set(self._plan.columns_read()))
        return {name: f"v{number}" for number, name in enumerate(shown)} if self._layout.show_values else {}

    def faulty(self) -> str:
        """The rows that have a fault: where they are, which faults they have, and their values if allowed."""
        flags = ", ".join(f"({fault.condition}) AS f{number}" for number, fault in enumerate(self.faults))
        carried = "".join(f", {self._plan.text_of(name)} AS {alias}" for name, alias in self._values().items())
        return (
            f"SELECT * FROM (SELECT {PART}, {ROW}, {flags}{carried} FROM numbered{self._plan.where()}) "
            f"AS judged WHERE {' OR '.join(f'f{number}' for number in range(len(self.faults)))}"
        )

    def located(self, faulty: str) -> str:
        """For each part, how many rows of a table of `faulty` ones have each fault, and the first few of them."""
        values, chosen = self._values(), []
        for number, fault in enumerate(self.faults):
            value = values.get(fault.column)
            place = f"{{'row': {ROW}, 'value': {value or 'NULL'}}}"
            chosen.append(f"count(*) FILTER (WHERE f{number})")
            chosen.append(f"min({place}, {LINES_SHOWN}) FILTER (WHERE f{number})")
        return f"SELECT {PART}, {', '.join(chosen)} FROM {faulty} GROUP BY {PART} ORDER BY {PART}"

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
                seen = f"broken in {more:,} rows of {len(rest):,} more part files"
                found.append(Finding(fault.rule, self._layout.name, fault.column, count=more, seen=seen))
        return found
