"""Accuracy: how far a published count may be from the truth, before it is drawn.

In: the plan of a level and the number of cells of each of its tables. Out: exact margins of error and variances of
every kind of published figure, the paper's formula beside them where it has one. The promise: a margin of error is the
smallest integer that certainly holds with the stated chance. Sections "Error Bounds" of the paper.

These are margins of the noise. They hold for the counts before negative ones are set to 0; that step can only bring a
single count nearer to the truth, but it makes sums of many small cells too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from safetab.accounting.calibration import CONFIDENCE_95, paper_moe
from safetab.accounting.events import LevelPlan, Stage
from safetab.accounting.sums import NoisySum
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


@dataclass(frozen=True, slots=True)
class FigureAccuracy:
    """How accurate one kind of published figure is: `moe` at the confidence asked for, the paper's at 95 %."""

    figure: str
    n_cells: int
    law: Law
    moe: int
    variance: float
    paper_moe: int | None

    @property
    def standard_deviation(self) -> float:
        return sqrt(self.variance)


def level_accuracy(
    level: LevelPlan, age_bins: Sequence[int], n_sexes: int = 2, confidence: Fraction = CONFIDENCE_95
) -> tuple[FigureAccuracy, ...]:
    """Every kind of figure a level publishes; `age_bins` are the numbers of bins at stat levels 1, 2 and 3."""
    figures: list[FigureAccuracy] = []
    if level.has_total_only:
        figures.append(_figure("total of a TotalOnly group", level, Stage.TOTAL_ONLY, 1, confidence))
    if level.has_two_stage:
        figures.append(_figure("stage 1 total, not published", level, Stage.STAGE_1, 1, confidence))
        figures.append(_figure("total or cell of stage 2", level, Stage.STAGE_2, 1, confidence))
        for bins in age_bins:
            cells = n_sexes * bins
            figures.append(_figure(f"sex marginal of {bins} cells", level, Stage.STAGE_2, bins, confidence))
            figures.append(_figure(f"total of {cells} cells", level, Stage.STAGE_2, cells, confidence))
    return tuple(figures)


def _figure(name: str, level: LevelPlan, stage: Stage, n_cells: int, confidence: Fraction) -> FigureAccuracy:
    event = level.event(stage)
    return FigureAccuracy(
        name,
        n_cells,
        event.law,
        moe_of_sum(event.law, n_cells, confidence),
        variance_of_sum(event.law, n_cells),
        # The paper has no formula for sums.
        paper_moe(event.mechanism, float(event.budget)) if n_cells == 1 else None,
    )
