"""Approximate differential privacy: the two parameters of an (epsilon, delta) statement, exact.

In: what a caller passed as epsilon or delta. Out: the exact number, or a TypeError or ValueError that says what to
pass. The promise: no float takes part until a figure is rounded up. The other theories convert into this one.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from safetab.arguments import exact_number
from safetab.noise.ball_arithmetic import ball

#: Bits of every evaluation of a privacy loss: enough that a ball is far narrower than a float.
WORKING_BITS = 128


def exact_delta(value: object) -> Fraction:
    """A delta above 0 and at most 1. At delta 0 only the pure epsilon of geometric noise says anything."""
    return exact_number(value, "delta", "above 0 and at most 1", lambda exact: 0 < exact <= 1)


def exact_epsilon(value: object) -> Fraction:
    """An epsilon of 0 or more."""
    return exact_number(value, "epsilon", "of 0 or more", lambda exact: exact >= 0)


def log_inverse(delta: Fraction) -> arb:
    """log(1 / delta)."""
    return ball(1 / delta).log()
