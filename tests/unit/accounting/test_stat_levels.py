"""Chances of stat levels and of seeing an empty group, against plain sums over the noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from safetab.accounting.events import LevelPlan
from safetab.accounting.stat_levels import empty_group_chances, stat_level_chances
from safetab.noise.laws import DiscreteGaussian, Mechanism, TwoSidedGeometric
from tests.oracle import laws as oracle


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("true_count", [0, 4, 5, 12, 40])
@pytest.mark.parametrize("thresholds", [(5, 10, 20), (5, 5, 20), (-3, 0, 0)])
def test_stat_levels_are_counted_thresholds(
    mechanism: Mechanism, true_count: int, thresholds: tuple[int, int, int]
) -> None:
    geometric = mechanism is Mechanism.GEOMETRIC
    law = TwoSidedGeometric(Fraction("0.2")) if geometric else DiscreteGaussian(Fraction(30))
    pmf = oracle.geometric_pmf(0.2, 300) if geometric else oracle.gaussian_pmf(30, 300)
    expected = [0.0] * 4
    for noise, chance in zip(range(-300, 301), pmf, strict=True):
        expected[sum(threshold <= true_count + noise for threshold in thresholds)] += chance
    chances = stat_level_chances(law, true_count, thresholds)
    assert chances == pytest.approx(expected, abs=1e-12)
    assert sum(chances) == pytest.approx(1)


def level(mechanism: Mechanism, budget: str = "1.8") -> LevelPlan:
    return LevelPlan("(COUNTY, 2)", mechanism, Fraction(budget), 3, Fraction("0.1"))


@pytest.mark.parametrize("mechanism", Mechanism)
def test_an_empty_group_is_seen_as_a_total_or_as_a_table(mechanism: Mechanism) -> None:
    plan = level(mechanism)
    chances = empty_group_chances(plan, (5, 10, 20), Fraction("0.99"))
    stage_1, stage_2 = (
        oracle.geometric_pmf(budget, 600)
        if mechanism is Mechanism.GEOMETRIC
        else oracle.gaussian_pmf(1 / (2 * budget), 600)
        for budget in (0.06, 0.54)
    )
    assert chances.threshold is not None
    lifted = stage_1[600 + 5 :].sum()
    survives = stage_2[600 + chances.threshold + 1 :].sum()
    assert survives <= 0.01 < stage_2[600 + chances.threshold :].sum()
    assert chances.as_table == pytest.approx(lifted)
    assert chances.as_total == pytest.approx((1 - lifted) * survives)
    assert chances.seen == chances.as_total + chances.as_table


def test_a_total_only_group_has_no_stage_1() -> None:
    plan = level(Mechanism.DISCRETE_GAUSSIAN)
    chances = empty_group_chances(plan, (5, 10, 20), Fraction("0.99"), total_only=True)
    assert chances.as_table == 0
    assert 0 < chances.as_total <= 0.01


def test_without_suppression_every_empty_group_is_seen() -> None:
    chances = empty_group_chances(level(Mechanism.GEOMETRIC), (5, 10, 20), None)
    assert chances.threshold is None
    assert chances.seen == pytest.approx(1)


def test_production_thresholds_of_suppression() -> None:
    for budget, t in (("0.008", 93), ("0.159", 21)):
        plan = LevelPlan("(COUNTY, 1)", Mechanism.DISCRETE_GAUSSIAN, Fraction(budget), 9, Fraction("0.1"))
        assert empty_group_chances(plan, (4971, 19971, 149971), Fraction("0.9999")).threshold == t


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("budget", ["1e-12", "1e6"])
def test_extreme_budgets_have_chances_between_0_and_1(mechanism: Mechanism, budget: str) -> None:
    plan = level(mechanism, budget)
    law = plan.events[1].law
    for chance in (
        *stat_level_chances(law, 7, (5, 10, 20)),
        empty_group_chances(plan, (5, 9, 9), Fraction("0.5")).seen,
    ):
        assert 0 <= chance <= 1
