"""Bounds are rounded up, never down.

In: a ball or an exact number. Out: a float or decimal text. The promise: what comes out is not below what came in, so
a figure that is quoted as an upper bound is one.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import inf, nextafter

from flint import arb

#: Exact decimals with up to this many places on either side of the point are kept as they are.
_SHORT = 9


def float_above(value: arb) -> float:
    """A float that is certainly not below the number in the ball."""
    nearest = float(value.upper())
    return nearest if nearest == inf else nextafter(nearest, inf)


def decimal_above(value: Fraction | float, digits: int) -> str:
    """Decimal text of so many significant digits, rounded up; a short exact decimal is kept as it is."""
    exact = Fraction(value)
    if exact == 0:
        return "0"
    is_short = isinstance(value, Fraction) and 10**_SHORT * exact % 1 == 0 and exact < 10**_SHORT
    with localcontext() as context:
        context.prec, context.rounding = 2 * _SHORT if is_short else digits, ROUND_CEILING
        rounded = Decimal(exact.numerator) / Decimal(exact.denominator)
    if is_short or Decimal("1e-5") <= rounded < Decimal("1e15"):
        text = format(rounded, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return format(rounded.normalize(), "e").replace("e+", "e")
