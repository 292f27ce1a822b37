"""After the barrier: from noisy counts to the rows of T1 and T2.

In: noisy totals and tables, level by level. Out: rows in the order of their keys, each with the precision of its number
and an estimate. Post-processing costs no privacy. Promise: suppression looks at the noisy count itself, negative counts
are set to 0 before anything is summed for COUNT, and a total of a sex by age table is the sum of what is published in
it; estimates are made from the noisy counts as they were drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import CountEvent
from safetab.estimates import Estimates
from safetab.noise.laws import Law
from safetab.pipeline.estimate import Estimator
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.precision import Precisions
from safetab.pipeline.tabulate_level import NoisyTables, NoisyTotals

#: The age index of a row that sums over all ages.
ALL_AGES = -1
#: In place of the stage 1 count of a group that has none; no noisy count is so low.
NO_STAGE_1 = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """What is done to noisy counts before they are published."""

    zero_suppression_chance: Fraction | None
    allow_negative_counts: bool
    has_noise: bool

    def threshold(self, event: CountEvent) -> int:
        """A local total is dropped when it is at most this: the least t with P[noise <= t] >= the chance."""
        if self.zero_suppression_chance is None:
            raise ValueError("suppression is off")
        return _quantile(event.law, self.zero_suppression_chance) if self.has_noise else 0

    @property
    def is_clipping(self) -> bool:
        """Whether negative counts are set to 0."""
        return not self.allow_negative_counts

    def is_suppressing(self, domain: GroupDomain) -> bool:
        """Whether small totals of a level are left out."""
        return self.zero_suppression_chance is not None and domain.planned.level.geography.local

    def clipped(self, noisy: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.maximum(noisy, 0) if self.is_clipping else noisy


# The trials of an evaluation ask for the same ones.
@lru_cache(maxsize=256)
def _quantile(law: Law, chance: Fraction) -> int:
    return law.quantile(chance)


@dataclass(frozen=True, slots=True, eq=False)
class KeyOrder:
    """The order of published rows: by region id, then region type, then iteration code."""

    region_ids: tuple[str, ...]
    region_types: tuple[str, ...]
    iteration_codes: tuple[str, ...]
    _ranks: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, domains: Iterable[GroupDomain]) -> KeyOrder:
        domains = list(domains)
        regions = sorted(
            {(region, domain.planned.level.geography.name) for domain in domains for region in domain.regions}
        )
        codes = sorted({iteration.code for domain in domains for iteration in domain.iterations})
        return cls(tuple(region for region, _ in regions), tuple(kind for _, kind in regions), tuple(codes))

    def ranks(self, domain: GroupDomain) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the domain's regions and iterations stand in this order; found once for each level."""
        if domain.planned.name not in self._ranks:
            self._ranks[domain.planned.name] = self._find_ranks(domain)
        return self._ranks[domain.planned.name]

    def _find_ranks(self, domain: GroupDomain) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        pairs = zip(self.region_ids, self.region_types, strict=True)
        region_rank = {pair: rank for rank, pair in enumerate(pairs)}
        code_rank = {code: rank for rank, code in enumerate(self.iteration_codes)}
        name = domain.planned.level.geography.name
        return (
            np.array([region_rank[region, name] for region in domain.regions], dtype=np.int64),
            np.array([code_rank[iteration.code] for iteration in domain.iterations], dtype=np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Published rows. `key` is region rank x number of iterations + iteration rank.

    T1 alone has `stage_1_count`, which is NO_STAGE_1 for TotalOnly groups. T2 alone has `age` and `sex`; `age` is the
    number of an age bin of the row's stat level, or ALL_AGES.
    """

    key: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    stat_level: npt.NDArray[np.int8]
    precision: npt.NDArray[np.int32]
    estimates: Estimates
    stage_1_count: npt.NDArray[np.int64] | None = None
    age: npt.NDArray[np.int16] | None = None
    sex: npt.NDArray[np.int16] | None = None

    def __len__(self) -> int:
        return len(self.key)


class Assembler:
    """Collects the rows of one run, level by level, and puts them in order."""

    def __init__(self, order: KeyOrder, policy: PostProcessing, precisions: Precisions) -> None:
        self.order, self._policy, self._precisions = order, policy, precisions
        self._estimator = Estimator(has_noise=policy.has_noise)
        self._thresholds: dict[CountEvent, int] = {}
        self._t1: list[_Waiting] = []
        self._t2: list[_Waiting] = []
        self.suppressed = 0

    def add(self, domain: GroupDomain, noisy: NoisyTotals | NoisyTables) -> None:
        """Post-process some noisy counts of a level."""
        if isinstance(noisy, NoisyTotals):
            self._t1.append(_waiting(self._total_rows(domain, noisy), _OF_T1))
            return
        key = self._keys(domain, noisy.region, noisy.iteration)
        counts = self._policy.clipped(noisy.noisy_count)
        self._t1.append(_waiting(self._sum_rows(domain, noisy, counts, key), _OF_T1))
        self._t2.append(_waiting(self._table_rows(noisy, counts, key), _OF_T2))

    def _keys(
        self, domain: GroupDomain, region: npt.NDArray[np.int64], iteration: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        regions, iterations = self.order.ranks(domain)
        return regions[region] * len(self.order.iteration_codes) + iterations[iteration]

    def _precision(self, event: CountEvent, counts: int, *, is_selected: bool = False) -> int:
        """The number of the precision of a sum of so many counts, as it is published."""
        return self._precisions.index(event, counts, is_clipped=self._policy.is_clipping, is_selected=is_selected)

    def _total_rows(self, domain: GroupDomain, totals: NoisyTotals) -> Rows:
        """T1 of groups that were measured as totals; local ones are dropped where the noise alone explains them."""
        noisy = totals.noisy_count
        kept = np.ones(noisy.size, dtype=np.bool_)
        dropped_up_to = None
        if self._policy.is_suppressing(domain):
            dropped_up_to = self._dropped_up_to(totals.event)
            kept = noisy > dropped_up_to
            self.suppressed += noisy.size - int(kept.sum())
        places, noisy = totals.places(kept), noisy[kept]
        region, iteration = totals.groups(places)
        stage_1 = totals.stage_1_at(places)
        precision = self._precision(totals.event, 1, is_selected=dropped_up_to is not None)
        return Rows(
            self._keys(domain, region, iteration),
            self._policy.clipped(noisy),
            np.zeros(len(region), dtype=np.int8),
            np.full(len(region), precision, dtype=np.int32),
            self._estimator.totals(domain.planned, totals.event, stage_1, noisy, dropped_up_to),
            np.full(len(region), NO_STAGE_1, dtype=np.int64) if stage_1 is None else stage_1,
        )

    def _dropped_up_to(self, event: CountEvent) -> int:
        if event not in self._thresholds:
            self._thresholds[event] = self._policy.threshold(event)
        return self._thresholds[event]

    def _sum_rows(
        self, domain: GroupDomain, tables: NoisyTables, counts: npt.NDArray[np.int64], key: npt.NDArray[np.int64]
    ) -> Rows:
        """T1 of groups that have a sex by age table: the sum of its cells."""
        size, sexes, bins = counts.shape
        event, stage_1 = tables.event, tables.stage_1_count
        return Rows(
            key,
            counts.sum(axis=(1, 2)),
            np.full(size, tables.stat_level, dtype=np.int8),
            np.full(size, self._precision(event, sexes * bins), dtype=np.int32),
            self._estimator.sums(domain.planned, event, tables.stat_level, stage_1, tables.noisy_count),
            stage_1,
        )

    def _table_rows(self, tables: NoisyTables, counts: npt.NDArray[np.int64], key: npt.NDArray[np.int64]) -> Rows:
        """T2: for each group first the sex marginals, then age by age each sex."""
        size, sexes, bins = counts.shape
        precision = np.full((bins + 1, sexes), self._precision(tables.event, 1), dtype=np.int32)
        precision[0] = self._precision(tables.event, bins)
        age = np.arange(ALL_AGES, bins, dtype=np.int16)
        return Rows(
            np.repeat(key, (bins + 1) * sexes),
            _with_marginals(counts.sum(axis=2), counts),
            np.full(size * (bins + 1) * sexes, tables.stat_level, dtype=np.int8),
            np.tile(precision.reshape(-1), size),
            self._table_estimates(tables),
            None,
            np.tile(np.repeat(age, sexes), size),
            np.tile(np.arange(sexes, dtype=np.int16), size * (bins + 1)),
        )

    def _table_estimates(self, tables: NoisyTables) -> Estimates:
        """The estimates of T2, from counts that are not yet cut at 0."""
        noisy = tables.noisy_count
        marginals = self._estimator.parts(tables.event, noisy.shape[2], noisy.sum(axis=2))
        cells = self._estimator.parts(tables.event, 1, noisy)
        return Estimates(
            _with_marginals(marginals.estimate, cells.estimate),
            _with_marginals(marginals.low_95, cells.low_95),
            _with_marginals(marginals.high_95, cells.high_95),
        )

    def t1(self) -> Rows:
        """The rows of T1 in the order of their keys, which are no longer kept here."""
        return _in_order(self._t1, with_cells=False)

    def t2(self, *, with_marginals: bool = True) -> Rows:
        """The rows of T2, as those of T1; without marginals where they would repeat a cell or a total."""
        return _in_order(self._t2, with_cells=True, with_marginals=with_marginals)


#: Rows that wait, column by column.
_Waiting = dict[str, npt.NDArray[Any]]
#: The columns that rows of both tables have, and those of one of them.
_SHARED = ("key", "count", "stat_level", "precision", "estimates.estimate", "estimates.low_95", "estimates.high_95")
_OF_T1, _OF_T2 = ("stage_1_count",), ("age", "sex")
_TYPES = {"stat_level": np.int8, "precision": np.int32, "age": np.int16, "sex": np.int16}
_INT32 = np.iinfo(np.int32)


def _with_marginals(marginals: npt.NDArray[np.int64], cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The numbers of T2 in the order of its rows, out of groups by sexes and groups by sexes by age bins."""
    return np.concatenate([marginals[:, None, :], cells.transpose(0, 2, 1)], axis=1).reshape(-1)


def _waiting(rows: Rows, names: Sequence[str]) -> _Waiting:
    """The columns of some rows, in four bytes a number where they fit: they wait until every level is measured."""
    return {name: _narrow(attrgetter(name)(rows)) for name in (*_SHARED, *names)}


def _narrow(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if numbers.dtype != np.int64 or not numbers.size:
        return numbers
    fits = _INT32.min <= numbers.min() and numbers.max() <= _INT32.max
    # A copy where they do not fit: one column must not keep others in memory.
    return numbers.astype(np.int32) if fits else numbers.copy()


def _in_order(batches: list[_Waiting], *, with_cells: bool, with_marginals: bool = True) -> Rows:
    """All rows in the order of their keys. Those that waited go column by column, so that memory does not double."""

    def joined(name: str) -> npt.NDArray[Any]:
        kind = np.dtype(_TYPES.get(name, np.int64))
        return np.concatenate([np.empty(0, dtype=kind), *(batch.pop(name) for batch in batches)], dtype=kind)

    key = joined("key")
    # Stable: the rows of one group already stand in order.
    order = np.argsort(key, kind="stable")
    age = joined("age") if with_cells else None
    if age is not None and not with_marginals:
        order = order[age[order] != ALL_AGES]
    return Rows(
        key[order],
        joined("count")[order],
        joined("stat_level")[order],
        joined("precision")[order],
        Estimates(*(joined(f"estimates.{name}")[order] for name in ("estimate", "low_95", "high_95"))),
        None if with_cells else joined("stage_1_count")[order],
        None if age is None else age[order],
        joined("sex")[order] if with_cells else None,
    )
