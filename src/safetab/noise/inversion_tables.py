"""Sampling by inversion tables: 16 bits decide most draws, 64 bits almost all, and ball arithmetic the rest.

In: a law and a source of bits. Out: int64 arrays of independent draws. The promise: each draw is the inversion of one
infinite uniform binary expansion, so every integer has exactly its probability. The table only decides how many digits
have to be looked at. Draws from the laws of section "Base Mechanisms" of the paper.

Stage one looks up the first bits in a table of all their values. If a threshold P[X <= k] lies among the numbers that
begin with these bits, the table says UNDECIDED, and stage two completes the word and finds its place among the
thresholds, which are rounded down to words. If the word equals a threshold, stage three inverts in ball arithmetic.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.errors import Finding, InputError
from safetab.noise.ball_arithmetic import floors, working_precision
from safetab.noise.laws import Law
from safetab.noise.lazy_uniform import Distribution, LazyUniform, invert
from safetab.noise.source import BitSource, Words
from safetab.rules.noise_rules import SUM_FITS

FIRST_BITS = 16
WORD_BITS = 64
#: Draws at a time: bits, table and values stay within a core's cache, and the calls around them cost little.
CHUNK = 1 << 17
INT64 = np.iinfo(np.int64)

Draws = NDArray[np.int64]


class Tabulated(Distribution, Protocol):
    """A law with a table of its thresholds."""

    def thresholds(self, word_bits: int) -> tuple[int, list[int]]:
        """Some k and floor(2^word_bits * P[X <= j]) for j = k, k + 1, ...; the last is 2^word_bits - 1.

        Below k every threshold is 0. One that is a whole number may be given as the whole number below.
        """


class Tailed(Protocol):
    """A law with tails to any accuracy."""

    def tail(self, k: int, bits: int) -> arb:
        """P[X > k]."""


class Symmetric:
    """One of the two laws, with the thresholds of both its halves."""

    def __init__(self, law: Law) -> None:
        self._law = law

    def cumulative(self, k: int, bits: int) -> arb:
        return self._law.cumulative(k, bits)

    def thresholds(self, word_bits: int) -> tuple[int, list[int]]:
        below = whole_tails(self._law, word_bits, self._law.upper_tails(word_bits, 2 * word_bits))
        top = (1 << word_bits) - 1
        return -len(below), [*reversed(below), *(top - tail for tail in below)]


def whole_tails(law: Tailed, word_bits: int, tails: list[arb]) -> list[int]:
    """floor(2^word_bits * P[X > k]) for the balls `tails`, of which the last lies below 2^-word_bits."""
    with working_precision(4 * word_bits):
        whole = floors(tails[:-1], word_bits)
    return [_whole_tail(law, k, word_bits) if tail is None else tail for k, tail in enumerate(whole)] + [0]


def _whole_tail(law: Tailed, k: int, word_bits: int) -> int:
    """The same for one k whose ball holds a whole number: more accuracy until it does not."""
    bits = 4 * word_bits
    while True:
        with working_precision(2 * bits):
            whole = floors([law.tail(k, bits)], word_bits)[0]
        if whole is not None:
            return whole
        bits *= 2


class InversionTable:
    """A sampler by inversion. The widths of the first look-up and of a word are arguments so that tests can be small.

    *Claim*: given independent uniform bits, draws are independent and distributed exactly as the law says. Argued in
    EXACTNESS.md; tested without statistics in tests/unit/noise/test_inversion_tables.py.
    """

    def __init__(self, law: Tabulated, first_bits: int = FIRST_BITS, word_bits: int = WORD_BITS) -> None:
        self._law, self._first_bits, self._rest_bits = law, first_bits, word_bits - first_bits
        self._lowest, thresholds = law.thresholds(word_bits)
        self._thresholds = np.array(thresholds, np.uint64)
        starts = np.arange(1 << first_bits, dtype=np.uint64) << np.uint64(self._rest_bits)
        ends = starts + np.uint64((1 << self._rest_bits) - 1)
        below = np.searchsorted(self._thresholds, starts, side="left")
        self._below = below.astype(np.int32)
        decided = np.searchsorted(self._thresholds, ends, side="right") == below
        values = np.where(decided, below + self._lowest, 0)
        kind = np.int16 if np.abs(values).max() < np.iinfo(np.int16).max else np.int32
        self._undecided = np.iinfo(kind).min
        self._table = np.where(decided, values, self._undecided).astype(kind)

    def fill(self, out: Draws, source: BitSource) -> None:
        """Overwrite a one-dimensional array with draws."""
        found = np.empty(min(out.size, CHUNK), self._table.dtype)
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            first = source.bits(part.size, self._first_bits)
            values = np.take(self._table, first, out=found[: part.size], mode="clip")
            part[...] = values
            open_places = np.flatnonzero(values == self._undecided)
            if open_places.size:
                part[open_places] = self._decide(first[open_places], source)

    def _decide(self, first: Words, source: BitSource) -> Draws:
        """Stage two, and stage three for the words that equal a threshold."""
        rest = source.bits(first.size, self._rest_bits).astype(np.uint64)
        words = (first.astype(np.uint64) << np.uint64(self._rest_bits)) | rest
        places = self._count_below(first, words)
        values = places + self._lowest
        for place in np.flatnonzero(np.take(self._thresholds, places) == words):
            uniform = LazyUniform(int(words[place]), self._first_bits + self._rest_bits, source)
            values[place] = in_int64(invert(self._law, uniform))
        return values

    def _count_below(self, first: Words, words: Words) -> Draws:
        """How many thresholds are below each word.

        Most values of the first bits that leave a draw open have a single threshold in their range, so one step from
        the start of that range is right for most words and cheaper than a search; the others are searched.
        """
        places = np.take(self._below, first, mode="clip").astype(np.int64)
        places += np.take(self._thresholds, places) < words
        more = np.flatnonzero(np.take(self._thresholds, places) < words)
        places[more] = np.searchsorted(self._thresholds, words[more], side="left")
        return places


def in_int64(value: int) -> int:
    """`value`, or an error when a signed 64-bit integer cannot hold it."""
    if not INT64.min <= value <= INT64.max:
        raise InputError(Finding(SUM_FITS, "noise", seen="a draw of more than 63 bits"), state="No noise was added.")
    return value
