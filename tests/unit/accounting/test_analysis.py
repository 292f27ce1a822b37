"""Every analysis of a plan: levels, runs, the release; extremes; what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from safetab.accounting.analysis import analyse, delta_of, loss_of, printed_curve, renyi_curve
from safetab.accounting.conversion import epsilon_on_grid
from safetab.accounting.events import LevelPlan, ReleasePlan, RunPlan
from safetab.errors import InputError
from safetab.noise.laws import Mechanism

GEOMETRIC, GAUSSIAN = Mechanism.GEOMETRIC, Mechanism.DISCRETE_GAUSSIAN
DELTA = Fraction(1, 10**10)


def level(mechanism: Mechanism, budget: str | float, total_only: bool = True, two_stage: bool = True) -> LevelPlan:
    return LevelPlan("x", mechanism, Fraction(budget), 9, Fraction(1, 10), total_only, two_stage)


def paper_levels(mechanism: Mechanism) -> list[LevelPlan]:
    base = {moe: math.log(20) / (moe + 1) if mechanism is GEOMETRIC else 1.92 / moe**2 for moe in (6, 11, 50)}
    return [level(mechanism, base[moe] * 10) for moe in (6, 6, 11, 11, 50, 50, 50)]


def test_the_papers_plan() -> None:
    geometric, gaussian = (loss_of("", paper_levels(mechanism), DELTA) for mechanism in (GEOMETRIC, GAUSSIAN))
    assert geometric.pure_epsilon is not None
    assert float(geometric.pure_epsilon) == pytest.approx(15.314, abs=1e-3)
    assert geometric.renyi.value == pytest.approx(14.194, abs=1e-3)
    assert gaussian.pure_epsilon is None
    assert gaussian.analytic == pytest.approx(12.791, abs=1e-3)
    assert gaussian.renyi.value == pytest.approx(12.163, abs=1e-3)
    assert gaussian.rho == sum(plan.budget for plan in paper_levels(GAUSSIAN))
    assert geometric.rho < geometric.rho_quoted
    for loss in (geometric, gaussian):
        assert loss.pld is not None
        assert loss.epsilon == loss.pld < loss.renyi.value < loss.analytic


def test_the_papers_theorem_as_printed_and_exact() -> None:
    levels = paper_levels(GEOMETRIC)
    assert f"{epsilon_on_grid(printed_curve(levels), DELTA).value:.2f}" == "13.57"
    assert f"{epsilon_on_grid(renyi_curve(levels), DELTA).value:.2f}" == "14.19"


def test_a_single_geometric_count_always_decides_the_maximum() -> None:
    """With TotalOnly groups in the plan, two-stage ones change nothing; without them the loss is smaller."""
    with_both = loss_of("", [level(GEOMETRIC, 4)] * 5, DELTA)
    only_totals = loss_of("", [level(GEOMETRIC, 4, two_stage=False)] * 5, DELTA)
    only_two_stage = loss_of("", [level(GEOMETRIC, 4, total_only=False)] * 5, DELTA)
    assert with_both == only_totals
    assert only_two_stage.renyi.value < with_both.renyi.value
    assert only_two_stage.rho < with_both.rho
    assert only_two_stage.pld is not None
    assert with_both.pld is not None
    assert only_two_stage.pld < with_both.pld


def test_a_release_costs_its_costliest_run() -> None:
    plan = ReleasePlan(
        (RunPlan("us", (level(GAUSSIAN, 2), level(GAUSSIAN, 1))), RunPlan("pr", (level(GAUSSIAN, "0.5"),)))
    )
    loss = analyse(plan, DELTA)
    us, pr = (run.total for run in loss.runs)
    assert (us.rho, pr.rho, loss.total.rho) == (Fraction(3), Fraction(1, 2), Fraction(3))
    assert loss.total.epsilon == us.epsilon > pr.epsilon
    assert [own.rho for own in loss.runs[0].levels] == [2, 1]
    assert loss.runs[0].levels[0].epsilon < us.epsilon
    assert loss.runs[1].levels[0].epsilon == pr.epsilon


def test_a_run_without_levels_costs_nothing() -> None:
    loss = analyse(ReleasePlan((RunPlan("us", ()),)), DELTA)
    assert loss.total.epsilon == 0
    assert loss.total.rho == 0
    assert delta_of("", [], Fraction(1)).renyi == 0


def test_mechanisms_are_not_mixed() -> None:
    with pytest.raises(InputError, match="ACCOUNT-006"):
        loss_of("", [level(GAUSSIAN, 1), level(GEOMETRIC, 1)], DELTA)


@pytest.mark.parametrize("mechanism", Mechanism)
def test_delta_at_an_epsilon_is_the_other_way_round(mechanism: Mechanism) -> None:
    levels = paper_levels(mechanism)
    loss = loss_of("", levels, DELTA)
    assert loss.pld is not None
    at_renyi = delta_of("", levels, Fraction(loss.renyi.value))
    at_pld = delta_of("", levels, Fraction(loss.pld))
    assert at_renyi.renyi == pytest.approx(1e-10, rel=1e-3)
    assert at_pld.pld == pytest.approx(1e-10, rel=1e-2)
    assert at_renyi.pld is not None
    assert at_renyi.pld < at_renyi.renyi


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("budget", ["1e-100", "1e-12", "1e-6", "1", "1e3", "1e6", "1e18"])
@pytest.mark.parametrize("delta", [Fraction(1), Fraction(1, 2), DELTA, Fraction(1, 10**300)])
def test_extremes_give_finite_figures(mechanism: Mechanism, budget: str, delta: Fraction) -> None:
    loss = loss_of("", [level(mechanism, budget)], delta)
    for figure in (loss.analytic, loss.renyi.value, loss.epsilon, float(loss.rho), float(loss.rho_quoted)):
        assert 0 <= figure < math.inf
    assert loss.pld is None or 0 <= loss.pld < math.inf
    if mechanism is GEOMETRIC:
        assert loss.epsilon <= float(budget) * (1 + 1e-12)
        assert loss.rho <= loss.rho_quoted * Fraction(1 + 1e-15)
    shrunk = delta_of("", [level(mechanism, budget)], Fraction(loss.epsilon))
    assert 0 <= shrunk.renyi <= 1
    assert shrunk.pld is None or 0 <= shrunk.pld <= 1
