"""What a plan costs: every analysis of its privacy loss, for each level, each run and the release.

In: a `ReleasePlan` and an exact delta. Out: figures that are upper bounds, rounded up, under pure DP, zCDP, Rényi DP
and privacy loss distributions. The promise: each figure holds by itself, for every record and every mix of its
groups; the least of them may be quoted. `thm:safetab-saisfies-pure-dp`, `thm:safetab-satisfies-zcdp`,
`thm:safetab-saisfies-rdp`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from math import inf

from flint import arb

from safetab.accounting.composition import pld_delta, pld_epsilon
from safetab.accounting.conversion import (
    BITS,
    AtAlpha,
    Curve,
    delta_minimised,
    epsilon_analytic,
    epsilon_minimised,
    exact_delta,
    upward,
)
from safetab.accounting.divergence import printed_divergence, renyi_divergence, zcdp_rho
from safetab.accounting.events import LevelPlan, ReleasePlan, Stage
from safetab.accounting.rules import BEYOND_THE_GRID, ONE_MECHANISM
from safetab.errors import Finding, InputError
from safetab.noise.enclosure import ball, working_precision
from safetab.noise.laws import Mechanism


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """One level, run or release under every analysis at one delta; each figure is an upper bound.

    `rho_quoted` is the paper's epsilon^2 / 2 for geometric noise. `pld` is None where losses do not fit on a grid.
    """

    name: str
    budget: Fraction
    pure_epsilon: Fraction | None
    rho: Fraction
    rho_quoted: Fraction
    analytic: float
    renyi: AtAlpha
    pld: float | None

    @property
    def epsilon(self) -> float:
        """The least epsilon of all analyses at the delta asked for."""
        pure = inf if self.pure_epsilon is None else upward(ball(self.pure_epsilon))
        return min(pure, self.analytic, self.renyi.value, inf if self.pld is None else self.pld)


@dataclass(frozen=True, slots=True)
class DeltaLoss:
    """The delta that goes with one epsilon, under each analysis that has one; upper bounds."""

    name: str
    renyi: float
    pld: float | None


@dataclass(frozen=True, slots=True)
class RunLoss:
    """A run, and what each of its levels means to someone who looks at that level alone."""

    total: PrivacyLoss
    levels: tuple[PrivacyLoss, ...]


@dataclass(frozen=True, slots=True)
class ReleaseLoss:
    """A release: its runs see disjoint records, so it costs what the costliest does, analysis by analysis."""

    delta: Fraction
    total: PrivacyLoss
    runs: tuple[RunLoss, ...]


def kinds_of(level: LevelPlan) -> list[tuple[Fraction, ...]]:
    """The budgets of the counts a record meets in one group, for each kind of group the level has."""
    kinds: list[tuple[Fraction, ...]] = []
    if level.has_total_only:
        kinds.append((level.event(Stage.TOTAL_ONLY).budget,))
    if level.has_two_stage:
        kinds.append((level.event(Stage.STAGE_1).budget, level.event(Stage.STAGE_2).budget))
    return kinds


_Shapes = list[tuple[tuple[Mechanism, int, tuple[tuple[Fraction, ...], ...]], int]]


def _shapes(levels: Sequence[LevelPlan]) -> _Shapes:
    """Mechanism, stability and kinds of each level, equal ones counted."""
    return list(Counter((level.mechanism, level.stability, tuple(kinds_of(level))) for level in levels).items())


def _composed_worst(shapes: _Shapes, of_count: Callable[[Mechanism, Fraction], arb]) -> arb:
    """The sum over levels of s times the worst kind of group, where counts of one group add up.

    The largest over whole mixes is s times the largest over kinds, because each group adds its own term.
    """
    total = arb(0)
    for (mechanism, stability, kinds), times in shapes:
        worst = [sum((of_count(mechanism, budget) for budget in kind), arb(0)) for kind in kinds]
        total += times * stability * reduce(lambda one, other: one.max(other), worst)
    return total


def renyi_curve(levels: Sequence[LevelPlan]) -> Curve:
    """alpha -> a bound on the Rényi divergence of these levels together."""
    if all(level.mechanism is Mechanism.DISCRETE_GAUSSIAN for level in levels):
        total = sum((level.budget for level in levels), Fraction(0))
        return lambda alpha: ball(total * alpha)
    shapes = _shapes(levels)
    return lambda alpha: _composed_worst(shapes, lambda mechanism, b: renyi_divergence(mechanism, b, alpha))


def printed_curve(levels: Sequence[LevelPlan]) -> Curve:
    """The curve of the paper's theorem with its printed tau; no guarantee."""
    shapes = _shapes(levels)
    return lambda alpha: _composed_worst(shapes, lambda _, b: printed_divergence(b, alpha))


def total_rho(levels: Sequence[LevelPlan]) -> arb:
    """The least rho for which each group's worst kind is accounted exactly."""
    return _composed_worst(_shapes(levels), zcdp_rho)


def loss_of(name: str, levels: Sequence[LevelPlan], delta: Fraction) -> PrivacyLoss:
    """Every analysis of some levels together."""
    nameless = tuple(replace(level, name="") for level in levels)
    return replace(_loss_of(nameless, exact_delta(delta)), name=name)


@lru_cache(maxsize=1024)
def _loss_of(levels: tuple[LevelPlan, ...], needed: Fraction) -> PrivacyLoss:
    mechanisms = {level.mechanism for level in levels}
    if len(mechanisms) > 1:
        raise InputError(Finding(ONE_MECHANISM, "accounting", key="levels"))
    geometric = mechanisms == {Mechanism.GEOMETRIC}
    budget = sum((level.budget for level in levels), Fraction(0))
    with working_precision(BITS):
        # A Gaussian rho is the budget, exactly; a geometric one is irrational and is rounded up.
        rho = Fraction(upward(total_rho(levels))) if geometric else budget
        return PrivacyLoss(
            "",
            budget,
            budget if geometric or not levels else None,
            rho,
            sum((level.budget**2 / (2 * level.stability) for level in levels), Fraction(0)) if geometric else rho,
            epsilon_analytic(ball(rho), needed),
            epsilon_minimised(renyi_curve(levels), needed) if levels else AtAlpha(0.0, Fraction(2)),
            _unless_beyond(lambda: pld_epsilon(levels, needed)),
        )


def delta_of(name: str, levels: Sequence[LevelPlan], epsilon: Fraction) -> DeltaLoss:
    """The delta of some levels together at one epsilon."""
    with working_precision(BITS):
        renyi = delta_minimised(renyi_curve(levels), epsilon).value if levels else 0.0
        return DeltaLoss(name, renyi, _unless_beyond(lambda: pld_delta(levels, epsilon)))


def analyse(plan: ReleasePlan, delta: Fraction) -> ReleaseLoss:
    """Every analysis of a release, of its runs and of their levels."""
    runs = tuple(
        RunLoss(
            loss_of(run.name, run.levels, delta),
            tuple(loss_of(level.name, (level,), delta) for level in run.levels),
        )
        for run in plan.runs
    )
    return ReleaseLoss(exact_delta(delta), costliest([run.total for run in runs]), runs)


def costliest(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """The largest figure of each analysis: what any one record of disjoint runs can lose."""
    pure = [loss.pure_epsilon for loss in losses]
    pld = [loss.pld for loss in losses]
    return PrivacyLoss(
        "release",
        max((loss.budget for loss in losses), default=Fraction(0)),
        None if None in pure else max((value for value in pure if value is not None), default=Fraction(0)),
        max((loss.rho for loss in losses), default=Fraction(0)),
        max((loss.rho_quoted for loss in losses), default=Fraction(0)),
        max((loss.analytic for loss in losses), default=0.0),
        max((loss.renyi for loss in losses), key=lambda found: found.value, default=AtAlpha(0.0, Fraction(2))),
        None if None in pld else max((value for value in pld if value is not None), default=0.0),
    )


def _unless_beyond(compute: Callable[[], float]) -> float | None:
    try:
        return compute()
    except InputError as error:
        if any(finding.rule is not BEYOND_THE_GRID for finding in error.findings):
            raise
        return None
