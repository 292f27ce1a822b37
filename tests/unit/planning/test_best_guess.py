"""The best possible guess about one person, against the best test by enumeration of the outputs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from safetab.accounting.events import LevelEvents
from safetab.accounting.loss_distributions.composed import pld_delta, pld_deltas
from safetab.noise.laws import Mechanism
from safetab.planning import best_guesses
from tests.oracle import planning as oracle
from tests.oracle.estimates import centred

RATES = (0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0)


def total(mechanism: Mechanism, budget: str, stability: int = 1) -> LevelEvents:
    """Groups of one noisy count each."""
    return LevelEvents("", mechanism, Fraction(budget), stability, Fraction("0.1"), has_two_stage=False)


@pytest.mark.parametrize("budget", ["0.02", "0.5", "2"])
@pytest.mark.parametrize("mechanism", Mechanism)
def test_no_test_is_better_and_one_is_nearly_as_good(mechanism: Mechanism, budget: str) -> None:
    parameter = float(budget) if mechanism is Mechanism.GEOMETRIC else 1 / (2 * float(budget))
    law = centred("geometric" if mechanism is Mechanism.GEOMETRIC else "gaussian", parameter)
    found = best_guesses([total(mechanism, budget)], RATES)
    assert found is not None
    for guess in found:
        best = oracle.best_true_positive(law, guess.false_positive)
        assert best <= guess.true_positive <= best + 0.01


def test_several_groups_say_more_than_one() -> None:
    one, nine = (
        best_guesses([total(Mechanism.DISCRETE_GAUSSIAN, budget, stability)], (0.05,))
        for budget, stability in (("0.1", 1), ("0.9", 9))
    )
    assert one is not None
    assert nine is not None
    assert 0.05 < one[0].true_positive < nine[0].true_positive < 1
    # The loss of nine is nearly Gaussian with variance 2 rho: the normal chance beyond 1.645 - sqrt(2 rho).
    normal = 0.5 * math.erfc((1.6448536 - math.sqrt(2 * 0.9)) / math.sqrt(2))
    assert nine[0].true_positive == pytest.approx(normal, abs=0.005)


def test_without_levels_nobody_can_guess() -> None:
    found = best_guesses([], RATES)
    assert found is not None
    assert [guess.true_positive for guess in found] == pytest.approx(list(RATES))


def test_beyond_the_grid_there_is_no_curve() -> None:
    assert best_guesses([total(Mechanism.DISCRETE_GAUSSIAN, "1e-12")], RATES) is None


@pytest.mark.parametrize("mechanism", Mechanism)
def test_many_deltas_are_those_of_one_epsilon_each(mechanism: Mechanism) -> None:
    levels = [LevelEvents("", mechanism, Fraction("0.7"), 4, Fraction("0.1"))]
    epsilons = [Fraction(number, 4) for number in range(13)]
    for epsilon, delta in zip(epsilons, pld_deltas(levels, epsilons), strict=True):
        one = pld_delta(levels, epsilon)
        assert delta == pytest.approx(one, rel=1e-3, abs=1e-15)
    assert pld_deltas([], epsilons) == [0.0] * len(epsilons)
    rough = pld_deltas(levels, epsilons, small_ones_matter=False)
    for loose, tight in zip(rough, pld_deltas(levels, epsilons), strict=True):
        assert tight * (1 - 1e-3) <= loose <= tight + 1e-7
    assert math.isfinite(pld_deltas(levels, [Fraction(10**400)])[0])
