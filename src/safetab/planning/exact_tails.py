"""The chances of one noisy count as arrays: P[noise >= k], and P[first <= noise < end].

In: a law, integers. Out: floats. The promise: each is the certified chance of `noise.laws`, rounded to a float, however
small, down to 2^-300; what is smaller counts as 0. Nothing is a difference of chances that are nearly equal.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from safetab.noise.laws import Law
from safetab.planning.noise_arrays import Floats, Integers

_FLOOR_BITS = 300
_BITS = 64
#: A wider law is computed where it is asked for, and not at every integer.
_LONGEST = 1 << 15


class ExactTail:
    """The upper tail of the noise of one count."""

    def __init__(self, law: Law) -> None:
        self._upper = _upper(law)

    def __call__(self, k: Integers) -> Floats:
        """P[noise >= k] of each k; below 1 by symmetry."""
        is_above = k >= 1
        beyond = self._upper(np.where(is_above, k, 1 - k))
        return np.where(is_above, beyond, 1 - beyond)

    def between(self, first: Integers, end: Integers) -> Floats:
        """P[first <= noise < end], where first <= end."""
        right, left = first >= 1, end <= 0
        # On the left the mirror image is taken: from 1 - end to below 1 - first.
        low = self._upper(np.where(right, first, np.where(left, 1 - end, 1)))
        high = self._upper(np.where(right, end, 1 - first))
        above = self._upper(np.maximum(end, 1))
        chances: Floats = np.where(right | left, low - high, 1 - high - above)
        return np.maximum(chances, 0.0)


@lru_cache(maxsize=64)
def _upper(law: Law) -> Callable[[Integers], Floats]:
    """P[noise >= k] for k >= 1."""
    reach = law.quantile(1 - Fraction(1, 2**_FLOOR_BITS))
    if reach < _LONGEST:
        tails = np.array([*(float(tail) for tail in law.upper_tails(_FLOOR_BITS, _FLOOR_BITS + _BITS)), 0.0])
        return lambda k: tails.take(k - 1, mode="clip")
    known: dict[int, float] = {}

    def upper(k: Integers) -> Floats:
        points, place = np.unique(k, return_inverse=True)
        for point in set(points.tolist()) - known.keys():
            known[point] = 0.0 if point > reach else float(law.tail(point - 1, _BITS))
        return np.array([known[point] for point in points.tolist()])[place]

    return upper
