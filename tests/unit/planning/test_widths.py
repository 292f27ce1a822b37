"""How wide intervals are by size: against an oracle that tries every pair of noisy counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.accounting.events import LevelEvents
from safetab.estimates.weights import weights
from safetab.noise.laws import Mechanism
from safetab.planning import DetailRule, by_size, chances_of, count_half_width, estimate_half_widths, sizes_of_interest
from tests.oracle import planning as oracle
from tests.oracle.estimates import Oracle, Row, centred

THRESHOLDS = (30, 60, 90)


def rule(mechanism: Mechanism, chance: str | None = None, budget: str = "0.5") -> DetailRule:
    noise = LevelEvents("", mechanism, Fraction(budget), 1, Fraction("0.25"))
    return DetailRule(noise, THRESHOLDS, (1, 2, 4, 6), None if chance is None else Fraction(chance))


def row_of(planned: DetailRule, mechanism: Mechanism, stat_level: int) -> Row:
    def noise(share: str, cells: int = 1) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        budget = float(planned.noise.budget * Fraction(share))
        parameter = budget if mechanism is Mechanism.GEOMETRIC else 1 / (2 * budget)
        return centred("geometric" if mechanism is Mechanism.GEOMETRIC else "gaussian", parameter, cells)

    edges = (-np.inf, *THRESHOLDS, np.inf)
    dropped = planned.dropped_up_to()
    return Row(
        noise("0.25"),
        noise("0.75", planned.cells[stat_level]),
        *weights(planned.stage_1, planned.stage_2, planned.cells[stat_level]),
        lo=edges[stat_level],
        hi=edges[stat_level + 1],
        least=-np.inf if dropped is None or stat_level else dropped + 1,
    )


@pytest.mark.parametrize(
    ("mechanism", "stat_level", "chance", "sizes"),
    [
        (Mechanism.DISCRETE_GAUSSIAN, 0, "0.99", (0, 3, 15, 30)),
        (Mechanism.DISCRETE_GAUSSIAN, 1, None, (30, 45, 60)),
        (Mechanism.DISCRETE_GAUSSIAN, 3, None, (90, 100)),
        (Mechanism.GEOMETRIC, 0, "0.99", (0, 3, 15, 30)),
        (Mechanism.GEOMETRIC, 1, None, (30, 45, 60)),
    ],
)
def test_the_average_is_that_of_all_pairs(
    mechanism: Mechanism, stat_level: int, chance: str | None, sizes: tuple[int, ...]
) -> None:
    planned = rule(mechanism, chance, "2" if mechanism is Mechanism.GEOMETRIC else "0.5")
    found = estimate_half_widths(planned, stat_level, np.array(sizes))
    row = row_of(planned, mechanism, stat_level)
    judge = Oracle(row, max(sizes) + 45)
    for size, half_width in zip(sizes, found, strict=True):
        assert half_width == pytest.approx(oracle.half_width(row, judge, size), rel=0.01, abs=0.25)


def test_production_widths_by_distance_from_a_threshold() -> None:
    """County level 2, as a prototype found them: 29.7 far away, and widest below the threshold."""
    noise = LevelEvents("", Mechanism.DISCRETE_GAUSSIAN, Fraction("0.159"), 9, Fraction("0.1"))
    planned = DetailRule(noise, (971, 4971, 19971), (1, 8, 18, 46), Fraction("0.9999"))
    far, at, below = estimate_half_widths(planned, 3, np.array([40_000, 19_971, 19_954]))
    assert far == pytest.approx(29.7, abs=0.1)
    assert far < at < below == pytest.approx(51.7, rel=0.05)
    assert count_half_width(planned, 3) == 75
    assert estimate_half_widths(planned, 1, np.array([3000]))[0] == pytest.approx(22.2, abs=0.1)
    assert estimate_half_widths(planned, 2, np.array([10_000]))[0] == pytest.approx(26.6, abs=0.1)


@pytest.mark.parametrize("mechanism", Mechanism)
def test_nothing_is_said_where_no_group_has_the_stat_level(mechanism: Mechanism) -> None:
    found = estimate_half_widths(rule(mechanism, budget="2"), 3, np.array([0, 1000]))
    assert np.isnan(found[0])
    assert found[1] > 0
    noise = rule(mechanism).noise
    coinciding = DetailRule(noise, (30, 30, 90), (1, 2, 4, 6), None)
    assert np.isnan(estimate_half_widths(coinciding, 1, np.array([30]))).all()


def test_wide_noise_has_widths_in_proportion() -> None:
    near, far = (
        DetailRule(
            LevelEvents("", Mechanism.DISCRETE_GAUSSIAN, Fraction(budget), 1, Fraction("0.25")),
            tuple(times * threshold for threshold in (3_000, 10**6, 10**7)),
            (1, 2, 4, 6),
            None,
        )
        for budget, times in (("1e-3", 1), ("1e-7", 100))
    )
    (one,), (hundred,) = (
        estimate_half_widths(each, 1, np.array([3_000 * times])) for each, times in ((near, 1), (far, 100))
    )
    assert hundred == pytest.approx(100 * one, rel=0.02)


@pytest.mark.parametrize("mechanism", Mechanism)
def test_the_table_by_size_has_chances_and_widths_of_the_probable_stat_level(mechanism: Mechanism) -> None:
    planned = rule(mechanism, "0.99")
    sizes = sizes_of_interest(planned)
    assert {0, 1, 10, *THRESHOLDS} <= set(sizes)
    assert list(sizes) == sorted(set(sizes))
    rows = by_size(planned, sizes)
    chances = chances_of(planned, np.array(sizes))
    for number, row in enumerate(rows):
        assert row.size == sizes[number]
        assert list(row.stat_levels) == chances.stat_levels[number].tolist()
        assert row.published == chances.published[number]
        assert row.stat_levels[row.probable] == max(row.stat_levels)
        (width,) = estimate_half_widths(planned, row.probable, np.array([row.size]))
        assert row.half_width == width
        assert row.relative_half_width == (None if row.size == 0 else width / row.size)
    assert {row.probable for row in rows} == {0, 1, 2, 3}
