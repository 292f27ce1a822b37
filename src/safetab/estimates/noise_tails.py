"""Chances of noise as arrays: P[noise >= k] of one count, and of a sum of counts.

In: a law, a number of cells, integers. Out: floats. The promise, which tests hold against certified balls: the chances
of one count have a relative error below 1e-12, however far out, down to the smallest that was asked for; the chances of
a sum have an absolute error below 1e-10. No law takes longer than another, however wide it is.

*One count.* Geometric tails are one exponential. Discrete Gaussians with sigma^2 < 10^6 come from the certified tails
of `noise.laws`, one integer after another. For wider ones the sum over j >= k of f(j) = exp(-j^2 / 2 sigma^2) is, by
Euler and Maclaurin, its integral plus f(k)/2 - f'(k)/12 + f'''(k)/720. What is left out is some (k / 2 pi sigma^2)^6
of it: below 1e-13 as long as the chance is above 2^-900.

*Sums* of discrete Gaussians with sigma^2 >= 4 are discrete Gaussians themselves, to a relative error below 1e-14 a
cell: adding a cell to a sum of n makes the weight at k exp(-k^2 / (2 (n+1) sigma^2)) times the sum over j of
exp(-(j - c_k)^2 / 2v) with v = n sigma^2 / (n + 1) >= 2, and by Poisson summation that sum depends on where c_k lies
between two integers only by a factor within 4 exp(-2 pi^2 v) of 1, which is below 3e-17. *Other sums* are the n-th
power of a discrete Fourier transform. Rounding errors, n times some 1e-15 in every coefficient, add up to at most
sqrt(length) times that in a tail, and what wraps around is below 2^-60. Of geometric cells the transform is known:
phi(t) = p^2 / (p^2 + 4 q sin^2(t/2)) with q = exp(-epsilon) and p = 1 - q. Chances of whole blocks of integers are
summed before the transform, so its length is the number of blocks; terms beyond the J-th are left out, which changes a
tail by at most phi(t_J)^n ln(N / 2J), as `accounting.accuracy.noisy_sums` argues.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import asinh, ceil, erfc, expm1, log, pi, sinh, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from safetab.accounting.accuracy.noisy_sums import NoisySum
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Places = npt.NDArray[np.floating[Any] | np.integer[Any]]

#: The chance beyond which a sum is not followed: absolute errors are all that matters there.
SUM_BITS = 60
#: From this sigma^2 on a sum of discrete Gaussians is one.
_WIDE_ENOUGH = 4
#: From this sigma^2 on tails are computed in place of being looked up.
_SMOOTH = 10**6
#: What may be left out of a Fourier sum.
_LEFT_OUT = 1e-13
_BITS = 64


class MirroredTail:
    """P[noise >= k] for symmetric noise, at any k, from `upper`, which knows it for k >= 1.

    Places are whole numbers; they may come as floats, which hold what 64 bits cannot.
    """

    def __init__(self, upper: Callable[[Any], Floats]) -> None:
        self._upper = upper

    def __call__(self, k: Places) -> Floats:
        """P[noise >= k] of each k."""
        is_above = k >= 1
        beyond = self._upper(np.where(is_above, k, 1 - k))
        return np.where(is_above, beyond, 1 - beyond)

    def between(self, first: Places, end: Places) -> Floats:
        """P[first <= noise < end], where first <= end; without cancellation, on whichever side it lies."""
        first, end = np.broadcast_arrays(first, end)
        right, left = first >= 1, end <= 0
        # On the left the mirror image is taken: from 1 - end to below 1 - first.
        low = self._upper(np.where(right, first, np.where(left, 1 - end, 1)))
        high = self._upper(np.where(right, end, 1 - first))
        both = self._upper(np.maximum(end, 1))
        chances: Floats = np.where(right | left, low - high, 1 - high - both)
        return np.maximum(chances, 0.0)


class NoiseTail(MirroredTail):
    """P[noise >= k] for the noise of one count, followed until it is below 2^-floor_bits."""

    def __init__(self, law: Law, floor_bits: int) -> None:
        super().__init__(_upper(law, floor_bits))


def reach(law: Law, n_cells: int, bits: int) -> int:
    """A distance that noise is at, or beyond, on one side with a chance of at most 2^-bits, and not much more.

    By Chernoff's bound, P[S >= x] <= exp(-ux) E[exp(uX)]^n for any u: a discrete Gaussian is sub-Gaussian with sigma^2,
    and E[exp(uX)] = p^2 / (p^2 - 4 q sinh^2(u/2)) of a geometric cell, for any u that makes 4 q sinh^2(u/2) a share
    below 1 of p^2. See `accounting.accuracy.noisy_sums`. Of one geometric count it is exp(-epsilon x).
    """
    needed = bits * log(2) + 1e-6
    if not isinstance(law, TwoSidedGeometric):
        return ceil(sqrt(2 * n_cells * float(1 / (2 * law.rate)) * needed))
    epsilon = _epsilon(law)
    if n_cells == 1:
        return ceil(needed / epsilon)
    # Whatever share is chosen, the bound holds; this one makes it small.
    share = min(bits, n_cells) / (min(bits, n_cells) + n_cells)
    u = 2 * asinh(sqrt(share) * sinh(epsilon / 2))
    return ceil((needed - n_cells * log(1 - share)) / u)


def spread(law: Law, n_cells: int = 1) -> float:
    """The standard deviation of a sum."""
    return float(NoisySum(law, n_cells).variance(_BITS).sqrt())


def tails_of_sum(law: Law, n_cells: int, unit: int, far: int, floor_bits: int = SUM_BITS) -> Floats:
    """P[sum >= k * unit] for k from -far to far, where the sum is hardly ever beyond far * unit.

    One count is followed until its chance is below 2^-floor_bits.
    """
    law, n_cells = _as_one_law(law, n_cells)
    places = np.arange(-far, far + 1)
    if n_cells == 1:
        return NoiseTail(law, floor_bits)(places * float(unit))
    if isinstance(law, TwoSidedGeometric):
        return _tails_from_masses(_geometric_blocks(_epsilon(law), n_cells, unit, far), far)
    dense = _tails_from_masses(_convolved(law, n_cells, far * unit), far * unit)
    return dense[::unit]


def _as_one_law(law: Law, n_cells: int) -> tuple[Law, int]:
    if isinstance(law, DiscreteGaussian) and law.sigma_squared >= _WIDE_ENOUGH:
        return DiscreteGaussian(law.sigma_squared * n_cells), 1
    return law, n_cells


def _epsilon(law: TwoSidedGeometric) -> float:
    """As a float; one that leaves noise no chance of 2^-1000 may be smaller than it is."""
    return float(min(law.epsilon, Fraction(800)))


@lru_cache(maxsize=64)
def _upper(law: Law, floor_bits: int) -> Callable[[Floats], Floats]:
    """P[noise >= k] for k >= 1."""
    if isinstance(law, TwoSidedGeometric):
        epsilon = _epsilon(law)
        return lambda k: np.exp(-epsilon * k) / (1 + np.exp(-epsilon))
    if isinstance(law, DiscreteGaussian) and law.sigma_squared >= _SMOOTH:
        return _smooth_upper(float(law.sigma_squared))
    tails = np.array([*(float(tail) for tail in law.upper_tails(floor_bits, _BITS)), 0.0])
    return lambda k: tails.take(np.minimum(k - 1, len(tails) - 1).astype(np.int64))


def _smooth_upper(s: float) -> Callable[[Floats], Floats]:
    """P[noise >= k] of a wide discrete Gaussian with sigma^2 = s, by the formula of Euler and Maclaurin."""
    each = np.frompyfunc(erfc, 1, 1)

    def upper(k: Floats) -> Floats:
        integral: Floats = np.asarray(each(k / sqrt(2 * s)), dtype=np.float64) / 2
        slope = k / s
        # 1/2 - f'/12 f + f'''/720 f, with f' = -k/s f and f''' = (3k/s^2 - k^3/s^3) f.
        at_end = 0.5 + slope / 12 + (3 * slope / s - slope**3) / 720
        return integral + np.exp(-k * slope / 2) / sqrt(2 * pi * s) * at_end

    return upper


def _tails_from_masses(masses: Floats, far: int) -> Floats:
    """Tails from -far to far out of the masses of 0, 1, 2, ... and, from the end, -1, -2, ... around a circle."""
    above = np.cumsum(masses[far:0:-1])[::-1]
    below = np.cumsum(np.roll(masses, far)[:far])
    tails: Floats = np.clip(np.concatenate([1 - np.append(0.0, below), above]), 0.0, 1.0)
    return tails


def _geometric_blocks(epsilon: float, n_cells: int, unit: int, far: int) -> Floats:
    """P[k * unit <= sum < (k+1) * unit], around a circle of blocks of which at least far lie on either side of 0."""
    blocks = 1 << (2 * far + 2).bit_length()
    period = float(blocks) * unit
    p, q = -expm1(-epsilon), np.exp(-epsilon)
    # phi(t)^n ln(N / 2J) is small enough from here on: ln(N / 2) < 50.
    sine = p * sqrt(expm1(log(50 / _LEFT_OUT) / n_cells)) / (2 * sqrt(q)) if q > 0 else 1.0
    every = blocks * unit // 2
    terms = every if sine >= 1 else min(every, int(period / pi * np.arcsin(sine)) + 1)
    j = np.arange(1, terms + 1)
    half_angle = pi * j / period
    phi = p * p / (p * p + 4 * q * np.sin(half_angle) ** 2)
    # The transform of a block of ones; whole numbers of turns are taken off exactly.
    of_block = np.sin(pi * (j % (2 * blocks)) / blocks) / np.sin(half_angle) * np.exp(-1j * half_angle * (unit - 1))
    positive = phi**n_cells * of_block
    if terms == every:
        # The angle pi is its own mirror image.
        positive[-1] /= 2
    folded = np.zeros(blocks, dtype=np.complex128)
    folded[0] = unit
    np.add.at(folded, j % blocks, positive)
    np.add.at(folded, -j % blocks, positive.conj())
    return np.fft.fft(folded).real / period


def _convolved(law: Law, n_cells: int, far: int) -> Floats:
    """The masses of a sum around a circle of at least 2 far + 1 places."""
    length = 1 << (2 * far + 1).bit_length()
    one = np.array([float(tail) for tail in law.upper_tails(SUM_BITS + 10, _BITS)])[: length // 2]
    chances = np.append(one[:-1] - one[1:], one[-1])
    circle = np.zeros(length)
    circle[1 : len(chances) + 1] = chances
    circle[-1 : -len(chances) - 1 : -1] += chances
    circle[0] = 1 - 2 * one[0]
    return np.fft.irfft(np.fft.rfft(circle) ** n_cells, length)
