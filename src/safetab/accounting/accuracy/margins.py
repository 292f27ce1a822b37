"""Margins of error: how far a published count may be from the truth, before it is drawn.

In: the events of a level and the number of cells of each of its tables. Out: exact margins of error and variances of
every kind of published figure, the paper's formula beside them where it has one. The promise: a margin of error is the
smallest integer that certainly holds with the stated chance. Sections "Error Bounds" of the paper.

These are margins of the noise. They hold for the counts before negative ones are set to 0 and small ones suppressed;
`pipeline/precision.py` says for which published numbers they still hold after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from safetab.accounting.accuracy.calibration import CONFIDENCE_95
from safetab.accounting.accuracy.noisy_sums import NoisySum
from safetab.accounting.events import LevelEvents, Stage
from safetab.accounting.paper.formulas import paper_moe
from safetab.noise.laws import Law

_BITS = 80


@lru_cache(maxsize=4096, typed=True)
def moe_of_sum(law: Law, n_cells: int, confidence: Fraction = CONFIDENCE_95) -> int:
    """The smallest m such that the sum of `n_cells` cells' noise is at most m in size with this chance, certified."""
    return NoisySum(law, n_cells).two_sided_quantile(confidence)


def moe_95_of_sum(law: Law, n_cells: int) -> int:
    """The 95 % margin of error of a sum of `n_cells` noisy cells; of one count with `n_cells` 1."""
    return moe_of_sum(law, n_cells)


@lru_cache(maxsize=4096, typed=True)
def variance_of_sum(law: Law, n_cells: int) -> float:
    """The variance of the noise of a sum of `n_cells` cells, to the nearest float."""
    return float(NoisySum(law, n_cells).variance(_BITS))


class FigureKind(Enum):
    """The kinds of figures that differ in their noise."""

    TOTAL_ONLY_TOTAL = "total_only_total"
    STAGE_1_TOTAL = "stage_1_total"
    STAGE_2_COUNT = "stage_2_count"
    SEX_MARGINAL = "sex_marginal"
    SUM_OF_CELLS = "sum_of_cells"


_STAGES = {
    FigureKind.TOTAL_ONLY_TOTAL: Stage.TOTAL_ONLY,
    FigureKind.STAGE_1_TOTAL: Stage.STAGE_1,
    FigureKind.STAGE_2_COUNT: Stage.STAGE_2,
    FigureKind.SEX_MARGINAL: Stage.STAGE_2,
    FigureKind.SUM_OF_CELLS: Stage.STAGE_2,
}
_WORDS = {
    FigureKind.TOTAL_ONLY_TOTAL: "total of a TotalOnly group",
    FigureKind.STAGE_1_TOTAL: "stage 1 total, STAGE_1_COUNT of T1",
    FigureKind.STAGE_2_COUNT: "total or cell of stage 2",
    FigureKind.SEX_MARGINAL: "sex marginal of {} cells",
    FigureKind.SUM_OF_CELLS: "total of {} cells",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One kind of figure, and how many noisy cells it is the sum of."""

    kind: FigureKind
    n_cells: int = 1

    @property
    def words(self) -> str:
        """For people."""
        return _WORDS[self.kind].format(self.n_cells)


@dataclass(frozen=True, slots=True)
class FigureAccuracy:
    """How accurate a figure is: `moe` at the confidence asked for, the paper's at 95 %."""

    figure: Figure
    law: Law
    moe: int
    variance: float
    paper_moe: int | None

    @property
    def standard_deviation(self) -> float:
        return sqrt(self.variance)


def figures_of(level: LevelEvents, age_bins: Sequence[int], n_sexes: int = 2) -> tuple[Figure, ...]:
    """Every kind of figure a level measures; `age_bins` are the numbers of bins at the stat levels from 1 on.

    With one sex, or one age bin, a sex marginal is a figure that there is already.
    """
    figures = [Figure(FigureKind.TOTAL_ONLY_TOTAL)] if level.has_total_only else []
    if level.has_two_stage:
        figures += [Figure(FigureKind.STAGE_1_TOTAL), Figure(FigureKind.STAGE_2_COUNT)]
        for bins in age_bins:
            if n_sexes > 1 and bins > 1:
                figures.append(Figure(FigureKind.SEX_MARGINAL, bins))
            figures.append(Figure(FigureKind.SUM_OF_CELLS, n_sexes * bins))
    return tuple(figures)


def level_accuracy(level: LevelEvents, age_bins: Sequence[int], n_sexes: int = 2) -> tuple[FigureAccuracy, ...]:
    """The accuracy of every kind of figure of a level."""
    return tuple(_accuracy(figure, level) for figure in figures_of(level, age_bins, n_sexes))


def _accuracy(figure: Figure, level: LevelEvents) -> FigureAccuracy:
    event = level.event(_STAGES[figure.kind])
    return FigureAccuracy(
        figure,
        event.law,
        moe_of_sum(event.law, figure.n_cells),
        variance_of_sum(event.law, figure.n_cells),
        # The paper has no formula for sums.
        paper_moe(event.mechanism, float(event.budget)) if figure.n_cells == 1 else None,
    )
