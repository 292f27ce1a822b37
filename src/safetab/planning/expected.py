"""Who gets what: expected numbers of groups at each stat level, by level and by group, from public sizes.

In: a plan and the sizes of groups. Out: for each level, and for each iteration of a level, how many of the groups are
expected to have each stat level and how many to be published. The promise: an expected number is the sum of the exact
chances of its groups, so it is the average over all releases that this plan can make if the sizes are the true counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from safetab.params.load import Parameters
from safetab.params.plan import PlannedLevel
from safetab.planning.detail import DetailRule, chances_of, detail_rule
from safetab.planning.noise_arrays import Floats
from safetab.planning.sizes import LevelSizes, Sizes
from safetab.population.iterations import Iteration


@dataclass(frozen=True, slots=True)
class ExpectedNumbers:
    """How many of `groups` are expected where: at each stat level, with a row in T1, with a sex by age table.

    `total_only` is how many of the groups never have a table; they are counted at stat level 0 too.
    """

    groups: int
    total_only: int
    persons: int
    stat_levels: tuple[float, ...]
    published: float

    @property
    def with_table(self) -> float:
        return sum(self.stat_levels[1:])


@dataclass(frozen=True, slots=True)
class GroupOutlook:
    """One iteration at one level: over the regions whose size is known, what is expected."""

    iteration: Iteration
    expected: ExpectedNumbers


@dataclass(frozen=True, slots=True)
class LevelOutlook:
    """One level of a run: its rule, and what is expected of all groups whose size is known, together and by iteration.

    `unsized` is how many iterations of the level have no size in any region.
    """

    run: str
    level: str
    rule: DetailRule
    total: ExpectedNumbers
    groups: tuple[GroupOutlook, ...] = field(repr=False)
    unsized: int


def outlook(parameters: Parameters, sizes: Sizes) -> tuple[LevelOutlook, ...]:
    """What is expected at each level that has sizes, in the order of the plan."""
    return tuple(
        level_outlook(parameters, run.name, planned, known)
        for run in parameters.plan.runs
        for planned in run.measured
        if (known := sizes.of(run.name, planned.name)) is not None
    )


def level_outlook(parameters: Parameters, run: str, planned: PlannedLevel, known: LevelSizes) -> LevelOutlook:
    """What is expected of the groups of one level."""
    rule = detail_rule(parameters.release, planned)
    is_total_only = np.array([*map(planned.is_total_only, planned.iterations)], dtype=np.bool_)
    chances, published = _chances_of_groups(rule, known, is_total_only[known.iteration])
    number = len(planned.iterations)
    groups = np.bincount(known.iteration, minlength=number)
    persons = np.bincount(known.iteration, known.size, minlength=number)
    of_published = np.bincount(known.iteration, published, minlength=number)
    stat_levels = np.stack([np.bincount(known.iteration, column, minlength=number) for column in chances.T], axis=1)
    # Plain numbers at once: one by one they take ten times as long.
    by_iteration = [
        ExpectedNumbers(count, count if total_only else 0, int(size), tuple(row), seen)
        for count, total_only, size, row, seen in zip(
            groups.tolist(),
            is_total_only.tolist(),
            persons.tolist(),
            stat_levels.tolist(),
            of_published.tolist(),
            strict=True,
        )
    ]
    total = ExpectedNumbers(
        len(known),
        int(groups[is_total_only].sum()),
        int(known.size.sum()),
        tuple(stat_levels.sum(axis=0).tolist()),
        float(of_published.sum()),
    )
    outlooks = tuple(
        GroupOutlook(iteration, expected)
        for iteration, expected in zip(planned.iterations, by_iteration, strict=True)
        if expected.groups
    )
    return LevelOutlook(run, planned.name, rule, total, outlooks, number - len(outlooks))


def _chances_of_groups(
    rule: DetailRule, known: LevelSizes, is_total_only: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> tuple[Floats, Floats]:
    """The chances of each group: of its stat levels, and of being published. Each size is looked up once."""
    stat_levels, published = np.zeros((len(known), len(rule.cells))), np.zeros(len(known))
    for total_only in (False, True):
        here = np.flatnonzero(is_total_only == total_only)
        if here.size:
            different, place = np.unique(known.size[here], return_inverse=True)
            found = chances_of(rule, different, total_only=total_only)
            stat_levels[here], published[here] = found.stat_levels[place], found.published[place]
    return stat_levels, published
