"""Arguments of Python callers: a wrong one is a mistake of the calling program.

In: whatever was passed. Out: the same number, exact. The promise: a wrong type is a TypeError, a wrong value a
ValueError, and both say what to pass. What a user writes into a file or on the command line is judged earlier, by
rules with codes, and does not get here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import index

_EXACT = (
    "an exact number {}, as a Fraction made from decimal text such as Fraction('0.159'); a float is already rounded"
)


def whole_number(value: object, name: str, least: int) -> int:
    """`value` as an int, when it is a whole number of at least `least`."""
    wanted = f"a whole number (an int), {least} or more"
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(_advice(value, name, wanted))
    number = index(value)
    if number < least:
        raise ValueError(_advice(value, name, wanted))
    return number


def exact_number(value: object, name: str, wanted: str, is_right: Callable[[Fraction], bool]) -> Fraction:
    """`value` as a Fraction, when it is one or an int: anything else may have been rounded. `wanted` says the range."""
    if isinstance(value, bool) or not isinstance(value, Fraction | int):
        raise TypeError(_advice(value, name, _EXACT.format(wanted)))
    exact = Fraction(value)
    if not is_right(exact):
        raise ValueError(_advice(value, name, _EXACT.format(wanted)))
    return exact


def positive(value: object, name: str) -> Fraction:
    """An exact number above 0."""
    return exact_number(value, name, "above 0", lambda exact: exact > 0)


def chance(value: object, name: str) -> Fraction:
    """An exact probability strictly between 0 and 1."""
    return exact_number(value, name, "above 0 and below 1", lambda exact: 0 < exact < 1)


def _advice(value: object, name: str, wanted: str) -> str:
    try:
        seen = repr(value)
    except ValueError:  # Python does not print whole numbers of more than 4300 digits
        seen = f"of type {type(value).__name__}, with very many digits"
    return f"{name} is {seen}: pass {wanted}."
