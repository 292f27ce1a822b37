"""The two calls the pipeline makes: draw noise, and add it to counts.

In: a law, a source of bits, and a shape or an array of true counts. Out: int64 arrays. The promise: every draw is exact
and independent, whatever the shape; a noisy count is the true count plus its noise or an error, never a wrapped
number. `BaseGeometric` and `BaseDiscreteGaussian` in the paper (`alg:base-geometric`, `alg:base-discrete-gaussian`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from operator import index
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safetab.errors import Finding, InputError
from safetab.noise.laws import Law
from safetab.noise.rules import COUNTS_ARE_INTEGERS, SHAPE_IS_WHOLE, SUM_FITS
from safetab.noise.source import BitSource
from safetab.noise.table import CHUNK, INT64, Draws, InversionTable, Symmetric
from safetab.noise.wide import WideSampler, place_bits

#: Laws with more bits of place than this are drawn by stretches: from sigma^2 = 2^21 or epsilon = 2^-11 on.
TABLE_PLACE_BITS = 2


class Sampler(Protocol):
    """Draws from one law."""

    def fill(self, out: Draws, source: BitSource) -> None:
        """Overwrite a one-dimensional array with independent draws."""


@lru_cache(maxsize=64)
def sampler_for(law: Law) -> Sampler:
    """The sampler of a law, built once."""
    if place_bits(law) > TABLE_PLACE_BITS:
        return WideSampler(law)
    return InversionTable(Symmetric(law))


def draw(law: Law, shape: int | Sequence[int], source: BitSource) -> Draws:
    """Independent draws from `law` in an array of the given length or shape."""
    sizes = _sizes(shape)
    out = np.empty(prod(sizes), np.int64)
    sampler_for(law).fill(out, source)
    return out.reshape(sizes)


def add_noise(true_counts: NDArray[np.integer[Any]], law: Law, source: BitSource) -> Draws:
    """Each count plus a draw of its own, in the shape of the counts.

    *Claim*: given whole numbers, the result is exactly count + X with X from `law`, independent across places, and
    the noise does not depend on the counts. A sum beyond 64 bits is an error; which count it was is not said.
    """
    counts = _counts(true_counts)
    noisy = np.empty(counts.size, np.int64)
    sampler = sampler_for(law)
    flat = counts.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        part = noisy[start : start + CHUNK]
        sampler.fill(part, source)
        _add_checked(part, flat[start : start + CHUNK])
    return noisy.reshape(counts.shape)


def _add_checked(noise: Draws, counts: Draws) -> None:
    """Add in place, or raise where a sum does not fit: only if the extremes could overflow is each place looked at."""
    least = int(noise.min()) + int(counts.min())
    most = int(noise.max()) + int(counts.max())
    if least < INT64.min or most > INT64.max:
        upward = (noise > 0) & (counts > INT64.max - np.maximum(noise, 0))
        downward = (noise < 0) & (counts < INT64.min - np.minimum(noise, 0))
        if (upward | downward).any():
            raise InputError(Finding(SUM_FITS, "noise", seen="a sum of more than 63 bits"), "No noise was added.")
    noise += counts


def _counts(true_counts: object) -> Draws:
    """The counts as int64, or an error for anything that is not a whole-number array of that range."""
    if not isinstance(true_counts, np.ndarray) or true_counts.dtype.kind not in "iu":
        seen = f"an array of {true_counts.dtype}" if isinstance(true_counts, np.ndarray) else type(true_counts).__name__
        raise InputError(Finding(COUNTS_ARE_INTEGERS, "add_noise", key="true_counts", seen=seen))
    if true_counts.dtype.kind == "u" and true_counts.size and int(true_counts.max()) > INT64.max:
        raise InputError(Finding(SUM_FITS, "add_noise", key="true_counts", seen="partly above 2^63 - 1"))
    return np.asarray(true_counts, np.int64)


def _sizes(shape: object) -> tuple[int, ...]:
    parts = tuple(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    try:
        sizes = tuple(index(part) for part in parts)
    except TypeError:
        sizes = (-1,)
    if any(size < 0 for size in sizes) or any(isinstance(part, bool) for part in parts):
        raise InputError(Finding(SHAPE_IS_WHOLE, "draw", key="shape", seen=repr(shape)))
    return sizes
