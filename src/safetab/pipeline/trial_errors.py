"""How far the tables of several trials are from the true counts, by level and by size of group.

In: the true counts of a run, and the tables of each trial. Out: sums over trials, by level and class of size. The
promise: every figure is a sum, a mean or a share over population groups; none of them is of one group by name. They are
made from true counts without noise, so they are confidential.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from safetab.engines.protocol import Totals
from safetab.estimates import Estimates
from safetab.pipeline.assemble import KeyOrder, Rows
from safetab.pipeline.groups import GroupDomain

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: Where classes of the true size begin: nobody, 1 to 9, 10 to 29, 30 to 99 and so on.
SIZE_STARTS = (0, 1, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
CLASSES = len(SIZE_STARTS)
STAT_LEVELS = 4
_ERRORS = ("sum", "absolute", "squared")


class Truth:
    """The true totals of every group of a run, by the key of its row; groups that are not in it have nobody."""

    def __init__(self, domains: Sequence[GroupDomain], totals: Sequence[Totals]) -> None:
        self.domains, self.order = domains, KeyOrder.of(domains)
        self.codes = len(self.order.iteration_codes)
        self.ranks = [self.order.ranks(domain) for domain in domains]
        keys = [
            regions[some.region] * self.codes + iterations[some.iteration]
            for (regions, iterations), some in zip(self.ranks, totals, strict=True)
        ]
        key = np.concatenate([np.empty(0, dtype=np.int64), *keys])
        in_order = np.argsort(key)
        self.key = key[in_order]
        self.true_count = np.concatenate([np.empty(0, dtype=np.int64), *(some.true_count for some in totals)])[in_order]
        self._level = self._levels()

    def _levels(self) -> npt.NDArray[np.int16]:
        """The number of the level of each kind of region and iteration, by their ranks in the order of rows."""
        kinds = sorted(set(self.order.region_types))
        self._kind = np.array([kinds.index(kind) for kind in self.order.region_types], dtype=np.int64)
        level = np.full((len(kinds), self.codes), -1, dtype=np.int16)
        for number, (domain, (_, iterations)) in enumerate(zip(self.domains, self.ranks, strict=True)):
            level[kinds.index(domain.planned.level.geography.name), iterations] = number
        return level

    def of(self, key: Integers) -> Integers:
        """The true totals of some groups."""
        if not len(self.key):
            return np.zeros(len(key), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[place] == key, self.true_count[place], 0)

    def place(self, key: Integers, true_count: Integers) -> Integers:
        """The place of some groups in tables by level and class of size."""
        region, code = np.divmod(key, self.codes)
        level = self._level[self._kind[region], code].astype(np.int64)
        return level * CLASSES + size_classes(true_count)

    @property
    def places(self) -> int:
        return len(self.domains) * CLASSES

    def groups(self) -> Integers:
        """How many groups there are, by level and class of size."""
        counted = np.bincount(self.place(self.key, self.true_count), minlength=self.places)
        with_people = counted.reshape(-1, CLASSES)
        with_people[:, 0] = [domain.groups for domain in self.domains] - with_people.sum(axis=1)
        return with_people.reshape(-1)


def size_classes(true_count: Integers) -> Integers:
    return np.searchsorted(np.array(SIZE_STARTS), true_count, side="right") - 1


class Errors:
    """Sums of errors of COUNT and ESTIMATE, and how often intervals hold, by place."""

    def __init__(self, places: int) -> None:
        self.rows = np.zeros(places)
        #: Of each trial: rows, and rows whose interval holds.
        self.of_trials: list[tuple[Floats, Floats]] = []
        self.of_count = {name: np.zeros(places) for name in _ERRORS}
        self.of_estimate = {name: np.zeros(places) for name in _ERRORS}

    def add(self, place: Integers, true: Integers, count: Integers, estimates: Estimates) -> None:
        """Add the rows of one trial."""
        size = len(self.rows)
        rows = np.bincount(place, minlength=size).astype(np.float64)
        is_in = (estimates.low_95 <= true) & (true <= estimates.high_95)
        covered = np.bincount(place[is_in], minlength=size).astype(np.float64)
        self.of_trials.append((rows, covered))
        self.rows += rows
        add_errors(self.of_count, place, count - true)
        add_errors(self.of_estimate, place, estimates.estimate - true)

    def coverage(self, part: slice) -> tuple[float, float | None]:
        """The share of intervals that hold, and its standard error, from how much trials differ.

        Rows of one trial may share noise: those that sum over ages share it with the cells. Trials share none.
        """
        rows = np.array([of_trial[part].sum() for of_trial, _ in self.of_trials])
        covered = np.array([of_trial[part].sum() for _, of_trial in self.of_trials])
        share = float(covered.sum() / rows.sum())
        if len(rows) == 1:
            return share, None
        spread = float(((covered - share * rows) ** 2).sum()) * len(rows) / (len(rows) - 1)
        return share, sqrt(spread) / float(rows.sum())


def add_errors(sums: Mapping[str, Floats], place: Integers, error: Integers) -> None:
    """Add errors, their sizes and their squares where they belong."""
    for name, values in (("sum", error), ("absolute", np.abs(error)), ("squared", error.astype(np.float64) ** 2)):
        sums[name][:] += np.bincount(place, weights=values, minlength=len(sums[name]))


@dataclass(slots=True, eq=False)
class Details:
    """Which groups were published with which detail, trial by trial."""

    truth: Truth
    seen: list[Integers]
    trials: int = 0

    def add(self, rows: Rows) -> None:
        self.seen.append(rows.key * STAT_LEVELS + rows.stat_level)
        self.trials += 1

    def shares(self) -> tuple[Floats, Floats]:
        """By place: at how many stat levels groups were, all trials added up, and how often two trials differ.

        Of each group it counts the pairs of trials in which it got different detail; not to be published is a detail.
        """
        both, times = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *self.seen]), return_counts=True)
        key, stat_level = np.divmod(both, STAT_LEVELS)
        place = self.truth.place(key, self.truth.of(key))
        at_level = np.zeros((self.truth.places, STAT_LEVELS))
        np.add.at(at_level, (place, stat_level), times)
        group, first, number = np.unique(key, return_index=True, return_inverse=True)
        del group
        absent = self.trials - np.bincount(number, weights=times, minlength=len(first))
        same = np.bincount(number, weights=_pairs(times), minlength=len(first)) + _pairs(absent)
        differs = np.bincount(place[first], weights=_pairs(self.trials) - same, minlength=self.truth.places)
        return at_level, differs / max(float(_pairs(self.trials)), 1.0)


def _pairs(number: int | Integers | Floats) -> Floats:
    """How many pairs there are among so many."""
    of = np.asarray(number, dtype=np.float64)
    return np.asarray(of * (of - 1) / 2)
