"""How precise a published number is: the variance and the 95 % margin of error of its noise.

In: the event a number was measured with, how many such counts it sums, and what was done to them afterwards. Out: a
small table of precisions that rows point into. With noise off both are 0. Promise: a precision that is there is true
of the number as it is published, and where none is true there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from safetab.accounting.accuracy.margins import moe_95_of_sum, variance_of_sum
from safetab.accounting.events import CountEvent


@dataclass(frozen=True, slots=True)
class Precision:
    """What is known of the error of a published number; None where post-processing leaves nothing that is true."""

    variance: float | None
    moe_95: int | None


class Precisions:
    """Every precision that occurs in a run, numbered as they come up."""

    def __init__(self, *, has_noise: bool) -> None:
        self._has_noise = has_noise
        self._number: dict[tuple[CountEvent, int, bool, bool], int] = {}
        self.listed: list[Precision] = []

    def index(self, event: CountEvent, counts: int, *, is_clipped: bool, is_selected: bool = False) -> int:
        """The number of the precision of a sum of so many counts of an event.

        `is_clipped`: negative counts were set to 0 before they were summed. `is_selected`: the number was published
        because its noisy count was large.
        """
        key = (event, counts, is_clipped, is_selected)
        if key not in self._number:
            self._number[key] = len(self.listed)
            self.listed.append(self._precision(*key))
        return self._number[key]

    def _precision(self, event: CountEvent, counts: int, is_clipped: bool, is_selected: bool) -> Precision:
        """The precision of a published number.

        Claim. With a margin m, |published - true| <= m has a probability of at least 95 %, whatever the true counts
        are. Argument. A sum of noisy counts as they were drawn is off by the sum of their noise. One count that is set
        to 0 where it is negative comes nearer to the true one, which is never negative, so the margin holds; the
        variance is smaller, and depends on the true count. A sum of several such counts is too large, the more so the
        more of them are small. A number that is published because it is large has noise that leans upwards; of an
        empty group, only noise beyond the threshold is ever seen.
        """
        if not self._has_noise:
            return Precision(0.0, 0)
        if is_selected or (is_clipped and counts > 1):
            return Precision(None, None)
        margin = moe_95_of_sum(event.law, counts)
        return Precision(None if is_clipped else variance_of_sum(event.law, counts), margin)
