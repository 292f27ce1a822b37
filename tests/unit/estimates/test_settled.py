"""Rows made ready for sums, by enumeration: the promise of `settled` for every true count, no chance involved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.estimates.publication import Publication
from safetab.estimates.settled import FAR, TWELVE, RowKind, settle
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric
from tests import profile
from tests.oracle.estimates import Row, centred

CHANCE = 1e-4
#: What floats and the chances that are left out may add.
SLACK = 2 * FAR + 1e-10


def law(mechanism: str, scale: Fraction) -> Law:
    return DiscreteGaussian(scale) if mechanism == "gaussian" else TwoSidedGeometric(scale)


def excess(kind: RowKind, row: Row, n: int, weight: int) -> tuple[float, float]:
    """By how much the lower and the upper end break their promises, at the worst place."""
    x, chance_x, s, chance_s = row.counts(n)
    x, chance_x = x[chance_x > 0], chance_x[chance_x > 0]
    s, chance_s = s[chance_s > 0], chance_s[chance_s > 0]
    chance_x, chance_s = chance_x / chance_x.sum(), chance_s / chance_s.sum()
    xs, sums = (grid.ravel() for grid in np.meshgrid(x, s, indexing="ij"))
    chances = (chance_x[:, None] * chance_s[None, :]).ravel()
    settled = settle(kind, xs if weight else None, sums, CHANCE)
    free = Row(row.stage_1 if weight else np.ones(1), row.sum_of_cells, weight, TWELVE - weight)
    values, noise = free.law_of_t(0)
    floored = values if kind.floor is None else np.maximum(values, TWELVE * kind.floor)
    return tail_excess(settled.low - TWELVE * n, chances, floored, noise), tail_excess(
        TWELVE * n - settled.high, chances, -values[::-1], noise[::-1]
    )


def tail_excess(errors: np.ndarray, chances: np.ndarray, values: np.ndarray, noise: np.ndarray) -> float:
    """The largest P[error >= y] - P[noise >= y]."""
    points = np.unique(errors)
    order = np.argsort(errors)
    beyond = np.cumsum(chances[order][::-1])[::-1]
    ours = beyond[np.searchsorted(errors[order], points)]
    tails = np.append(np.cumsum(noise[::-1])[::-1], 0.0)
    theirs = tails[np.searchsorted(values, points)]
    return float((ours - theirs).max())


@pytest.mark.parametrize(("mechanism", "scale"), [("gaussian", "4"), ("gaussian", "0.7"), ("geometric", "0.5")])
@pytest.mark.parametrize("up_to", [0, 7])
@pytest.mark.parametrize("rows", [1, 10, None])
def test_totals_that_survived_suppression(mechanism: str, scale: str, up_to: int, rows: int | None) -> None:
    """In sums of a few and of some rows, with their floors, and without a floor."""
    noise = law(mechanism, Fraction(scale))
    kind = RowKind(Publication.total_only(noise, up_to))
    kind = kind if rows is None else kind.for_sum_of(rows)
    assert (kind.floor is None) == (rows is None)
    row = Row(np.ones(1), centred(mechanism, float(Fraction(scale))), 0, TWELVE, least=up_to + 1)
    assert kind.weight == 0
    for n in range(40):
        if row.chance_published(n) > 1e-12:
            low, high = excess(kind, row, n, 0)
            assert low <= CHANCE + SLACK, n
            assert high <= SLACK, n


@pytest.mark.parametrize(
    ("mechanism", "scales", "cells"),
    [
        ("gaussian", ("9", "1.5"), 3),
        ("gaussian", ("2", "4"), 2),
        pytest.param("geometric", ("0.4", "1.1"), 4, marks=pytest.mark.long),
        ("geometric", ("0.4", "1.1"), 2),
    ],
)
@pytest.mark.parametrize("stat_level", [1, 3])
def test_totals_whose_stage_1_count_chose_the_stat_level(
    mechanism: str, scales: tuple[str, str], cells: int, stat_level: int
) -> None:
    stage_1, stage_2 = (law(mechanism, Fraction(scale)) for scale in scales)
    thresholds = (10, 18, 26)
    kind = RowKind(Publication.two_stage(stage_1, stage_2, cells, thresholds, stat_level))
    lo = thresholds[stat_level - 1]
    row = Row(
        centred(mechanism, float(Fraction(scales[0]))),
        centred(mechanism, float(Fraction(scales[1])), cells),
        kind.weight,
        TWELVE - kind.weight,
        lo=lo,
        hi=thresholds[stat_level] if stat_level < 3 else np.inf,
    )
    assert 0 < kind.weight < TWELVE
    for n in range(0, 60, profile.size(quick=8, long=4)):
        if row.chance_published(n) > 1e-9:
            low, high = excess(kind, row, n, kind.weight)
            assert low <= 2 * CHANCE + SLACK, n
            assert high <= 2 * CHANCE + SLACK, n


def test_what_was_not_selected_stays_as_it_is() -> None:
    kind = RowKind(Publication.total_only(DiscreteGaussian(Fraction(5))))
    settled = settle(kind, None, np.array([-3, 0, 12]), CHANCE)
    for part in (settled.centre, settled.low, settled.high):
        assert part.tolist() == [-36, 0, 144]


def test_far_from_thresholds_ends_are_the_centre() -> None:
    stage_1, stage_2 = DiscreteGaussian(Fraction(15000, 53)), DiscreteGaussian(Fraction(5000, 159))
    kind = RowKind(Publication.two_stage(stage_1, stage_2, 46, (971, 4971, 19971), 3))
    settled = settle(kind, np.array([19971, 30000]), np.array([19900, 30010]), CHANCE)
    assert settled.low[1] == settled.centre[1] == settled.high[1] == 10 * 30000 + 2 * 30010
    assert settled.low[0] < settled.centre[0]


def test_a_count_that_was_set_to_0_is_not_trusted_below() -> None:
    law_of_cell = DiscreteGaussian(Fraction(4))
    clipped = RowKind(Publication.two_stage(law_of_cell, law_of_cell, 8, (5, 10, 20), 1), is_clipped=True)
    assert clipped.weight == 0
    assert {part.floor for part in clipped.parts_above} == {0}
    assert {part.floor for part in clipped.parts} == {None}
