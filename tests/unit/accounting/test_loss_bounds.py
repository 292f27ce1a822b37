"""What a sum of losses leaves out, rounds or cannot place is in the delta that is told."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from safetab.accounting.loss_distributions import composed
from safetab.accounting.loss_distributions.losses import LossDistribution, both, count_loss
from safetab.accounting.loss_distributions.tilted import TiltedLoss, compose, worst_of
from tests.oracle import privacy as oracle
from tests.unit.accounting.plans import GAUSSIAN, level

STEP, THETA = 1e-2, 2.0


def one_count() -> TiltedLoss:
    return TiltedLoss.of(count_loss(GAUSSIAN, Fraction("0.06"), STEP, 200), THETA)


def moment(loss: TiltedLoss, further: float) -> float:
    """The logarithm of the moment at theta + further, from the chances themselves."""
    return loss.log_moment + math.log(float((loss.chances * np.exp(further * loss.losses)).sum()))


@pytest.mark.parametrize("k", [0, 40, 90])
def test_delta_has_what_the_chances_lack(k: int) -> None:
    """The worst that chances of a known error can lack: in the direction of their weights, above epsilon."""
    loss, lacking = one_count(), 1e-5
    above = slice(k - loss.lower + 1, None)
    weights = loss.weights[: len(loss.chances[above])]
    fuller = loss.chances.copy()
    fuller[above] += lacking * weights / math.sqrt(float((weights**2).sum()))
    worst = replace(loss, chances=fuller).delta_at_point(k)
    assert loss.delta_at_point(k) < worst <= replace(loss, error=lacking).delta_at_point(k)


@pytest.mark.parametrize("k", [0, 40, 90])
def test_delta_has_the_chance_that_strayed(k: int) -> None:
    """A tilted chance that lies somewhere above: wherever it is put, delta is no larger than told."""
    loss, strayed = one_count(), 1e-4
    told = replace(loss, stray=strayed).delta_at_point(k)
    for index in range(k - loss.lower + 1, len(loss.chances), 7):
        fuller = loss.chances.copy()
        fuller[index] += strayed
        assert loss.delta_at_point(k) < replace(loss, chances=fuller).delta_at_point(k) <= told


def test_delta_has_the_chance_of_an_infinite_loss() -> None:
    loss = one_count()
    for k in (0, 90, loss.lower + len(loss.chances) - 1):
        assert replace(loss, infinite=1e-6).delta_at_point(k) >= loss.delta_at_point(k) + 1e-6 * (1 - 1e-9)


def test_outcomes_beyond_the_last_are_an_infinite_loss() -> None:
    """With few bits the law is cut off early, and what is cut off counts at every epsilon."""
    rho = 0.06
    short = count_loss(GAUSSIAN, Fraction("0.06"), STEP, 8)
    top = float(short.losses[-1])
    for epsilon in (top / 2, top, 1.2 * top):
        exact = oracle.gaussian_delta(rho, 1, epsilon)
        assert 1e-9 < exact <= TiltedLoss.of(short, THETA).delta(epsilon)
        twice = oracle.gaussian_delta(rho, 2, epsilon)
        assert twice <= TiltedLoss.of(both(short, short), THETA).delta(epsilon)
    assert both(short, short).infinite >= -math.expm1(2 * math.log1p(-short.infinite)) * (1 - 1e-12)


def test_a_sum_has_the_infinite_losses_of_its_parts() -> None:
    loss = replace(one_count(), infinite=1e-4)
    total = compose([(loss, 30), (loss, 12)], 42 * moment(loss, 3.0), 3.0)
    assert 1 - (1 - 1e-4) ** 42 <= total.infinite <= 42e-4 * (1 + 1e-6)


def test_the_rounding_of_transforms_is_in_the_error() -> None:
    """Chances that are sums of powers of two, added up exactly in fractions: no transform gets every digit right."""
    chances = np.array([2.0**-k for k in range(1, 9)] + [2.0**-8])
    part = TiltedLoss(STEP, THETA, 0.0, -4, chances)
    found = compose([(part, 6)], 6 * moment(part, 3.0), 3.0)
    exact = [Fraction(1)]
    for _ in range(6):
        longer = [Fraction(0)] * (len(exact) + len(chances) - 1)
        for (i, left), (j, right) in product(enumerate(exact), enumerate(chances)):
            longer[i + j] += left * Fraction(right)
        exact = longer
    start = 6 * part.lower - found.lower
    assert 0 <= start <= len(found.chances) - len(exact)
    told = [Fraction(chance) for chance in found.chances]
    for index, chance in enumerate(exact):
        told[start + index] -= chance
    off = math.sqrt(sum(float(difference) ** 2 for difference in told))
    assert 0 < off <= found.error < 1e-12


@pytest.mark.parametrize("times", [1, 3])
def test_what_lies_above_the_window_is_in_delta(times: int) -> None:
    """A small chance far out is folded to the bottom of the window, where it says too little."""
    chances = np.zeros(4001)
    chances[:3], chances[-1] = [0.3, 0.4, 0.3 - 1e-6], 1e-6
    # Hardly tilted, so that a loss far above epsilon still counts.
    part = TiltedLoss(STEP, 0.01, 0.0, -1, chances)
    found = compose([(part, times)], times * moment(part, 0.1), 0.1)
    top = found.lower + len(found.chances) - 1
    assert top < part.lower + len(chances) - 2
    for k in (0, top // 2, top):
        assert 1e-7 < part.delta_at_point(k) <= found.delta_at_point(k)


def test_what_strayed_from_a_part_has_strayed_from_the_sum() -> None:
    loss = replace(one_count(), stray=1e-8)
    found = compose([(loss, 30)], 30 * moment(loss, 3.0), 3.0)
    assert 30e-8 <= found.stray < 31e-8


def test_the_bound_for_the_window_holds_for_the_worst_mix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chernoff's bound needs the moment of the worst of several mixes, which exceeds that of every single one."""
    plan = level(GAUSSIAN, "0.3", 1)
    seen: list[tuple[TiltedLoss, float, float]] = []

    def watched(parts: list[tuple[TiltedLoss, int]], log_moment_further: float, further: float) -> TiltedLoss:
        seen.append((parts[0][0], log_moment_further, further))
        return compose(parts, log_moment_further, further)

    monkeypatch.setattr(composed, "compose", watched)
    composed._composed.cache_clear()
    assert 0 < composed.pld_delta([plan], Fraction(2)) < 1
    part, told, further = seen[-1]
    # With one group there are two mixes, each a single kind: their worst needs no transform and its rounding.
    kinds = composed.losses_of_group(plan, part.step, 200)
    worst = worst_of([TiltedLoss.of(kind, part.theta) for kind in kinds])
    single = max(kind.log_moment(part.theta + further) for kind in kinds)
    assert single + 1e-6 < moment(worst, further) <= told


def test_a_distribution_without_infinite_losses_says_so() -> None:
    loss = LossDistribution(STEP, -1, np.array([0.5, 0.0, 0.5]), 0.0)
    top = TiltedLoss.of(loss, THETA)
    assert top.delta_at_point(1) == 0.0
