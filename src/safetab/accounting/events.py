"""Every noisy count a release will make, described before any is drawn.

In: budgets, stabilities and the stage 1 fraction, all exact. Out: the law of the noise of each kind of count. The
promise: scales are computed here and nowhere else, as exact rationals. Algorithms 1 to 5 of the paper; nothing here
draws noise or reads a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from safetab.noise.laws import DiscreteGaussian, Law, Mechanism, TwoSidedGeometric


class Stage(Enum):
    """Which noisy count of Algorithm 2 an event is."""

    TOTAL_ONLY = "total only"
    STAGE_1 = "stage 1"
    STAGE_2 = "stage 2"


# A tabulation asks for the same few laws again and again, an evaluation in every trial.
@lru_cache(maxsize=256)
def law_of(mechanism: Mechanism, budget: Fraction) -> Law:
    """The noise of one count with this budget: geometric with epsilon, or discrete Gaussian with 1 / (2 rho)."""
    if mechanism is Mechanism.GEOMETRIC:
        return TwoSidedGeometric(budget)
    return DiscreteGaussian(1 / (2 * budget))


@dataclass(frozen=True, slots=True)
class CountEvent:
    """One kind of noisy count: a record changes at most `stability` such counts of its level, each by at most 1.

    `budget` is what one such count spends: epsilon of the geometric mechanism, rho of the discrete Gaussian.
    """

    level: str
    stage: Stage
    mechanism: Mechanism
    budget: Fraction
    stability: int

    @property
    def law(self) -> Law:
        """The noise of one such count."""
        return law_of(self.mechanism, self.budget)


@dataclass(frozen=True, slots=True)
class LevelEvents:
    """One population group level that is switched on: its budget and what it is divided among.

    Claim. Given that no record is in more than `stability` groups of the level, tabulating every group with the events
    below spends at most `budget`: a TotalOnly group spends budget / s, a two-stage group gamma * budget / s and
    then (1 - gamma) * budget / s on cells that are disjoint, and a record is in at most s of them (the paper's
    generalised parallel composition, then sequential composition).
    """

    name: str
    mechanism: Mechanism
    budget: Fraction
    stability: int
    stage_1_fraction: Fraction
    #: Whether the level has groups of each kind; a person's groups may be any mix of those it has.
    has_total_only: bool = True
    has_two_stage: bool = True

    def event(self, stage: Stage) -> CountEvent:
        """The noisy count of one stage."""
        shares = {
            Stage.TOTAL_ONLY: Fraction(1),
            Stage.STAGE_1: self.stage_1_fraction,
            Stage.STAGE_2: 1 - self.stage_1_fraction,
        }
        return CountEvent(
            self.name, stage, self.mechanism, shares[stage] * self.budget / self.stability, self.stability
        )

    @property
    def target_stage(self) -> Stage:
        """The count a target margin of error speaks of: stage 2, or a total where no group has two stages."""
        return Stage.STAGE_2 if self.has_two_stage else Stage.TOTAL_ONLY

    @property
    def group_kinds(self) -> tuple[tuple[CountEvent, ...], ...]:
        """The counts of one group, for each kind of group the level has: a total only, or two stages."""
        kinds: list[tuple[Stage, ...]] = [(Stage.TOTAL_ONLY,)] if self.has_total_only else []
        kinds += [(Stage.STAGE_1, Stage.STAGE_2)] if self.has_two_stage else []
        return tuple(tuple(self.event(stage) for stage in kind) for kind in kinds)

    @property
    def events(self) -> tuple[CountEvent, ...]:
        """The kinds of counts the level makes."""
        return tuple(event for kind in self.group_kinds for event in kind)
