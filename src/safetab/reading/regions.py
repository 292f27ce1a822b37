"""The regions of a run: which contain which, and which overlap, from its block sets.

In: `parquet/geography/RUN.parquet`. Out: `RegionsOfRun`. The promise: a region is the set of its block sets and nothing
else, so containment and overlap are those of the blocks themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pyarrow.parquet as pq

from safetab.files import arrow
from safetab.population.geography import NO_REGION, region_of_finer

Indices = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
#: A geography level and the index of one of its regions.
Node = tuple[str, int]


class RegionsOfRun:
    """All regions of one run, by geography level."""

    def __init__(self, run: str, file: Path) -> None:
        self.run, self._file = run, file

        self._known: dict[str, tuple[tuple[str, ...], Indices]] = {}
        self._known_places: dict[str, Mapping[str, int]] = {}
        self._known_parents: dict[tuple[str, str], Indices | None] = {}

    @cached_property
    def levels(self) -> tuple[str, ...]:
        return tuple(pq.read_schema(self._file).names)

    def _encoded(self, level: str) -> tuple[tuple[str, ...], Indices]:
        """The ids of a level's regions, in order, and the region of each block set."""
        if level not in self._known:
            # Not read_table: it imports all of Arrow's datasets, and these import pandas.
            with pq.ParquetFile(self._file) as file:
                column = pc.dictionary_encode(file.read(columns=[level])[level].combine_chunks())
            order = arrow.values(pc.array_sort_indices(column.dictionary))
            rank = np.empty(len(order) + 1, dtype=np.int32)
            rank[order] = np.arange(len(order), dtype=np.int32)
            # A block set that lies in no region of the level points at the last place.
            rank[-1] = NO_REGION
            index = arrow.values(pc.fill_null(column.indices, arrow.number(NO_REGION, np.int32)))
            self._known[level] = tuple(column.dictionary.take(arrow.numbers(order)).to_pylist()), rank[index]
        return self._known[level]

    def ids(self, level: str) -> tuple[str, ...]:
        """The ids of a level's regions, in order."""
        return self._encoded(level)[0]

    def index(self, level: str, region_id: str) -> int | None:
        """The place of a region among those of its level."""
        if level not in self.levels:
            return None
        if level not in self._known_places:
            self._known_places[level] = {region: place for place, region in enumerate(self.ids(level))}
        return self._known_places[level].get(region_id)

    def nodes(self, regions: Iterable[tuple[str, str]]) -> list[Node]:
        """Those of some regions, by type and id, that are in this run."""
        places = ((level, self.index(level, region)) for level, region in regions)
        return [(level, place) for level, place in places if place is not None]

    def region_of_block_set(self, level: str) -> Indices:
        return self._encoded(level)[1]

    def covered(self, nodes: Iterable[Node]) -> npt.NDArray[np.int64]:
        """How many of some regions each block set is in."""
        chosen: dict[str, npt.NDArray[np.int64]] = {}
        for level, place in nodes:
            if level not in chosen:
                chosen[level] = np.zeros(len(self.ids(level)) + 1, dtype=np.int64)
            chosen[level][place] += 1
        total = np.zeros(self._block_sets, dtype=np.int64)
        for level, counts in chosen.items():
            # The last place is nobody's, where a block set is in no region.
            total += counts[self.region_of_block_set(level)]
        return total

    def parents(self, finer: str, coarser: str) -> Indices | None:
        """The coarser region that each finer one lies in, if every one lies in one and they fill it; else None."""
        key = (finer, coarser)
        if key not in self._known_parents:
            of_finer, of_coarser = self.region_of_block_set(finer), self.region_of_block_set(coarser)
            found = region_of_finer(of_finer, of_coarser)
            is_whole = found is not None and not (found == NO_REGION).any()
            self._known_parents[key] = found if is_whole else None
        return self._known_parents[key]

    @cached_property
    def _block_sets(self) -> int:
        return int(pq.read_metadata(self._file).num_rows)

    def chain_above(self, level: str, allowed: Iterable[str]) -> list[str]:
        """This level and those whose regions are made up of its regions, finest first."""
        names = set(allowed) - {level}
        above = [name for name in self.levels if name in names and self.parents(level, name) is not None]
        # The coarser of two is made up of the other's regions.
        above.sort(key=lambda name: -len(self.ids(name)))
        chain = [level]
        for name in above:
            if self.parents(chain[-1], name) is not None:
                chain.append(name)
        return chain
