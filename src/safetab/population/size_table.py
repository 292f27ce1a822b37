"""A user's table of sizes of groups: ITERATION_CODE and COUNT, perhaps of regions.

In: the table, the iterations of a release, and the rules as the asking command states them. Out: findings. Promise: a
table without findings has a whole number of persons for each group, and no group twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from safetab.errors import Finding, Rule
from safetab.files.text import TextTable, at_rows, repeated_rows
from safetab.population.iterations import IterationCatalogue

CODE, COUNT = "ITERATION_CODE", "COUNT"
_MOST_DIGITS = 11


@dataclass(frozen=True, slots=True)
class SizeRules:
    """What a size must satisfy: its number, its code, and that its group has no other."""

    count: Rule
    code: Rule
    twice: Rule


def size_findings(
    table: TextTable, catalogue: IterationCatalogue, rules: SizeRules, region_columns: Sequence[str] = ()
) -> list[Finding]:
    """Counts that are no whole numbers, codes that no iteration has, and groups that appear twice."""
    codes, counts = table.column(CODE), table.column(COUNT)
    known = {iteration.code for iteration in catalogue.iterations}
    groups: list[Hashable] = list(zip(*map(table.column, region_columns), codes, strict=True))
    wrong = (
        (rules.count, COUNT, [row for row, count in enumerate(counts) if not _is_count(count)]),
        (rules.code, CODE, [row for row, code in enumerate(codes) if code not in known]),
        (rules.twice, CODE, repeated_rows(groups)),
    )
    return [finding_of_value(rule, table, rows, column) for rule, column, rows in wrong if rows]


def finding_of_value(rule: Rule, table: TextTable, rows: Sequence[int], column: str) -> Finding:
    """A finding that quotes the first wrong value: sizes are public."""
    return at_rows(rule, table, rows, key=column, seen=repr(table.column(column)[rows[0]]))


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
