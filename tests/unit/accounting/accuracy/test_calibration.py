"""Budgets from margins of error: the exact least ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from safetab.accounting.accuracy.calibration import BUDGET_DIGITS, CONFIDENCE_95, keeps_within, level_budget
from safetab.accounting.events import law_of
from safetab.noise.laws import Mechanism
from tests.unit.accounting.plans import GAUSSIAN, GEOMETRIC


def count_budget(mechanism: Mechanism, moe: int, confidence: Fraction = CONFIDENCE_95) -> Fraction:
    """The budget of a level whose people are in one group each, all of it for stage 2."""
    return level_budget(mechanism, moe, 1, Fraction(0), confidence)


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


@pytest.mark.parametrize(("moe", "error"), [(-1, ValueError), *((bad, TypeError) for bad in (2.5, "6", None, True))])
def test_a_target_is_a_whole_number(moe: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^moe is .*: pass a whole number \(an int\), 0 or more"):
        count_budget(GAUSSIAN, moe)


@pytest.mark.parametrize(
    ("confidence", "error"),
    [
        *((bad, ValueError) for bad in (Fraction(0), Fraction(1), Fraction(3, 2))),
        *((bad, TypeError) for bad in (0.95, "0.95")),
    ],
)
def test_a_confidence_is_exact_and_inside(confidence: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^confidence is .*: pass an exact number above 0 and below 1"):
        count_budget(GAUSSIAN, 6, confidence)
