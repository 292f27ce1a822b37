"""After the barrier: from noisy counts to the rows of T1 and T2.

In: parts of levels, which hold noisy numbers only. Out: rows in the order of their keys, each with the precision of its
number. Post-processing costs no privacy. Promise: suppression looks at the noisy count itself, negative counts are set
to 0 before anything is summed, and a total of a sex by age table is the sum of what is published in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import CountEvent
from safetab.pipeline.groups import GroupDomain
from safetab.pipeline.precision import Precisions
from safetab.pipeline.tabulate_level import NoisyTables, NoisyTotals

#: The age index of a row that sums over all ages.
ALL_AGES = -1


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
        return event.law.quantile(self.zero_suppression_chance) if self.has_noise else 0

    def clipped(self, noisy: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return noisy if self.allow_negative_counts else np.maximum(noisy, 0)


@dataclass(frozen=True, slots=True, eq=False)
class KeyOrder:
    """The order of published rows: by region id, then region type, then iteration code."""

    region_ids: tuple[str, ...]
    region_types: tuple[str, ...]
    iteration_codes: tuple[str, ...]

    @classmethod
    def of(cls, domains: Iterable[GroupDomain]) -> KeyOrder:
        domains = list(domains)
        regions = sorted({(region, domain.level.geography.name) for domain in domains for region in domain.regions})
        codes = sorted({iteration.code for domain in domains for iteration in domain.iterations})
        return cls(tuple(region for region, _ in regions), tuple(kind for _, kind in regions), tuple(codes))

    def ranks(self, domain: GroupDomain) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the domain's regions and iterations stand in this order."""
        pairs = zip(self.region_ids, self.region_types, strict=True)
        region_rank = {pair: rank for rank, pair in enumerate(pairs)}
        code_rank = {code: rank for rank, code in enumerate(self.iteration_codes)}
        name = domain.level.geography.name
        return (
            np.array([region_rank[region, name] for region in domain.regions], dtype=np.int64),
            np.array([code_rank[iteration.code] for iteration in domain.iterations], dtype=np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Published rows. `key` is region rank x number of iterations + iteration rank.

    T1 has no `age` and `sex`; in T2 `age` is the number of an age bin of the row's stat level, or ALL_AGES.
    """

    key: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    stat_level: npt.NDArray[np.int8]
    precision: npt.NDArray[np.int16]
    age: npt.NDArray[np.int16] | None = None
    sex: npt.NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self.key)


class Assembler:
    """Collects the rows of one run, level by level, and puts them in order."""

    def __init__(self, order: KeyOrder, policy: PostProcessing, precisions: Precisions) -> None:
        self.order, self._policy, self._precisions = order, policy, precisions
        self._ranks: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = {}
        self._thresholds: dict[CountEvent, int] = {}
        self._t1: list[Rows] = []
        self._t2: list[Rows] = []
        self.suppressed = 0

    def add(self, domain: GroupDomain, part: NoisyTotals | NoisyTables) -> None:
        """Post-process one part of a level."""
        if isinstance(part, NoisyTotals):
            self._t1.append(self._total_rows(domain, part))
            return
        key = self._keys(domain, part.region, part.iteration)
        counts = self._policy.clipped(part.noisy_count)
        self._t1.append(self._sum_rows(part, counts, key))
        self._t2.append(self._table_rows(part, counts, key))

    def _keys(
        self, domain: GroupDomain, region: npt.NDArray[np.int64], iteration: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        if domain.plan.name not in self._ranks:
            self._ranks[domain.plan.name] = self.order.ranks(domain)
        regions, iterations = self._ranks[domain.plan.name]
        return regions[region] * len(self.order.iteration_codes) + iterations[iteration]

    def _total_rows(self, domain: GroupDomain, totals: NoisyTotals) -> Rows:
        """T1 of groups that were measured as totals; local ones are dropped where the noise alone explains them."""
        noisy = totals.noisy_count
        kept = np.ones(noisy.size, dtype=np.bool_)
        if self._policy.zero_suppression_chance is not None and domain.level.geography.local:
            if totals.event not in self._thresholds:
                self._thresholds[totals.event] = self._policy.threshold(totals.event)
            kept = noisy > self._thresholds[totals.event]
            self.suppressed += noisy.size - int(kept.sum())
        region, iteration = totals.groups(kept)
        return Rows(
            self._keys(domain, region, iteration),
            self._policy.clipped(noisy[kept]),
            np.zeros(len(region), dtype=np.int8),
            np.full(len(region), self._precisions.index(totals.event, 1), dtype=np.int16),
        )

    def _sum_rows(self, tables: NoisyTables, counts: npt.NDArray[np.int64], key: npt.NDArray[np.int64]) -> Rows:
        """T1 of groups that have a sex by age table: the sum of its cells."""
        size, sexes, bins = counts.shape
        return Rows(
            key,
            counts.sum(axis=(1, 2)),
            np.full(size, tables.stat_level, dtype=np.int8),
            np.full(size, self._precisions.index(tables.event, sexes * bins), dtype=np.int16),
        )

    def _table_rows(self, tables: NoisyTables, counts: npt.NDArray[np.int64], key: npt.NDArray[np.int64]) -> Rows:
        """T2: for each group first the sex marginals, then age by age each sex."""
        size, sexes, bins = counts.shape
        marginals = counts.sum(axis=2)[:, None, :]
        values = np.concatenate([marginals, counts.transpose(0, 2, 1)], axis=1)
        precision = np.full((bins + 1, sexes), self._precisions.index(tables.event, 1), dtype=np.int16)
        precision[0] = self._precisions.index(tables.event, bins)
        age = np.arange(ALL_AGES, bins, dtype=np.int16)
        return Rows(
            np.repeat(key, (bins + 1) * sexes),
            values.reshape(-1),
            np.full(values.size, tables.stat_level, dtype=np.int8),
            np.tile(precision.reshape(-1), size),
            np.tile(np.repeat(age, sexes), size),
            np.tile(np.arange(sexes, dtype=np.int8), size * (bins + 1)),
        )

    def t1(self) -> Rows:
        """The rows of T1 in the order of their keys."""
        return _in_order(self._t1, with_cells=False)

    def t2(self) -> Rows:
        """The rows of T2 in the order of their keys."""
        return _in_order(self._t2, with_cells=True)


def _in_order(parts: Sequence[Rows], *, with_cells: bool) -> Rows:
    def joined(name: str, kind: type[np.generic]) -> npt.NDArray[Any]:
        return np.concatenate([np.empty(0, dtype=kind), *(getattr(part, name) for part in parts)])

    key = joined("key", np.int64)
    # Stable: the rows of one group already stand in order.
    order = np.argsort(key, kind="stable")
    return Rows(
        key[order],
        joined("count", np.int64)[order],
        joined("stat_level", np.int8)[order],
        joined("precision", np.int16)[order],
        joined("age", np.int16)[order] if with_cells else None,
        joined("sex", np.int8)[order] if with_cells else None,
    )
