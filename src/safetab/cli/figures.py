"""Numbers that people type as options, exact; how numbers are shown is that of `planning`."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from safetab.errors import Finding, UsageError
from safetab.planning.shown import at_most, budget_text, nearest, percent
from safetab.rules.accounting_rules import DELTA_IS_A_CHANCE, EPSILON_IS_NOT_NEGATIVE
from safetab.rules.usage_rules import NOT_A_NUMBER

__all__ = ["at_most", "budget_text", "nearest", "parse_delta", "parse_epsilon", "parse_number", "percent"]

#: Text like 1e-300 is welcome here, unlike in a budget; this only keeps a slip of the finger from filling memory.
_MOST_EXPONENT = 100_000


def parse_number(text: str, name: str) -> Fraction:
    """Decimal text such as `1e-10` as an exact number."""
    try:
        number = Decimal(text.strip())
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > _MOST_EXPONENT or len(text) > _MOST_EXPONENT:
            raise ValueError
        return Fraction(number)
    except (ArithmeticError, ValueError):
        raise UsageError(Finding(NOT_A_NUMBER, f"--{name}", seen=repr(text[:40]))) from None


def parse_delta(text: str) -> Fraction:
    """--delta, exact."""
    delta = parse_number(text, "delta")
    if not 0 < delta <= 1:
        raise UsageError(Finding(DELTA_IS_A_CHANCE, "--delta", seen=repr(text)))
    return delta


def parse_epsilon(text: str) -> Fraction:
    """--epsilon, exact."""
    epsilon = parse_number(text, "epsilon")
    if epsilon < 0:
        raise UsageError(Finding(EPSILON_IS_NOT_NEGATIVE, "--epsilon", seen=repr(text)))
    return epsilon
