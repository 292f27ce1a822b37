"""The privacy loss of one count, or of one group, on a grid.

In: the budget of a count, a grid step. Out: the distribution of the loss on multiples of the step. The promise: it errs
upward. A loss between two grid points is split between them so that its probability under both neighbours is kept (the
pessimistic "connect the dots" of Doroshenko and others, 2022). The hockey-stick curve then lies on or above the true
one, and the error is of second order in the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, isqrt, log

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import law_of
from safetab.accounting.rounding import float_above
from safetab.noise.laws import Mechanism

Floats = npt.NDArray[np.float64]

#: The most a single count may lose, so that exponentials of losses stay within floats.
_MOST_LOSS = 300.0
#: The most outcomes of one count, and the most grid points of one group.
_MOST_OUTCOMES = 400_000


class BeyondGridError(ArithmeticError):
    """The losses of a budget do not fit on a grid of floats; the other theories have figures at any budget."""


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """Chances of the losses (lower + i) * step, and of an infinite loss."""

    step: float
    lower: int
    chances: Floats
    infinite: float

    @property
    def losses(self) -> Floats:
        return np.arange(self.lower, self.lower + len(self.chances), dtype=np.float64) * self.step

    def log_moment(self, theta: float) -> float:
        """log E exp(theta * loss) over the finite losses."""
        possible = self.chances > 0.0
        exponents = theta * self.losses[possible] + np.log(self.chances[possible])
        top = float(exponents.max())
        return top + log(float(np.exp(exponents - top).sum()))


def count_loss(mechanism: Mechanism, budget: Fraction, step: float, floor_bits: int) -> LossDistribution:
    """The loss of one noisy count; outcomes of a chance below 2^-floor_bits on the far side are an infinite loss."""
    if mechanism is Mechanism.GEOMETRIC:
        epsilon = float(budget)
        _check(epsilon <= _MOST_LOSS, budget)
        return _discretised(
            np.array([-epsilon, epsilon]), np.array([1 / (1 + exp(epsilon)), 1 / (1 + exp(-epsilon))]), step, 0.0
        )
    rho = float(budget)
    last = isqrt(int(Fraction(7 * floor_bits, 10) / budget)) + 1
    _check(2 * last <= _MOST_OUTCOMES and rho * (2 * last + 1) <= _MOST_LOSS, budget)
    law = law_of(mechanism, budget)
    k = np.arange(-last, last + 1, dtype=float)
    # Where the noise is k, the outcome is exp((2k + 1) rho) times likelier than for the neighbour.
    chances = np.exp(-rho * k * k) * float_above(law.probability(0, 80))
    beyond = float_above(law.tail(last, 80))
    chances[0] += beyond
    return _discretised((2 * k + 1) * rho, chances, step, beyond)


def _check(is_within: bool, budget: Fraction) -> None:
    if not is_within:
        raise BeyondGridError(f"the losses of a count with budget {float(budget):.3g} do not fit on a grid")


def _discretised(losses: Floats, chances: Floats, step: float, infinite: float) -> LossDistribution:
    """Split each loss l between the grid points around it: b = p (1 - e^-u) / (1 - e^-step) goes up, u = l - kh."""
    position = losses / step
    # Upward by more than the rounding of the division, and never across the next grid point by mistake.
    position = position + np.abs(position) * 1e-15
    below = np.floor(position)
    share_up = np.minimum(np.expm1(-(position - below) * step) / expm1(-step) * (1 + 1e-12), 1.0)
    lower = int(below[0])
    size = int(below[-1]) - lower + 2
    _check(size <= 4 * _MOST_OUTCOMES, Fraction(losses[-1]))
    index = (below - lower).astype(np.int64)
    split = np.zeros(size)
    split += np.bincount(index, chances * (1 - share_up), size)
    split += np.bincount(index + 1, chances * share_up, size)
    return LossDistribution(step, lower, split, infinite)


def both(first: LossDistribution, second: LossDistribution) -> LossDistribution:
    """The loss of two independent counts; plain convolution, all terms positive.

    A narrow law has few outcomes, so most grid points have no chance: only the others are gone through.
    """
    few, many = sorted((first, second), key=lambda loss: np.count_nonzero(loss.chances))
    chances = np.zeros(len(few.chances) + len(many.chances) - 1)
    for index in np.flatnonzero(few.chances):
        chances[index : index + len(many.chances)] += few.chances[index] * many.chances
    return LossDistribution(first.step, first.lower + second.lower, chances, min(first.infinite + second.infinite, 1.0))
