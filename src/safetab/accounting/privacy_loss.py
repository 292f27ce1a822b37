"""The privacy loss of a release under every theory, for each level, each run and the release.

In: the events of each run's levels and an exact delta. Out: figures that are upper bounds, rounded up, under pure DP,
zCDP, Rényi DP and privacy loss distributions. The promise: each figure holds by itself, for every person and every mix
of groups; the least of them may be quoted. `thm:safetab-saisfies-pure-dp`, `thm:safetab-satisfies-zcdp`,
`thm:safetab-saisfies-rdp`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf

from safetab.accounting.approximate_dp import WORKING_BITS, exact_delta
from safetab.accounting.events import LevelEvents
from safetab.accounting.loss_distributions.composed import pld_delta, pld_epsilon
from safetab.accounting.loss_distributions.losses import BeyondGridError
from safetab.accounting.renyi import AtAlpha, delta_minimised, epsilon_minimised, renyi_curve
from safetab.accounting.rounding import decimal_above, float_above
from safetab.accounting.zcdp import epsilon_analytic, total_rho
from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.laws import Mechanism

#: Significant digits of an exact number in JSON; a short decimal is given as it is.
_DIGITS = 12
#: Beyond this an order of Rényi divergence is no float.
_LARGEST_ALPHA = 10**300
_NOTHING = AtAlpha(0.0, Fraction(2))


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """One level, run or release under every theory at one delta; each figure is an upper bound.

    `rho_quoted` is the paper's epsilon^2 / 2 for geometric noise. `pure_epsilon` is None for Gaussian noise, and
    `epsilon_loss_distribution` where losses do not fit on a grid.
    """

    name: str
    budget: Fraction
    pure_epsilon: Fraction | None
    rho: Fraction
    rho_quoted: Fraction
    epsilon_zcdp_analytic: float
    renyi: AtAlpha
    epsilon_loss_distribution: float | None

    @property
    def epsilon(self) -> float:
        """The least epsilon of all theories at the delta asked for."""
        pure = None if self.pure_epsilon is None else float_above(ball(self.pure_epsilon))
        all_of_them = (pure, self.epsilon_zcdp_analytic, self.renyi.value, self.epsilon_loss_distribution)
        return min((figure for figure in all_of_them if figure is not None), default=inf)

    def as_json(self) -> dict[str, str | float | None]:
        """The figures under their public names; exact numbers are decimal text, rounded up where it is long."""
        return {
            "budget": decimal_above(self.budget, _DIGITS),
            "pure_epsilon": None if self.pure_epsilon is None else decimal_above(self.pure_epsilon, _DIGITS),
            "rho": decimal_above(self.rho, _DIGITS),
            "rho_quoted": decimal_above(self.rho_quoted, _DIGITS),
            "epsilon": self.epsilon,
            "epsilon_zcdp_analytic": self.epsilon_zcdp_analytic,
            "epsilon_renyi": self.renyi.value,
            "epsilon_renyi_alpha": float(self.renyi.alpha) if self.renyi.alpha < _LARGEST_ALPHA else None,
            "epsilon_loss_distribution": self.epsilon_loss_distribution,
        }


@dataclass(frozen=True, slots=True)
class DeltaLoss:
    """The delta that goes with one epsilon, under each theory that has one; upper bounds."""

    name: str
    delta_renyi: float
    delta_loss_distribution: float | None


@dataclass(frozen=True, slots=True)
class RunLoss:
    """A run, and what each of its levels means to someone who looks at that level alone."""

    total: PrivacyLoss
    levels: tuple[PrivacyLoss, ...]


@dataclass(frozen=True, slots=True)
class ReleaseLoss:
    """A release: its runs see disjoint records, so under each theory it costs what its costliest run costs."""

    delta: Fraction
    total: PrivacyLoss
    runs: tuple[RunLoss, ...]


def analyse(runs_of_release: Mapping[str, Sequence[LevelEvents]], delta: Fraction) -> ReleaseLoss:
    """The privacy loss of a release, of its runs and of their levels; the runs see disjoint records."""
    runs = tuple(
        RunLoss(loss_of(name, levels, delta), tuple(loss_of(level.name, (level,), delta) for level in levels))
        for name, levels in runs_of_release.items()
    )
    return ReleaseLoss(exact_delta(delta), costliest([run.total for run in runs]), runs)


def loss_of(name: str, levels: Sequence[LevelEvents], delta: Fraction) -> PrivacyLoss:
    """The privacy loss of some levels together."""
    nameless = tuple(replace(level, name="") for level in levels)
    return replace(_loss_of(nameless, exact_delta(delta)), name=name)


def delta_of(name: str, levels: Sequence[LevelEvents], epsilon: Fraction) -> DeltaLoss:
    """The delta of some levels together at one epsilon."""
    with working_precision(WORKING_BITS):
        renyi = delta_minimised(renyi_curve(levels), epsilon).value if levels else 0.0
        return DeltaLoss(name, renyi, _unless_beyond_grid(lambda: pld_delta(levels, epsilon)))


def costliest(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """The largest figure under each theory: what any one person can lose who is in one of several disjoint runs."""
    pure = [loss.pure_epsilon for loss in losses]
    by_distribution = [loss.epsilon_loss_distribution for loss in losses]
    return PrivacyLoss(
        "release",
        max((loss.budget for loss in losses), default=Fraction(0)),
        None if None in pure else max((value for value in pure if value is not None), default=Fraction(0)),
        max((loss.rho for loss in losses), default=Fraction(0)),
        max((loss.rho_quoted for loss in losses), default=Fraction(0)),
        max((loss.epsilon_zcdp_analytic for loss in losses), default=0.0),
        max((loss.renyi for loss in losses), key=lambda found: found.value, default=_NOTHING),
        None
        if None in by_distribution
        else max((value for value in by_distribution if value is not None), default=0.0),
    )


@lru_cache(maxsize=1024)
def _loss_of(levels: tuple[LevelEvents, ...], delta: Fraction) -> PrivacyLoss:
    mechanisms = {level.mechanism for level in levels}
    if len(mechanisms) > 1:
        raise ValueError(
            "levels use two noise mechanisms: pass levels with geometric or with Gaussian noise, not both."
        )
    geometric = mechanisms == {Mechanism.GEOMETRIC}
    budget = sum((level.budget for level in levels), Fraction(0))
    with working_precision(WORKING_BITS):
        # A Gaussian rho is the budget, exactly; a geometric one is irrational and is rounded up.
        rho = Fraction(float_above(total_rho(levels))) if geometric else budget
        return PrivacyLoss(
            "",
            budget,
            budget if geometric or not levels else None,
            rho,
            sum((level.budget**2 / (2 * level.stability) for level in levels), Fraction(0)) if geometric else rho,
            epsilon_analytic(ball(rho), delta),
            epsilon_minimised(renyi_curve(levels), delta) if levels else _NOTHING,
            _unless_beyond_grid(lambda: pld_epsilon(levels, delta)),
        )


def _unless_beyond_grid(compute: Callable[[], float]) -> float | None:
    try:
        return compute()
    except BeyondGridError:
        return None
