"""Records whose true counts are kept: counted once, asked for as often as there are trials.

In: the records of one run, and its levels. Out: the same answers as the records give. The promise: an engine counts the
totals of a level once, and the table of a group at a stat level once, whichever trials ask for it. Everything here is
confidential, and lives as long as one evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from threading import Lock

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import Stage
from safetab.engines.protocol import (
    CellQuestion,
    Cells,
    ChosenGroups,
    IntArray,
    Members,
    Records,
    RegionOfBlockSet,
    Totals,
)
from safetab.pipeline.groups import GroupDomain
from safetab.population.ages import AgeBins
from safetab.population.membership import CodeSets

#: Tables are counted beforehand where a group gets them with a chance above this; other tables when they are needed.
_UNLIKELY = Fraction(1, 10**9)


class CountedOnce:
    """The records of one run, for several trials."""

    def __init__(
        self, records: Records, domains: Sequence[GroupDomain], age_bins: tuple[AgeBins, ...], sexes: int
    ) -> None:
        self._records, self._bins, self._sexes = records, age_bins, sexes
        # Each level has an array of its own, which lives as long as its domain.
        self._domain = {id(domain.region_of_block_set): domain for domain in domains}
        self._totals: dict[int, Totals] = {}
        self._with_people: dict[int, IntArray] = {}
        self._tables: dict[tuple[int, int], _Tables] = {}
        self._counting = Lock()

    def code_sets(self) -> CodeSets:
        """The distinct code sets."""
        return self._records.code_sets()

    def totals(self, region_of_block_set: RegionOfBlockSet, members: Members) -> Iterator[Totals]:
        """The true totals of every group that has anybody, in one batch."""
        key = id(region_of_block_set)
        if key not in self._totals:
            batches = list(self._records.totals(region_of_block_set, members))
            empty = np.empty(0, dtype=np.int64)
            columns = ("region", "iteration", "true_count")
            self._totals[key] = Totals(
                *(np.concatenate([empty, *(getattr(batch, name) for batch in batches)]) for name in columns)
            )
        yield self._totals[key]

    def cells(self, questions: Sequence[CellQuestion]) -> Iterator[Cells]:
        """The true cells of the chosen groups, those of empty groups left out. Threads may ask at the same time."""
        asked = [list(self._asked(question)) for question in questions]
        with self._counting:
            self._count([some for of_question in asked for some in of_question])
        for of_question in asked:
            yield _joined([self._tables[some.key].cells(some.groups, some.places) for some in of_question])

    def true_tables(self, domain: GroupDomain, stat_level: int, groups: IntArray) -> IntArray:
        """The cells of groups that got this stat level in a trial: groups by sexes by age bins."""
        tables = self._tables[id(domain.region_of_block_set), stat_level]
        return tables.of(groups).reshape(len(groups), self._sexes, -1)

    def _asked(self, question: CellQuestion) -> Iterator[_Asked]:
        """The groups of a question that have anybody, stat level by stat level."""
        key, chosen = id(question.region_of_block_set), question.chosen
        iterations = len(self._domain[key].iterations)
        group = chosen.region * iterations + chosen.iteration
        if key not in self._with_people:
            (totals,) = self.totals(question.region_of_block_set, question.members)
            self._with_people[key] = np.sort(totals.region * iterations + totals.iteration)
        has_people = _is_in(group, self._with_people[key])
        for stat_level in np.unique(chosen.stat_level).tolist():
            places = np.flatnonzero((chosen.stat_level == stat_level) & has_people)
            yield _Asked(question, stat_level, places, group[places])

    def _count(self, asked: Sequence[_Asked]) -> None:
        """Ask the engine, once, for all tables that are missing; one thread at a time."""
        missing = [(some, groups) for some in asked if len(groups := self._missing(some))]
        if not missing:
            return
        # A group may be likely to get several stat levels; a question has it once.
        answers = self._records.cells([self._question(some, groups) for some, groups in missing])
        for (some, groups), cells in zip(missing, answers, strict=True):
            self._tables[some.key] = self._tables[some.key].joined(groups, cells)

    def _missing(self, asked: _Asked) -> IntArray:
        """The groups whose table is not known; at first those that are likely to be asked for are among them."""
        if asked.key in self._tables:
            return self._tables[asked.key].missing(asked.groups)
        self._tables[asked.key] = _Tables.empty(len(self._bins[asked.stat_level - 1]), self._sexes)
        level, _ = asked.key
        domain, totals = self._domain[level], self._totals[level]
        likely = _is_likely(totals.true_count, domain, asked.stat_level)
        return np.union1d(totals.region[likely] * len(domain.iterations) + totals.iteration[likely], asked.groups)

    def _question(self, asked: _Asked, groups: IntArray) -> CellQuestion:
        """The same question about other groups."""
        level, stat_level = asked.key
        region, iteration = np.divmod(groups, len(self._domain[level].iterations))
        return replace(asked.question, chosen=ChosenGroups(region, iteration, np.full(len(groups), stat_level)))


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The groups of a question that have one stat level and anybody in them, and their places in the question."""

    question: CellQuestion
    stat_level: int
    places: IntArray
    groups: IntArray

    @property
    def key(self) -> tuple[int, int]:
        """The level, by its array of regions, and the stat level."""
        return id(self.question.region_of_block_set), self.stat_level


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """The true tables of some groups of a level, all of one stat level, in order of the groups' numbers."""

    bins: int
    groups: IntArray
    #: A row for each group, sex by sex and age bin by age bin.
    counts: IntArray

    @classmethod
    def empty(cls, bins: int, sexes: int) -> _Tables:
        return cls(bins, np.empty(0, dtype=np.int64), np.empty((0, sexes * bins), dtype=np.int64))

    def missing(self, groups: IntArray) -> IntArray:
        """Those of some groups whose table is not known."""
        return groups[~_is_in(groups, self.groups)]

    def joined(self, groups: IntArray, cells: Cells) -> _Tables:
        """These tables and those of other groups. These stay as they are: another thread may be reading them."""
        counts = np.zeros((len(groups), self.counts.shape[1]), dtype=np.int64)
        counts[cells.group, cells.sex * self.bins + cells.age_bin] = cells.true_count
        together = np.concatenate([self.groups, groups])
        order = np.argsort(together)
        return _Tables(self.bins, together[order], np.concatenate([self.counts, counts])[order])

    def of(self, groups: IntArray) -> IntArray:
        """The cells of some groups; those of unknown ones, which have nobody, are 0."""
        counts = np.zeros((len(groups), self.counts.shape[1]), dtype=np.int64)
        known = _is_in(groups, self.groups)
        counts[known] = self.counts[np.searchsorted(self.groups, groups[known])]
        return counts

    def cells(self, groups: IntArray, numbers: IntArray) -> Cells:
        """The cells of some groups, which have these numbers among those asked for."""
        counts = self.of(groups)
        row, cell = np.nonzero(counts)
        sex, age_bin = np.divmod(cell, self.bins)
        return Cells(numbers[row], sex, age_bin, counts[row, cell])


def _joined(some: Sequence[Cells]) -> Cells:
    empty = np.empty(0, dtype=np.int64)
    columns = ("group", "sex", "age_bin", "true_count")
    return Cells(*(np.concatenate([empty, *(getattr(cells, name) for cells in some)]) for name in columns))


def _is_likely(true_count: IntArray, domain: GroupDomain, stat_level: int) -> npt.NDArray[np.bool_]:
    """Whether groups of some true sizes get a stat level with a chance that is worth counting for."""
    far = domain.planned.noise.event(Stage.STAGE_1).law.quantile(1 - _UNLIKELY)
    thresholds = domain.planned.level.thresholds
    is_likely = true_count >= thresholds[stat_level - 1] - far
    if stat_level < len(thresholds):
        is_likely &= true_count < thresholds[stat_level] + far
    return is_likely


def _is_in(values: IntArray, in_order: IntArray) -> npt.NDArray[np.bool_]:
    """Whether each value is among others that are in order."""
    if not len(in_order):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(in_order, values), len(in_order) - 1)
    found: npt.NDArray[np.bool_] = in_order[place] == values
    return found
