"""Composition: from the cost of one count to the cost of all counts that one person can change.

In: the events of levels, and the cost of one count in a theory whose costs add up, such as zCDP or the Rényi divergence
of one order. Out: the cost of all levels together. The promise: it holds for every person, whichever kinds of groups
the person is in, with up to `stability` groups at each level. The paper's generalised parallel and sequential
composition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from flint import arb

from safetab.accounting.events import LevelEvents
from safetab.noise.laws import Mechanism

CostOfCount = Callable[[Mechanism, Fraction], arb]


def different_levels(levels: Iterable[LevelEvents]) -> tuple[tuple[LevelEvents, int], ...]:
    """The levels without their names, and how often each occurs: equal ones cost the same."""
    return tuple(Counter(replace(level, name="") for level in levels).items())


@dataclass(frozen=True, slots=True)
class _Groups:
    """Up to `number` groups that one person is in, each of any of these kinds, given by the budgets of its counts."""

    number: int
    mechanism: Mechanism
    kinds: tuple[tuple[Fraction, ...], ...]

    def cost(self, of_count: CostOfCount) -> arb:
        worst = [sum((of_count(self.mechanism, budget) for budget in kind), arb(0)) for kind in self.kinds]
        return self.number * reduce(lambda one, other: one.max(other), worst)


def cost_of(levels: Iterable[LevelEvents]) -> Callable[[CostOfCount], arb]:
    """A function from the cost of one count to the cost of these levels: the sum of s times the worst kind of group.

    The largest over all mixes of groups is s times the largest over kinds, because each group adds its own term.
    """
    groups = [
        _Groups(
            times * level.stability,
            level.mechanism,
            tuple(tuple(event.budget for event in kind) for kind in level.group_kinds),
        )
        for level, times in different_levels(levels)
    ]
    return lambda of_count: sum((each.cost(of_count) for each in groups), arb(0))
