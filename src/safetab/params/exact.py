"""Exact numbers from text: decimals become fractions, and no float ever comes between a budget and its noise."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

#: Decimals with more digits, or further from the point, are refused: nobody means them and they cost memory.
_MOST_DIGITS = 100


def exact(value: object) -> Fraction:
    """The fraction that decimal text, a whole number or a parsed `Decimal` stands for; ValueError for anything else."""
    # True is an int to Python, and a float has already lost the text it came from.
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ValueError("not a decimal number")
    try:
        number = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        raise ValueError("not a decimal number") from None
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or len(digits) > _MOST_DIGITS or abs(exponent) > _MOST_DIGITS:
        raise ValueError("not a decimal number")
    return Fraction(number)


def decimal_text(number: Fraction) -> str:
    """A fraction as decimal text where it has one, else as a ratio."""
    if number.denominator == 1:
        return str(number.numerator)
    digits = 0
    rest = number.denominator
    while rest % 10 == 0 or rest % 2 == 0 or rest % 5 == 0:
        rest //= 10 if rest % 10 == 0 else 2 if rest % 2 == 0 else 5
        digits += 1
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    scaled = number * 10**digits
    sign = "-" if scaled < 0 else ""
    text = str(abs(scaled.numerator)).rjust(digits + 1, "0")
    return f"{sign}{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")
