"""The law of a weighted sum of independent noises: its tails and quantiles.

In: how many noises of each law there are, and the whole number that each is multiplied by. Out: P[sum >= x] at real x,
and the least x that the sum reaches with no more than a stated chance. The promise: chances are those of exactly this
noise to within 1e-11, or larger: where the sum takes more than `LONGEST` values its chances are replaced by Chernoff's
bound, which is never below them, and where a sum is multiplied by a real number its values are moved up to a grid.

Exact sums are products of Fourier transforms around a circle so long that what wraps around is below 2^-50. Chernoff:
P[sum >= x] <= E[exp(u sum)] exp(-ux) for every u >= 0. E[exp(uX)] is at most exp(u^2 sigma^2 / 2) for the discrete
Gaussian and p^2 / (p^2 - 4 q sinh^2(u/2)) for the geometric law with q = exp(-epsilon) and p = 1 - q; both are argued
in `accounting.accuracy.noisy_sums`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import ceil, exp, gcd, inf, log

import numpy as np

from safetab.estimates.noise_tails import Floats
from safetab.noise.laws import DiscreteGaussian, Law

#: The most values of a sum whose law is computed exactly.
LONGEST = 1 << 20
_BITS = 50
#: More than what Fourier transforms of this length lose.
ROUNDING = 1e-11
#: Points of the grid on which sums with real weights are laid, over the width of one standard deviation.
_FINENESS = 400


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of noise in a sum: `weight` times noise of `law`, which counts as no less than `floor`."""

    law: Law
    weight: int
    floor: int | None = None


Parts = Mapping[Part, int]


@dataclass(frozen=True, eq=False)
class ExactSum:
    """A law on the points `step` * (`first`, `first` + 1, ...)."""

    step: float
    first: int
    chances: Floats

    def tail(self, x: float) -> float:
        """P[sum >= x]."""
        start = ceil(x / self.step - 1e-9) - self.first
        if start <= 0:
            return 1.0
        return float(self.chances[start:].sum()) if start < self.chances.size else 0.0

    def exceeded(self, chance: float) -> float:
        """The least point q with P[sum > q] <= chance: the sum is at most q with a chance of 1 - `chance` or more."""
        beyond = np.cumsum(self.chances[::-1])[::-1]
        # beyond[i] = P[sum >= point i]; the first point whose successor is rare enough.
        reached = np.append(beyond[1:] + ROUNDING, 0.0) <= chance
        return (self.first + int(np.argmax(reached))) * self.step

    def moved_up(self, factor: float, step: float) -> ExactSum:
        """`factor` times the sum on a grid of `step`; every value stays or grows by less than a step."""
        points = (self.first + np.arange(self.chances.size)) * self.step * factor
        places = np.ceil(points / step - 1e-9).astype(np.int64)
        first = int(places.min())
        chances = np.bincount(places - first, weights=self.chances).astype(np.float64)
        return ExactSum(step, first, chances)

    def plus(self, other: ExactSum) -> ExactSum:
        """The sum of two independent sums on the same grid."""
        length = self.chances.size + other.chances.size - 1
        size = 1 << (length - 1).bit_length()
        product = np.fft.rfft(self.chances, size) * np.fft.rfft(other.chances, size)
        return ExactSum(self.step, self.first + other.first, np.maximum(np.fft.irfft(product, size)[:length], 0.0))

    @property
    def spread(self) -> float:
        points = self.first + np.arange(self.chances.size)
        mean = float(points @ self.chances)
        variance = max(float((points - mean) ** 2 @ self.chances), 0.0)
        return self.step * float(np.sqrt(variance))


@dataclass(frozen=True, eq=False)
class BoundedSum:
    """What Chernoff's bound says of a sum that has too many values."""

    parts: Parts

    def tail(self, x: float) -> float:
        """No less than P[sum >= x]."""
        exponents, log_means = _chernoff(self.parts)
        return min(1.0, exp(min(float((log_means - exponents * x).min()), 0.0)))

    def exceeded(self, chance: float) -> float:
        """The sum is at most this with a chance of 1 - `chance` or more."""
        exponents, log_means = _chernoff(self.parts)
        return float(np.min((log_means + log(1 / chance)) / exponents))


def law_of_sum(parts: Parts) -> ExactSum | BoundedSum:
    """The law of a sum of independent noises."""
    return _law_of_sum(tuple(sorted(((part, count) for part, count in parts.items() if count), key=repr)))


@lru_cache(maxsize=512)
def _law_of_sum(parts: tuple[tuple[Part, int], ...]) -> ExactSum | BoundedSum:
    if not parts:
        return ExactSum(1.0, 0, np.ones(1))
    unit = reduce(gcd, (part.weight for part, _ in parts))
    far = ceil(BoundedSum(dict(parts)).exceeded(2.0**-_BITS) / unit) + 1
    if 2 * far + 1 > LONGEST:
        return BoundedSum(dict(parts))
    size = 1 << (2 * far).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for part, count in parts:
        circle = np.zeros(size)
        chances = _chances(part.law)
        reach = chances.size // 2
        values = np.arange(-reach, reach + 1)
        if part.floor is not None:
            values = np.maximum(values, part.floor)
        np.add.at(circle, (values * (part.weight // unit)) % size, chances)
        product *= np.fft.rfft(circle) ** count
    around = np.fft.irfft(product, size)
    chances = np.maximum(np.append(around[-far:], around[: far + 1]), 0.0)
    return ExactSum(float(unit), -far, chances / chances.sum())


@lru_cache(maxsize=64)
def _chances(law: Law) -> Floats:
    """The chances of -k, ..., k, with k so large that less than 2^-60 is left out."""
    above = np.array([float(tail) for tail in law.upper_tails(60, 64)])
    upper = np.append(above[:-1] - above[1:], above[-1])
    return np.concatenate([upper[::-1], [1 - 2 * above[0]], upper])


def _chernoff(parts: Parts) -> tuple[Floats, Floats]:
    """Many u, and for each at least log E[exp(u sum)]."""
    return _chernoff_of(tuple(sorted(parts.items(), key=repr)))


@lru_cache(maxsize=512)
def _chernoff_of(parts: tuple[tuple[Part, int], ...]) -> tuple[Floats, Floats]:
    most = min((_largest_exponent(part) for part, _ in parts), default=inf)
    spread = sum(count * part.weight**2 * float(part.law.variance(40)) for part, count in parts) ** 0.5
    exponents = np.geomspace(1e-3, 40, 2000) / spread
    exponents = exponents[exponents < most] if most < inf else exponents
    exponents = np.append(exponents, most * np.linspace(0.5, 1 - 1e-9, 200)) if most < inf else exponents
    total = np.zeros_like(exponents)
    for part, count in parts:
        of_one = _log_mean(part.law, exponents * part.weight)
        if part.floor is not None:
            # E[exp(u max(X, f))] <= E[exp(uX)] + exp(uf) P[X < f], and f is at most 0.
            of_one = np.logaddexp(of_one, exponents * part.weight * part.floor + log(0.5))
        total += count * of_one
    return exponents, total


def _largest_exponent(part: Part) -> float:
    return inf if isinstance(part.law, DiscreteGaussian) else float(part.law.rate) / part.weight


def _log_mean(law: Law, u: Floats) -> Floats:
    if isinstance(law, DiscreteGaussian):
        return u * u * float(law.sigma_squared) / 2
    epsilon = float(law.rate)
    p = -np.expm1(-epsilon)
    return np.asarray(-np.log1p(-4 * np.exp(-epsilon) * (np.sinh(u / 2) / p) ** 2), dtype=np.float64)


def laid_out(sums: list[tuple[float, ExactSum]]) -> ExactSum:
    """The law of a sum of independent sums, each multiplied by a real number: moved up, never down."""
    spread = sum((factor * law.spread) ** 2 for factor, law in sums) ** 0.5
    if not spread:
        return ExactSum(1.0, 0, np.ones(1))
    step = spread / _FINENESS
    total = ExactSum(step, 0, np.ones(1))
    for factor, law in sums:
        if factor and law.chances.size > 1:
            total = total.plus(law.moved_up(factor, step))
    return total
