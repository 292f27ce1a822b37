"""What a group gets, by its true size: the table that answers "how large must a group be to get ages?".

In: the rule of a level, sizes. Out: for each size the exact chance of each stat level and of being published, the most
probable stat level, and how wide the interval of its estimate is there, in persons and as a share of the size. The
promise: nothing about any real group is used; the sizes are the reader's question.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np

from safetab.accounting.accuracy.calibration import CONFIDENCE_95
from safetab.planning.detail import DetailRule, chances_of
from safetab.planning.noise_arrays import Integers
from safetab.planning.widths import estimate_half_widths

_ROUND = (0, 1, 10, 100, 1_000, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class AtSize:
    """A two-stage group of one true size.

    `half_width` is that of the 95 % interval of ESTIMATE, on average, given that the group is published at the most
    probable stat level; None where even that is hardly ever published.
    """

    size: int
    stat_levels: tuple[float, ...]
    published: float
    probable: int
    half_width: float | None

    @property
    def relative_half_width(self) -> float | None:
        """The half-width as a share of the size."""
        return None if self.half_width is None or self.size == 0 else self.half_width / self.size


def sizes_of_interest(rule: DetailRule) -> tuple[int, ...]:
    """Round sizes, and for each threshold itself and a stage 1 margin to either side of it."""
    margin = rule.stage_1.two_sided_quantile(CONFIDENCE_95)
    near = {threshold + step for threshold in rule.thresholds for step in (-margin, 0, margin)}
    most = max(rule.thresholds[-1] + margin, 1)
    return tuple(sorted(size for size in {*_ROUND, *near} if 0 <= size <= most))


def by_size(rule: DetailRule, sizes: Integers | tuple[int, ...]) -> tuple[AtSize, ...]:
    """What two-stage groups of these sizes get."""
    asked = np.asarray(sizes, dtype=np.int64)
    chances = chances_of(rule, asked)
    probable = chances.stat_levels.argmax(axis=1)
    widths = np.full(len(asked), np.nan)
    for stat_level in range(len(rule.cells)):
        here = np.flatnonzero(probable == stat_level)
        if here.size:
            widths[here] = estimate_half_widths(rule, stat_level, asked[here])
    return tuple(
        AtSize(int(size), tuple(map(float, row)), float(seen), int(level), None if isnan(width) else float(width))
        for size, row, seen, level, width in zip(
            asked, chances.stat_levels, chances.published, probable, widths, strict=True
        )
    )
