"""Numbers for people who decide: bounds are rounded up, never down, and exact ones are shown as they are."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

from safetab.accounting.conversion import exact_delta, exact_epsilon
from safetab.cli.rules import NOT_A_NUMBER
from safetab.errors import Finding, UsageError
from safetab.params.exact import decimal_text

_DIGITS = 6
#: Text like 1e-300 is welcome here, unlike in a budget; this only keeps a slip of the finger from filling memory.
_MOST_EXPONENT = 100_000


def at_most(value: Fraction | float | None, digits: int = _DIGITS) -> str:
    """A bound with so many significant digits, rounded up; a short exact decimal stays as it is."""
    if value is None:
        return "-"
    exact = Fraction(value)
    if isinstance(value, Fraction) and 10**9 * exact % 1 == 0 and exact < 10**9:
        return decimal_text(exact)
    if exact == 0:
        return "0"
    with localcontext() as context:
        context.prec, context.rounding = digits, ROUND_CEILING
        rounded = Decimal(exact.numerator) / Decimal(exact.denominator)
    if Decimal("1e-5") <= rounded < Decimal("1e15"):
        text = format(rounded, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return format(rounded.normalize(), "e").replace("e+", "e")


def nearest(value: float, digits: int = 4) -> str:
    """A figure that is no bound, such as a standard deviation."""
    return f"{value:.{digits}g}"


def budget_text(budget: Fraction) -> str:
    """A budget exactly, or its first digits where it has no short decimal."""
    text = decimal_text(budget)
    return text if len(text) <= 12 else f"{float(budget):.6g}..."


def parse_number(text: str, name: str) -> Fraction:
    """The exact number that decimal text such as `1e-10` stands for."""
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
    return exact_delta(parse_number(text, "delta"))


def parse_epsilon(text: str) -> Fraction:
    """--epsilon, exact."""
    return exact_epsilon(parse_number(text, "epsilon"))
