"""The same question to Google's package `dp-accounting`, as a second opinion.

In: the events of levels and how many of a person's groups are TotalOnly. Out: epsilon at delta by that package's own
privacy loss distributions, pessimistic ones. The promise: nothing of ours is used but the budgets. Its figures are
floats whose transforms are rounded without a bound, so they confirm ours and are never quoted as the guarantee; below
about 1e-13 they mean nothing. The package is an extra: `pip install 'safetab[crosscheck]'`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from math import sqrt
from typing import Any

from safetab.accounting.events import LevelEvents, Stage
from safetab.errors import Finding, MachineError
from safetab.noise.laws import Mechanism
from safetab.rules.accounting_rules import NO_DP_ACCOUNTING

#: Below this delta the package's transforms are rounding noise.
LEAST_DELTA = Fraction(1, 10**12)
#: How far apart the losses are that the package computes with.
_STEP = 2e-4


def dp_accounting_epsilon(levels: Sequence[LevelEvents], delta: Fraction, *, total_only: bool) -> float:
    """epsilon by dp-accounting, all of a person's groups being TotalOnly where a level has such, or all two-stage."""
    pld = _loss_distributions()
    counts: Counter[tuple[Mechanism, Fraction]] = Counter()
    for level in levels:
        single = (total_only and level.has_total_only) or not level.has_two_stage
        for stage in (Stage.TOTAL_ONLY,) if single else (Stage.STAGE_1, Stage.STAGE_2):
            event = level.event(stage)
            counts[event.mechanism, event.budget] += level.stability
    composed = pld.identity(_STEP)
    for (mechanism, budget), times in counts.items():
        if mechanism is Mechanism.GEOMETRIC:
            one = pld.from_discrete_laplace_mechanism(float(budget), value_discretization_interval=_STEP)
        else:
            sigma = sqrt(1 / (2 * float(budget)))
            one = pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=_STEP)
        composed = composed.compose(one.self_compose(times))
    return float(composed.get_epsilon_for_delta(float(delta)))


def _loss_distributions() -> Any:
    """The module of the package; slow to import, and of no use to anyone who does not ask."""
    try:
        return import_module("dp_accounting.pld.privacy_loss_distribution")
    except ModuleNotFoundError:
        raise MachineError(Finding(NO_DP_ACCOUNTING, "dp-accounting")) from None
