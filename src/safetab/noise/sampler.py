"""Drawing noise and adding it to counts: the two calls that the rest of the program makes.

In: a law, a source of bits, and a shape or an array of true counts. Out: int64 arrays. The promise: every draw is exact
and independent, whatever the shape; a noisy count is the true count plus its noise or an error, never a wrapped
number. `BaseGeometric` and `BaseDiscreteGaussian` in the paper (`alg:base-geometric`, `alg:base-discrete-gaussian`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safetab.arguments import whole_number
from safetab.errors import Finding, InputError
from safetab.noise.inversion_tables import CHUNK, INT64, Draws, InversionTable, Symmetric
from safetab.noise.laws import Law
from safetab.noise.rejection import MOST_PLACE_BITS, RejectionSampler, place_bits
from safetab.noise.source import BitSource
from safetab.rules.noise_rules import SUM_FITS

#: Laws with more place bits than this are drawn by rejection: from sigma^2 = 2^21 or epsilon = 2^-11 on.
TABLE_PLACE_BITS = 2


class Sampler(Protocol):
    """Draws from one law."""

    def fill(self, out: Draws, source: BitSource) -> None:
        """Overwrite a one-dimensional array with independent draws."""


def can_draw(law: Law, counts: int = 1) -> bool:
    """Whether the law is so narrow that its noise, summed over so many counts, fits into a signed 64-bit integer."""
    return place_bits(law) + (counts - 1).bit_length() <= MOST_PLACE_BITS


@lru_cache(maxsize=64)
def sampler_for(law: Law) -> Sampler:
    """The sampler of a law, built once."""
    if place_bits(law) > TABLE_PLACE_BITS:
        return RejectionSampler(law)
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
    the noise does not depend on the counts. A sum beyond 64 bits is an error that does not say which count it was.
    """
    counts = _counts(true_counts)
    noisy = np.empty(counts.size, np.int64)
    sampler = sampler_for(law)
    flat = counts.reshape(-1)
    extremes = (int(flat.min()), int(flat.max())) if flat.size else (0, 0)
    for start in range(0, flat.size, CHUNK):
        part = noisy[start : start + CHUNK]
        sampler.fill(part, source)
        _add_checked(part, flat[start : start + CHUNK], *extremes)
    return noisy.reshape(counts.shape)


def _add_checked(noise: Draws, counts: Draws, lowest: int, highest: int) -> None:
    """Add in place, or raise where a sum does not fit; only if the extremes could overflow, each place is checked.

    No count is below `lowest` or above `highest`.
    """
    least = int(noise.min()) + lowest
    most = int(noise.max()) + highest
    if least < INT64.min or most > INT64.max:
        upward = (noise > 0) & (counts > INT64.max - np.maximum(noise, 0))
        downward = (noise < 0) & (counts < INT64.min - np.minimum(noise, 0))
        if (upward | downward).any():
            raise InputError(Finding(SUM_FITS, "noise", seen="a sum of more than 63 bits"), "No noise was added.")
    noise += counts


def _counts(true_counts: object) -> Draws:
    """The counts as int64; an error for anything that is not an array of whole numbers of that range.

    The error names the type of the array and never a value: true counts are confidential.
    """
    if not isinstance(true_counts, np.ndarray) or true_counts.dtype.kind not in "iu":
        seen = f"an array of {true_counts.dtype}" if isinstance(true_counts, np.ndarray) else type(true_counts).__name__
        raise TypeError(f"true_counts is {seen}: pass a NumPy array of integers.")
    if true_counts.dtype.kind == "u" and true_counts.size and int(true_counts.max()) > INT64.max:
        raise ValueError("true_counts has a count above 2^63 - 1: pass counts that fit into signed 64-bit integers.")
    return np.asarray(true_counts, np.int64)


def _sizes(shape: object) -> tuple[int, ...]:
    parts = tuple(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    return tuple(whole_number(part, "a size in shape", 0) for part in parts)
