"""Budgets keep what they promise, and the next decimal does not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from safetab.accounting.events import LevelEvents, Stage
from safetab.accounting.privacy_loss import analyse, loss_of
from safetab.noise.laws import Mechanism
from safetab.params.load import load
from safetab.planning import budget_for_total_moe, largest_scaling, moe_95_of_estimate
from safetab.planning.budgets import FACTOR_DIGITS, Runs
from tests.profile import size
from tests.worlds.merovia import MEROVIA

DELTA = Fraction(1, 10**10)


def level(
    mechanism: Mechanism, budget: str = "1", *, has_total_only: bool = True, has_two_stage: bool = True
) -> LevelEvents:
    return LevelEvents("", mechanism, Fraction(budget), 9, Fraction("0.1"), has_total_only, has_two_stage)


def margin(noise: LevelEvents, budget: Fraction, cells: int) -> int:
    tried = replace(noise, budget=budget)
    return moe_95_of_estimate(tried.event(Stage.STAGE_1).law, tried.event(Stage.STAGE_2).law, cells)


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize(("moe", "cells"), [(6, 46), (30, 46), (100, 18)])
def test_the_budget_is_the_least_that_keeps_the_margin(mechanism: Mechanism, moe: int, cells: int) -> None:
    noise = level(mechanism)
    budget = budget_for_total_moe(noise, moe, cells)
    unit = Fraction(10) ** (len(str(int(budget * 10**20))) - 20 - 5)
    assert budget % unit == 0
    assert margin(noise, budget, cells) <= moe
    for fewer in range(1, size(quick=4, long=40)):
        assert margin(noise, budget - fewer * unit, cells) > moe


def test_a_level_of_totals_keeps_the_margin_of_the_total() -> None:
    noise = level(Mechanism.DISCRETE_GAUSSIAN, has_two_stage=False)
    budget = budget_for_total_moe(noise, 6, 46)
    unit = Fraction(10) ** (len(str(int(budget * 10**20))) - 20 - 5)
    for tried, is_kept in ((budget, True), (budget - unit, False)):
        law = replace(noise, budget=tried).event(Stage.TOTAL_ONLY).law
        assert (law.two_sided_quantile(Fraction(95, 100)) <= 6) is is_kept


def epsilon_of(runs: Runs, factor: Fraction, delta: Fraction) -> float:
    """The larger of the runs' least epsilons, by loss distributions alone: never above what the release reports."""
    scaled = {name: [replace(each, budget=each.budget * factor) for each in levels] for name, levels in runs.items()}
    return analyse(scaled, delta).total.epsilon


RUNS: dict[str, Runs] = {
    "one Gaussian level": {"a": [level(Mechanism.DISCRETE_GAUSSIAN)]},
    "two runs": {
        "a": [level(Mechanism.DISCRETE_GAUSSIAN), level(Mechanism.DISCRETE_GAUSSIAN, "0.2")],
        "b": [level(Mechanism.DISCRETE_GAUSSIAN, "1.5", has_total_only=False)],
    },
    "geometric": {"a": [level(Mechanism.GEOMETRIC), level(Mechanism.GEOMETRIC, "0.3")]},
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(("epsilon", "delta"), [("0.01", "1e-3"), ("9.5", "1e-10")])
def test_the_factor_is_the_largest_that_stays_within_epsilon(name: str, epsilon: str, delta: str) -> None:
    found = largest_scaling(RUNS[name], Fraction(epsilon), Fraction(delta))
    assert found is not None
    digits = len(str(int(found.factor * 10**30)))
    unit = Fraction(10) ** (digits - 30 - FACTOR_DIGITS)
    assert found.factor % unit == 0
    assert epsilon_of(RUNS[name], found.factor, Fraction(delta)) == found.epsilon <= Fraction(epsilon)
    assert epsilon_of(RUNS[name], found.factor + unit, Fraction(delta)) > Fraction(epsilon)


def test_an_epsilon_of_0_may_have_a_factor() -> None:
    """With little enough budget two neighbours differ by less than delta altogether."""
    found = largest_scaling(RUNS["geometric"], Fraction(0), Fraction(1, 1000))
    assert found is not None
    assert 0 < found.factor < Fraction(1, 100)
    assert found.epsilon == epsilon_of(RUNS["geometric"], found.factor, Fraction(1, 1000)) == 0


def test_a_release_that_is_within_already_is_scaled_up() -> None:
    runs = load(MEROVIA / "params").plan.noise_of_run
    now = analyse(runs, DELTA).total.epsilon
    up, down = (largest_scaling(runs, Fraction(now) * share, DELTA) for share in (2, Fraction(1, 2)))
    assert up is not None
    assert down is not None
    assert down.factor < 1 < up.factor


def test_the_production_plan_gains_an_eighth_over_the_analytic_conversion(census_2020: Path) -> None:
    runs = load(census_2020).plan.noise_of_run
    total = analyse(runs, DELTA).total
    found = largest_scaling(runs, Fraction(total.epsilon_zcdp_analytic), DELTA)
    assert found is not None
    assert 1.12 < found.factor < 1.14
    alone = loss_of("us", [replace(each, budget=each.budget * found.factor) for each in runs["us"]], DELTA)
    assert alone.epsilon_zcdp_analytic > Fraction(total.epsilon_zcdp_analytic) >= Fraction(alone.epsilon)


@pytest.mark.parametrize(
    ("runs", "epsilon", "delta"),
    [
        ({}, "1", "1e-10"),
        ({"a": []}, "1", "1e-10"),
        (RUNS["one Gaussian level"], "1", "1"),
    ],
)
def test_where_no_factor_is_the_largest_there_is_none(runs: Runs, epsilon: str, delta: str) -> None:
    assert largest_scaling(runs, Fraction(epsilon), Fraction(delta)) is None
