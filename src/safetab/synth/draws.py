"""Where a synthetic country's chance comes from: the one module here that touches a random number generator.

In: a seed and the name of what is drawn. Out: streams of numbers. Promise: a stream depends on the seed and its own
name alone, so that states can be made in any order, on any number of threads, and come out the same. Only the bits of
the generator are used, which NumPy guarantees never to change; what is made of them is written here. Nothing in
this module may ever be used for noise.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

_UNIFORM_SHIFT = np.uint64(11)
_UNIFORM_STEP = 2.0**-53


class Stream:
    """One stream of chance, named by what it is for."""

    def __init__(self, seed: int, *name: str) -> None:
        # A checksum, and not Python's hash, which differs from one process to the next.
        words = [zlib.crc32(part.encode()) for part in name]
        self._bits = np.random.SFC64(np.random.SeedSequence([seed, len(words), *words]))

    def words(self, count: int) -> Words:
        """So many words of 64 independent bits."""
        drawn: Words = self._bits.random_raw(count)
        return drawn

    def uniforms(self, *shape: int) -> Floats:
        """Numbers evenly spread over [0, 1)."""
        words = self.words(int(np.prod(shape)))
        return ((words >> _UNIFORM_SHIFT).astype(np.float64) * _UNIFORM_STEP).reshape(shape)

    def normals(self, *shape: int) -> Floats:
        """Standard normal numbers (Box and Muller)."""
        count = int(np.prod(shape))
        radius = np.sqrt(-2.0 * np.log(1.0 - self.uniforms(count)))
        return (radius * np.cos(2.0 * np.pi * self.uniforms(count))).reshape(shape)

    def lognormals(self, sigma: float, *shape: int) -> Floats:
        """Skewed sizes: the exponential of normal numbers of this spread."""
        return np.exp(sigma * self.normals(*shape))

    def picks(self, cumulative: Floats, *shape: int) -> npt.NDArray[np.int64]:
        """Indices drawn with the chances whose running sums are given."""
        drawn = np.searchsorted(cumulative, self.uniforms(*shape) * cumulative[-1], side="right")
        # Rounding may reach the last running sum.
        indices: npt.NDArray[np.int64] = np.minimum(drawn, len(cumulative) - 1)
        return indices
