"""Rényi divergences against plain summation, and the conversions to (epsilon, delta)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from safetab.accounting.renyi import (
    PAPER_GRID,
    Curve,
    delta_at,
    delta_minimised,
    epsilon_at,
    epsilon_minimised,
    epsilon_on_grid,
    renyi_curve,
    renyi_divergence,
)
from safetab.accounting.rounding import float_above
from safetab.accounting.zcdp import epsilon_analytic
from safetab.noise.ball_arithmetic import ball
from tests.oracle import privacy as oracle
from tests.unit.accounting.plans import DELTA, GAUSSIAN, GEOMETRIC, paper_levels


@pytest.mark.parametrize("epsilon", ["0.01", "0.0475", "0.4755", "1", "3", "12"])
@pytest.mark.parametrize("alpha", ["1.01", "2", "2.5", "8.78", "40"])
def test_the_geometric_divergence_is_the_sum_over_the_integers(epsilon: str, alpha: str) -> None:
    exact = float(renyi_divergence(GEOMETRIC, Fraction(epsilon), Fraction(alpha)))
    p, q = oracle.pair("geometric", float(epsilon), int(60 / float(epsilon)) + 10)
    assert exact == pytest.approx(oracle.renyi(p, q, float(alpha)), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("rho", ["0.005", "0.0593", "0.5", "2"])
@pytest.mark.parametrize("alpha", ["1.5", "2", "3", "5.25", "9"])
def test_the_gaussian_bound_holds_and_is_attained_at_whole_orders(rho: str, alpha: str) -> None:
    bound = float(renyi_divergence(GAUSSIAN, Fraction(rho), Fraction(alpha)))
    p, q = oracle.pair("gaussian", float(rho), int(60 / math.sqrt(float(rho))))
    plain = oracle.renyi(p, q, float(alpha))
    assert plain <= bound * (1 + 1e-9)
    if Fraction(alpha).denominator == 1:
        assert plain == pytest.approx(bound, rel=1e-9)


def gaussian_curve(rho: str) -> Curve:
    return lambda alpha: ball(Fraction(rho) * alpha)


@pytest.mark.parametrize(("rho", "delta"), [("1.407", "1e-10"), ("0.01", "1e-6"), ("20", "1e-30"), ("1e-8", "1e-3")])
def test_the_minimiser_beats_any_grid_and_the_analytic_bound(rho: str, delta: str) -> None:
    found = epsilon_minimised(gaussian_curve(rho), Fraction(delta))
    assert found.value <= epsilon_on_grid(gaussian_curve(rho), Fraction(delta)).value * (1 + 1e-9)
    assert found.value <= epsilon_analytic(ball(Fraction(rho)), Fraction(delta))
    near = [found.alpha + (found.alpha - 1) * Fraction(step, 100) for step in range(-50, 51)]
    best_near = min(float_above(epsilon_at(gaussian_curve(rho), alpha, Fraction(delta))) for alpha in near)
    assert found.value <= max(best_near, 0.0) * (1 + 1e-7)


def test_both_directions_of_the_conversion_agree() -> None:
    for alpha in (Fraction("1.5"), Fraction("4.9"), Fraction(30)):
        epsilon = epsilon_at(gaussian_curve("1.4"), alpha, DELTA)
        exact = Fraction(float(epsilon))
        assert float(delta_at(gaussian_curve("1.4"), alpha, exact)) == pytest.approx(float(DELTA), rel=1e-9)
    found = delta_minimised(gaussian_curve("1.4"), Fraction(epsilon_minimised(gaussian_curve("1.4"), DELTA).value))
    assert found.value == pytest.approx(float(DELTA), rel=1e-4)


def test_the_papers_grid() -> None:
    assert PAPER_GRID[0] == Fraction("1.01")
    assert PAPER_GRID[-1] == 10
    assert len(PAPER_GRID) == 900


@pytest.mark.parametrize("rho", ["1e-100", "1e-12", "1", "1e6", "1e18"])
@pytest.mark.parametrize("delta", [Fraction(1), Fraction(1, 2), DELTA, Fraction(1, 10**300), Fraction(1, 10**5000)])
def test_any_rho_and_any_delta_give_a_finite_figure(rho: str, delta: Fraction) -> None:
    analytic = epsilon_analytic(ball(Fraction(rho)), delta)
    found = epsilon_minimised(gaussian_curve(rho), delta)
    assert 0 <= found.value < math.inf
    assert 0 <= analytic < math.inf
    if delta < 1:
        assert found.value <= analytic * (1 + 1e-6)
    shrunk = delta_minimised(gaussian_curve(rho), Fraction(found.value))
    assert 0 <= shrunk.value <= 1


def test_the_papers_theorem_with_the_exact_divergence() -> None:
    assert f"{epsilon_on_grid(renyi_curve(paper_levels(GEOMETRIC)), DELTA).value:.2f}" == "14.19"
