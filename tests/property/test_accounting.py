"""Properties of accounting: monotone in every budget, in delta and in s; composition does not depend on order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.rdp.rdp_privacy_accountant import compute_delta, compute_epsilon
from hypothesis import example, given, settings
from hypothesis import strategies as st

from safetab.accounting.accuracy.calibration import level_budget
from safetab.accounting.accuracy.margins import moe_95_of_sum, variance_of_sum
from safetab.accounting.events import LevelEvents, law_of
from safetab.accounting.loss_distributions.composed import pld_delta, pld_epsilon
from safetab.accounting.privacy_loss import loss_of
from safetab.accounting.renyi import delta_at, epsilon_at, renyi_curve
from safetab.accounting.zcdp import total_rho
from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.laws import Mechanism
from safetab.planning import DetailRule, chances_of

#: What a figure on a grid may wobble by when the grid moves.
WOBBLE = 2e-3

mechanisms = st.sampled_from(list(Mechanism))
budgets = st.fractions(min_value=Fraction(1, 1000), max_value=5, max_denominator=10**6)
deltas = st.integers(min_value=1, max_value=40).map(lambda power: Fraction(1, 10**power))
alphas = st.fractions(min_value=Fraction(101, 100), max_value=60, max_denominator=1000)


@st.composite
def plans(draw: st.DrawFn, mechanism: Mechanism | None = None) -> list[LevelEvents]:
    chosen = mechanism or draw(mechanisms)
    kinds = st.sampled_from([(True, True), (True, False), (False, True)])
    levels = []
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        total_only, two_stage = draw(kinds)
        gamma = draw(st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)]))
        stability = draw(st.integers(min_value=1, max_value=10))
        levels.append(LevelEvents("", chosen, draw(budgets), stability, gamma, total_only, two_stage))
    return levels


@given(plans(), deltas, st.data())
@settings(max_examples=8, deadline=None)
def test_more_budget_never_costs_less(levels: list[LevelEvents], delta: Fraction, data: st.DataObject) -> None:
    which = data.draw(st.integers(min_value=0, max_value=len(levels) - 1))
    factor = data.draw(st.fractions(min_value=1, max_value=3, max_denominator=50))
    richer = [replace(level, budget=level.budget * factor) if i == which else level for i, level in enumerate(levels)]
    before, after = loss_of("", levels, delta), loss_of("", richer, delta)
    assert before.rho <= after.rho
    assert before.rho_quoted <= after.rho_quoted
    assert before.epsilon_zcdp_analytic <= after.epsilon_zcdp_analytic
    assert before.renyi.value <= after.renyi.value * (1 + 1e-6)
    assert before.epsilon_loss_distribution is not None
    assert after.epsilon_loss_distribution is not None
    assert before.epsilon_loss_distribution <= after.epsilon_loss_distribution * (1 + WOBBLE)
    assert before.epsilon <= after.epsilon * (1 + WOBBLE)


@given(plans(), deltas, deltas)
@settings(max_examples=8, deadline=None)
def test_a_smaller_delta_never_costs_less(levels: list[LevelEvents], one: Fraction, other: Fraction) -> None:
    small, large = sorted((one, other))
    at_small, at_large = loss_of("", levels, small), loss_of("", levels, large)
    assert at_large.epsilon_zcdp_analytic <= at_small.epsilon_zcdp_analytic
    assert at_large.renyi.value <= at_small.renyi.value * (1 + 1e-6)
    assert at_large.epsilon_loss_distribution is not None
    assert at_small.epsilon_loss_distribution is not None
    assert at_large.epsilon_loss_distribution <= at_small.epsilon_loss_distribution * (1 + WOBBLE)


@given(mechanisms, budgets, st.integers(min_value=1, max_value=9), deltas)
@settings(max_examples=8, deadline=None)
def test_one_more_group_with_the_same_noise_never_costs_less(
    mechanism: Mechanism, share: Fraction, stability: int, delta: Fraction
) -> None:
    few, many = (
        loss_of("", [LevelEvents("", mechanism, share * s, s, Fraction(1, 10))], delta)
        for s in (stability, stability + 1)
    )
    assert few.rho <= many.rho
    assert few.renyi.value <= many.renyi.value * (1 + 1e-6)
    assert few.epsilon_loss_distribution is not None
    assert many.epsilon_loss_distribution is not None
    assert few.epsilon_loss_distribution <= many.epsilon_loss_distribution * (1 + WOBBLE)


@given(plans(), plans(), alphas)
@settings(deadline=None)
def test_composition_adds_up_and_does_not_mind_order(
    one: list[LevelEvents], other: list[LevelEvents], alpha: Fraction
) -> None:
    with working_precision(200):
        together = renyi_curve([*one, *other])(alpha)
        assert together.overlaps(renyi_curve(one)(alpha) + renyi_curve(other)(alpha))
        assert together.overlaps(renyi_curve([*reversed(other), *one])(alpha))
        assert total_rho([*one, *other]).overlaps(total_rho(one) + total_rho(other))


@given(plans(), st.data())
@settings(max_examples=6, deadline=None)
def test_loss_distributions_do_not_mind_order(levels: list[LevelEvents], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(levels))
    delta = Fraction(1, 10**8)
    assert pld_epsilon(levels, delta) == pytest.approx(pld_epsilon(mixed, delta), rel=1e-6)


@given(plans(), st.fractions(min_value=0, max_value=20, max_denominator=100), st.fractions(min_value=0, max_value=5))
@example(
    [LevelEvents("", Mechanism.DISCRETE_GAUSSIAN, Fraction(93, 1000), 1, Fraction(1, 10))],
    Fraction(83, 10),
    Fraction(1),
)
@example([LevelEvents("", Mechanism.DISCRETE_GAUSSIAN, Fraction(1, 500), 1, Fraction(1, 10))], Fraction(1), Fraction(1))
@settings(max_examples=8, deadline=None)
def test_delta_falls_with_epsilon(levels: list[LevelEvents], epsilon: Fraction, more: Fraction) -> None:
    assert pld_delta(levels, epsilon + more) <= pld_delta(levels, epsilon) * (1 + 0.05) + 1e-300


@given(plans(), deltas)
@settings(max_examples=8, deadline=None)
def test_the_tighter_analysis_is_the_smaller(levels: list[LevelEvents], delta: Fraction) -> None:
    loss = loss_of("", levels, delta)
    assert loss.renyi.value <= loss.epsilon_zcdp_analytic * (1 + 1e-9)
    assert loss.epsilon_loss_distribution is not None
    assert loss.epsilon_loss_distribution <= loss.renyi.value * (1 + WOBBLE)
    assert loss.rho <= loss.rho_quoted


@given(budgets, alphas.filter(lambda alpha: alpha > Fraction(102, 100)), deltas)
@settings(max_examples=50, deadline=None)
def test_the_conversion_is_that_of_dp_accounting(rho: Fraction, alpha: Fraction, delta: Fraction) -> None:
    epsilon = float(epsilon_at(lambda order: ball(rho * order), alpha, delta))
    theirs, _ = compute_epsilon([float(alpha)], [float(rho * alpha)], float(delta))
    # That package also knows a second bound, which is never the larger.
    assert float(theirs) <= max(epsilon, 0.0) * (1 + 1e-9) + 1e-12
    if epsilon > 0:
        shrunk = float(delta_at(lambda order: ball(rho * order), alpha, Fraction(epsilon)))
        their_delta, _ = compute_delta([float(alpha)], [float(rho * alpha)], epsilon)
        assert float(their_delta) <= shrunk * (1 + 1e-6)


@given(mechanisms, st.integers(min_value=0, max_value=200), st.integers(min_value=1, max_value=12))
@settings(max_examples=40, deadline=None)
def test_a_wider_target_costs_less_and_more_groups_cost_more(mechanism: Mechanism, moe: int, stability: int) -> None:
    wider, narrower = (level_budget(mechanism, target, 1, Fraction(0)) for target in (moe + 1, moe))
    assert wider < narrower
    one, more = (level_budget(mechanism, moe, s, Fraction(1, 10)) for s in (stability, stability + 1))
    assert one < more


@given(mechanisms, budgets, st.integers(min_value=1, max_value=50))
@settings(max_examples=40, deadline=None)
def test_more_cells_and_less_budget_widen_the_margin(mechanism: Mechanism, budget: Fraction, cells: int) -> None:
    law, wider = law_of(mechanism, budget), law_of(mechanism, budget / 2)
    assert moe_95_of_sum(law, cells) <= moe_95_of_sum(law, cells + 1)
    assert moe_95_of_sum(law, cells) <= moe_95_of_sum(wider, cells)
    assert variance_of_sum(law, cells) < variance_of_sum(wider, cells)


@given(mechanisms, budgets, st.integers(0, 300), st.lists(st.integers(-50, 400), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_stat_level_chances_add_up_and_rise_with_size(
    mechanism: Mechanism, budget: Fraction, size: int, thresholds: list[int]
) -> None:
    noise = LevelEvents("", mechanism, budget, 1, Fraction("0.1"))
    rule = DetailRule(noise, tuple(sorted(thresholds)), (1, 8, 18, 46), Fraction("0.9"))
    chances = chances_of(rule, np.array([size, size + 1]))
    here, larger = chances.stat_levels
    assert chances.published[0] <= chances.published[1] + 1e-15
    assert sum(here) == pytest.approx(1)
    assert larger[0] <= here[0] + 1e-15
    assert larger[3] >= here[3] - 1e-15
