"""How a stage 1 count X and a sum S of stage 2 counts are combined: T = aX + bS with small whole numbers a and b.

In: the variances of both. Out: a and b. The promise: the interval holds for any weights, because nothing in it depends
on where they come from; these make the variance of T / (a + b), the best estimate far from any threshold, larger than
that of the ideal weights 1 / Var X and 1 / Var S by less than a hundred millionth. They are whole because a variance is
not a rational number in general, and T must be exact: a tie is a tie.

Two exceptions, in which S is taken alone. X is left out where it is worth less than a 500th. And it is left out where
its noise is less than a 1024th as wide as that of S: X alone, cut off at a threshold, says nothing about how far beyond
it the true count is, so S cannot be left out, and T would have to follow S in steps that are fine beside X. Nobody
plans such a release: nearly all of its budget would go to stage 1.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from safetab.accounting.accuracy.noisy_sums import NoisySum
from safetab.noise.ball_arithmetic import working_precision
from safetab.noise.laws import Law

_BITS = 80
#: The variance that is lost, as a part of the ideal one, is (w - ideal)^2 / (ideal (1 - ideal)) for a share w of X.
_LOSS = Fraction(1, 10**8)
_LEAST_SHARE = Fraction(1, 500)
#: The largest ratio between the standard deviations of S and X.
_MOST = 1024


def weights(stage_1: Law, law: Law, n_cells: int) -> tuple[int, int]:
    """The weights of the stage 1 count and of the sum, without a common divisor."""
    with working_precision(_BITS):
        ratio = NoisySum(law, n_cells).variance(_BITS) / stage_1.variance(_BITS)
        share_of_sum = Fraction(float(1 / (1 + ratio)))
    share = 1 - share_of_sum
    if share < _LEAST_SHARE or share_of_sum * _MOST**2 < 1:
        return 0, 1
    # An integer root of a scaled number, so that nothing depends on how a machine rounds.
    tolerance = Fraction(isqrt(int(_LOSS * share * share_of_sum * 2**160)), 2**80)
    simplest = simplest_between(share - tolerance, share + tolerance)
    return simplest.numerator, simplest.denominator - simplest.numerator


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator from `low` to `high`, both above 0, by continued fractions."""
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
