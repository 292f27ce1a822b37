"""Numbers for people who decide: bounds are rounded up, never down, and exact ones are shown as they are.

In: figures of a plan. Out: short text. The promise: commands and pages write the same figure in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from safetab.accounting.privacy_loss import PrivacyLoss
from safetab.accounting.rounding import decimal_above
from safetab.params.exact import decimal_text

_DIGITS = 6
#: The figures of a privacy loss, by the words that tables have for them.
LOSS_FIGURES: dict[str, Callable[[PrivacyLoss], Fraction | float | None]] = {
    "Pure epsilon": lambda loss: loss.pure_epsilon,
    "rho": lambda loss: loss.rho,
    "zCDP analytic": lambda loss: loss.epsilon_zcdp_analytic,
    "Rényi divergence": lambda loss: loss.renyi.value,
    "Loss distribution": lambda loss: loss.epsilon_loss_distribution,
}
LOSS_HEADINGS = ("Budget", *LOSS_FIGURES)


def at_most(value: Fraction | float | None, digits: int = _DIGITS) -> str:
    """A bound with so many significant digits, rounded up; a short exact decimal stays as it is."""
    return "-" if value is None else decimal_above(value, digits)


def nearest(value: float, digits: int = 4) -> str:
    """A figure that is no bound, such as a standard deviation."""
    return f"{value:.{digits}g}"


def percent(chance: float) -> str:
    """A probability for people; one that is not certain never looks so."""
    if 0 < chance < 0.001:
        return "<0.1 %"
    if 0.999 < chance < 1:
        return ">99.9 %"
    return f"{100 * chance:.1f} %".replace(".0 %", " %")


def budget_text(budget: Fraction) -> str:
    """A budget exactly, or its first digits where it has no short decimal."""
    text = decimal_text(budget)
    return text if len(text) <= 12 else f"{float(budget):.6g}..."


def loss_texts(loss: PrivacyLoss) -> tuple[str, ...]:
    """A privacy loss in the columns of `LOSS_HEADINGS`."""
    return (budget_text(loss.budget), *(at_most(figure(loss)) for figure in LOSS_FIGURES.values()))
