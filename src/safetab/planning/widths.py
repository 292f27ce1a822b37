"""How wide published intervals will be, by the true size of a group: near thresholds wider than far from them.

In: the rule of a level, a stat level, true sizes. Out: for each size the average half-width of the 95 % intervals that
groups of this size get, given that they are published at this stat level. The promise: the intervals are those of
`estimates`, which the release will publish. The average is taken at 31 x 31 quantiles of the two noisy counts, given
publication, and is within 1 % of the exact one or half a person.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from safetab.accounting.accuracy.margins import moe_95_of_sum, variance_of_sum
from safetab.estimates import Publication, estimates_95
from safetab.noise.laws import Law
from safetab.planning.detail import DetailRule, chances_of
from safetab.planning.noise_arrays import Floats, Integers, noise_array

#: Below this chance of being published there, nothing is said about a size.
LEAST_CHANCE = 1e-6
_QUANTILES = (np.arange(31) + 0.5) / 31
_PARTS_OF_SPREAD = 2000


def estimate_half_widths(rule: DetailRule, stat_level: int, sizes: Integers) -> Floats:
    """The average half-width of LOW_95 to HIGH_95, for each size; NaN where a group hardly ever has this stat level."""
    sizes = np.asarray(sizes, dtype=np.int64)
    widths = np.full(len(sizes), np.nan)
    published = rule.publication(stat_level)
    if published is None:
        return widths
    chances = chances_of(rule, sizes)
    here = chances.stat_levels[:, stat_level]
    if stat_level == 0:
        # What is published of stat level 0 is what is published at all, less the groups with a table.
        here = chances.published - chances.with_table
    followed = np.flatnonzero(here >= LEAST_CHANCE)
    if not followed.size:
        return widths
    x = np.concatenate([_stage_1_counts(published, int(sizes[n])) for n in followed])
    s = np.concatenate([_sums(published, int(sizes[n])) for n in followed])
    points = len(_QUANTILES)
    x_all = np.repeat(x, points)
    s_all = np.repeat(s.reshape(len(followed), 1, points), points, axis=1).reshape(-1)
    found = estimates_95(published, x_all, s_all)
    means = (found.high_95 - found.low_95).reshape(len(followed), -1).mean(axis=1) / 2
    widths[followed] = means
    return widths


def count_half_width(rule: DetailRule, stat_level: int) -> int:
    """The margin of COUNT at a stat level, whatever the size: it ignores that the stat level depends on the noise."""
    return moe_95_of_sum(rule.stage_2, rule.cells[stat_level])


def _stage_1_counts(published: Publication, size: int) -> Integers:
    low, high = published.least_stage_1, published.stage_1_below
    assert published.stage_1 is not None  # noqa: S101
    return size + _noise_between(
        published.stage_1, 1, None if low is None else low - size, None if high is None else high - 1 - size
    )


def _sums(published: Publication, size: int) -> Integers:
    least = None if published.least_sum is None else published.least_sum - size
    return size + _noise_between(published.law, published.n_cells, least, None)


def _noise_between(law: Law, n_cells: int, low: int | None, high: int | None) -> Integers:
    """Quantiles of the noise, given that it is from `low` to `high`, both included."""
    factor = max(1, int(sqrt(variance_of_sum(law, n_cells))) // _PARTS_OF_SPREAD)
    values, chances = noise_array(law.narrowed(factor), n_cells)
    first = 0 if low is None else int(np.searchsorted(values, -(-low // factor)))
    last = len(values) if high is None else int(np.searchsorted(values, high // factor, side="right"))
    sums = np.cumsum(chances[first:last])
    places = np.searchsorted(sums, _QUANTILES * sums[-1])
    return np.asarray(values[first:last][places] * factor, dtype=np.int64)
