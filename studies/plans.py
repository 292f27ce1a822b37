"""Plans to compare: the 2020 release and what it becomes with other budgets, thresholds, fractions or noise.

In: the parameters that `safetab synth` generates, which have the budgets and thresholds of 2020. Out: a `Plan`, a rule
for each level, and functions that change one thing at a time. The promise: budgets stay exact, epsilon is the least of
all certified analyses, and expected numbers are sums of exact chances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from safetab.accounting.accuracy.calibration import level_budget
from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.privacy_loss import loss_of
from safetab.noise.laws import Mechanism
from safetab.params.load import load
from safetab.planning import DetailRule, chances_of, detail_rule, largest_scaling
from safetab.synth.parameters import write_generated
from studies.synthetic_nation import RUN, Histogram

DELTA = Fraction(1, 10**10)
#: Detailed groups, by geography level.
USA_2, STATE_2, COUNTY_2, TRACT_2, PLACE_2 = (f"({name}, 2)" for name in ("USA", "STATE", "COUNTY", "TRACT", "PLACE"))


@dataclass(frozen=True, slots=True)
class Plan:
    """The levels of the run that is studied, by name: the noise of each, and what decides the detail."""

    levels: Mapping[str, DetailRule]

    def epsilon(self) -> float:
        """The privacy loss at delta 1e-10, by the tightest certified analysis."""
        return loss_of(RUN, [rule.noise for rule in self.levels.values()], DELTA).epsilon

    def changed(self, change: Callable[[str, DetailRule], DetailRule]) -> Plan:
        """The plan with every level changed."""
        return Plan({name: change(name, rule) for name, rule in self.levels.items()})

    def scaled(self, factor: Fraction) -> Plan:
        """Every budget times a factor."""
        return self.changed(lambda _, rule: with_budget(rule, rule.noise.budget * factor))

    def at_epsilon(self, epsilon: Fraction) -> Plan:
        """Every budget times the largest common factor that keeps an epsilon."""
        found = largest_scaling({RUN: [rule.noise for rule in self.levels.values()]}, epsilon, DELTA)
        if found is None:
            raise ValueError(f"no common factor of the budgets is the largest for epsilon {epsilon}")
        return self.scaled(found.factor)

    def with_fraction(self, fraction: Fraction) -> Plan:
        """Another share of every budget for stage 1."""
        return self.changed(lambda _, rule: replace(rule, noise=replace(rule.noise, stage_1_fraction=fraction)))


def with_budget(rule: DetailRule, budget: Fraction) -> DetailRule:
    """A level with another budget."""
    return replace(rule, noise=replace(rule.noise, budget=budget))


@lru_cache(maxsize=1)
def plan_of_2020() -> Plan:
    """The budgets, thresholds, stage 1 fraction and suppression of the 2020 release, for the United States."""
    with TemporaryDirectory() as folder:
        write_generated(Path(folder), ("01",), puerto_rico=False)
        parameters = load(Path(folder))
    run = next(run for run in parameters.plan.runs if run.name == RUN)
    return Plan({planned.name: detail_rule(parameters.release, planned) for planned in run.measured})


def calibrated(plan: Plan, mechanism: Mechanism, fraction: Fraction) -> Plan:
    """The least budgets with which a single count of stage 2 keeps the margins of a plan, and this share for stage 1.

    The margin is the same whole number of persons, at every level.
    """

    def change(_: str, rule: DetailRule) -> DetailRule:
        moe = moe_95_of_sum(rule.stage_2, 1)
        budget = level_budget(mechanism, moe, rule.noise.stability, fraction)
        noise = replace(rule.noise, mechanism=mechanism, budget=budget, stage_1_fraction=fraction)
        return replace(rule, noise=noise)

    return plan.changed(change)


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected numbers of groups: at each stat level, with a published total, and of these the empty ones."""

    stat_levels: tuple[float, ...]
    published: float
    published_empty: float

    @property
    def with_table(self) -> float:
        return sum(self.stat_levels[1:])


def expected(rule: DetailRule, sizes: Histogram, *, total_only: bool = False) -> Expected:
    """What groups of these sizes get on average over all releases of a plan."""
    chances = chances_of(rule, sizes.size, total_only=total_only)
    empty = np.flatnonzero(sizes.size == 0)
    return Expected(
        tuple((chances.stat_levels * sizes.groups[:, None]).sum(axis=0).tolist()),
        float((chances.published * sizes.groups).sum()),
        float((chances.published * sizes.groups)[empty].sum()),
    )


def standard_deviation(variance: Fraction | float) -> float:
    """The root of a variance."""
    return sqrt(float(variance))
