"""Properties of accounting: monotone in every budget, in delta and in s; composition minds no order or brackets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from dp_accounting.rdp.rdp_privacy_accountant import compute_delta, compute_epsilon
from hypothesis import given, settings
from hypothesis import strategies as st

from safetab.accounting.accuracy import moe_95_of_sum, variance_of_sum
from safetab.accounting.analysis import loss_of, printed_curve, renyi_curve, total_rho
from safetab.accounting.calibration import count_budget, level_budget
from safetab.accounting.composition import pld_delta, pld_epsilon
from safetab.accounting.conversion import delta_at, epsilon_at
from safetab.accounting.events import LevelPlan, law_of
from safetab.accounting.stat_levels import stat_level_chances
from safetab.noise.enclosure import ball, working_precision
from safetab.noise.laws import Mechanism

#: What a figure on a grid may wobble by when the grid moves.
WOBBLE = 2e-3

mechanisms = st.sampled_from(list(Mechanism))
budgets = st.fractions(min_value=Fraction(1, 1000), max_value=5, max_denominator=10**6)
deltas = st.integers(min_value=1, max_value=40).map(lambda power: Fraction(1, 10**power))
alphas = st.fractions(min_value=Fraction(101, 100), max_value=60, max_denominator=1000)


@st.composite
def plans(draw: st.DrawFn, mechanism: Mechanism | None = None) -> list[LevelPlan]:
    chosen = mechanism or draw(mechanisms)
    kinds = st.sampled_from([(True, True), (True, False), (False, True)])
    levels = []
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        total_only, two_stage = draw(kinds)
        gamma = draw(st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)]))
        stability = draw(st.integers(min_value=1, max_value=10))
        levels.append(LevelPlan("", chosen, draw(budgets), stability, gamma, total_only, two_stage))
    return levels


@given(plans(), deltas, st.data())
@settings(max_examples=8, deadline=None)
def test_more_budget_never_costs_less(levels: list[LevelPlan], delta: Fraction, data: st.DataObject) -> None:
    which = data.draw(st.integers(min_value=0, max_value=len(levels) - 1))
    factor = data.draw(st.fractions(min_value=1, max_value=3, max_denominator=50))
    richer = [replace(level, budget=level.budget * factor) if i == which else level for i, level in enumerate(levels)]
    before, after = loss_of("", levels, delta), loss_of("", richer, delta)
    assert before.rho <= after.rho
    assert before.rho_quoted <= after.rho_quoted
    assert before.analytic <= after.analytic
    assert before.renyi.value <= after.renyi.value * (1 + 1e-6)
    assert before.pld is not None
    assert after.pld is not None
    assert before.pld <= after.pld * (1 + WOBBLE)
    assert before.epsilon <= after.epsilon * (1 + WOBBLE)


@given(plans(), deltas, deltas)
@settings(max_examples=8, deadline=None)
def test_a_smaller_delta_never_costs_less(levels: list[LevelPlan], one: Fraction, other: Fraction) -> None:
    small, large = sorted((one, other))
    at_small, at_large = loss_of("", levels, small), loss_of("", levels, large)
    assert at_large.analytic <= at_small.analytic
    assert at_large.renyi.value <= at_small.renyi.value * (1 + 1e-6)
    assert at_large.pld is not None
    assert at_small.pld is not None
    assert at_large.pld <= at_small.pld * (1 + WOBBLE)


@given(mechanisms, budgets, st.integers(min_value=1, max_value=9), deltas)
@settings(max_examples=8, deadline=None)
def test_one_more_group_with_the_same_noise_never_costs_less(
    mechanism: Mechanism, share: Fraction, stability: int, delta: Fraction
) -> None:
    few, many = (
        loss_of("", [LevelPlan("", mechanism, share * s, s, Fraction(1, 10))], delta)
        for s in (stability, stability + 1)
    )
    assert few.rho <= many.rho
    assert few.renyi.value <= many.renyi.value * (1 + 1e-6)
    assert few.pld is not None
    assert many.pld is not None
    assert few.pld <= many.pld * (1 + WOBBLE)


@given(plans(), plans(), alphas)
@settings(deadline=None)
def test_composition_adds_up_and_does_not_mind_order(
    one: list[LevelPlan], other: list[LevelPlan], alpha: Fraction
) -> None:
    with working_precision(200):
        for curve in (renyi_curve, printed_curve):
            together = curve([*one, *other])(alpha)
            assert together.overlaps(curve(one)(alpha) + curve(other)(alpha))
            assert together.overlaps(curve([*reversed(other), *one])(alpha))
        assert total_rho([*one, *other]).overlaps(total_rho(one) + total_rho(other))


@given(plans(), st.data())
@settings(max_examples=6, deadline=None)
def test_loss_distributions_do_not_mind_order(levels: list[LevelPlan], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(levels))
    delta = Fraction(1, 10**8)
    assert pld_epsilon(levels, delta) == pytest.approx(pld_epsilon(mixed, delta), rel=1e-6)


@given(plans(), st.fractions(min_value=0, max_value=20, max_denominator=100), st.fractions(min_value=0, max_value=5))
@settings(max_examples=8, deadline=None)
def test_delta_falls_with_epsilon(levels: list[LevelPlan], epsilon: Fraction, more: Fraction) -> None:
    assert pld_delta(levels, epsilon + more) <= pld_delta(levels, epsilon) * (1 + 0.05) + 1e-300


@given(plans(), deltas)
@settings(max_examples=8, deadline=None)
def test_the_tighter_analysis_is_the_smaller(levels: list[LevelPlan], delta: Fraction) -> None:
    loss = loss_of("", levels, delta)
    assert loss.renyi.value <= loss.analytic * (1 + 1e-9)
    assert loss.pld is not None
    assert loss.pld <= loss.renyi.value * (1 + WOBBLE)
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
    assert count_budget(mechanism, moe + 1) < count_budget(mechanism, moe)
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
    law = law_of(mechanism, budget)
    here, larger = (stat_level_chances(law, n, sorted(thresholds)) for n in (size, size + 1))
    assert sum(here) == pytest.approx(1)
    assert larger[0] <= here[0] + 1e-15
    assert larger[3] >= here[3] - 1e-15
