"""Budgets from margins of error and back: the exact least ones, and the paper's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from safetab.accounting.calibration import (
    BUDGET_DIGITS,
    count_budget,
    keeps_within,
    level_budget,
    paper_budget,
    paper_moe,
)
from safetab.accounting.events import law_of
from safetab.errors import InputError
from safetab.noise.laws import Mechanism

GEOMETRIC, GAUSSIAN = Mechanism.GEOMETRIC, Mechanism.DISCRETE_GAUSSIAN


def previous_decimal(budget: Fraction) -> Fraction:
    """The next smaller decimal with as many digits, worked out from its text."""
    unit = Fraction(1)
    while budget / unit >= 10**BUDGET_DIGITS:
        unit *= 10
    while budget / unit < 10 ** (BUDGET_DIGITS - 1):
        unit /= 10
    assert (budget / unit).denominator == 1
    return budget - unit


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("moe", [0, 1, 5, 6, 7, 11, 50, 1000, 10**9, 10**40])
@pytest.mark.parametrize("confidence", ["0.95", "0.5", "0.999999"])
def test_a_count_budget_is_the_least_short_decimal_that_meets_its_target(
    mechanism: Mechanism, moe: int, confidence: str
) -> None:
    chance = Fraction(confidence)
    budget = count_budget(mechanism, moe, chance)
    assert law_of(mechanism, budget).two_sided_quantile(chance) <= moe
    assert law_of(mechanism, previous_decimal(budget)).two_sided_quantile(chance) > moe


@pytest.mark.parametrize(("mechanism", "budget"), [(GEOMETRIC, "0.4569"), (GAUSSIAN, "0.04512")])
def test_exact_calibration_at_6(mechanism: Mechanism, budget: str) -> None:
    assert f"{float(count_budget(mechanism, 6)):.4g}" == budget


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize(("stability", "gamma"), [(9, "0.1"), (7, "0.3"), (1, "0.5"), (10, "0.999")])
def test_a_level_budget_leaves_stage_2_just_enough(mechanism: Mechanism, stability: int, gamma: str) -> None:
    budget = level_budget(mechanism, 11, stability, Fraction(gamma))
    share = (1 - Fraction(gamma)) / stability
    assert law_of(mechanism, budget * share).two_sided_quantile(Fraction("0.95")) == 11
    assert not keeps_within(law_of(mechanism, previous_decimal(budget) * share), 11)


@pytest.mark.parametrize("moe", [1, 2, 6, 11, 50, 300])
def test_the_papers_geometric_budget_misses_its_target_and_the_gaussian_one_overpays(moe: int) -> None:
    assert paper_budget(GEOMETRIC, moe) < count_budget(GEOMETRIC, moe)
    assert paper_budget(GAUSSIAN, moe) > count_budget(GAUSSIAN, moe)


@pytest.mark.parametrize(("mechanism", "moe", "budget"), [(GEOMETRIC, 6.9, 0.4280), (GAUSSIAN, 6.9, 0.05333)])
def test_the_papers_formulas_round_the_target_down(mechanism: Mechanism, moe: float, budget: float) -> None:
    assert paper_budget(mechanism, moe) == pytest.approx(budget, rel=1e-3)


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("moe", [2, 6, 11, 50, 1000])
def test_the_papers_two_directions_agree_on_gaussian_noise_only(mechanism: Mechanism, moe: int) -> None:
    """Its own MOE formula says that its geometric budget gives MOE + 0 as well, which the exact quantile denies."""
    there_and_back = paper_moe(mechanism, paper_budget(mechanism, moe) * (1 + 1e-12))
    exact = law_of(mechanism, Fraction(paper_budget(mechanism, moe))).two_sided_quantile(Fraction("0.95"))
    assert there_and_back in {moe - 1, moe}
    assert exact <= moe if mechanism is GAUSSIAN else exact == moe + 1


def test_the_papers_margin_is_0_where_its_logarithm_is_negative() -> None:
    assert paper_moe(GEOMETRIC, 10.0) == 0
    assert paper_moe(GEOMETRIC, 1e6) == 0


@pytest.mark.parametrize("moe", [-1, 2.5, "6", None, True])
def test_a_target_is_a_whole_number(moe: Any) -> None:
    with pytest.raises(InputError, match="ACCOUNT-001"):
        count_budget(GAUSSIAN, moe)


@pytest.mark.parametrize("confidence", [Fraction(0), Fraction(1), 0.95, "0.95", Fraction(3, 2)])
def test_a_confidence_is_exact_and_inside(confidence: Any) -> None:
    with pytest.raises(InputError, match="ACCOUNT-002"):
        count_budget(GAUSSIAN, 6, confidence)
