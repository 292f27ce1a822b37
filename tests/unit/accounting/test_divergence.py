"""Rényi divergences against plain summation, the paper's printed formula, and the conversions to (epsilon, delta)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from safetab.accounting.conversion import (
    PAPER_GRID,
    AtAlpha,
    delta_at,
    delta_minimised,
    epsilon_analytic,
    epsilon_at,
    epsilon_minimised,
    epsilon_on_grid,
    upward,
)
from safetab.accounting.divergence import printed_divergence, renyi_divergence, zcdp_rho
from safetab.errors import InputError
from safetab.noise.enclosure import ball, working_precision
from safetab.noise.laws import Mechanism
from tests.oracle import privacy as oracle

GEOMETRIC, GAUSSIAN = Mechanism.GEOMETRIC, Mechanism.DISCRETE_GAUSSIAN
DELTA = Fraction(1, 10**10)


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


@pytest.mark.parametrize("moe", [6, 11, 50])
def test_the_printed_divergence_claims_too_much_at_the_papers_parameters(moe: int) -> None:
    epsilon = Fraction(math.log(20) / (moe + 1) / 0.9)
    for alpha in (Fraction(3, 2), Fraction(2), Fraction("7.36"), Fraction("8.78")):
        assert printed_divergence(epsilon, alpha) < renyi_divergence(GEOMETRIC, epsilon, alpha)


def test_the_printed_divergence_is_the_papers_expression() -> None:
    e, a = 0.4755, 7.36
    inner = 2 * a / (e * (2 * a - 1)) * math.exp((a - 1) * e) + 2 * (a - 1) / (e * (2 * a - 1)) * math.exp(-a * e)
    plain = math.log((math.exp(e) - 1) / (math.exp(e) + 1) * inner) / (a - 1)
    assert float(printed_divergence(Fraction("0.4755"), Fraction("7.36"))) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("epsilon", ["0.01", "0.4755", "2", "10"])
def test_the_tight_rho_of_the_geometric_is_the_supremum(epsilon: str) -> None:
    budget = Fraction(epsilon)
    orders = [1 + Fraction(text) for text in ("1e-6", "1e-3", "0.1", "1", "10", "100")]
    with working_precision(200):
        rho = zcdp_rho(GEOMETRIC, budget)
        ratios = [renyi_divergence(GEOMETRIC, budget, alpha) / ball(alpha) for alpha in orders]
        assert all(ratio < rho for ratio in ratios)
    assert [float(ratio) for ratio in ratios] == sorted((float(ratio) for ratio in ratios), reverse=True)
    assert float(ratios[0]) == pytest.approx(float(rho), rel=1e-4)
    assert rho < ball(budget**2 / 2)


def zcdp(rho: str) -> Any:
    return lambda alpha: ball(Fraction(rho) * alpha)


@pytest.mark.parametrize(("rho", "delta"), [("1.407", "1e-10"), ("0.01", "1e-6"), ("20", "1e-30"), ("1e-8", "1e-3")])
def test_the_minimiser_beats_any_grid_and_the_analytic_bound(rho: str, delta: str) -> None:
    found = epsilon_minimised(zcdp(rho), Fraction(delta))
    assert found.value <= epsilon_on_grid(zcdp(rho), Fraction(delta)).value * (1 + 1e-9)
    assert found.value <= epsilon_analytic(ball(Fraction(rho)), Fraction(delta))
    near = [found.alpha + (found.alpha - 1) * Fraction(step, 100) for step in range(-50, 51)]
    best_near = min(upward(epsilon_at(zcdp(rho), alpha, Fraction(delta))) for alpha in near)
    assert found.value <= max(best_near, 0.0) * (1 + 1e-7)


def test_both_directions_of_the_conversion_agree() -> None:
    for alpha in (Fraction("1.5"), Fraction("4.9"), Fraction(30)):
        epsilon = epsilon_at(zcdp("1.4"), alpha, DELTA)
        exact = Fraction(float(epsilon))
        assert float(delta_at(zcdp("1.4"), alpha, exact)) == pytest.approx(float(DELTA), rel=1e-9)
    found = delta_minimised(zcdp("1.4"), Fraction(epsilon_minimised(zcdp("1.4"), DELTA).value))
    assert found.value == pytest.approx(float(DELTA), rel=1e-4)


def test_the_papers_grid() -> None:
    assert PAPER_GRID[0] == Fraction("1.01")
    assert PAPER_GRID[-1] == 10
    assert len(PAPER_GRID) == 900


@pytest.mark.parametrize("rho", ["1e-100", "1e-12", "1", "1e6", "1e18"])
@pytest.mark.parametrize("delta", [Fraction(1), Fraction(1, 2), DELTA, Fraction(1, 10**300), Fraction(1, 10**5000)])
def test_any_rho_and_any_delta_give_a_finite_figure(rho: str, delta: Fraction) -> None:
    analytic = epsilon_analytic(ball(Fraction(rho)), delta)
    found = epsilon_minimised(zcdp(rho), delta)
    assert 0 <= found.value < math.inf
    assert 0 <= analytic < math.inf
    if delta < 1:
        assert found.value <= analytic * (1 + 1e-6)
    shrunk = delta_minimised(zcdp(rho), Fraction(found.value))
    assert 0 <= shrunk.value <= 1


@pytest.mark.parametrize("delta", [0, -1, 2, 0.5, "1e-10", None, True])
def test_delta_is_a_chance(delta: Any) -> None:
    for ask in (lambda: epsilon_analytic(arb(1), delta), lambda: epsilon_minimised(zcdp("1"), delta)):
        with pytest.raises(InputError, match="ACCOUNT-004"):
            ask()


@pytest.mark.parametrize("epsilon", [-1, 0.5, "10", None])
def test_epsilon_is_exact(epsilon: Any) -> None:
    with pytest.raises(InputError, match="ACCOUNT-005"):
        delta_minimised(zcdp("1"), epsilon)


def test_figures_are_rounded_up() -> None:
    third = arb(1) / 3
    assert Fraction(upward(third)) > Fraction(1, 3)
    assert isinstance(epsilon_on_grid(zcdp("1"), DELTA), AtAlpha)
