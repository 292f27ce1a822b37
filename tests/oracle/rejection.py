"""The rejection samplers of Canonne, Kamath and Steinke (2020), in plain Python integers and fractions.

An independent second way to the same two laws; it imports nothing from safetab. Algorithms 1 to 3 of "The Discrete
Gaussian for Differential Privacy": a Bernoulli(exp(-g)) from Bernoullis of rational chance, a discrete Laplace from
those, a discrete Gaussian by rejection from that. Slow, and meant to be read.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random


class Rejection:
    """Draws with the bits of a given generator."""

    def __init__(self, bits: Random) -> None:
        self._bits = bits

    def bernoulli(self, chance: Fraction) -> bool:
        return self._bits.randrange(chance.denominator) < chance.numerator

    def bernoulli_exp(self, g: Fraction) -> bool:
        """True with probability exp(-g)."""
        while g > 1:
            if not self._bernoulli_exp_of_fraction(Fraction(1)):
                return False
            g -= 1
        return self._bernoulli_exp_of_fraction(g)

    def _bernoulli_exp_of_fraction(self, g: Fraction) -> bool:
        """For 0 <= g <= 1: the first k at which a Bernoulli(g / k) fails is odd with probability exp(-g)."""
        k = 1
        while self.bernoulli(g / k):
            k += 1
        return k % 2 == 1

    def laplace(self, epsilon: Fraction) -> int:
        """The two-sided geometric law with weights exp(-epsilon |k|)."""
        t, s = epsilon.denominator, epsilon.numerator
        while True:
            low = self._bits.randrange(t)
            if not self.bernoulli_exp(Fraction(low, t)):
                continue
            high = 0
            while self.bernoulli_exp(Fraction(1)):
                high += 1
            magnitude = (low + t * high) // s
            if self._bits.getrandbits(1):
                return magnitude
            if magnitude:
                return -magnitude

    def gaussian(self, sigma_squared: Fraction) -> int:
        """The discrete Gaussian law with weights exp(-k^2 / (2 sigma^2))."""
        t = isqrt(sigma_squared.numerator // sigma_squared.denominator) + 1
        while True:
            candidate = self.laplace(Fraction(1, t))
            distance = abs(candidate) - sigma_squared / t
            if self.bernoulli_exp(distance * distance / (2 * sigma_squared)):
                return candidate
