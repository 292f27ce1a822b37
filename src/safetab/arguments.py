"""Arguments of Python callers: a wrong one is a mistake of the calling program.

In: whatever was passed. Out: the same number, exact; the path; the list. The promise: a wrong type is a TypeError, a
wrong value a ValueError, and both say what to pass. What a user writes into a file or on the command line is judged
earlier, by rules with codes, and does not get here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from numbers import Real
from operator import index
from pathlib import Path
from typing import Any

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


def refuse_other_than_number(value: object, name: str, wanted: str) -> None:
    """Raise for what cannot be compared with a number. Where it must lie is judged by whoever asks."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(_advice(value, name, wanted))


def as_path(value: object, name: str) -> Path:
    """`value` as a Path, when it is text or a path."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str):
        raise TypeError(f"{name} is of type {type(value).__name__}: pass a path, as text or as a Path.")
    return Path(path)


def as_list(values: object, name: str) -> list[Any]:
    """`values` as a list, when it is several; a text is one of them, not a list of letters."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} is of type {type(values).__name__}: pass a list.")
    return list(values)


def refuse_other_than_bool(**options: object) -> None:
    """Raise for an option that is not True or False: the text "off" would count as True."""
    for name, value in options.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} is {value!r}: it must be True or False.")


def _advice(value: object, name: str, wanted: str) -> str:
    try:
        seen = repr(value)
    except ValueError:  # Python does not print whole numbers of more than 4300 digits
        seen = f"of type {type(value).__name__}, with very many digits"
    return f"{name} is {seen}: pass {wanted}."
