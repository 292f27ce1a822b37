"""Decimals become exactly the fraction their text says."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.params.exact import decimal_text, exact


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.159", Fraction(159, 1000)),
        (Decimal("0.1"), Fraction(1, 10)),
        (3, Fraction(3)),
        (" 1e-3 ", Fraction(1, 1000)),
        ("-2.50", Fraction(-5, 2)),
    ],
)
def test_text_is_kept(value: object, expected: Fraction) -> None:
    assert exact(value) == expected


@pytest.mark.parametrize("value", [0.1, True, None, "", "1/3", "nan", "inf", "1e101", "9" * 101, [1], "0x1p-2"])
def test_what_is_no_decimal_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="decimal"):
        exact(value)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=12))
def test_text_and_back(number: Decimal) -> None:
    assert exact(decimal_text(exact(number))) == exact(number) == Fraction(number)


def test_a_fraction_without_decimals_is_written_as_a_ratio() -> None:
    assert decimal_text(Fraction(1, 3)) == "1/3"
    assert decimal_text(Fraction(-1, 8)) == "-0.125"
