"""epsilon and delta are exact numbers in their range, whichever theory is asked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from safetab.accounting.loss_distributions.composed import pld_delta, pld_epsilon
from safetab.accounting.privacy_loss import delta_of, loss_of
from safetab.accounting.renyi import delta_minimised, epsilon_minimised, epsilon_on_grid, renyi_curve
from safetab.accounting.zcdp import epsilon_analytic
from tests.unit.accounting.plans import GAUSSIAN, level

PLAN = [level(GAUSSIAN, "0.5")]
AT_DELTA: list[Callable[[Any], object]] = [
    lambda delta: epsilon_analytic(arb(1), delta),
    lambda delta: epsilon_minimised(renyi_curve(PLAN), delta),
    lambda delta: epsilon_on_grid(renyi_curve(PLAN), delta),
    lambda delta: pld_epsilon(PLAN, delta),
    lambda delta: loss_of("", PLAN, delta),
]
AT_EPSILON: list[Callable[[Any], object]] = [
    lambda epsilon: delta_minimised(renyi_curve(PLAN), epsilon),
    lambda epsilon: pld_delta(PLAN, epsilon),
    lambda epsilon: delta_of("", PLAN, epsilon),
]


@pytest.mark.parametrize(
    ("delta", "error"),
    [
        *((bad, ValueError) for bad in (0, -1, 2, Fraction(1001, 1000))),
        *((bad, TypeError) for bad in (0.5, "1e-10", None, True)),
    ],
)
def test_delta_is_a_chance(delta: Any, error: type[Exception]) -> None:
    for ask in AT_DELTA:
        with pytest.raises(error, match=r"^delta is .*: pass an exact number above 0 and at most 1, as a Fraction"):
            ask(delta)


@pytest.mark.parametrize(
    ("epsilon", "error"), [(-1, ValueError), *((bad, TypeError) for bad in (0.5, "10", None, True))]
)
def test_epsilon_is_exact_and_not_negative(epsilon: Any, error: type[Exception]) -> None:
    for ask in AT_EPSILON:
        with pytest.raises(error, match=r"^epsilon is .*: pass an exact number of 0 or more, as a Fraction"):
            ask(epsilon)


def test_the_ends_of_both_ranges_are_allowed() -> None:
    for ask in AT_DELTA:
        ask(1)
    for ask in AT_EPSILON:
        ask(0)
