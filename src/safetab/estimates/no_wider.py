"""The interval of a sum, made no wider than the intervals of its parts added up.

In: an interval A of a sum, and the intervals of its parts. Out: A, or where the parts together are narrower than A, an
interval of their width inside A. The promise: it is never wider than the added intervals, and it holds with the
confidence that was asked for, if A sets `OF_TRIMMING` of the error aside where parts can be short.

*When parts are short.* By the law of sums A is narrower than the added intervals, unless a part uses something that the
law of a sum does not know: that nobody is fewer than 0 people, or what exactly happens near a threshold. A total that
was published without suppression and is far below 0 has the interval 0 to 0.

*Why the width is all that can be promised.* Take three totals without suppression and true counts of 0. Each lower end
is above 0 with a chance of 2.5 %, and none is below 0. So the added lower ends are above the true sum with a chance of
1 - 0.975^3 = 7.3 %: adding intervals does not hold with 95 %, and nothing that stays inside the added interval does.

*Why trimming costs little.* The added interval is moved by as little as puts it inside A. Say that a true sum is in A
but below what is left. Then what is left begins no later than the added lower end, so the true sum is below the added
interval too; and the same above. So what is lost is at most the chance that A is trimmed, the true sum is in A, and the
parts are wrong on that side: some part has an unlikely interval, and still the parts are short. At 95 % it is at most
0.2 %. Tests enumerate the error of what is left for many true counts: sums of two and three totals with noise of both
laws, equal and unequal scales, and a larger region's total instead of the sum. Where every part is far from 0, nothing
is lost. Near thresholds the share of the error that `linear` sets aside for selected rows is enough. Below a confidence
of `LEAST_CONFIDENCE` parts are wrong too often for this, and nothing is trimmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """From where to where; an end may be infinite."""

    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


#: The share of the error that trimming may cause.
OF_TRIMMING = 1 / 20
#: Intervals with less confidence are not trimmed.
LEAST_CONFIDENCE = 0.9
#: A part whose lower end is this many widths above 0 is far from it.
_FAR = 2


def added(parts: Sequence[Interval]) -> Interval:
    """The intervals of parts, added up."""
    return Interval(sum(part.low for part in parts), sum(part.high for part in parts))


def is_near_nobody(part: Interval) -> bool:
    """Whether the interval of a total could be short because nobody is fewer than 0 people."""
    return part.low < _FAR * part.width


def no_wider(found: Interval, parts: Interval) -> Interval:
    """`found`, trimmed to the width of the added `parts` where that is less."""
    if not parts.width < found.width:
        return found
    low = min(max(parts.low, found.low), found.high - parts.width)
    return Interval(low, low + parts.width)
