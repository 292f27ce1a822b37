"""The randomness of synthetic countries: the only module of synth that uses a random number generator.

In: a seed and the name of what is drawn. Out: streams of numbers. Promise: a stream depends only on the seed and its
own name, so that states can be made in any order, on any number of threads, with the same result. Only the raw bits of
the generator are used, which NumPy guarantees never to change; everything else is computed here. Nothing in this module
may ever be used for noise.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

_UNIFORM_SHIFT = np.uint64(11)
_UNIFORM_STEP = 2.0**-53


def outcome_table(probabilities: npt.ArrayLike, outcomes: int) -> npt.NDArray[np.int64]:
    """An index for each of some equally likely outcomes, so that the indices have these probabilities."""
    edges = np.cumsum(probabilities) / np.sum(probabilities)
    middles = (np.arange(outcomes) + 0.5) / outcomes
    indices: npt.NDArray[np.int64] = np.searchsorted(edges, middles)
    return indices


class Stream:
    """A stream of random numbers, named by its purpose."""

    def __init__(self, seed: int, *name: str) -> None:
        # A checksum, because Python's hash differs from one process to the next.
        words = [zlib.crc32(word.encode()) for word in name]
        self._bits = np.random.SFC64(np.random.SeedSequence([seed, len(words), *words]))

    def words(self, count: int) -> Words:
        """Words of 64 independent bits."""
        drawn: Words = self._bits.random_raw(count)
        return drawn

    def uniforms(self, *shape: int) -> Floats:
        """Uniform numbers from 0 to 1, without 1."""
        words = self.words(int(np.prod(shape)))
        return ((words >> _UNIFORM_SHIFT).astype(np.float64) * _UNIFORM_STEP).reshape(shape)

    def normals(self, *shape: int) -> Floats:
        """Standard normal numbers (Box and Muller)."""
        count = int(np.prod(shape))
        radius = np.sqrt(-2.0 * np.log(1.0 - self.uniforms(count)))
        return (radius * np.cos(2.0 * np.pi * self.uniforms(count))).reshape(shape)

    def lognormals(self, sigma: float, *shape: int) -> Floats:
        """Skewed sizes: the exponential of normal numbers with this standard deviation."""
        return np.exp(sigma * self.normals(*shape))

    def picks(self, cumulative: Floats, *shape: int) -> npt.NDArray[np.int64]:
        """Indices drawn with the probabilities whose cumulative sums are given."""
        drawn = np.searchsorted(cumulative, self.uniforms(*shape) * cumulative[-1], side="right")
        # Rounding may reach the last cumulative sum.
        indices: npt.NDArray[np.int64] = np.minimum(drawn, len(cumulative) - 1)
        return indices
