"""Chances of detail equal enumeration over every noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.accounting.events import LevelEvents
from safetab.noise.laws import Mechanism
from safetab.params.load import load
from safetab.planning import DetailRule, chances_of, detail_rule, size_with_detail
from tests.oracle import planning as oracle
from tests.oracle.estimates import centred
from tests.oracle.laws import Floats
from tests.worlds.merovia import MEROVIA

SIZES = (0, 1, 3, 4, 5, 9, 12, 20, 40, 300)
CELLS = (1, 8, 18, 46)


def rule(
    mechanism: Mechanism, thresholds: tuple[int, ...] = (5, 10, 20), chance: str | None = "0.99", budget: str = "1.8"
) -> DetailRule:
    noise = LevelEvents("", mechanism, Fraction(budget), 3, Fraction("0.1"))
    return DetailRule(noise, thresholds, CELLS, None if chance is None else Fraction(chance))


def laws(mechanism: Mechanism, budget: str, *shares: str) -> list[Floats]:
    """The noise of counts that get such shares of a third of the budget, from the definitions."""
    budgets = [float(Fraction(budget) * Fraction(share) / 3) for share in shares]
    if mechanism is Mechanism.GEOMETRIC:
        return [centred("geometric", each) for each in budgets]
    return [centred("gaussian", 1 / (2 * each)) for each in budgets]


def smallest_kept(law: Floats, chance: float) -> int:
    """The least t that the noise is at most with this chance."""
    total = 0.0
    for noise, each in oracle.noises(law):
        total += each
        if total >= chance:
            return noise
    raise AssertionError


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("thresholds", [(5, 10, 20), (5, 5, 20), (-3, 0, 0), (7, 7, 7)])
@pytest.mark.parametrize("chance", ["0.99", None])
def test_chances_equal_enumeration(mechanism: Mechanism, thresholds: tuple[int, ...], chance: str | None) -> None:
    stage_1, stage_2 = laws(mechanism, "1.8", "0.1", "0.9")
    dropped = None if chance is None else smallest_kept(stage_2, 0.99)
    planned = rule(mechanism, thresholds, chance)
    assert planned.dropped_up_to() == dropped
    found = chances_of(planned, np.array(SIZES))
    for number, size in enumerate(SIZES):
        expected = oracle.detail(stage_1, stage_2, size, thresholds, dropped)
        assert found.stat_levels[number] == pytest.approx(expected.stat_levels, rel=1e-10, abs=1e-14)
        assert found.published[number] == pytest.approx(expected.published, rel=1e-10, abs=0)


def test_production_thresholds_of_suppression() -> None:
    for budget, t in (("0.008", 93), ("0.159", 21)):
        noise = LevelEvents("", Mechanism.DISCRETE_GAUSSIAN, Fraction(budget), 9, Fraction("0.1"))
        assert DetailRule(noise, (971, 4971, 19971), CELLS, Fraction("0.9999")).dropped_up_to() == t


@pytest.mark.parametrize("mechanism", Mechanism)
def test_groups_without_a_stage_1_have_a_total_with_the_whole_budget(mechanism: Mechanism) -> None:
    (law,) = laws(mechanism, "1.8", "1")
    dropped = smallest_kept(law, 0.99)
    found = chances_of(rule(mechanism), np.array(SIZES), total_only=True)
    assert (found.stat_levels == [[1.0, 0.0, 0.0, 0.0]]).all()
    for size, published in zip(SIZES, found.published, strict=True):
        expected = sum(chance for noise, chance in oracle.noises(law) if size + noise > dropped)
        assert published == pytest.approx(expected, rel=1e-10, abs=0)


def test_small_chances_are_not_differences_of_large_ones() -> None:
    planned = rule(Mechanism.DISCRETE_GAUSSIAN, (400, 500, 20_000))
    chances = chances_of(planned, np.array([375, 525])).stat_levels
    stage_1, _ = laws(Mechanism.DISCRETE_GAUSSIAN, "1.8", "0.1", "0.9")
    beyond = [sum(chance for noise, chance in oracle.noises(stage_1) if noise >= k) for k in (25, 26)]
    assert 0 < beyond[0] < 1e-16
    assert chances[0, 1] == pytest.approx(beyond[0], rel=1e-4, abs=0)
    assert chances[1, 1] == pytest.approx(beyond[1], rel=1e-4, abs=0)
    assert chances.sum(axis=1) == pytest.approx([1, 1])


@pytest.mark.parametrize("budget", ["1e-12", "1e6"])
@pytest.mark.parametrize("mechanism", Mechanism)
def test_any_budget_has_chances(mechanism: Mechanism, budget: str) -> None:
    found = chances_of(rule(mechanism, budget=budget), np.array([0, 4, 5, 20, 10**10]))
    assert found.stat_levels.sum(axis=1) == pytest.approx(np.ones(5))
    assert ((found.published >= 0) & (found.published <= 1)).all()
    if budget == "1e6":
        assert found.stat_levels.argmax(axis=1).tolist() == [0, 0, 1, 3, 3]


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("stat_level", [1, 2, 3])
def test_the_size_that_gets_detail_is_the_least(mechanism: Mechanism, stat_level: int) -> None:
    planned = rule(mechanism, (500, 1000, 2000))
    size = size_with_detail(planned, stat_level)
    chances = chances_of(planned, np.array([size - 1, size])).stat_levels[:, stat_level:].sum(axis=1)
    assert chances[0] < 0.95 <= chances[1]


def test_a_rule_has_what_the_release_chose() -> None:
    parameters = load(MEROVIA / "params")
    release, (run,) = parameters.release, parameters.plan.runs
    rules = {planned.name: detail_rule(release, planned) for planned in run.measured}
    local = {planned.name: planned.level.geography.local for planned in run.measured}
    assert set(local.values()) == {True, False}
    for planned in run.measured:
        found = rules[planned.name]
        assert found.thresholds == planned.level.thresholds
        assert found.cells == (1, 6, 14, 28)
        assert found.noise.budget == planned.budget
        assert found.suppression_chance == (Fraction("0.99") if local[planned.name] else None)
