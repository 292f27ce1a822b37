"""Rejection sampling of wide laws, which have too many thresholds for a table.

In: a law of any width and a source of bits. Out: int64 arrays of independent draws. The promise is that of an inversion
table: every integer has exactly its probability. For both mechanisms of the paper ("Base Mechanisms").

The weights are exp(-rate |k|^power). The integers are cut into stretches of w, a power of two. A proposal is a stretch
y >= 0 with weight exp(-rate (w y)^power), a place 0 <= v < w in it and a sign. It means k = w y + v or
k = -(w y + v) - 1, so every integer is proposed in one way. It is kept with probability
exp(-rate (|k|^power - (w y)^power)) <= 1, which gives exactly the wanted weights. The law of the stretch is one half of
the same law, narrowed w times, so an inversion table draws it.

Keeping is one comparison of a lazy uniform number with exp(-g). 64-bit integers decide it where they can, with bounds
on g and 1 - g <= exp(-g) <= 1 - g + g^2/2. Ball arithmetic decides the rest, fewer than one proposal in 10^4.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from safetab.noise.ball_arithmetic import ball, refined, working_precision
from safetab.noise.inversion_tables import CHUNK, FIRST_BITS, WORD_BITS, Draws, InversionTable, in_int64, whole_tails
from safetab.noise.laws import Law
from safetab.noise.lazy_uniform import LazyUniform
from safetab.noise.source import BitSource

#: The law of the stretches has a scale of 2^8 to 2^9: its table is small, and rejections are rare.
COARSE_BITS = 9
ACCEPT_BITS = 32
#: Products of two such numbers stay below 2^62.
_FACTOR_BITS = 31
#: Beyond this many place bits a draw of ordinary size would no longer fit into 64 bits.
MOST_PLACE_BITS = 48


class Folded:
    """The half of a symmetric law on 0, 1, 2, ...: the same weights, newly normalised.

    With P0 = P[X = 0] the half has the share (1 + P0) / 2, so its tails are 2 P[X > k] / (1 + P0).
    """

    def __init__(self, law: Law) -> None:
        self._law = law

    def tail(self, k: int, bits: int) -> arb:
        if k < 0:
            return arb(1)
        return refined(lambda work: 2 * self._law.tail(k, work) / (1 + self._law.probability(0, work)), bits)

    def cumulative(self, k: int, bits: int) -> arb:
        if k < 0:
            return arb(0)
        return refined(lambda work: 1 - self.tail(k, work), bits)

    def thresholds(self, word_bits: int) -> tuple[int, list[int]]:
        tails = self._law.upper_tails(word_bits + 1, 2 * word_bits)
        with working_precision(4 * word_bits):
            share = 2 / (1 + self._law.probability(0, 4 * word_bits))
            folded = [tail * share for tail in tails]
        top = (1 << word_bits) - 1
        return 0, [top - tail for tail in whole_tails(self, word_bits, folded)]


def place_bits(law: Law) -> int:
    """How many bits of a draw are its place in a stretch: so many that the stretches have a scale of 2^8 to 2^9."""
    scale = int(1 / law.rate).bit_length()
    return max(0, (scale + law.power - 1) // law.power - COARSE_BITS)


class RejectionSampler:
    """A sampler by rejection. *Claim*: as for `InversionTable`; argued in EXACTNESS.md."""

    def __init__(self, law: Law, places: int | None = None, first_bits: int = FIRST_BITS, word_bits: int = WORD_BITS):
        self._law = law
        self._places = place_bits(law) if places is None else places
        if self._places > MOST_PLACE_BITS:
            raise ValueError(f"{law} is too wide for 64-bit integers: pass a law for which `can_draw` is true.")
        self._width = 1 << self._places
        self._coarse = InversionTable(Folded(law.narrowed(self._width)), first_bits, word_bits)
        self._last_stretch = self._last_vectorised()
        self._multiplier, self._drop, self._shift = self._fixed_point()

    def fill(self, out: Draws, source: BitSource) -> None:
        """Overwrite a one-dimensional array with draws; where a proposal is rejected, another one is made."""
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            part[...], kept = self._propose(part.size, source)
            missing = np.flatnonzero(~kept)
            while missing.size:
                values, kept = self._propose(missing.size, source)
                part[missing[kept]] = values[kept]
                missing = missing[~kept]

    def _propose(self, count: int, source: BitSource) -> tuple[Draws, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Proposals and which of them are kept."""
        stretches = np.empty(count, np.int64)
        self._coarse.fill(stretches, source)
        drawn = source.bits(count, self._places + 1).astype(np.int64)
        chance = source.bits(count, ACCEPT_BITS).astype(np.int64)
        negative, place = drawn & 1, drawn >> 1
        # Beyond the last vectorised stretch these may overflow; all such proposals are decided exactly below.
        base = stretches << self._places
        magnitude = base + place + negative
        above = magnitude - base if self._law.power == 1 else (magnitude - base) * (magnitude + base)
        high = above >> self._drop
        least = (high * self._multiplier) >> self._shift
        # Where no low bits were dropped `high` is exact, and rounding it up would cost all the accuracy there is.
        most = (((high + (self._drop > 0)) * (self._multiplier + 1)) >> self._shift) + 1
        one = 1 << ACCEPT_BITS
        kept = chance < one - most
        rejected = chance > one - least + (((most >> 1) + 1) ** 2 >> (ACCEPT_BITS - 1))
        values = np.where(negative == 1, ~(base + place), base + place)
        for i in np.flatnonzero(~(kept | rejected) | (stretches > self._last_stretch)):
            proposal = (int(stretches[i]), int(place[i]), int(negative[i]))
            values[i], kept[i] = self._settle(proposal, LazyUniform(int(chance[i]), ACCEPT_BITS, source))
        return values, kept

    def _settle(self, proposal: tuple[int, int, int], uniform: LazyUniform) -> tuple[int, bool]:
        """The same for one proposal, in whole numbers and ball arithmetic."""
        stretch, place, negative = proposal
        base = stretch * self._width
        value = ~(base + place) if negative else base + place
        exponent = self._law.rate * (base**self._law.power - abs(value) ** self._law.power)
        if uniform.is_below(lambda bits: refined(lambda _: ball(exponent).exp(), bits)):
            return in_int64(value), True
        return 0, False

    def _last_vectorised(self) -> int:
        """The last stretch for which g <= 1 and all whole numbers of `_propose` stay below 2^62; -1 for none."""
        inverse = int(1 / self._law.rate)
        if inverse < 4:
            return -1
        if self._law.power == 1:
            return (1 << 62) // self._width - 2 if self._width <= inverse else -1
        return (min(inverse, 1 << 62) // self._width**2 - 1) // 2

    def _fixed_point(self) -> tuple[int, int, int]:
        """Multiplier, drop and shift with g * 2^32 between the two products of `_propose`.

        The rate lies in [multiplier, multiplier + 1) / 2^exponent with multiplier <= 2^30, and the difference of
        powers, less its `drop` low bits, is below 2^31.
        """
        largest = self._width if self._law.power == 1 else self._width**2 * (2 * max(self._last_stretch, 0) + 1)
        drop = max(0, largest.bit_length() - _FACTOR_BITS)
        exponent = _FACTOR_BITS - 2 + int(1 / self._law.rate).bit_length()
        multiplier = int(self._law.rate * Fraction(2) ** exponent)
        return multiplier, drop, max(0, exponent - drop - ACCEPT_BITS)
