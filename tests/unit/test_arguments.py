"""Wrong arguments from Python: a TypeError or ValueError that says what to pass, and right ones come out exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.arguments import chance, exact_number, positive, whole_number


def test_whole_numbers_of_any_integer_type_become_ints() -> None:
    for value in (3, np.int64(3), np.uint8(3)):
        number = whole_number(value, "n", 3)
        assert type(number) is int
        assert number == 3


def test_the_message_says_what_was_passed_and_what_to_pass() -> None:
    with pytest.raises(ValueError, match=r"^n is 2: pass a whole number \(an int\), 3 or more\.$"):
        whole_number(2, "n", 3)
    with pytest.raises(TypeError, match=r"^n is '3': pass a whole number \(an int\), 3 or more\.$"):
        whole_number("3", "n", 3)
    with pytest.raises(
        TypeError, match=r"^rho is 0.1: pass an exact number above 0, as a Fraction .* already rounded\.$"
    ):
        positive(0.1, "rho")


def test_exact_numbers_become_fractions() -> None:
    assert positive(2, "x") == Fraction(2)
    assert type(positive(2, "x")) is Fraction
    assert chance(Fraction(1, 10**9), "p") == Fraction(1, 10**9)


def test_a_number_too_long_to_print_is_judged_all_the_same() -> None:
    tiny = Fraction(1, 10**5000)
    assert chance(tiny, "p") == tiny
    with pytest.raises(
        ValueError, match=r"^p is of type Fraction, with very many digits: pass an exact number above 0 and below 1"
    ):
        chance(1 + tiny, "p")
    with pytest.raises(ValueError, match=r"^n is of type int, with very many digits: pass a whole number"):
        whole_number(-(10**5000), "n", 0)
    assert exact_number(10**5000, "x", "of any size", lambda _: True) == 10**5000
