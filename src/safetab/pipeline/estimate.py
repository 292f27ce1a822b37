"""After the barrier: ESTIMATE, LOW_95 and HIGH_95 of the rows that are published.

In: noisy counts of one kind of rows, as they were drawn, and what decided that they are published. Out: the three
columns. The promise: negative counts are not yet set to 0 and sums are sums of such counts, because the laws of noise
speak of these; rows of T1 are judged by exactly the thresholds and the suppression that published them. With the noise
off all three are the count. Post-processing costs no privacy.

T1: from both noisy counts of a group, given its stat level and that it survived suppression (`safetab.estimates`). T2:
stage 2 noise is independent of the choice of the stat level, so COUNT, before it is cut, plus and minus its margin of
error is right given the stat level; cutting both ends at 0 takes away nothing that can be true.
"""

from __future__ import annotations

import numpy as np

from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.events import CountEvent, Stage
from safetab.estimates import Estimates, Publication, estimates_95
from safetab.params.plan import PlannedLevel
from safetab.pipeline.measure import Counts
from safetab.population.ages import StatLevel


class Estimator:
    """Estimates of the rows of one run."""

    def __init__(self, *, has_noise: bool) -> None:
        self._has_noise = has_noise

    def totals(
        self,
        planned: PlannedLevel,
        event: CountEvent,
        stage_1_counts: Counts | None,
        noisy: Counts,
        dropped_up_to: int | None,
    ) -> Estimates:
        """T1 of groups that were measured as totals; without stage 1 counts they are TotalOnly.

        `dropped_up_to` is what suppression drops, None where it is off.
        """
        if not self._has_noise:
            return _exact(noisy)
        if stage_1_counts is None:
            return estimates_95(Publication.total_only(event.law, dropped_up_to), None, noisy)
        published = _two_stage(planned, event, 1, StatLevel.TOTAL, dropped_up_to)
        return estimates_95(published, stage_1_counts, noisy)

    def sums(
        self, planned: PlannedLevel, event: CountEvent, stat_level: StatLevel, stage_1_counts: Counts, cells: Counts
    ) -> Estimates:
        """T1 of groups with a sex by age table: `cells` has a row of noisy counts for each group."""
        sums = cells.reshape(len(cells), -1).sum(axis=1)
        if not self._has_noise:
            return _exact(sums)
        n_cells = cells[0].size if len(cells) else 1
        return estimates_95(_two_stage(planned, event, n_cells, stat_level), stage_1_counts, sums)

    def parts(self, event: CountEvent, n_cells: int, noisy: Counts) -> Estimates:
        """T2: numbers that are sums of so many noisy cells each."""
        if not self._has_noise:
            return _exact(noisy)
        margin = moe_95_of_sum(event.law, n_cells)
        return Estimates(np.maximum(noisy, 0), np.maximum(noisy - margin, 0), np.maximum(noisy + margin, 0))


def _two_stage(
    planned: PlannedLevel,
    event: CountEvent,
    n_cells: int,
    stat_level: StatLevel,
    dropped_up_to: int | None = None,
) -> Publication:
    stage_1 = planned.noise.event(Stage.STAGE_1).law
    return Publication.two_stage(stage_1, event.law, n_cells, planned.level.thresholds, stat_level, dropped_up_to)


def _exact(counts: Counts) -> Estimates:
    return Estimates(counts, counts, counts)
