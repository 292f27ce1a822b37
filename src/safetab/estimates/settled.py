"""Published totals made ready for sums: numbers between which N + noise lies, with noise whose law is known.

In: one kind of rows (`RowKind`), their stage 1 counts and sums. Out: for each row a centre and two ends, in twelfths of
a person, such that N >= low - E and N <= high - E' where E is stochastically at most, and E' at least, independent
noise with the untruncated law of the centre. The promise: this holds given that the rows were published, except with a
chance of 4 * `chance` for each row that can be truncated; so sums of rows can use the laws of untruncated noise.

Where nothing was selected, both ends are the centre. Truncation (a stage 1 count that chose the stat level, a total
that survived suppression) makes the law of the noise depend on N. Then, with T the centre, G_N(t) = P_N[T >= t |
published] is a p-value, and E(N), the value that untruncated noise reaches with the chance G_N(t), is at most such
noise. With L the least N whose G_N(t) exceeds `chance`, N is at least L but for at most that chance, and there N + E(N)
is at least the lesser of L + E(L) and t. That much is argued for totals with Gaussian noise: with H = -log P[noise >=
x] and h its slope, N + E(N) grows because h is a concave function of H. For geometric noise and for stage 1 counts
tests enumerate it, for every true count of several scales. The upper end is the mirror image. Where even at the ends of
such a box truncation has a chance below `FAR`, E(N) is t - N as if there were none.

T is w X + (12 - w) S, in twelfths: with the best twelfth its variance is within a few percent of the least there is,
and sums of different kinds of rows take few values. S alone where its variance is small (a total, suppressed or not).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np
import numpy.typing as npt

from safetab.accounting.accuracy.margins import variance_of_sum
from safetab.estimates.noise_tails import Floats, Integers, NoiseTail, spread
from safetab.estimates.publication import Publication
from safetab.estimates.sum_laws import ExactSum, Part, law_of_sum
from safetab.noise.laws import Law

Flags = npt.NDArray[np.bool_]
TWELVE = 12
#: A chance of being truncated that does not matter: of 10,000 rows it is a 2,500th of an error of 5 %.
FAR = 1e-9
#: A chance to survive suppression that is smaller than 2^-this is not followed.
_FOLLOWED_BITS = 400
#: Up to how many rows, and at how many standard deviations below 0, a floor costs next to nothing.
_FLOORS, _LAST_FLOOR = ((4, 0.0), (16, 1.0), (150, 1.5), (1500, 2.0)), 3.0
#: Elements of the largest array.
_AT_A_TIME = 1 << 21


@dataclass(frozen=True)
class RowKind:
    """How rows were measured and published; `is_clipped` where negative counts became 0 before they were added."""

    published: Publication
    is_clipped: bool = False
    #: Of a lower end the noise is not followed below this; see `for_sum_of`.
    floor: int | None = None

    def for_sum_of(self, rows: int) -> RowKind:
        """The same rows in a sum of so many that were selected.

        A total that only just survived could come from noise far below 0, and would pull down a whole sum. Noise that
        counts as no less than a floor is larger, and the promise of a lower end holds with it too: a few rows are then
        not pulled down, and many pay for it by the mean of such noise. These floors cost next to nothing.
        """
        if self.published.least_sum is None or self.is_clipped:
            return self
        deviations = next((floor for most, floor in _FLOORS if rows <= most), _LAST_FLOOR)
        return replace(self, floor=-ceil(deviations * spread(self.published.law)))

    @cached_property
    def weight(self) -> int:
        """Twelfths of the stage 1 count in the centre."""
        known = self.published
        if known.stage_1 is None or known.n_cells == 1 or self.is_clipped:
            return 0
        of_sum = variance_of_sum(known.law, known.n_cells)
        ideal = round(TWELVE * of_sum / (of_sum + variance_of_sum(known.stage_1, 1)))
        weight = min(ideal, TWELVE - 1)
        exact = law_of_sum(self._parts(weight))
        return weight if isinstance(exact, ExactSum) else 0

    def _parts(self, weight: int) -> Counter[Part]:
        known = self.published
        parts = Counter({Part(known.law, TWELVE - weight): known.n_cells})
        if weight and known.stage_1 is not None:
            parts[Part(known.stage_1, weight)] = 1
        return parts

    @property
    def parts(self) -> Counter[Part]:
        """The noise of the centre."""
        return self._parts(self.weight)

    @property
    def parts_above(self) -> Counter[Part]:
        """Noise that is stochastically at least that of the centre: for lower ends.

        A count that was set to 0 where it was negative exceeds the true one by no more than the positive part of its
        noise; and where it was not, its noise is below its positive part too. A total that survived suppression was
        positive, and so was not changed.
        """
        floor = self.floor
        if self.is_clipped and self.published.least_sum is None:
            floor = 0
        return Counter({Part(part.law, part.weight, floor): n for part, n in self.parts.items()})

    @cached_property
    def variance(self) -> float:
        """Of the centre, in persons."""
        known, share = self.published, self.weight / TWELVE
        stage_1 = variance_of_sum(known.stage_1, 1) if known.stage_1 and share else 0.0
        return share**2 * stage_1 + (1 - share) ** 2 * variance_of_sum(known.law, known.n_cells)

    def without_stage_1(self) -> RowKind:
        """The same rows where stage 1 counts were not published."""
        known = self.published
        return RowKind(Publication(known.law, known.n_cells, least_sum=known.least_sum), self.is_clipped)

    @property
    def is_selected(self) -> bool:
        """Whether the centre was published because of what it is."""
        return self.published.least_sum is not None or self.weight > 0


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Rows of one kind, in twelfths of a person."""

    centre: Integers
    low: Integers
    high: Integers


def settle(kind: RowKind, stage_1_counts: Integers | None, sums: Integers, chance: float) -> Settled:
    """Make rows of one kind ready for sums.

    *Claim*: given rows that were measured with exactly this noise and published exactly by these rules, the ends keep
    the promise of the module.
    """
    sums = np.asarray(sums, dtype=np.int64)
    centre = (TWELVE - kind.weight) * sums
    if kind.weight and stage_1_counts is not None:
        centre = centre + kind.weight * np.asarray(stage_1_counts, dtype=np.int64)
    low, high = centre.copy(), centre.copy()
    if kind.is_selected and sums.size:
        truncated = _Truncated(kind, chance)
        near_low, near_high = truncated.near(sums)
        # Never narrower than without truncation: N + E(N) is not certain to grow where E is negative.
        low[near_low] = np.minimum(truncated.lower_ends(centre[near_low]), centre[near_low])
        high[near_high] = np.maximum(truncated.upper_ends(centre[near_high]), centre[near_high])
    return Settled(centre, low, high)


class _Truncated:
    """The law of the centre given publication."""

    def __init__(self, kind: RowKind, chance: float) -> None:
        self.kind, self.known, self.chance = kind, kind.published, chance
        self.law = law_of_sum(kind.parts)
        self.sum_tail = _tail_of_sum(self.known.law, self.known.n_cells)
        # From its own sum alone, which neither the stat level nor an upper end depends on, N is within this.
        self.box = int(law_of_sum({Part(self.known.law, 1): self.known.n_cells}).exceeded(chance)) + 1

    def near(self, sums: Integers) -> tuple[Flags, Flags]:
        """Where truncation could matter to the lower and to the upper end."""
        known, nowhere = self.known, np.zeros(sums.size, dtype=np.bool_)
        if known.least_sum is not None:
            far = int(law_of_sum({Part(known.law, 1): 1}).exceeded(FAR)) + 1
            return sums < known.least_sum + self.box + far, nowhere
        assert known.stage_1 is not None  # noqa: S101
        far = int(law_of_sum({Part(known.stage_1, 1): 1}).exceeded(FAR)) + 1
        below = nowhere if known.least_stage_1 is None else sums - self.box < known.least_stage_1 + far
        above = nowhere if known.stage_1_below is None else sums + self.box > known.stage_1_below - far
        # Noise that is cut off below is larger, which upper ends need not mind; and the other way round.
        return below, above

    def lower_ends(self, centre: Integers) -> Integers:
        least = self._first(centre, lambda n, t: self.reached(n, t) > self.chance, 0)
        noise = self._noise_reached(self.reached(least, centre))
        return TWELVE * least + (noise if self.kind.floor is None else np.maximum(noise, TWELVE * self.kind.floor))

    def upper_ends(self, centre: Integers) -> Integers:
        first_not = self._first(centre, lambda n, t: 1 - self.reached(n, t + self.step) <= self.chance, 1)
        largest = first_not - 1
        return TWELVE * largest - self._noise_reached(1 - self.reached(largest, centre + self.step))

    @property
    def step(self) -> int:
        """The least distance between two values of the centre."""
        return int(self.law.step) if isinstance(self.law, ExactSum) else TWELVE

    def _first(self, centre: Integers, holds: Callable[[Integers, Integers], Flags], least: int) -> Integers:
        """For each row the first N from `least` on for which `holds`, which it does from there on."""
        low = np.full(centre.size, least - 1, dtype=np.int64)
        high = np.maximum(centre // TWELVE, least) + 2 * self.box + self._reach_of_stage_1 + 2
        while (high - low > 1).any():
            middle = (low + high) // 2
            # A true count that is not followed is never needed: the first N is not below `least`.
            does = holds(np.maximum(middle, least), centre)
            low, high = np.where(does, low, middle), np.where(does, middle, high)
        return high

    @cached_property
    def _reach_of_stage_1(self) -> int:
        if not self.kind.weight or self.known.stage_1 is None:
            return 0
        return int(law_of_sum({Part(self.known.stage_1, 1): 1}).exceeded(FAR)) + 1

    def reached(self, n: Integers, t: Integers) -> Floats:
        """P_N[T >= t | published]."""
        if not self.kind.weight:
            survives = np.maximum(self.sum_tail((self.known.least_sum or 0) - n), 2.0**-_FOLLOWED_BITS)
            return np.minimum(self.sum_tail(-((-t) // TWELVE) - n) / survives, 1.0)
        width = 2 * self._reach_of_stage_1 + 1
        together = max(1, _AT_A_TIME // width)
        parts = [self._reached(n[i : i + together], t[i : i + together]) for i in range(0, n.size, together)]
        return np.concatenate([np.empty(0), *parts])

    def _reached(self, n: Integers, t: Integers) -> Floats:
        """By summing over the stage 1 count, given that it chose this stat level."""
        known, reach = self.known, self._reach_of_stage_1
        assert known.stage_1 is not None  # noqa: S101
        lo = np.iinfo(np.int64).min // 4 if known.least_stage_1 is None else known.least_stage_1
        hi = np.iinfo(np.int64).max // 4 if known.stage_1_below is None else known.stage_1_below
        x = np.clip(n, lo, hi - 1)[:, None] + np.arange(-reach, reach + 1)
        # Weights relative to the likeliest value: the chance to be published may be tiny.
        exponent = -float(known.stage_1.rate) * np.abs(x - n[:, None]).astype(np.float64) ** known.stage_1.power
        exponent[(x < lo) | (x >= hi)] = -np.inf
        weights = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        w = self.kind.weight
        needed = -((w * x - t[:, None]) // (TWELVE - w)) - n[:, None]
        return np.asarray(np.einsum("ij,ij->i", weights, self.sum_tail(needed)) / weights.sum(axis=1), np.float64)

    def _noise_reached(self, chances: Floats) -> Integers:
        """The largest value that untruncated noise reaches with at least each chance."""
        if not isinstance(self.law, ExactSum):
            # Too wide to follow: noise is at least minus this, or N is outside its box.
            return np.full(chances.size, -int(self.law.exceeded(self.chance)) - 1, dtype=np.int64)
        beyond = np.cumsum(self.law.chances[::-1])
        place = np.searchsorted(beyond, chances - FAR)
        last = self.law.first + self.law.chances.size - 1
        return ((last - np.minimum(place, beyond.size - 1)) * self.law.step).astype(np.int64)


def _tail_of_sum(law: Law, n_cells: int) -> Callable[[Integers], Floats]:
    """P[sum >= k]; of one count to a relative error, as it is divided by the chance to survive."""
    if n_cells == 1:
        return NoiseTail(law, _FOLLOWED_BITS)
    found = law_of_sum({Part(law, 1): n_cells})
    assert isinstance(found, ExactSum)  # noqa: S101
    tails = np.concatenate([np.cumsum(found.chances[::-1])[::-1], [0.0]])
    first = found.first
    return lambda k: tails.take(k - first, mode="clip")
