"""The chances of one noisy count as arrays: P[noise >= k], and P[first <= noise < end].

In: a law, integers. Out: floats. The promise: each is the certified chance of `noise.laws`, rounded to a float, however
small, down to 2^-300; what is smaller counts as 0. Nothing is a difference of chances that are nearly equal.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from safetab.estimates.noise_tails import MirroredTail
from safetab.noise.laws import Law
from safetab.planning.noise_arrays import Floats, Integers

_FLOOR_BITS = 300
_BITS = 64
#: A wider law is computed where it is asked for, and not at every integer.
_LONGEST = 1 << 15


class ExactTail(MirroredTail):
    """P[noise >= k] for the noise of one count, each the certified chance."""

    def __init__(self, law: Law) -> None:
        super().__init__(_upper(law))


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
