"""Plans that several tests of accounting analyse."""

from __future__ import annotations

import math
from fractions import Fraction

from safetab.accounting.events import LevelEvents
from safetab.noise.laws import Mechanism

GEOMETRIC, GAUSSIAN = Mechanism.GEOMETRIC, Mechanism.DISCRETE_GAUSSIAN
DELTA = Fraction(1, 10**10)


def level(
    mechanism: Mechanism,
    budget: float | str | Fraction,
    stability: int = 9,
    total_only: bool = True,
    two_stage: bool = True,
) -> LevelEvents:
    """A level that sets a tenth of its budget aside for stage 1."""
    return LevelEvents("", mechanism, Fraction(budget), stability, Fraction(1, 10), total_only, two_stage)


def paper_levels(mechanism: Mechanism, total_only: bool = True, two_stage: bool = True) -> list[LevelEvents]:
    """The seven levels of the paper, with the budgets that its text gives."""
    base = {moe: math.log(20) / (moe + 1) if mechanism is GEOMETRIC else 1.92 / moe**2 for moe in (6, 11, 50)}
    return [level(mechanism, base[moe] * 10, 9, total_only, two_stage) for moe in (6, 6, 11, 11, 50, 50, 50)]
