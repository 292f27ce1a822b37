"""Estimates against the sums that are published as COUNT, over many drawn groups with production budgets.

Noise comes from SafeTab's own sampler with a seed; stat levels are chosen here, by the words of the specification.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.estimates import Publication, estimates_95
from safetab.noise import DiscreteGaussian, SeededSourceNotPrivate, draw
from tests.profile import size
from tests.statistical.estimate_errors import Errors

THRESHOLDS = {"0.159": (971, 4971, 19971), "0.008": (4971, 19971, 149971), "2.134": (471, 971, 6971)}
CELLS = {1: 8, 2: 18, 3: 46}
GROUPS = size(quick=10_000, long=200_000)


def laws(budget: str) -> tuple[DiscreteGaussian, DiscreteGaussian]:
    for_each = Fraction(budget) / 9
    return DiscreteGaussian(1 / (2 * for_each / 10)), DiscreteGaussian(1 / (2 * for_each * 9 / 10))


def drawn(budget: str, n: int, stat_level: int, seed: int) -> Errors:
    stage_1, stage_2 = laws(budget)
    thresholds, cells = THRESHOLDS[budget], CELLS[stat_level]
    source = SeededSourceNotPrivate(seed)
    x = np.empty(0, dtype=np.int64)
    for _ in range(100):
        new = n + draw(stage_1, 4 * GROUPS, source)
        reached = (new[:, None] >= np.array(thresholds)).sum(axis=1)
        x = np.append(x, new[reached == stat_level])[:GROUPS]
        if len(x) == GROUPS:
            break
    s = n + draw(stage_2, (len(x), cells), source).sum(axis=1)
    found = estimates_95(Publication.two_stage(stage_1, stage_2, cells, thresholds, stat_level), x, s)
    return Errors.of(s, found, n)


@pytest.mark.parametrize("budget", THRESHOLDS)
@pytest.mark.parametrize(("stat_level", "least_ratio"), [(3, 2.3), (2, 1.6), (1, 1.3)])
def test_far_from_thresholds_estimates_are_that_much_better(budget: str, stat_level: int, least_ratio: float) -> None:
    lo = THRESHOLDS[budget][stat_level - 1]
    wide = float(laws(budget)[0].sigma_squared) ** 0.5
    for n in (int(lo + 5 * wide) + 1, int(lo + 6 * wide) + 1):
        groups = drawn(budget, n, stat_level, seed=stat_level)
        assert groups.ratio >= least_ratio
        assert groups.covers


@pytest.mark.parametrize("budget", THRESHOLDS)
@pytest.mark.parametrize("stat_level", [1, 2, 3])
def test_across_thresholds_estimates_are_never_worse(budget: str, stat_level: int) -> None:
    wide = float(laws(budget)[0].sigma_squared) ** 0.5
    edges = THRESHOLDS[budget][stat_level - 1 : stat_level + 1]
    grid = {int(edge + step * wide / 2) for edge in edges for step in range(-5, 6)}
    for n in sorted(grid):
        groups = drawn(budget, n, stat_level, seed=n)
        assert len(groups.is_covered) >= 1000
        assert groups.may_be_better, f"{n}: {groups.ratio}"
        assert groups.covers, n
