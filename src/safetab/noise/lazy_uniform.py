"""A uniform number between 0 and 1 whose binary digits are drawn only as far as a question needs them.

In: the digits already drawn, and a source for more. Out: certain answers to "is it below this real number?". The
promise: the answers are those of one infinitely long uniform number, whatever the questions. A digit once drawn is
kept, and a question that the known digits leave open draws more digits instead of guessing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from flint import arb

from safetab.noise.ball_arithmetic import FIRST_GUARD, smallest_integer, working_precision
from safetab.noise.source import BitSource

#: Digits drawn at a time once the vectorised stages have left a number undecided.
MORE_BITS = 64


class Distribution(Protocol):
    """What inversion needs to know of a law."""

    def cumulative(self, k: int, bits: int) -> arb:
        """P[X <= k]."""


class LazyUniform:
    """A uniform number that begins with the `bits` binary digits of `prefix`."""

    __slots__ = ("_bits", "_prefix", "_source")

    def __init__(self, prefix: int, bits: int, source: BitSource) -> None:
        self._prefix, self._bits, self._source = prefix, bits, source

    def is_below(self, enclose: Callable[[int], arb]) -> bool:
        """Whether the number is below the real number in [0, 1] that `enclose(bits)` contains ever more tightly.

        The number lies in [prefix, prefix + 1) / 2^bits. A threshold at or above the upper end decides yes, one at or
        below the lower end decides no; in between, more digits are drawn and the threshold is computed more tightly.
        """
        while True:
            work = self._bits + FIRST_GUARD
            threshold = enclose(work)
            with working_precision(work + FIRST_GUARD):
                scaled = threshold * arb(1 << self._bits)
                if scaled >= self._prefix + 1:
                    return True
                if scaled <= self._prefix:
                    return False
            fresh = int(self._source.bits(1, MORE_BITS)[0])
            self._prefix = (self._prefix << MORE_BITS) | fresh
            self._bits += MORE_BITS


def invert(law: Distribution, uniform: LazyUniform) -> int:
    """The smallest k with uniform < P[X <= k]: a draw from the law, to arbitrary precision.

    *Claim*: given uniform digits, k comes out with exactly its probability, since P[X <= k - 1] <= U < P[X <= k] has
    that length. Argued in EXACTNESS.md.
    """
    return smallest_integer(lambda k: uniform.is_below(lambda bits: law.cumulative(k, bits)))
