"""Calibration: how much budget a margin of error costs.

In: a margin of error in persons and a confidence. Out: the least budget, as a short decimal, whose noise certainly
keeps within the margin with at least that confidence. The promise: the budget is rounded up, never down, so the target
is met, and the next smaller decimal of the same length would miss it. `cor:geometric-scale-from-moe`,
`cor:dgauss-rho-from-moe` and section "Fixing algorithm parameters" of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from safetab.accounting.events import law_of
from safetab.arguments import chance, whole_number
from safetab.noise.ball_arithmetic import is_at_least
from safetab.noise.laws import Law, Mechanism

#: What the paper and the tables of the Bureau call "the margin of error".
CONFIDENCE_95 = Fraction(95, 100)
#: Digits of a calibrated budget: short enough to read, long enough that rounding up costs under 0.01 %.
BUDGET_DIGITS = 5


def keeps_within(law: Law, moe: int, confidence: Fraction = CONFIDENCE_95) -> bool:
    """Whether the noise is at most `moe` in size with at least this chance, for certain."""
    margin, needed = whole_number(moe, "moe", 0), (1 + chance(confidence, "confidence")) / 2
    return is_at_least(lambda bits: law.cumulative(margin, bits), needed)


def level_budget(
    mechanism: Mechanism,
    moe: int,
    stability: int,
    stage_1_fraction: Fraction,
    confidence: Fraction = CONFIDENCE_95,
) -> Fraction:
    """The least budget of a level whose stage 2 counts keep their noise within `moe`, rounded up to a short decimal.

    A stage 2 count gets (1 - gamma) / s of its level's budget, so the level needs s / (1 - gamma) times what a single
    count does. (The paper's text says 1 / gamma there; its table follows 1 / (1 - gamma).)

    Claim. The stage 2 noise of a level with this budget is at most `moe` with at least this chance, and with the
    next smaller decimal of the same length it is not. Both are certified comparisons; that one crossing separates
    all budgets holds because the share of noise within `moe` rises with the budget: of the geometric
    1 - 2 exp(-eps (moe + 1)) / (1 + exp(-eps)), and of the Gaussian because its weights at larger |k| fall faster.
    """
    share = (1 - stage_1_fraction) / stability
    return least_decimal(lambda budget: keeps_within(law_of(mechanism, budget * share), moe, confidence))


def least_decimal(is_enough: Callable[[Fraction], bool]) -> Fraction:
    """The least decimal of BUDGET_DIGITS digits that is enough, given that everything above it is too."""
    decade = Fraction(1)
    if is_enough(decade):
        while is_enough(decade / 10):
            decade /= 10
        decade /= 10
    else:
        while not is_enough(decade * 10):
            decade *= 10
    # Now `decade` is too little and ten times it is enough.
    too_little: int = 10 ** (BUDGET_DIGITS - 1)
    enough = 10 * too_little
    unit = decade / too_little
    while enough - too_little > 1:
        middle = (too_little + enough) // 2
        if is_enough(middle * unit):
            enough = middle
        else:
            too_little = middle
    return enough * unit
