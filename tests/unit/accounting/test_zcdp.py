"""The rho of geometric noise is the least there is, and the analytic conversion is rounded up."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import pytest
from flint import arb

from safetab.accounting.renyi import renyi_divergence
from safetab.accounting.zcdp import epsilon_analytic, rho_of_count, total_rho
from safetab.noise.ball_arithmetic import ball, working_precision
from tests.unit.accounting.plans import DELTA, GAUSSIAN, GEOMETRIC, level


@pytest.mark.parametrize("epsilon", ["0.01", "0.4755", "2", "10"])
def test_the_tight_rho_of_the_geometric_is_the_supremum(epsilon: str) -> None:
    budget = Fraction(epsilon)
    orders = [1 + Fraction(text) for text in ("1e-6", "1e-3", "0.1", "1", "10", "100")]
    with working_precision(200):
        rho = rho_of_count(GEOMETRIC, budget)
        ratios = [renyi_divergence(GEOMETRIC, budget, alpha) / ball(alpha) for alpha in orders]
        assert all(ratio < rho for ratio in ratios)
    assert [float(ratio) for ratio in ratios] == sorted((float(ratio) for ratio in ratios), reverse=True)
    assert float(ratios[0]) == pytest.approx(float(rho), rel=1e-4)
    assert rho < ball(budget**2 / 2)


def test_a_level_costs_its_worst_kind_of_group_times_its_stability() -> None:
    with working_precision(200):
        assert total_rho([level(GAUSSIAN, "0.9"), level(GAUSSIAN, "0.2", 3)]).overlaps(ball(Fraction("1.1")))
        one = rho_of_count(GEOMETRIC, Fraction("0.1"))
        assert total_rho([level(GEOMETRIC, "0.9")] * 2).overlaps(18 * one)
        split = rho_of_count(GEOMETRIC, Fraction("0.01")) + rho_of_count(GEOMETRIC, Fraction("0.09"))
        assert total_rho([level(GEOMETRIC, "0.9", total_only=False)]).overlaps(9 * split)


def test_the_analytic_epsilon_is_the_formula_rounded_up() -> None:
    epsilon = epsilon_analytic(ball(Fraction("1.4")), DELTA)
    assert epsilon == pytest.approx(1.4 + sqrt(4 * 1.4 * log(1e10)), rel=1e-14)
    assert Fraction(epsilon_analytic(arb(1) / 3, Fraction(1))) > Fraction(1, 3)
