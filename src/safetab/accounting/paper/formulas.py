"""The paper's formulas as printed, where they differ from the exact ones.

In: budgets, margins of error, events of levels. Out: floats. The promise: these are the paper's formulas and nothing
else; they are for comparison only, no noise is drawn from them and no guarantee rests on them.
docs/explanation/errata.md derives the differences. `cor:geometric-scale-from-moe`, `cor:dgauss-rho-from-moe`,
`lem:divergence-of-geometric-distribution` and `thm:safetab-saisfies-rdp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, floor, log, sqrt

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import LevelEvents, Stage
from safetab.accounting.renyi import PAPER_GRID
from safetab.noise.laws import Mechanism


def paper_budget(mechanism: Mechanism, moe: float) -> float:
    """A single count's budget: ln 20 / (floor(MOE) + 1), or 1.92 / floor(MOE)^2.

    The first is too small for its target and the second larger than needed.
    """
    if mechanism is Mechanism.GEOMETRIC:
        return log(20) / (floor(moe) + 1)
    return 1.92 / floor(moe) ** 2


def paper_moe(mechanism: Mechanism, budget: float) -> int:
    """A single count's 95 % margin of error, from its budget."""
    if mechanism is Mechanism.GEOMETRIC:
        # Where epsilon is large the logarithm turns negative; the margin is then 0.
        return max(floor(log(40 / (1 + exp(min(budget, 700.0)))) / budget), 0)
    return floor(1.96 * sqrt(1 / (2 * budget)))


def printed_divergence(epsilon: float, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """tau: the Rényi divergence of the geometric mechanism, with an integral where a sum belongs.

    It is smaller than the true divergence at the paper's parameters.
    """
    first = 2 * alpha / (epsilon * (2 * alpha - 1)) * np.exp((alpha - 1) * epsilon)
    second = 2 * (alpha - 1) / (epsilon * (2 * alpha - 1)) * np.exp(-alpha * epsilon)
    divergence: npt.NDArray[np.float64] = np.log(np.tanh(epsilon / 2) * (first + second)) / (alpha - 1)
    return divergence


def printed_renyi_epsilon(levels: Sequence[LevelEvents], delta: Fraction) -> float:
    """The epsilon of geometric noise by the paper's theorem with its tau, on its grid of alpha."""
    alpha = np.array([float(each) for each in PAPER_GRID])
    total = np.zeros(len(alpha))
    for level in levels:
        single, first, second = (printed_divergence(float(level.event(stage).budget), alpha) for stage in Stage)
        total += level.stability * np.maximum(first + second, single)
    extra = (log(1 / delta) + (alpha - 1) * np.log(1 - 1 / alpha) - np.log(alpha)) / (alpha - 1)
    return float((total + extra).min())
