"""The chance that T = aX + bS is at least t when the true count is N, given that the row was published.

In: a `Publication`. Out: for many N at once, the largest t that T reaches with more than a stated chance. The promise:
the chance is that of exactly this noise to within `SLACK`, and it never falls when N grows.

Why it grows with N. The weights of both laws are log-concave: P[k]^2 >= P[k-1] P[k+1]. So the ratio of the chances of x
under N + 1 and under N, P[x-N-1] / P[x-N], grows with x, and it still does when only the x from lo to below hi are
left: X given publication grows stochastically with N. A sum of independent log-concave variables is log-concave, so
the same is true of S, with or without suppression. X and S are independent given publication too, since one condition
speaks of X alone and the other of S alone; and T grows with both. A whole quotient X // u grows with X, so coarser
numbers change nothing in this.

Counts are taken in units of u persons: X // u and S // u. u is 1 unless the noise is so wide that 1/100 of its standard
deviation is more than a person; then N is tried at multiples of u alone, and arrays stay short at any scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from safetab.estimates.noise_tails import SUM_BITS, Floats, Integers, NoiseTail, reach, spread, tails_of_sum
from safetab.estimates.publication import Publication
from safetab.estimates.weights import weights
from safetab.noise.laws import Law, TwoSidedGeometric

#: More than all errors of a chance together: what is left out below, and what `noise_tails` allows itself.
SLACK = 1e-9
#: Noise is not followed beyond this chance, 2^-36 or 1.5e-11.
_LEFT_OUT_BITS = 36
#: A true count under which the row would be published with a chance below 2^-100 is not looked at by itself.
_HARDLY_EVER_BITS = 100
#: Nor one under which it would pass suppression with a chance below 2^-800.
_MOST_BITS = 800
_PARTS_OF_SPREAD = 100
#: There are not so many people, and noise is hardly ever so many units.
_NOBODY = 1 << 40
#: Elements of the largest arrays.
_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class Combination:
    """T and its law, in units of `unit` persons."""

    published: Publication

    @cached_property
    def weights(self) -> tuple[int, int]:
        """Of the stage 1 count and of the sum."""
        known = self.published
        return (0, 1) if known.stage_1 is None else weights(known.stage_1, known.law, known.n_cells)

    @cached_property
    def unit(self) -> int:
        """Persons to a unit: one, or about a hundredth of the standard deviation of T / (a + b)."""
        known, (a, b) = self.published, self.weights
        of_sum = spread(known.law, known.n_cells)
        if self.stage_1 is None:
            return max(1, int(of_sum) // (10 * _PARTS_OF_SPREAD))
        of_stage_1 = spread(self.stage_1)
        of_both = float(np.hypot(a * of_stage_1, b * of_sum)) / (a + b)
        return max(1, int(of_both) // _PARTS_OF_SPREAD, int(of_stage_1) // (4 * _PARTS_OF_SPREAD))

    @property
    def stage_1(self) -> Law | None:
        """The law of the stage 1 count, if that has a weight; a condition on what has none says nothing about S."""
        return self.published.stage_1 if self.weights[0] else None

    @cached_property
    def least(self) -> int | None:
        """What the stage 1 count is at least; None where that is certain without saying."""
        return self._near_enough(self.published.least_stage_1)

    @cached_property
    def below(self) -> int | None:
        """What the stage 1 count is below; None where that is certain without saying."""
        return self._near_enough(self.published.stage_1_below)

    def _near_enough(self, bound: int | None) -> int | None:
        """A bound of the stage 1 count, unless no group of people and no noise comes near it."""
        return None if self.stage_1 is None or bound is None or abs(bound) > _NOBODY * self.unit else bound

    def _from(self, place: int, n: Integers) -> Floats:
        """How far a place is from each N: whole numbers, as floats because they may not fit into 64 bits."""
        return np.asarray((place // self.unit - n) * float(self.unit) + place % self.unit, dtype=np.float64)

    @cached_property
    def zones(self) -> list[tuple[int, int]]:
        """From which to which N, in units and both included, truncation or suppression matters; in order, apart."""
        zones = []
        near, begin = self.stage_1_reach, self.first_followed
        if self.least is not None:
            zones.append((self.far_below, -(-(self.least + near) // self.unit)))
        if self.below is not None:
            # The true counts above the last zone are like its last, so that there must be one.
            zones.append(((self.below - near) // self.unit, max(self.far_above, begin)))
        if self.published.least_sum is not None:
            passes = self.published.least_sum + reach(self.published.law, 1, _LEFT_OUT_BITS)
            zones.append((begin, -(-passes // self.unit)))
        return _joined([(max(first, begin), last) for first, last in zones if last >= begin])

    @cached_property
    def first_followed(self) -> int:
        """The least N from 0 on of which a row passes suppression with a chance that a float can hold."""
        if self.published.least_sum is None:
            return 0
        far = reach(self.published.law, 1, _MOST_BITS) - 1
        return max(0, -(-(self.published.least_sum - far) // self.unit))

    @cached_property
    def stage_1_reach(self) -> int:
        return reach(self.stage_1, 1, _LEFT_OUT_BITS) if self.stage_1 else 0

    @cached_property
    def _hardly_ever(self) -> int:
        """How far beyond a threshold a true count is followed. Geometric tails have no memory: X stays put there."""
        if self.stage_1 is None or isinstance(self.stage_1, TwoSidedGeometric):
            return 0
        return reach(self.stage_1, 1, _HARDLY_EVER_BITS) - 1

    @cached_property
    def far_below(self) -> int:
        """The least N whose X is looked at by itself; that of a lower N is taken from here or is the least there is."""
        return ((self.least or 0) - self._hardly_ever) // self.unit

    @cached_property
    def far_above(self) -> int:
        """The largest N whose X is looked at by itself."""
        return -(-((self.below or 0) - 1 + self._hardly_ever) // self.unit)

    @property
    def is_frozen(self) -> bool:
        """Whether X beyond a threshold has the same law for every N."""
        return isinstance(self.stage_1, TwoSidedGeometric)

    def largest_reached(self, n: Integers, chance: float, bracket: tuple[Integers, Integers] | None = None) -> Integers:
        """For each N in `n`, in order, the largest t with P[T >= t | published] > chance.

        `bracket` are values that it is certainly at least and certainly below, if any are known.
        """
        found = np.empty(len(n), dtype=np.int64)
        width = 2 * self.stage_1_reach // self.unit + 3
        # The values of X that matter to so many N are at most twice those that matter to one.
        together = max(1, min(width, _AT_A_TIME // width))
        start = 0
        while start < len(n):
            part = slice(start, int(np.searchsorted(n, n[start] + together)))
            known = None if bracket is None else (bracket[0][part], bracket[1][part])
            found[part] = self._bisect(n[part], chance, known)
            start = part.stop
        return found

    def _bisect(self, n: Integers, chance: float, bracket: tuple[Integers, Integers] | None) -> Integers:
        a, b = self.weights
        x, chances = self._stage_1_given_published(n, is_lowest=chance < 0.25)
        passes = self._chance_to_pass(n)
        if bracket is None:
            bracket = a * x[0] + b * (n - self.far), a * x[-1] + b * (n + self.far) + 1
        reached, missed = bracket[0].copy(), bracket[1].copy()
        shift = self._sum_table.size // 2 - a * x[None, :] - b * n[:, None]
        while (missed - reached > 1).any():
            middle = (reached + missed) // 2
            tails = self._sum_table.take(middle[:, None] + shift, mode="clip")
            if passes is not None:
                tails = np.minimum(tails / passes[:, None], 1.0)
            is_reached = np.einsum("ij,ij->i", chances, tails) > chance
            reached, missed = np.where(is_reached, middle, reached), np.where(is_reached, missed, middle)
        return reached

    def _stage_1_given_published(self, n: Integers, *, is_lowest: bool) -> tuple[Integers, Floats]:
        """The values of X // u that matter to any of these N, and for each N their chances given publication."""
        if self.stage_1 is None:
            return np.zeros(1, dtype=np.int64), np.ones((len(n), 1))
        u, near = self.unit, self.stage_1_reach
        own = n if self.below is None else np.minimum(n, self.far_above)
        first, last = int(own[0]) * u - near, int(own[-1]) * u + near
        if self.below is not None:
            first = min(first, self.below - near)
        if self.least is not None:
            first, last = max(first, self.least), max(last, self.least + near)
        if self.below is not None:
            last = min(last, self.below - 1)
        x = np.arange(first // u, last // u + 1)
        chances = self._stage_1_table.take(x[None, :] - own[:, None] + self._stage_1_table.size // 2, mode="clip")
        if self.below is not None and x[-1] == (self.below - 1) // u:
            chances[:, -1] = self._stage_1_tail.between(self._from(int(x[-1]) * u, own), self._from(self.below, own))
        if self.least is not None and x[0] == self.least // u:
            end = (int(x[0]) + 1) * u if self.below is None else min((int(x[0]) + 1) * u, self.below)
            chances[:, 0] = self._stage_1_tail.between(self._from(self.least, own), self._from(end, own))
        chances /= chances.sum(axis=1, keepdims=True)
        if is_lowest and not self.is_frozen:
            # Beyond what is followed X is taken as large as it can be, so that a lower end only falls.
            chances[n > own] = np.arange(len(x)) == len(x) - 1
        return x, chances

    @cached_property
    def _stage_1_tail(self) -> NoiseTail:
        assert self.stage_1 is not None  # noqa: S101
        return NoiseTail(self.stage_1, 3 * _HARDLY_EVER_BITS)

    @cached_property
    def _stage_1_table(self) -> Floats:
        """The chances that the noise // u is -far, ..., far, and a 0 at both ends."""
        far = (self._hardly_ever + 2 * self.stage_1_reach) // self.unit + 3
        blocks = np.arange(-far, far + 1) * float(self.unit)
        return np.pad(self._stage_1_tail.between(blocks, blocks + self.unit), 1)

    def _chance_to_pass(self, n: Integers) -> Floats | None:
        """The chance that a sum is not suppressed."""
        if self.published.least_sum is None:
            return None
        # What is suppressed is one count.
        return NoiseTail(self.published.law, self._sum_bits)(self._from(self.published.least_sum, n))

    @cached_property
    def _sum_bits(self) -> int:
        """How far the chances of the sum are followed: relative to what passes suppression, where that is rare."""
        if self.published.least_sum is None or self.published.least_sum < 1:
            return SUM_BITS
        passed = self.published.law.tail(self.published.least_sum - 1, SUM_BITS)
        return SUM_BITS + min(_MOST_BITS, int(-float(passed.log()) / log(2)) + 1)

    @cached_property
    def far(self) -> int:
        return reach(self.published.law, self.published.n_cells, self._sum_bits) // self.unit + 2

    @cached_property
    def _sum_table(self) -> Floats:
        """P[S // u - N >= h / b] for h from -far * b to far * b."""
        b = self.weights[1]
        tails = self._sum_tails
        return np.append(tails[0], np.repeat(tails[1:], b))

    @cached_property
    def _sum_tails(self) -> Floats:
        known = self.published
        return tails_of_sum(known.law, known.n_cells, self.unit, self.far, self._sum_bits)

    def noise_reached(self, chance: float) -> int:
        """The largest k that the noise of S // u reaches with more than this chance, without suppression."""
        return int((self._sum_tails > chance).sum()) - 1 - self.far


def _joined(zones: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(zones):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined
