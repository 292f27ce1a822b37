"""The gate: the one place where a confidential number becomes a noisy one.

In: true counts and the event that describes their noise. Out: noisy counts. The promise: every number that leaves the
confidential side passes through `Gate.measure`, which adds noise of exactly the event's law and writes down the event.
Algorithm 3 of the paper.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import CountEvent
from safetab.noise.sampler import add_noise
from safetab.noise.source import BitSource

Counts = npt.NDArray[np.int64]


class Gate:
    """Measures true counts. Without a source the noise is off, which is not private and is marked so by the caller."""

    def __init__(self, source: BitSource | None) -> None:
        self._source = source
        self.counts_of_event: Counter[CountEvent] = Counter()

    @property
    def has_noise(self) -> bool:
        return self._source is not None

    def measure(self, true_counts: Counts, event: CountEvent) -> Counts:
        """Noisy counts of the same shape.

        Claim. Given counts of which one record changes at most `event.stability`, each by at most 1, the result spends
        `event.budget` for each of them: its noise is drawn afresh, exactly from `event.law`.
        """
        self.counts_of_event[event] += true_counts.size
        if self._source is None:
            return true_counts.copy()
        return add_noise(true_counts, event.law, self._source)
