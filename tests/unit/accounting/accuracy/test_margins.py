"""Every figure of a level has its margin, and an identity that is not its words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from safetab.accounting.accuracy.margins import Figure, FigureKind, level_accuracy, moe_95_of_sum
from safetab.accounting.events import LevelEvents
from safetab.noise.laws import Mechanism


def test_every_figure_of_a_level_has_its_margin() -> None:
    level = LevelEvents("(USA, 2)", Mechanism.DISCRETE_GAUSSIAN, Fraction("0.534"), 9, Fraction("0.1"))
    found = {accuracy.figure: accuracy for accuracy in level_accuracy(level, (4, 9, 23))}
    assert [figure.n_cells for figure in found] == [1, 1, 1, 4, 8, 9, 18, 23, 46]
    stage_2, total = found[Figure(FigureKind.STAGE_2_COUNT)], found[Figure(FigureKind.SUM_OF_CELLS, 46)]
    assert (stage_2.moe, stage_2.paper_moe) == (6, 5)
    assert total.moe == moe_95_of_sum(stage_2.law, 46) == 41
    assert total.paper_moe is None
    assert total.variance == pytest.approx(46 * stage_2.variance)
    assert total.standard_deviation == pytest.approx((46 * stage_2.variance) ** 0.5)
    other_country = level_accuracy(level, (3, 7, 14), n_sexes=3)
    assert [accuracy.figure.n_cells for accuracy in other_country][3:] == [3, 9, 7, 21, 14, 42]


def test_figures_for_people() -> None:
    figures = [
        Figure(FigureKind.TOTAL_ONLY_TOTAL),
        Figure(FigureKind.SEX_MARGINAL, 4),
        Figure(FigureKind.SUM_OF_CELLS, 8),
    ]
    assert [figure.words for figure in figures] == [
        "total of a TotalOnly group",
        "sex marginal of 4 cells",
        "total of 8 cells",
    ]
    assert len({Figure(kind, 4).words for kind in FigureKind}) == len(FigureKind)
