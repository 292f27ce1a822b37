"""Margins of estimates equal enumeration, and are those of the estimates that a release publishes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.events import LevelEvents, Stage
from safetab.estimates import Publication, estimates_95
from safetab.estimates.weights import weights
from safetab.noise.laws import Mechanism
from safetab.planning import FRACTIONS, margins_by_fraction, moe_95_of_estimate, total_margins
from tests.oracle import planning as oracle
from tests.oracle.estimates import centred
from tests.oracle.laws import Floats
from tests.profile import size


def level(mechanism: Mechanism, budget: str, gamma: str = "0.1") -> LevelEvents:
    return LevelEvents("", mechanism, Fraction(budget), 1, Fraction(gamma))


def law(mechanism: Mechanism, budget: Fraction, cells: int = 1) -> Floats:
    if mechanism is Mechanism.GEOMETRIC:
        return centred("geometric", float(budget), cells)
    return centred("gaussian", float(1 / (2 * budget)), cells)


CASES = [
    (mechanism, budget, gamma, cells)
    for mechanism in Mechanism
    for budget, gamma in (("0.5", "0.1"), ("0.5", "0.5"), ("8", "0.2"), ("40", "0.1"))
    for cells in (1, 8)
]


@pytest.mark.parametrize(("mechanism", "budget", "gamma", "cells"), CASES)
def test_the_margin_is_the_least_that_holds(mechanism: Mechanism, budget: str, gamma: str, cells: int) -> None:
    noise = level(mechanism, budget, gamma)
    stage_1, stage_2 = noise.event(Stage.STAGE_1).law, noise.event(Stage.STAGE_2).law
    a, b = weights(stage_1, stage_2, cells)
    found = moe_95_of_estimate(stage_1, stage_2, cells)
    first = law(mechanism, Fraction(budget) * Fraction(gamma))
    rest = law(mechanism, Fraction(budget) * (1 - Fraction(gamma)), cells)
    # What is left out here is less than 1e-9 together.
    first, rest = (np.where(each > 1e-13, each, 0.0) for each in (first, rest))
    first, rest = (each[np.flatnonzero(each)[0] : np.flatnonzero(each)[-1] + 1] for each in (first, rest))
    assert oracle.estimate_within(first, rest, a, b, found) >= 0.95 - 1e-9
    assert found == 0 or oracle.estimate_within(first, rest, a, b, found - 1) < 0.95


@pytest.mark.parametrize("mechanism", Mechanism)
def test_far_from_thresholds_the_estimate_is_the_mean_rounded_up(mechanism: Mechanism) -> None:
    """What the margins rest on, asked of the estimates themselves."""
    noise = level(mechanism, "0.5")
    stage_1, stage_2 = noise.event(Stage.STAGE_1).law, noise.event(Stage.STAGE_2).law
    a, b = weights(stage_1, stage_2, 8)
    x, s = (values.ravel() for values in np.meshgrid(np.arange(-30, 31), np.arange(-40, 41)))
    truth = 100_000
    published = Publication.two_stage(stage_1, stage_2, 8, (10, 20, 10**9), 2)
    found = estimates_95(published, x + truth, s + truth).estimate - truth
    assert (found == -((-(a * x + b * s)) // (a + b))).all()


def test_production_margins_are_those_of_the_paper_trail() -> None:
    """County level 2 and United States level 1 with the production budgets, as a prototype found them."""
    found = {
        budget: [
            (each.estimate_moe_95, each.sum_moe_95)
            for each in total_margins(
                LevelEvents("", Mechanism.DISCRETE_GAUSSIAN, Fraction(budget), 9, Fraction("0.1")), (1, 8, 18, 46)
            )
        ]
        for budget in ("0.159", "0.008")
    }
    assert found["0.159"] == [(10, 11), (23, 31), (27, 47), (30, 75)]
    assert found["0.008"][3] == (134, 332)


def test_where_stage_1_says_nothing_the_estimate_is_the_sum() -> None:
    noise = level(Mechanism.DISCRETE_GAUSSIAN, "0.5", "0.001")
    stage_1, stage_2 = noise.event(Stage.STAGE_1).law, noise.event(Stage.STAGE_2).law
    assert weights(stage_1, stage_2, 1) == (0, 1)
    assert moe_95_of_estimate(stage_1, stage_2, 1) == moe_95_of_sum(stage_2, 1)


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("cells", [1, 46])
def test_wide_noise_has_margins_in_proportion(mechanism: Mechanism, cells: int) -> None:
    """A hundred times as wide, within some thousandths and never narrower than it is by the exact way."""
    wide = 100 if mechanism is Mechanism.GEOMETRIC else 10_000
    near, far = (level(mechanism, budget) for budget in ("0.01", str(Fraction(1, 100 * wide))))
    of_near, of_far = (
        moe_95_of_estimate(each.event(Stage.STAGE_1).law, each.event(Stage.STAGE_2).law, cells) for each in (near, far)
    )
    assert of_far == pytest.approx(100 * of_near, rel=1.5 / of_near + 0.005)


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("budget", ["1e-12", "60", "1e6"])
def test_any_budget_has_margins(mechanism: Mechanism, budget: str) -> None:
    for each in total_margins(level(mechanism, budget), (1, 46)):
        assert 0 <= each.estimate_moe_95 <= each.sum_moe_95 + 1


@pytest.mark.parametrize("mechanism", Mechanism)
def test_more_for_stage_1_makes_estimates_better_and_sums_worse(mechanism: Mechanism) -> None:
    noise = level(mechanism, "0.05")
    swept = margins_by_fraction(noise, (1, 8, 46), FRACTIONS[:: size(quick=3, long=1)])
    fractions = [each.stage_1_fraction for each in swept]
    assert fractions == sorted({*FRACTIONS[:: size(quick=3, long=1)], Fraction("0.1")})
    assert fractions[0] == Fraction("0.02")
    finest = [each.totals[-1] for each in swept]
    assert [each.sum_moe_95 for each in finest] == sorted(each.sum_moe_95 for each in finest)
    assert finest[-1].estimate_moe_95 < finest[0].estimate_moe_95
    own = next(each for each in swept if each.stage_1_fraction == noise.stage_1_fraction)
    assert own.totals == total_margins(noise, (1, 8, 46))


def test_the_table_goes_from_2_to_50_percent() -> None:
    assert (min(FRACTIONS), max(FRACTIONS)) == (Fraction("0.02"), Fraction("0.5"))
