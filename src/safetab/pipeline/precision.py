"""How precise a published number is: the variance and the 95 % margin of error of its noise.

In: the event a number was measured with and how many such counts it sums. Out: a small table of precisions that rows
point into. With noise off both are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from safetab.accounting.accuracy import moe_95_of_sum, variance_of_sum
from safetab.accounting.events import CountEvent


@dataclass(frozen=True, slots=True)
class Precision:
    """What is known of the noise in a number; before negative counts are set to 0, where that is done."""

    variance: float
    moe_95: int


class Precisions:
    """Every precision that occurs in a run, numbered as they come up."""

    def __init__(self, *, has_noise: bool) -> None:
        self._has_noise = has_noise
        self._number: dict[tuple[CountEvent, int], int] = {}
        self.listed: list[Precision] = []

    def index(self, event: CountEvent, counts: int) -> int:
        """The number of the precision of a sum of so many counts of an event."""
        key = (event, counts)
        if key not in self._number:
            self._number[key] = len(self.listed)
            self.listed.append(self._precision(event, counts))
        return self._number[key]

    def _precision(self, event: CountEvent, counts: int) -> Precision:
        if not self._has_noise:
            return Precision(0.0, 0)
        return Precision(variance_of_sum(event.law, counts), moe_95_of_sum(event.law, counts))
