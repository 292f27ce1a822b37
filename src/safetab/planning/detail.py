"""Who gets which detail: the chance of each stat level, and of being published at all, for groups of any size.

In: a release and a level of its plan, and hypothetical true sizes. Out: arrays of chances. The promise: they are those
of Algorithm 2 with exactly this noise and of suppression after it, to a few roundings; no record is read. Chances
below 2^-300 count as 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from safetab.accounting.accuracy.calibration import CONFIDENCE_95
from safetab.accounting.events import LevelEvents, Stage
from safetab.estimates import Publication
from safetab.noise.laws import Law
from safetab.params.plan import PlannedLevel
from safetab.params.release import Release
from safetab.planning.exact_tails import ExactTail
from safetab.planning.noise_arrays import Floats, Integers

#: Beyond any count, so that a distance to it fits into 64 bits.
_FAR = 1 << 62


@dataclass(frozen=True, slots=True)
class DetailRule:
    """What decides how much of a group is published; equal for levels that treat their groups alike.

    `cells` are the counts that a total is the sum of at stat level 0, 1, 2, ...: 1 and then the cells of each table.
    `suppression_chance` is None where small totals are not suppressed.
    """

    noise: LevelEvents
    thresholds: tuple[int, ...]
    cells: tuple[int, ...]
    suppression_chance: Fraction | None

    @property
    def stage_1(self) -> Law:
        return self.noise.event(Stage.STAGE_1).law

    @property
    def stage_2(self) -> Law:
        return self.noise.event(Stage.STAGE_2).law

    def total_law(self, *, total_only: bool) -> Law:
        """The noise of a published total that is one noisy count."""
        return self.noise.event(Stage.TOTAL_ONLY).law if total_only else self.stage_2

    def dropped_up_to(self, *, total_only: bool = False) -> int | None:
        """The largest noisy total that suppression drops; None where nothing is dropped."""
        if self.suppression_chance is None:
            return None
        return _quantile(self.total_law(total_only=total_only), self.suppression_chance)

    def publication(self, stat_level: int) -> Publication | None:
        """What is known of a row at a stat level; None where two thresholds coincide and no group gets it."""
        edges = (-_FAR, *self.thresholds, _FAR)
        if edges[stat_level] >= edges[stat_level + 1]:
            return None
        return Publication.two_stage(
            self.stage_1, self.stage_2, self.cells[stat_level], self.thresholds, stat_level, self.dropped_up_to()
        )


@lru_cache(maxsize=256)
def _quantile(law: Law, chance: Fraction) -> int:
    return law.quantile(chance)


def detail_rule(release: Release, planned: PlannedLevel) -> DetailRule:
    """The rule of one level of a release."""
    return DetailRule(
        replace(planned.noise, name=""),
        planned.level.thresholds,
        (1, *release.table_cells),
        release.zero_suppression_chance if planned.level.geography.local else None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """The chances of groups of these sizes: one row for each size, one column for each stat level.

    `published` is the chance that the group has a row in T1. A group at stat level 1 or above always has.
    """

    sizes: Integers
    stat_levels: Floats
    published: Floats

    @property
    def with_table(self) -> Floats:
        """The chance of a sex by age table of any kind."""
        return np.asarray(self.stat_levels[:, 1:].sum(axis=1), dtype=np.float64)


def chances_of(rule: DetailRule, sizes: Integers, *, total_only: bool = False) -> Chances:
    """What groups of these true sizes get: those that never have a table, or those of two stages.

    *Claim*: given the true size N, a two-stage group has stat level k when N plus the stage 1 noise is at least the
    k-th threshold and below the next. Its row is missing exactly when it has stat level 0 and N plus the stage 2 noise,
    which is drawn apart, is at most what suppression drops. Both follow Algorithm 2 and section 5 of the specification.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    dropped = rule.dropped_up_to(total_only=total_only)
    passes = np.ones(len(sizes))
    if dropped is not None:
        passes = ExactTail(rule.total_law(total_only=total_only))(dropped + 1 - sizes)
    if total_only:
        only = np.zeros((len(sizes), len(rule.cells)))
        only[:, 0] = 1.0
        return Chances(sizes, only, passes)
    tail = ExactTail(rule.stage_1)
    # Each column from its own two thresholds, so that no small chance is a difference of large ones.
    edges = [np.asarray(threshold - sizes) for threshold in rule.thresholds]
    columns = [tail.between(low, high) for low, high in pairwise(edges)]
    # Below the first: the mirror image of the noise is above it.
    chances = np.stack([tail(1 - edges[0]), *columns, tail(edges[-1])], axis=1)
    return Chances(sizes, chances, chances[:, 0] * passes + chances[:, 1:].sum(axis=1))


@lru_cache(maxsize=1024)
def size_with_detail(rule: DetailRule, stat_level: int) -> int:
    """The least size from which a group gets at least this stat level with a chance of at least 95 %, certified."""
    return max(0, rule.thresholds[stat_level - 1] + _quantile(rule.stage_1, CONFIDENCE_95))
