"""The scales of every count, worked out by hand from the specification."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from safetab.accounting.events import LevelEvents, Stage
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


def plan(mechanism: Mechanism, budget: str = "0.9") -> LevelEvents:
    return LevelEvents("(USA, 1)", mechanism, Fraction(budget), 9, Fraction("0.1"))


@pytest.mark.parametrize("mechanism", Mechanism)
def test_every_stage_has_the_scale_of_its_share(mechanism: Mechanism) -> None:
    assert {event.stage: event.law for event in plan(mechanism).events} == BY_HAND[mechanism]


@pytest.mark.parametrize("mechanism", Mechanism)
def test_what_a_person_can_change_costs_the_budget_of_the_level(mechanism: Mechanism) -> None:
    total_only, stage_1, stage_2 = plan(mechanism).events
    assert total_only.budget * total_only.stability == Fraction("0.9")
    assert (stage_1.budget + stage_2.budget) * stage_1.stability == Fraction("0.9")


def test_the_kinds_of_groups_and_their_counts() -> None:
    mechanism = Mechanism.DISCRETE_GAUSSIAN
    both_kinds = plan(mechanism)
    assert [event.stage for event in both_kinds.events] == list(Stage)
    assert [event.budget for event in both_kinds.events] == [Fraction(1, 10), Fraction(1, 100), Fraction(9, 100)]
    assert [[event.stage for event in kind] for kind in both_kinds.group_kinds] == [
        [Stage.TOTAL_ONLY],
        [Stage.STAGE_1, Stage.STAGE_2],
    ]
    assert replace(both_kinds, has_total_only=False).group_kinds == both_kinds.group_kinds[1:]
    assert replace(both_kinds, has_two_stage=False).group_kinds == both_kinds.group_kinds[:1]
