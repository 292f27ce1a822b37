"""The two laws of noise: what each integer's probability is, to any accuracy, for certain.

In: one exact rational, epsilon of the two-sided geometric law or sigma^2 of the discrete Gaussian. Out: probability,
cumulative probability, tail and variance as balls (`flint.arb`) that certainly contain the true value and are as
tight as asked, even far out in the tail; quantiles as integers that are certainly right. The promise: from the
parameter to the answer there is no float and no rounding without a bound. Laws describe noise; they never draw it.
`def:discrete-gaussian-distribution` and `def:geometric-distribution` in the paper (there b = 1/epsilon).

Arithmetic on the balls rounds outward at flint's current precision; `ball_arithmetic.working_precision` sets it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from operator import index
from typing import ClassVar

from flint import arb

from safetab.arguments import chance, positive, whole_number
from safetab.noise import theta_series
from safetab.noise.ball_arithmetic import ball, is_at_least, refined, smallest_integer, working_precision


class Mechanism(Enum):
    """The base mechanisms of the paper."""

    GEOMETRIC = "geometric"
    DISCRETE_GAUSSIAN = "discrete_gaussian"


def _accuracy(bits: object) -> int:
    return whole_number(bits, "bits", 1)


class Law(ABC):
    """A law on the integers, symmetric about 0, its weights proportional to exp(-rate * |k|^power).

    `bits` is the relative accuracy of an answer: its ball is narrower than the value times 2^-bits.
    """

    __slots__ = ()

    mechanism: ClassVar[Mechanism]
    power: ClassVar[int]

    @property
    @abstractmethod
    def rate(self) -> Fraction:
        """What |k|^power is multiplied by in the exponent."""

    @abstractmethod
    def probability(self, k: int, bits: int) -> arb:
        """P[X = k]."""

    @abstractmethod
    def _upper_tail(self, k: int, bits: int) -> arb:
        """P[X > k] for k >= 0."""

    @abstractmethod
    def variance(self, bits: int) -> arb:
        """The variance of X; its mean is 0."""

    @abstractmethod
    def upper_tails(self, floor_bits: int, bits: int) -> list[arb]:
        """P[X > k] for k = 0, 1, ... up to the first that is below 2^-floor_bits; errors below 2^-bits."""

    @abstractmethod
    def narrowed(self, factor: int) -> Law:
        """The law whose weight at k is this law's weight at `factor` * k."""

    def tail(self, k: int, bits: int) -> arb:
        """P[X > k]."""
        k, bits = index(k), _accuracy(bits)
        if k >= 0:
            return self._upper_tail(k, bits)
        return refined(lambda work: 1 - self._upper_tail(-k - 1, work), bits)

    def cumulative(self, k: int, bits: int) -> arb:
        """P[X <= k]; by symmetry P[X > -k - 1]."""
        return self.tail(-index(k) - 1, bits)

    def quantile(self, p: Fraction) -> int:
        """The smallest t with P[X <= t] >= p, certified."""
        needed = chance(p, "p")
        return smallest_integer(lambda k: is_at_least(lambda bits: self.cumulative(k, bits), needed))

    def two_sided_quantile(self, confidence: Fraction) -> int:
        """The smallest m with P[|X| <= m] >= confidence, certified.

        P[|X| <= m] = 1 - 2 P[X > m], which is at least c exactly when P[X <= m] >= (1 + c) / 2.
        """
        return self.quantile((1 + chance(confidence, "confidence")) / 2)


@dataclass(frozen=True, slots=True)
class TwoSidedGeometric(Law):
    """P[X = k] = tanh(epsilon / 2) * exp(-epsilon |k|)."""

    epsilon: Fraction
    mechanism: ClassVar[Mechanism] = Mechanism.GEOMETRIC
    power: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @property
    def rate(self) -> Fraction:
        return self.epsilon

    def probability(self, k: int, bits: int) -> arb:
        distance = abs(index(k))
        return refined(
            lambda _: (ball(self.epsilon) / 2).tanh() * ball(-self.epsilon * distance).exp(), _accuracy(bits)
        )

    def _upper_tail(self, k: int, bits: int) -> arb:
        return refined(lambda _: ball(-self.epsilon * (k + 1)).exp() / (1 + ball(-self.epsilon).exp()), bits)

    def variance(self, bits: int) -> arb:
        """1 / (2 sinh^2(epsilon / 2))."""
        return refined(lambda _: 1 / (2 * (ball(self.epsilon) / 2).sinh() ** 2), _accuracy(bits))

    def upper_tails(self, floor_bits: int, bits: int) -> list[arb]:
        with working_precision(bits + 64):
            ratio = ball(-self.epsilon).exp()
            smallest = arb(2) ** -floor_bits
            tails = [ratio / (1 + ratio)]
            while not tails[-1] < smallest:
                tails.append(tails[-1] * ratio)
            return tails

    def narrowed(self, factor: int) -> TwoSidedGeometric:
        return TwoSidedGeometric(self.epsilon * factor)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Law):
    """P[X = k] = exp(-k^2 / (2 sigma^2)) / Z. sigma^2 is a parameter; the variance is a little below it."""

    sigma_squared: Fraction
    mechanism: ClassVar[Mechanism] = Mechanism.DISCRETE_GAUSSIAN
    power: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma_squared", positive(self.sigma_squared, "sigma_squared"))

    @property
    def rate(self) -> Fraction:
        return 1 / (2 * self.sigma_squared)

    def probability(self, k: int, bits: int) -> arb:
        exponent = -self.rate * index(k) ** 2
        return refined(
            lambda work: ball(exponent).exp() / theta_series.normaliser(self.sigma_squared, work), _accuracy(bits)
        )

    def _upper_tail(self, k: int, bits: int) -> arb:
        s = self.sigma_squared
        return refined(lambda work: theta_series.tail_sum(s, k + 1, work) / theta_series.normaliser(s, work), bits)

    def variance(self, bits: int) -> arb:
        return refined(lambda work: theta_series.variance(self.sigma_squared, work), _accuracy(bits))

    def upper_tails(self, floor_bits: int, bits: int) -> list[arb]:
        with working_precision(bits + 64):
            total = theta_series.normaliser(self.sigma_squared, bits + 64)
            sums = theta_series.tail_sums(self.sigma_squared, total * arb(2) ** -floor_bits, bits)
            return [value / total for value in sums]

    def narrowed(self, factor: int) -> DiscreteGaussian:
        return DiscreteGaussian(self.sigma_squared / factor**2)
