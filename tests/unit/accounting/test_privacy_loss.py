"""The privacy loss of levels, runs and the release under every theory; extremes; what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from safetab.accounting.privacy_loss import analyse, costliest, delta_of, loss_of
from safetab.noise.laws import Mechanism
from tests.unit.accounting.plans import DELTA, GAUSSIAN, GEOMETRIC, level, paper_levels


def test_the_papers_plan() -> None:
    geometric, gaussian = (loss_of("", paper_levels(mechanism), DELTA) for mechanism in (GEOMETRIC, GAUSSIAN))
    assert geometric.pure_epsilon is not None
    assert float(geometric.pure_epsilon) == pytest.approx(15.314, abs=1e-3)
    assert geometric.renyi.value == pytest.approx(14.194, abs=1e-3)
    assert gaussian.pure_epsilon is None
    assert gaussian.epsilon_zcdp_analytic == pytest.approx(12.791, abs=1e-3)
    assert gaussian.renyi.value == pytest.approx(12.163, abs=1e-3)
    assert gaussian.rho == sum(plan.budget for plan in paper_levels(GAUSSIAN))
    assert geometric.rho < geometric.rho_quoted
    for loss in (geometric, gaussian):
        assert loss.epsilon_loss_distribution is not None
        assert loss.epsilon == loss.epsilon_loss_distribution < loss.renyi.value < loss.epsilon_zcdp_analytic


def test_a_single_geometric_count_always_decides_the_maximum() -> None:
    """With TotalOnly groups in the plan, two-stage ones change nothing; without them the loss is smaller."""
    with_both = loss_of("", [level(GEOMETRIC, 4)] * 5, DELTA)
    only_totals = loss_of("", [level(GEOMETRIC, 4, two_stage=False)] * 5, DELTA)
    only_two_stage = loss_of("", [level(GEOMETRIC, 4, total_only=False)] * 5, DELTA)
    assert with_both == only_totals
    assert only_two_stage.renyi.value < with_both.renyi.value
    assert only_two_stage.rho < with_both.rho
    assert only_two_stage.epsilon_loss_distribution is not None
    assert with_both.epsilon_loss_distribution is not None
    assert only_two_stage.epsilon_loss_distribution < with_both.epsilon_loss_distribution


def test_a_release_costs_its_costliest_run() -> None:
    plan = {"us": (level(GAUSSIAN, 2), level(GAUSSIAN, 1)), "pr": (level(GAUSSIAN, "0.5"),)}
    loss = analyse(plan, DELTA)
    us, pr = (run.total for run in loss.runs)
    assert (us.rho, pr.rho, loss.total.rho) == (Fraction(3), Fraction(1, 2), Fraction(3))
    assert loss.total.epsilon == us.epsilon > pr.epsilon
    assert [own.rho for own in loss.runs[0].levels] == [2, 1]
    assert loss.runs[0].levels[0].epsilon < us.epsilon
    assert loss.runs[1].levels[0].epsilon == pr.epsilon


def test_a_run_without_levels_costs_nothing() -> None:
    loss = analyse({"us": ()}, DELTA)
    assert loss.total.epsilon == 0
    assert loss.total.rho == 0
    assert delta_of("", [], Fraction(1)).delta_renyi == 0


def test_mechanisms_are_not_mixed() -> None:
    with pytest.raises(ValueError, match=r"^levels use two noise mechanisms: pass levels with"):
        loss_of("", [level(GAUSSIAN, 1), level(GEOMETRIC, 1)], DELTA)


@pytest.mark.parametrize("mechanism", Mechanism)
def test_delta_at_an_epsilon_is_the_other_way_round(mechanism: Mechanism) -> None:
    levels = paper_levels(mechanism)
    loss = loss_of("", levels, DELTA)
    assert loss.epsilon_loss_distribution is not None
    at_renyi = delta_of("", levels, Fraction(loss.renyi.value))
    at_pld = delta_of("", levels, Fraction(loss.epsilon_loss_distribution))
    assert at_renyi.delta_renyi == pytest.approx(1e-10, rel=1e-3)
    assert at_pld.delta_loss_distribution == pytest.approx(1e-10, rel=1e-2)
    assert at_renyi.delta_loss_distribution is not None
    assert at_renyi.delta_loss_distribution < at_renyi.delta_renyi


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("budget", ["1e-100", "1e-12", "1e-6", "1", "1e3", "1e6", "1e18"])
@pytest.mark.parametrize("delta", [Fraction(1), Fraction(1, 2), DELTA, Fraction(1, 10**300)])
def test_extremes_give_finite_figures(mechanism: Mechanism, budget: str, delta: Fraction) -> None:
    loss = loss_of("", [level(mechanism, budget)], delta)
    for figure in (loss.epsilon_zcdp_analytic, loss.renyi.value, loss.epsilon, float(loss.rho), float(loss.rho_quoted)):
        assert 0 <= figure < math.inf
    assert loss.epsilon_loss_distribution is None or 0 <= loss.epsilon_loss_distribution < math.inf
    if mechanism is GEOMETRIC:
        assert loss.epsilon <= float(budget) * (1 + 1e-12)
        assert loss.rho <= loss.rho_quoted * Fraction(1 + 1e-15)
    shrunk = delta_of("", [level(mechanism, budget)], Fraction(loss.epsilon))
    assert 0 <= shrunk.delta_renyi <= 1
    assert shrunk.delta_loss_distribution is None or 0 <= shrunk.delta_loss_distribution <= 1


@pytest.mark.parametrize("mechanism", Mechanism)
def test_public_figures_are_upper_bounds(mechanism: Mechanism) -> None:
    loss = loss_of("run", paper_levels(mechanism), DELTA)
    figures = loss.as_json()
    assert list(figures) == [
        "budget",
        "pure_epsilon",
        "rho",
        "rho_quoted",
        "epsilon",
        "epsilon_zcdp_analytic",
        "epsilon_renyi",
        "epsilon_renyi_alpha",
        "epsilon_loss_distribution",
    ]
    for name in ("budget", "pure_epsilon", "rho", "rho_quoted"):
        exact, text = getattr(loss, name), figures[name]
        assert (text is None) == (exact is None)
        if exact is not None:
            assert isinstance(text, str)
            assert exact <= Fraction(text) <= exact * (1 + Fraction(1, 10**11))
    assert figures["epsilon"] == loss.epsilon == loss.epsilon_loss_distribution
    assert figures["epsilon_renyi"] == loss.renyi.value
    assert figures["epsilon_renyi_alpha"] == float(loss.renyi.alpha)


def test_a_budget_that_is_a_short_decimal_is_published_as_it_is() -> None:
    figures = loss_of("", [level(GAUSSIAN, "0.159"), level(GAUSSIAN, "0.008")], DELTA).as_json()
    assert (figures["budget"], figures["rho"], figures["pure_epsilon"]) == ("0.167", "0.167", None)
    assert loss_of("", [level(GEOMETRIC, "4.27")], DELTA).as_json()["pure_epsilon"] == "4.27"


def test_the_costliest_of_several_is_the_largest_under_each_theory() -> None:
    cheap, dear = (loss_of("", [level(GAUSSIAN, budget)], DELTA) for budget in ("0.1", "3"))
    assert costliest([cheap, dear]) == replace(dear, name="release")
    beyond = replace(cheap, epsilon_loss_distribution=None)
    assert costliest([beyond, dear]).epsilon_loss_distribution is None
    assert costliest([beyond, dear]).epsilon == dear.renyi.value
    assert costliest([]).epsilon == 0
