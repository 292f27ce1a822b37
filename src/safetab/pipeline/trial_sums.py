"""Sums over finer regions against the region that they fill: all counties of a state against the state.

In: the true counts of a run, and T1 of each trial. Out: errors of such sums beside those of the region's own row. The
promise: what was not published counts as 0 in a sum, as it does for readers who add up a table. Confidential, as every
figure of an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from safetab.pipeline.assemble import Rows
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.trial_errors import Floats, Integers, Truth, add_errors
from safetab.population.geography import NO_REGION, region_of_finer

_COLUMNS = ("count", "estimate")


class SumsOfLevel:
    """The groups of one level that somebody is in, and the sums over a finer level that fills its regions."""

    def __init__(self, truth: Truth, coarse: int, fine: int, place: Integers) -> None:
        self._truth = truth
        self.coarse, self.fine = truth.domains[coarse], truth.domains[fine]
        self._levels = coarse, fine
        regions, iterations = truth.ranks[coarse]
        fine_regions, fine_iterations = truth.ranks[fine]
        shared = np.isin(iterations, fine_iterations)
        keys = (regions[:, None] * truth.codes + iterations[shared][None, :]).reshape(-1)
        self._key = np.sort(keys[truth.of(keys) > 0])
        self._true = truth.of(self._key)
        # The coarse region of each finer one, both by their ranks among the rows.
        self._around = np.full(len(truth.order.region_ids), -1, dtype=np.int64)
        self._around[fine_regions] = np.where(place == NO_REGION, -1, regions[place])
        self.groups, self.trials = len(self._key), 0
        self.errors: dict[str, dict[str, Floats]] = {
            f"{what} {column}": {name: np.zeros(1) for name in ("sum", "absolute", "squared")}
            for what in ("sum of", "own")
            for column in _COLUMNS
        }

    def add(self, rows: Rows, level: Integers) -> None:
        """Add T1 of one trial; `level` is the number of the level of each row."""
        self.trials += 1
        numbers = {"count": rows.count, "estimate": rows.estimates.estimate}
        region, code = np.divmod(rows.key, self._truth.codes)
        for what, key, chosen in (
            ("own", rows.key, level == self._levels[0]),
            ("sum of", self._around[region] * self._truth.codes + code, level == self._levels[1]),
        ):
            asked = key[chosen]
            place = np.minimum(np.searchsorted(self._key, asked), max(len(self._key) - 1, 0))
            known = np.zeros(len(asked), dtype=np.bool_) if not self.groups else self._key[place] == asked
            for column, values in numbers.items():
                added = np.bincount(place[known], weights=values[chosen][known], minlength=self.groups)
                error = np.rint(added).astype(np.int64) - self._true
                add_errors(self.errors[f"{what} {column}"], np.zeros(len(error), dtype=np.int64), error)


def sums_of_levels(truth: Truth) -> Iterator[SumsOfLevel]:
    """For each level, the level with the fewest regions of those that fill its regions."""
    for coarse, domain in enumerate(truth.domains):
        best: tuple[int, int, Integers] | None = None
        for fine, other in enumerate(truth.domains):
            place = _filled_by(domain, other)
            if place is not None and (best is None or len(other.regions) < best[0]):
                best = len(other.regions), fine, place
        if best is not None:
            yield SumsOfLevel(truth, coarse, best[1], best[2])


def _filled_by(coarse: GroupDomain, fine: GroupDomain) -> Integers | None:
    """The coarse region of each finer one, where these fill them and are more; None else."""
    is_same_level = coarse.planned.level.iteration_level == fine.planned.level.iteration_level
    if not is_same_level or len(fine.regions) <= len(coarse.regions):
        return None
    place = region_of_finer(fine.region_of_block_set, coarse.region_of_block_set)
    return None if place is None else place.astype(np.int64)
