"""How the rows of a release were measured and published, from its ledger.

In: ledger.json and data-dictionary.json. Out: for each run and geography and iteration level a `Level`, which says of
any row its noise, what it was selected by, and whether it could have been left out. The promise: laws are exact
rationals as the ledger has them, and nothing here depends on a count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from safetab.estimates.left_out import Suppressible
from safetab.estimates.publication import Publication
from safetab.estimates.settled import RowKind
from safetab.noise.laws import DiscreteGaussian, Law, Mechanism, TwoSidedGeometric

#: A power of ten that nobody means and no memory holds.
_FAR = re.compile(r"e[+-]?[\d_]{4}", re.IGNORECASE)


@dataclass(frozen=True)
class Level:
    """One population group level of one run."""

    run: str
    geography: str
    iteration_level: int
    is_local: bool
    thresholds: tuple[int, ...]
    stage_1: Law | None
    stage_2: Law | None
    total_only: Law | None
    suppressed_up_to: int | None
    #: How many cells a table of stat level 1, 2, 3 has.
    cells: tuple[int, ...]
    is_clipped: bool
    has_noise: bool

    @property
    def name(self) -> str:
        return f"({self.geography}, {self.iteration_level})"

    def row_kind(self, stat_level: int, *, is_total_only: bool) -> RowKind:
        """How totals at a stat level were measured and published."""
        return _row_kind(self, stat_level, is_total_only)

    def law_of_total(self, *, is_total_only: bool) -> Law:
        """The noise of a total at stat level 0, or of a cell; without sex and age every group has one stage."""
        law = self.total_only if is_total_only or self.stage_2 is None else self.stage_2
        assert law is not None  # noqa: S101
        return law

    def suppressible(self, *, is_total_only: bool) -> Suppressible | None:
        """What a total at stat level 0 is left out by; None where none is."""
        if self.suppressed_up_to is None or not self.has_noise:
            return None
        return Suppressible(self.law_of_total(is_total_only=is_total_only), self.suppressed_up_to)


@lru_cache(maxsize=512)
def _row_kind(level: Level, stat_level: int, is_total_only: bool) -> RowKind:
    law, left_out = level.law_of_total(is_total_only=is_total_only), level.suppressed_up_to
    if is_total_only or level.stage_1 is None:
        return RowKind(Publication.total_only(law, left_out), level.is_clipped)
    n_cells = level.cells[stat_level - 1] if stat_level else 1
    known = Publication.two_stage(level.stage_1, law, n_cells, level.thresholds, stat_level, left_out)
    return RowKind(known, level.is_clipped)


def read_levels(ledger: Mapping[str, Any], dictionary: Mapping[str, Any]) -> list[Level]:
    """The levels of every run, as the ledger lists them."""
    sexes = len(dictionary["sexes"])
    cells = tuple(sexes * len(starts) for _, starts in sorted(dictionary["age_starts"].items()))
    return [_level(level, run["name"], ledger, cells) for run in ledger["runs"] for level in run["levels"]]


def _level(level: Mapping[str, Any], run: str, ledger: Mapping[str, Any], cells: tuple[int, ...]) -> Level:
    measured = {part["stage"]: part for part in level["measurements"]}
    laws = {stage: _law(part) for stage, part in measured.items()}
    left_out = {part["suppressed_up_to"] for part in measured.values()} - {None}
    return Level(
        run=run,
        geography=level["geography"],
        iteration_level=level["iteration_level"],
        is_local=level["is_local"],
        thresholds=tuple(level["thresholds"]),
        stage_1=laws.get("stage 1"),
        stage_2=laws.get("stage 2"),
        total_only=laws.get("total only"),
        suppressed_up_to=min(left_out) if left_out else None,
        cells=cells,
        is_clipped=not ledger["allow_negative_counts"],
        has_noise=ledger["has_noise"],
    )


def _law(part: Mapping[str, Any]) -> Law:
    if Mechanism(part["mechanism"]) is Mechanism.DISCRETE_GAUSSIAN:
        return DiscreteGaussian(ledger_number(part["sigma_squared"]))
    return TwoSidedGeometric(1 / ledger_number(part["scale"]))


def ledger_number(text: str) -> Fraction:
    """The fraction that decimal text or a ratio of the ledger stands for; ValueError for anything else."""
    if _FAR.search(text):
        raise ValueError("not a number of a ledger")
    return Fraction(text)
