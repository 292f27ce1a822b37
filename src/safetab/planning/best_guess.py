"""What a budget means to one person: how well anybody can guess, from what is published, whether the person is in it.

In: the noise of levels, chances of a false alarm. Out: the largest chance of a true alarm that any guess can have with
no more false alarms. The promise: an upper bound for every person, every guess and every side information, rounded up.

A guess is a set of outputs at which it says "the person is in the records". If the release is (epsilon, delta)-
differentially private, its chance is at most exp(epsilon) times that without the person, plus delta; and so for the
outputs at which it says nothing. Each epsilon of a grid gives two such bounds, and the least of all of them holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from safetab.accounting.events import LevelEvents
from safetab.accounting.loss_distributions.composed import epsilon_about, pld_deltas
from safetab.accounting.loss_distributions.losses import BeyondGridError

#: Of the chances that are rounded below.
_ROUNDING = 1e-12
_POINTS = 150
#: The grid of epsilons ends where delta is about exp of minus this, 1e-9.
_LEAST_DELTA_LOG = 20.7


@dataclass(frozen=True, slots=True)
class Guess:
    """The best possible guess with at most this chance of a false alarm."""

    false_positive: float
    true_positive: float


def best_guesses(levels: Sequence[LevelEvents], false_positives: Sequence[float]) -> tuple[Guess, ...] | None:
    """The curve of false against true positives, for someone who sees these levels; None beyond the grid of losses."""
    most = epsilon_about(levels, _LEAST_DELTA_LOG)
    epsilons = [most * step / _POINTS for step in range(_POINTS + 1)]
    try:
        # Next to the chances of a guess a small delta is nothing.
        deltas = pld_deltas(levels, epsilons, small_ones_matter=False)
    except BeyondGridError:
        return None
    curve = [(float(epsilon), delta) for epsilon, delta in zip(epsilons, deltas, strict=True)]
    return tuple(Guess(each, _true_positive(each, curve)) for each in false_positives)


def _true_positive(false_positive: float, curve: Sequence[tuple[float, float]]) -> float:
    bounds = [1.0]
    for epsilon, delta in curve:
        bounds.append(exp(min(epsilon, 700.0)) * false_positive + delta)
        bounds.append(1 - (1 - false_positive - delta) * exp(-epsilon))
    return min(max(min(bounds) + _ROUNDING, false_positive), 1.0)
