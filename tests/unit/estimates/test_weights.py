"""The weights of the two counts: near the inverse variances, small, and never without the sum."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest

from safetab.accounting.accuracy.margins import variance_of_sum
from safetab.estimates.weights import simplest_between, weights
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric


def laws(mechanism: str, budget: str, gamma: str) -> tuple[Law, Law]:
    shares = Fraction(gamma), 1 - Fraction(gamma)
    if mechanism == "geometric":
        first, second = (TwoSidedGeometric(Fraction(budget) * share) for share in shares)
        return first, second
    one, other = (DiscreteGaussian(1 / (2 * Fraction(budget) * share)) for share in shares)
    return one, other


@pytest.mark.parametrize("mechanism", ["gaussian", "geometric"])
@pytest.mark.parametrize("gamma", ["0.02", "0.1", "0.137", "0.3", "0.5", "0.9", "0.99"])
@pytest.mark.parametrize("n_cells", [1, 8, 18, 46])
def test_next_to_nothing_is_lost(mechanism: str, gamma: str, n_cells: int) -> None:
    stage_1, stage_2 = laws(mechanism, "0.0177", gamma)
    a, b = weights(stage_1, stage_2, n_cells)
    assert b >= 1
    assert gcd(a, b) == 1
    of_x, of_s = variance_of_sum(stage_1, 1), variance_of_sum(stage_2, n_cells)
    ideal = 1 / (1 / of_x + 1 / of_s)
    found = (a * a * of_x + b * b * of_s) / (a + b) ** 2
    assert found <= ideal * (1 + (1.1e-8 if a else 1 / 499))


def test_with_the_production_fraction_they_are_the_ratio_of_the_budgets() -> None:
    stage_1, stage_2 = laws("gaussian", "0.0177", "0.1")
    assert [weights(stage_1, stage_2, n_cells) for n_cells in (1, 8, 18, 46)] == [(1, 9), (8, 9), (2, 1), (46, 9)]


def test_a_worthless_stage_1_count_is_left_out_and_a_nearly_worthless_sum_is_not() -> None:
    assert weights(*laws("gaussian", "0.1", "0.001"), 1) == (0, 1)
    a, b = weights(DiscreteGaussian(Fraction(1)), DiscreteGaussian(Fraction(20_000)), 46)
    assert a / b == pytest.approx(20_000 * 46, rel=0.1)


@pytest.mark.parametrize("stage_1", ["1e-6", "1e-60", "1"])
def test_the_sum_is_never_left_out_however_precise_stage_1_is(stage_1: str) -> None:
    assert weights(DiscreteGaussian(Fraction(stage_1)), DiscreteGaussian(Fraction(30_000)), 46) == (0, 1)


def test_the_simplest_fraction_between_two() -> None:
    for low, high, simplest in (("0.3", "0.34", "1/3"), ("0.8363", "0.8364", "46/55"), ("2/7", "2/7", "2/7")):
        assert simplest_between(Fraction(low), Fraction(high)) == Fraction(simplest)
