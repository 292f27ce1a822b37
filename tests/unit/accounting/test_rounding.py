"""Bounds are rounded up: floats out of balls, and decimal text."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from flint import arb

from safetab.accounting.rounding import decimal_above, float_above


def test_a_float_is_above_its_ball() -> None:
    for value in (Fraction(1, 3), Fraction(-1, 3), Fraction(10**20 + 1), Fraction(0)):
        ball = arb(value.numerator) / value.denominator
        assert Fraction(float_above(ball)) > value
        assert float_above(ball) == pytest.approx(float(value), abs=1e-300, rel=1e-14)
    assert float_above(arb.pos_inf()) == inf


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(1, 3), 6, "0.333334"),
        (Fraction("4.944"), 2, "4.944"),
        (Fraction("123456789.123456789"), 3, "123456789.123456789"),
        (Fraction("0.1234567891"), 6, "0.123457"),
        (Fraction(10**9), 3, "1000000000"),
        (Fraction(10**18), 3, "1e18"),
        (Fraction(0), 6, "0"),
        (0.0, 6, "0"),
        (0.25, 1, "0.3"),
        (1e-7, 2, "1e-7"),
    ],
)
def test_decimal_text_is_short_and_above(value: Fraction | float, digits: int, text: str) -> None:
    assert decimal_above(value, digits) == text
    assert Fraction(text) >= Fraction(value)
