"""T1 recomputed: which rows there are, why each has its detail, its precision, its estimate.

In: the domain of a run and its T1. Out: `Totals`, which T2 is compared with, and findings. The promise: given a stated
stage 1 count and COUNT, every other number of a row follows and is compared. Where negative counts were set to 0, a
COUNT does not say what was drawn; then estimates are compared with the largest that they can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from safetab.accounting.accuracy.margins import moe_95_of_sum, variance_of_sum
from safetab.errors import Finding, Rule
from safetab.estimates import Estimates, estimates_95
from safetab.noise.laws import DiscreteGaussian, Law
from safetab.reading.levels import Level
from safetab.rules import seal_rules
from safetab.verifying.domain import NONE, Integers, RunDomain, column

Flags = npt.NDArray[np.bool_]
ESTIMATE_COLUMNS = ("ESTIMATE", "LOW_95", "HIGH_95")


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """The rows of T1 of one run."""

    domain: RunDomain
    rows: pa.Table
    file: str
    key: Integers
    level: Integers
    total_only: Flags
    count: Integers
    stat_level: Integers

    @classmethod
    def of(cls, domain: RunDomain, rows: pa.Table, file: str) -> Totals:
        key = domain.keys(rows)
        level = domain.level_numbers(key)
        return cls(
            domain,
            rows,
            file,
            key,
            level,
            domain.total_only(key, level),
            column(rows, "COUNT"),
            column(rows, "STAT_LEVEL"),
        )

    def kinds(self) -> Iterator[tuple[Level, int, bool, Flags]]:
        """Rows that were measured and published alike: level, stat level, whether total only, and which they are."""
        most = max(int(self.stat_level.max(initial=0)), 0) + 1
        number = (self.level * most + self.stat_level) * 2 + self.total_only
        for kind in np.unique(number).tolist():
            rest, is_total_only = divmod(kind, 2)
            level, stat_level = divmod(rest, most)
            yield self.domain.levels[level], stat_level, bool(is_total_only), number == kind


def at_wrong_rows(rule: Rule, file: str, wrong: Flags, key: str = "") -> Iterator[Finding]:
    """One finding for all rows that are wrong."""
    if wrong.any():
        rows = (np.flatnonzero(wrong) + 1).tolist()
        yield Finding(rule, file, key=key, lines=tuple(rows[:5]), count=len(rows), unit="row")


def check_keys(totals: Totals) -> Iterator[Finding]:
    """Rows are of groups of the release, in order; levels without suppression have all of theirs."""
    wrong = totals.level == NONE
    wrong[1:] |= np.diff(totals.key) <= 0
    yield from at_wrong_rows(seal_rules.KEYS, totals.file, wrong)
    groups = [len(totals.domain.regions_of(level)) * len(totals.domain.groups_of(level)) for level in _levels(totals)]
    present = np.bincount(totals.level[totals.level >= 0], minlength=len(groups))
    for level, all_groups, found in zip(_levels(totals), groups, present.tolist(), strict=True):
        if level.suppressed_up_to is None and found != all_groups:
            seen = f"{found:,} rows of {all_groups:,} groups"
            yield Finding(seal_rules.KEYS, totals.file, key=f"level {level.name}", seen=seen)
    if sum(groups) - len(totals.key) != totals.domain.entry["suppressed_rows"]:
        yield Finding(seal_rules.NUMBER_OF_ROWS, totals.file, key="suppressed_rows")


def _levels(totals: Totals) -> tuple[Level, ...]:
    return totals.domain.levels


def check_detail(totals: Totals) -> Iterator[Finding]:
    """The stage 1 count reached as many thresholds as the stat level says, and no row should have been left out."""
    has_stage_1 = np.asarray(pc.is_valid(totals.rows["STAGE_1_COUNT"]).to_numpy())
    stage_1 = np.asarray(pc.fill_null(totals.rows["STAGE_1_COUNT"], 0).to_numpy(), dtype=np.int64)
    wrong = has_stage_1 == totals.total_only
    wrong |= totals.total_only & (totals.stat_level != 0)
    for number, level in enumerate(_levels(totals)):
        here = (totals.level == number) & ~totals.total_only
        # One by one: a threshold may be larger than a number of 64 bits, and there are three.
        reached = sum((stage_1[here] >= threshold for threshold in level.thresholds), np.zeros(here.sum(), np.int64))
        wrong[here] |= reached != totals.stat_level[here]
        of_level = totals.level == number
        if level.suppressed_up_to is not None:
            wrong |= of_level & (totals.stat_level == 0) & (totals.count <= level.suppressed_up_to)
        if level.is_clipped:
            wrong |= of_level & (totals.count < 0)
    yield from at_wrong_rows(seal_rules.DETAIL, totals.file, wrong)


def check_precision(totals: Totals) -> Iterator[Finding]:
    """NOISE, VARIANCE and MOE_95 are those of the noise that the ledger states."""
    for level, stat_level, is_total_only, here in totals.kinds():
        law = level.law_of_total(is_total_only=is_total_only)
        n_cells = level.cells[stat_level - 1] if stat_level else 1
        is_selected = stat_level == 0 and level.suppressed_up_to is not None
        wrong = wrong_precision(totals.rows.filter(pa.array(here)), law, n_cells, level, is_selected=is_selected)
        for name, rows in wrong.items():
            yield from at_wrong_rows(seal_rules.PRECISION, totals.file, _spread(here, rows), name)


def wrong_precision(rows: pa.Table, law: Law, n_cells: int, level: Level, *, is_selected: bool) -> dict[str, Flags]:
    """Which rows of one kind have another NOISE, VARIANCE or MOE_95 than they must."""
    variance: float | None = 0.0
    margin: int | None = 0
    noise = "none"
    if level.has_noise:
        noise = "discrete_gaussian" if isinstance(law, DiscreteGaussian) else "geometric"
        is_sum = level.is_clipped and n_cells > 1
        margin = None if is_selected or is_sum else moe_95_of_sum(law, n_cells)
        variance = None if margin is None or level.is_clipped else variance_of_sum(law, n_cells)
    return {
        name: _differs(rows[name], value)
        for name, value in (("NOISE", noise), ("VARIANCE", variance), ("MOE_95", margin))
    }


def _differs(values: pa.ChunkedArray, expected: str | float | None) -> Flags:
    if expected is None:
        return np.asarray(pc.is_valid(values).to_numpy(), dtype=np.bool_)
    return np.asarray(pc.fill_null(pc.not_equal(values, expected), True).to_numpy(), dtype=np.bool_)


def check_estimates(totals: Totals, all_cells_positive: Flags) -> Iterator[Finding]:
    """ESTIMATE, LOW_95 and HIGH_95 follow from COUNT and STAGE_1_COUNT.

    `all_cells_positive` says of each row with a table whether no cell can have been set to 0.
    """
    published = [column(totals.rows, name) for name in ESTIMATE_COLUMNS]
    stage_1 = np.asarray(pc.fill_null(totals.rows["STAGE_1_COUNT"], 0).to_numpy(), dtype=np.int64)
    wrong = np.zeros((3, len(totals.key)), dtype=np.bool_)
    for level, stat_level, is_total_only, here in totals.kinds():
        counts = totals.count[here]
        if not level.has_noise:
            expected = Estimates(counts, counts, counts)
        else:
            kind = level.row_kind(stat_level, is_total_only=is_total_only)
            expected = estimates_95(kind.published, None if is_total_only else stage_1[here], counts)
        is_exact = np.ones(counts.shape, dtype=np.bool_)
        if level.is_clipped and level.has_noise:
            is_exact = all_cells_positive[here] if stat_level else counts > 0
        for number, most in enumerate((expected.estimate, expected.low_95, expected.high_95)):
            found = published[number][here]
            wrong[number, here] = np.where(is_exact, found != most, (found > most) | (found < 0))
    wrong[0] |= (published[0] < published[1]) | (published[0] > published[2])
    for name, rows in zip(ESTIMATE_COLUMNS, wrong, strict=True):
        yield from at_wrong_rows(seal_rules.ESTIMATES, totals.file, rows, name)


def _spread(here: Flags, wrong: Flags) -> Flags:
    """Flags of some rows as flags of all rows."""
    found = np.zeros(here.shape, dtype=np.bool_)
    found[here] = wrong
    return found
