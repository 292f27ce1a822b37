"""Calibration: how much budget a margin of error costs, and which margin a budget buys.

In: a margin of error in persons and a confidence, or a budget. Out: the least budget, as a short decimal, whose noise
certainly keeps within the margin with at least that confidence; the margins the other way round; the paper's own
formulas beside both. The promise: an exact budget is rounded up, never down, so a target that was asked for is met,
and the next smaller decimal of the same length would miss it. `cor:geometric-scale-from-moe`,
`cor:dgauss-rho-from-moe` and section "Fixing algorithm parameters" of the paper.

The paper's formulas are floats, for comparison only: no noise is ever drawn from them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, floor, log, sqrt

from safetab.accounting.events import law_of
from safetab.accounting.rules import CONFIDENCE_IS_EXACT, TARGET_IS_WHOLE
from safetab.errors import Finding, InputError
from safetab.noise.enclosure import is_at_least
from safetab.noise.laws import Law, Mechanism

#: What the paper and the tables of the Bureau call "the margin of error".
CONFIDENCE_95 = Fraction(95, 100)
#: Digits of a calibrated budget: short enough to read, long enough that rounding up costs under 0.01 %.
BUDGET_DIGITS = 5


def whole_moe(value: object) -> int:
    """`value` itself, or an error when it is no whole number of persons."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(Finding(TARGET_IS_WHOLE, "calibration", key="moe", seen=repr(value)))
    return value


def exact_confidence(value: object) -> Fraction:
    """`value` itself, or an error when it is no exact rational strictly between 0 and 1."""
    if not isinstance(value, Fraction) or not 0 < value < 1:
        raise InputError(Finding(CONFIDENCE_IS_EXACT, "accuracy", key="confidence", seen=repr(value)))
    return value


def keeps_within(law: Law, moe: int, confidence: Fraction = CONFIDENCE_95) -> bool:
    """Whether the noise is at most `moe` in size with at least this chance, for certain."""
    needed = (1 + exact_confidence(confidence)) / 2
    return is_at_least(lambda bits: law.cumulative(whole_moe(moe), bits), needed)


def count_budget(mechanism: Mechanism, moe: int, confidence: Fraction = CONFIDENCE_95) -> Fraction:
    """The least budget of a single count that keeps its noise within `moe`, rounded up to a short decimal."""
    return level_budget(mechanism, moe, 1, Fraction(0), confidence)


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
    whole_moe(moe)
    return _least_decimal(lambda budget: keeps_within(law_of(mechanism, budget * share), moe, confidence))


def _least_decimal(is_enough: Callable[[Fraction], bool]) -> Fraction:
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


def paper_budget(mechanism: Mechanism, moe: float) -> float:
    """A single count's budget by the paper's formula: ln 20 / (floor(MOE) + 1), or 1.92 / floor(MOE)^2.

    The first is too small for its target and the second larger than needed; docs/explanation/errata.md.
    """
    if mechanism is Mechanism.GEOMETRIC:
        return log(20) / (floor(moe) + 1)
    return 1.92 / floor(moe) ** 2


def paper_moe(mechanism: Mechanism, budget: float) -> int:
    """A single count's 95 % margin of error by the paper's formula, from its budget."""
    if mechanism is Mechanism.GEOMETRIC:
        # Where epsilon is large the logarithm turns negative; the margin is then 0.
        return max(floor(log(40 / (1 + exp(min(budget, 700.0)))) / budget), 0)
    return floor(1.96 * sqrt(1 / (2 * budget)))
