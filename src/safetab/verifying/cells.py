"""T2 recomputed: its cells, their sums, their precision, their estimates.

In: T1 of a run and its T2. Out: findings, and for each group whether none of its cells can have been set to 0. The
promise: T2 has exactly the cells of the groups with a table, in order, and they add up to the sex marginals and to T1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.errors import Finding
from safetab.reading.levels import Level
from safetab.rules import seal_rules
from safetab.verifying.domain import Detail, Integers, column
from safetab.verifying.totals import ESTIMATE_COLUMNS, Flags, Totals, at_wrong_rows, wrong_precision

_ALL_AGES = ("*", "*")


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows that T2 of a run must have, given its T1."""

    totals: Totals
    rows: pa.Table
    file: str

    @property
    def detail(self) -> Detail:
        return self.totals.domain.detail

    @cached_property
    def with_table(self) -> Integers:
        """The places in T1 of the groups with a table."""
        return np.flatnonzero(self.totals.stat_level > 0)

    @cached_property
    def _stat_level(self) -> Integers:
        return self.totals.stat_level[self.with_table]

    @cached_property
    def _patterns(self) -> list[tuple[list[str], list[int], list[bool]]]:
        """For each stat level from 1 on: the age label, the sex and whether it is a sum over ages, of each row."""
        found = []
        for stat_level in range(1, len(self.detail.starts) + 1):
            labels = self.detail.labels(stat_level)
            ages = [*([_ALL_AGES] if self.detail.has_marginals else []), *labels]
            sexes = range(len(self.detail.sexes))
            found.append(
                (
                    ["|".join(age) for age in ages for _ in sexes],
                    [sex for _ in ages for sex in sexes],
                    [self.detail.has_marginals and number == 0 for number in range(len(ages)) for _ in sexes],
                )
            )
        return found

    @cached_property
    def _rows_of_group(self) -> Integers:
        sizes = np.array([0] + [len(sexes) for _, sexes, _ in self._patterns], dtype=np.int64)
        return sizes[self._stat_level]

    @property
    def expected_rows(self) -> int:
        return int(self._rows_of_group.sum())

    @cached_property
    def group(self) -> Integers:
        """The number of the group of each row."""
        return np.repeat(np.arange(len(self.with_table)), self._rows_of_group)

    @cached_property
    def _place(self) -> Integers:
        """The place of each row in the patterns of all stat levels, end to end."""
        first = np.cumsum([0, 0] + [len(sexes) for _, sexes, _ in self._patterns])[:-1]
        begin = np.cumsum(self._rows_of_group) - self._rows_of_group
        within = np.arange(self.expected_rows) - np.repeat(begin, self._rows_of_group)
        return np.asarray(np.repeat(first[self._stat_level], self._rows_of_group) + within)

    @cached_property
    def sex(self) -> Integers:
        return np.array([sex for _, sexes, _ in self._patterns for sex in sexes], dtype=np.int64)[self._place]

    @cached_property
    def is_marginal(self) -> Flags:
        flags = [flag for _, _, marginal in self._patterns for flag in marginal]
        return np.array(flags, dtype=np.bool_)[self._place]

    @cached_property
    def count(self) -> Integers:
        return column(self.rows, "COUNT")

    def check_keys(self) -> Iterator[Finding]:
        """Each group with a table has all its rows, in order."""
        labels = pa.array([label for labels, _, _ in self._patterns for label in labels], pa.string())
        expected = labels.take(pa.array(self._place)) if len(labels) else pa.array([], pa.string())
        found = pc.binary_join_element_wise(self.rows["AGESTART"], self.rows["AGEEND"], "|")
        sexes = pa.array(list(self.detail.sexes)).take(pa.array(self.sex))
        wrong = self.totals.domain.keys(self.rows) != self.totals.key[self.with_table][self.group]
        wrong |= column(self.rows, "STAT_LEVEL") != self._stat_level[self.group]
        for column_found, column_expected in ((found, expected), (self.rows["SEX"], sexes)):
            same = pc.fill_null(pc.equal(column_found, pa.chunked_array([column_expected])), False)
            wrong |= ~np.asarray(same.to_numpy(), dtype=np.bool_)
        yield from at_wrong_rows(seal_rules.CELLS, self.file, wrong)

    def check_sums(self) -> Iterator[Finding]:
        """Cells add up to the totals of T1 and to the sex marginals."""
        cells = ~self.is_marginal
        sums = np.zeros(len(self.with_table), dtype=np.int64)
        np.add.at(sums, self.group[cells], self.count[cells])
        wrong = np.zeros(len(self.totals.key), dtype=np.bool_)
        wrong[self.with_table] = sums != self.totals.count[self.with_table]
        yield from at_wrong_rows(seal_rules.SUMS, self.totals.file, wrong, "COUNT")
        by_sex = np.zeros(len(self.with_table) * len(self.detail.sexes), dtype=np.int64)
        place = self.group * len(self.detail.sexes) + self.sex
        np.add.at(by_sex, place[cells], self.count[cells])
        yield from at_wrong_rows(seal_rules.SUMS, self.file, self.is_marginal & (by_sex[place] != self.count), "COUNT")

    def check_numbers(self) -> Iterator[Finding]:
        """Precision and estimates, one kind of rows after another."""
        wrong: dict[str, Flags] = {
            name: np.zeros(len(self.group), dtype=np.bool_)
            for name in ("NOISE", "VARIANCE", "MOE_95", *ESTIMATE_COLUMNS)
        }
        level_of_row = self.totals.level[self.with_table][self.group]
        stat_of_row = self._stat_level[self.group]
        kind = (level_of_row * (len(self._patterns) + 1) + stat_of_row) * 2 + self.is_marginal
        for number in np.unique(kind).tolist():
            here = kind == number
            rest, is_marginal = divmod(number, 2)
            level_number, stat_level = divmod(rest, len(self._patterns) + 1)
            level = self.totals.domain.levels[level_number]
            n_cells = len(self.detail.starts[stat_level - 1]) if is_marginal else 1
            rows, law = self.rows.filter(pa.array(here)), level.law_of_total(is_total_only=False)
            found = wrong_precision(rows, law, n_cells, level, is_selected=False)
            found |= wrong_estimates(rows, level, n_cells)
            for name, flags in found.items():
                wrong[name][here] = flags
        for name, flags in wrong.items():
            rule = seal_rules.ESTIMATES if name in ESTIMATE_COLUMNS else seal_rules.PRECISION
            yield from at_wrong_rows(rule, self.file, flags, name)

    def all_positive(self) -> Flags:
        """For each row of T1 with a table, whether no cell of it can have been set to 0."""
        found = np.ones(len(self.totals.key), dtype=np.bool_)
        is_zero = (self.count == 0) & ~self.is_marginal
        found[self.with_table[np.unique(self.group[is_zero])]] = False
        return found


def wrong_estimates(rows: pa.Table, level: Level, n_cells: int) -> dict[str, Flags]:
    """Which rows of one kind have an estimate that is not their noisy count, or an interval that is not its margin.

    Where negative counts were set to 0, a cell of 0 was drawn at most 0, and a sum of cells at most its COUNT.
    """
    count = column(rows, "COUNT")
    estimate, low, high = (column(rows, name) for name in ESTIMATE_COLUMNS)
    if not level.has_noise:
        return {name: column(rows, name) != count for name in ESTIMATE_COLUMNS}
    margin = moe_95_of_sum(level.law_of_total(is_total_only=False), n_cells)
    if not level.is_clipped:
        expected = np.maximum(count, 0), np.maximum(count - margin, 0), np.maximum(count + margin, 0)
        return {
            name: found != value
            for name, found, value in zip(ESTIMATE_COLUMNS, (estimate, low, high), expected, strict=True)
        }
    wrong = estimate > count if n_cells > 1 else estimate != count
    return {
        "ESTIMATE": wrong | (estimate < 0),
        "LOW_95": low != np.maximum(estimate - margin, 0),
        "HIGH_95": np.where(estimate > 0, high != estimate + margin, (high < 0) | (high > margin)),
    }
