"""Privacy loss distributions against exhaustive sums on small plans, and on the paper's plan."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from safetab.accounting.loss_distributions.composed import losses_of_group, pld_delta, pld_epsilon
from safetab.accounting.loss_distributions.losses import BeyondGridError, both, count_loss
from safetab.accounting.loss_distributions.tilted import TiltedLoss, _curves, _rounding_of_curves, compose, worst_of
from safetab.noise.laws import Mechanism
from tests.oracle import privacy as oracle
from tests.unit.accounting.plans import DELTA, GAUSSIAN, GEOMETRIC, level, paper_levels

KIND = {GEOMETRIC: "geometric", GAUSSIAN: "gaussian"}


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("budget", ["0.5", "3"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("two_stage", [True, False])
def test_delta_is_the_exhaustive_sum_on_small_plans(
    mechanism: Mechanism, budget: str, epsilon: float, two_stage: bool
) -> None:
    """A record in one two-stage group, or in one TotalOnly group at each of two levels: all pairs of outcomes."""
    shares = [budget] if two_stage else [budget, "0.2"]
    plans = [level(mechanism, share, 1, not two_stage, two_stage) for share in shares]
    events = [event for plan in plans for event in plan.events]
    assert len(events) == 2
    p, q = oracle.product([oracle.pair(KIND[mechanism], float(event.budget), 600) for event in events])
    exact = oracle.hockey_stick(p, q, epsilon)
    ours = pld_delta(plans, Fraction(epsilon))
    assert exact * (1 - 1e-9) <= ours + 1e-11
    assert ours == pytest.approx(exact, rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("epsilon", [1.0, 9.0, 14.0, 15.0, 15.31])
def test_the_geometric_paper_plan_is_counted_out_exactly(epsilon: float) -> None:
    counts = [(math.log(20) / (moe + 1) / 0.9, times) for moe, times in ((6, 18), (11, 18), (50, 27))]
    exact = oracle.geometric_delta(counts, epsilon)
    ours = pld_delta(paper_levels(GEOMETRIC), Fraction(epsilon))
    # Upward always; closely until the last percent before the largest loss, 15.314.
    assert exact * (1 - 1e-9) <= ours <= exact * (1.01 if epsilon < 15 else 2)


def test_the_papers_plan_at_1e_10() -> None:
    assert pld_epsilon(paper_levels(GAUSSIAN), DELTA) == pytest.approx(11.669, abs=2e-3)
    # Counted out it is 14.04546; a grid as coarse as 1e-3 would make 14.08 of it.
    assert pld_epsilon(paper_levels(GEOMETRIC), DELTA) == pytest.approx(14.0455, abs=1e-4)


@pytest.mark.parametrize("times", [1, 9, 30])
@pytest.mark.parametrize("rho", [0.01, 0.06, 1.0])
def test_equal_gaussian_counts_are_a_sum_of_noise(rho: float, times: int) -> None:
    plan = level(GAUSSIAN, rho * times, times, total_only=True, two_stage=False)
    for epsilon in (0.5, 2.0, 2 + 5 * math.sqrt(2 * rho * times)):
        exact = oracle.gaussian_delta(rho, times, epsilon)
        ours = pld_delta([plan], Fraction(epsilon))
        assert exact * (1 - 1e-9) <= ours <= exact * (1 + 5e-3) + 1e-13


@pytest.mark.parametrize("mechanism", Mechanism)
def test_the_worst_mix_is_no_better_than_any_mix(mechanism: Mechanism) -> None:
    """Each number of TotalOnly groups, composed by itself, stays below the bound over all of them."""
    plan = level(mechanism, "0.6", 4)
    for epsilon in (0.5, 2.0, 4.0):
        bound = pld_delta([plan], Fraction(epsilon))
        for j in range(5):
            share = Fraction(plan.budget, 4)
            single = [level(mechanism, share, 1, True, False)] * j
            double = [level(mechanism, share, 1, False, True)] * (4 - j)
            assert pld_delta(single + double, Fraction(epsilon)) <= bound * (1 + 1e-4)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.7])
@pytest.mark.parametrize("epsilon", [0.4, 2.0])
def test_one_geometric_count_dominates_the_two_it_may_be_split_into(gamma: float, epsilon: float) -> None:
    single = oracle.pair("geometric", epsilon, 500)
    double = oracle.product([oracle.pair("geometric", share * epsilon, 500) for share in (gamma, 1 - gamma)])
    for at in np.linspace(0, epsilon * 1.2, 13):
        assert oracle.hockey_stick(*double, at) <= oracle.hockey_stick(*single, at) + 1e-9
    for alpha in (1.5, 3.0, 20.0):
        assert oracle.renyi(*double, alpha) <= oracle.renyi(*single, alpha) + 1e-9


def test_neither_gaussian_kind_dominates_the_other() -> None:
    plan = level(GAUSSIAN, "0.06", 1)
    single, double = losses_of_group(plan, 2e-3, 200)
    curves = [TiltedLoss.of(kind, 1.0) for kind in (single, double)]
    differences = [curves[0].delta(x / 100) - curves[1].delta(x / 100) for x in range(200)]
    assert min(differences) < -1e-9
    assert max(differences) > 1e-9


def test_discretising_and_the_worst_of_several_only_add() -> None:
    fine, coarse = (count_loss(GAUSSIAN, Fraction("0.06"), step, 200) for step in (2e-3, 3e-2))
    for x in range(0, 150, 7):
        exact = oracle.gaussian_delta(0.06, 1, x / 50)
        assert exact * (1 - 1e-9) <= TiltedLoss.of(fine, 1.0).delta(x / 50)
        assert exact * (1 - 1e-9) <= TiltedLoss.of(coarse, 1.0).delta(x / 50)
    one = TiltedLoss.of(fine, 1.0)
    other = TiltedLoss.of(
        both(count_loss(GAUSSIAN, Fraction("0.006"), 2e-3, 200), count_loss(GAUSSIAN, Fraction("0.054"), 2e-3, 200)),
        1.0,
    )
    worst = worst_of([one, other])
    for x in range(150):
        at = x / 50
        assert max(one.delta(at), other.delta(at)) * (1 - 1e-9) <= worst.delta(at)
        assert worst.delta(at) <= max(one.delta(at), other.delta(at)) * (1 + 1e-4) + 1e-12


@pytest.mark.parametrize("theta", [0.5, 5.0, 40.0])
def test_the_curves_are_as_accurate_as_their_stated_bound(theta: float) -> None:
    """Against the recursion d_k = e^(-(1+theta)h) d_(k+1) + (1 - e^-h) A_k, worked out with 50 digits."""
    step, points = 2e-3, 4000
    spread = np.arange(points) * step
    chances = np.column_stack([np.exp(-((spread - middle) ** 2) * 5) for middle in (1.0, 4.0, 7.9)])
    found = _curves(chances, step, theta)
    worst = mpmath.mpf(0)
    with mpmath.workdps(50):
        h, t = mpmath.mpf(step), mpmath.mpf(theta)
        tilt, shrink, rest = mpmath.exp(-t * h), mpmath.exp(-(1 + t) * h), -mpmath.expm1(-h)
        for column in range(3):
            above = curve = mpmath.mpf(0)
            for k in range(points - 2, -1, -1):
                above = tilt * (mpmath.mpf(chances[k + 1, column]) + above)
                curve = shrink * curve + rest * above
                worst = max(worst, abs(mpmath.mpf(found[k, column]) - curve) / curve)
    assert 0 < worst <= _rounding_of_curves(points, step, theta) < 1e-12


def test_what_a_factor_lacks_grows_with_the_others() -> None:
    """Worst-of factors have a sum above 1. Add what they may lack: the sum of 120 moves by no more than stated."""
    step, theta, times = 2e-2, 3.0, 120
    worst = worst_of([TiltedLoss.of(kind, theta) for kind in losses_of_group(level(GAUSSIAN, "0.3", 1), step, 200)])
    assert worst.chances.sum() > 1.05
    lacking = 1e-7
    told = replace(worst, error=lacking)
    missing = worst.chances / math.sqrt(float((worst.chances**2).sum())) * lacking
    moment = times * (worst.log_moment + math.log(float((worst.chances * np.exp(worst.losses)).sum())))
    found = compose([(told, times)], moment, 1.0)
    fuller = compose([(replace(worst, chances=worst.chances + missing), times)], moment, 1.0)
    assert (found.lower, len(found.chances)) == (fuller.lower, len(fuller.chances))
    moved = math.sqrt(float(((fuller.chances - found.chances) ** 2).sum()))
    assert moved > 2 * times * lacking
    assert moved <= found.error


def test_moments_of_the_worst_are_below_the_sum_of_moments() -> None:
    step, theta = 2e-2, 3.0
    kinds = losses_of_group(level(GAUSSIAN, "0.3", 1), step, 200)
    worst = worst_of([TiltedLoss.of(kind, theta) for kind in kinds])
    for further in (0.0, 2.0, 5.0):
        found = worst.log_moment + math.log(float((worst.chances * np.exp(further * worst.losses)).sum()))
        moments = [kind.log_moment(theta + further) for kind in kinds]
        assert max(moments) < found <= math.log(sum(map(math.exp, moments))) <= max(moments) + math.log(2)


def test_nothing_is_claimed_below_the_window() -> None:
    """Tilted far out, the window starts above 0: below it delta is 1, and no epsilon below it is returned."""
    loss = TiltedLoss.of(count_loss(GAUSSIAN, Fraction("0.05"), 1e-3, 900), 60.0)
    moment = 100 * count_loss(GAUSSIAN, Fraction("0.05"), 1e-3, 900).log_moment(63.0)
    composed = compose([(loss, 100)], moment, 3.0)
    assert composed.lower > 0
    start = composed.lower * composed.step
    assert composed.delta_at_point(composed.lower - 1) == composed.delta(start / 2) == 1.0
    assert composed.epsilon(0.5) >= start


def test_composition_is_associative() -> None:
    parts = [TiltedLoss.of(count_loss(GAUSSIAN, Fraction(text), 1e-3, 200), 2.0) for text in ("0.05", "0.1", "0.3")]
    moment = sum(count_loss(GAUSSIAN, Fraction(t), 1e-3, 200).log_moment(7.0) for t in ("0.05", "0.1", "0.3"))
    first = compose([(compose([(parts[0], 1), (parts[1], 1)], moment, 5.0), 1), (parts[2], 1)], moment, 5.0)
    second = compose([(parts[0], 1), (compose([(parts[1], 1), (parts[2], 1)], moment, 5.0), 1)], moment, 5.0)
    at_once = compose([(part, 1) for part in parts], moment, 5.0)
    for epsilon in (0.5, 2.0, 5.0):
        assert first.delta(epsilon) == pytest.approx(at_once.delta(epsilon), rel=1e-7)
        assert second.delta(epsilon) == pytest.approx(at_once.delta(epsilon), rel=1e-7)


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("delta", ["0.5", "1e-3", "1e-10", "1e-100", "1e-250", "1e-300"])
def test_epsilon_and_delta_are_each_others_inverse_down_to_1e_300(mechanism: Mechanism, delta: str) -> None:
    levels = paper_levels(mechanism, total_only=False)
    epsilon = pld_epsilon(levels, Fraction(delta))
    assert pld_delta(levels, Fraction(epsilon)) == pytest.approx(float(delta), rel=0.02)
    if mechanism is GEOMETRIC:
        assert epsilon <= sum(float(plan.budget) for plan in levels) * (1 + 2e-9)


def test_at_the_ends() -> None:
    assert pld_epsilon(paper_levels(GAUSSIAN), Fraction(1)) == 0
    assert pld_epsilon([], DELTA) == 0
    assert pld_delta([], Fraction(0)) == 0
    assert pld_delta(paper_levels(GEOMETRIC), Fraction(16)) == 0
    assert 0 <= pld_delta(paper_levels(GAUSSIAN), Fraction(10**400)) < 1e-290


@pytest.mark.parametrize("budget", ["1e-12", "1e6", "1e-100", "1e100"])
@pytest.mark.parametrize("mechanism", Mechanism)
def test_budgets_beyond_the_grid_say_so_or_answer(mechanism: Mechanism, budget: str) -> None:
    if mechanism is GAUSSIAN or Fraction(budget) > 1:
        with pytest.raises(BeyondGridError):
            pld_epsilon([level(mechanism, budget)], DELTA)
    else:
        assert 0 <= pld_epsilon([level(mechanism, budget)], DELTA) <= float(budget) * (1 + 1e-6)
