"""The scales of every count, worked out by hand from the specification."""

from __future__ import annotations

from fractions import Fraction

import pytest

from safetab.accounting.events import LevelPlan, ReleasePlan, RunPlan, Stage
from safetab.noise.laws import DiscreteGaussian, Law, Mechanism, TwoSidedGeometric

#: rho or epsilon 0.9 over 9 groups is 0.1 a group; a tenth of it goes to stage 1.
BY_HAND: dict[Mechanism, dict[Stage, Law]] = {
    Mechanism.DISCRETE_GAUSSIAN: {
        Stage.TOTAL_ONLY: DiscreteGaussian(Fraction(5)),
        Stage.STAGE_1: DiscreteGaussian(Fraction(50)),
        Stage.STAGE_2: DiscreteGaussian(Fraction(50, 9)),
    },
    Mechanism.GEOMETRIC: {
        Stage.TOTAL_ONLY: TwoSidedGeometric(Fraction(1, 10)),
        Stage.STAGE_1: TwoSidedGeometric(Fraction(1, 100)),
        Stage.STAGE_2: TwoSidedGeometric(Fraction(9, 100)),
    },
}


def plan(mechanism: Mechanism, budget: str = "0.9") -> LevelPlan:
    return LevelPlan("(USA, 1)", mechanism, Fraction(budget), 9, Fraction("0.1"))


@pytest.mark.parametrize("mechanism", Mechanism)
def test_every_stage_has_the_scale_of_its_share(mechanism: Mechanism) -> None:
    assert {event.stage: event.law for event in plan(mechanism).events} == BY_HAND[mechanism]


@pytest.mark.parametrize("mechanism", Mechanism)
def test_what_a_person_can_change_costs_the_budget_of_the_level(mechanism: Mechanism) -> None:
    total_only, stage_1, stage_2 = plan(mechanism).events
    assert total_only.budget * total_only.stability == Fraction("0.9")
    assert (stage_1.budget + stage_2.budget) * stage_1.stability == Fraction("0.9")


def test_levels_add_and_runs_do_not() -> None:
    us = RunPlan("us", (plan(Mechanism.GEOMETRIC, "0.5"), plan(Mechanism.GEOMETRIC, "0.25")))
    pr = RunPlan("pr", (plan(Mechanism.GEOMETRIC, "0.6"),))
    assert [run.budget for run in ReleasePlan((us, pr)).runs] == [Fraction("0.75"), Fraction("0.6")]
