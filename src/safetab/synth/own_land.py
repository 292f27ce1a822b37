"""The land of a user's own country: the blocks of a geography file, with invented populations.

In: the blocks of a geography file, the release that names their regions, and a number of persons. Out: the states of
the country and their land. Promise: the persons add up, they live in blocks that some run of the release takes, and
they depend on the seed and the file alone.

States, counties and tracts are whatever regions the release has: its coarsest level, a finer one and its finest one,
of the levels that every block has a region of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from safetab.params.release import Release
from safetab.population.geography import NO_REGION, regions_of
from safetab.synth.draws import Floats, Stream
from safetab.synth.geography import BLOCK_SPREAD, EMPTY_BLOCKS, TRACT_SPREAD, BlockColumn, Indices, Land
from safetab.synth.shapes import AreaCounts, StatePlan, apportion

#: How unequal states and counties are, beyond their numbers of blocks: standard deviations of logarithms.
_STATE_SPREAD, _COUNTY_SPREAD = 0.4, 0.7
#: There are at most so many states, and counties in a state; neighbouring regions are put together.
_MOST_STATES, _MOST_COUNTIES = 60, 400
#: Blocks of a tract, where the release has no regions that small.
_BLOCKS_OF_TRACT = 20
#: Blocks may be empty where a tract has at least so many of them on average.
_BLOCKS_TO_BE_EMPTY = 8
_PERSONS_PER_BLOCK, _LEAST_PERSONS = 40, 10_000


@dataclass(frozen=True, slots=True, eq=False)
class OwnLand:
    """The states of a country and their land."""

    states: tuple[StatePlan, ...]
    lands: Mapping[str, Land]
    blocks: int

    @property
    def persons(self) -> int:
        return sum(state.persons for state in self.states)


def usual_persons(blocks: int) -> int:
    """How many persons a country of so many blocks has, where nobody says it."""
    return max(_LEAST_PERSONS, _PERSONS_PER_BLOCK * blocks)


def blocks_taken(table: pa.Table, release: Release) -> pa.Table:
    """The blocks that some run of the release takes."""
    taken = np.zeros(table.num_rows, dtype=bool)
    for run in release.runs:
        if run.only is None:
            return table
        taken |= pc.is_in(table[run.only.column], value_set=pa.array(run.only.values, pa.string())).to_numpy()
    return table.filter(pa.array(taken))


def settle_blocks(blocks: pa.Table, release: Release, persons: int, seed: int) -> OwnLand:
    """Divide so many persons among the blocks."""
    state, county, tract = _tiers(blocks, release)
    order = np.lexsort((tract, county, state))
    blocks, state, county, tract = blocks.take(order), state[order], county[order], tract[order]
    populations = apportion(persons, _weights(state, county, tract, seed))
    columns = [_encoded(blocks[name]) for name in release.columns.block]
    edges = [*np.flatnonzero(np.diff(state, prepend=-1)).tolist(), len(state)]
    plans: list[StatePlan] = []
    lands: dict[str, Land] = {}
    for number, (low, high) in enumerate(pairwise(edges), start=1):
        many = int(populations[low:high].sum())
        if not many:
            continue
        names = tuple(
            _part(name, values, index[low:high])
            for name, (values, index) in zip(release.columns.block, columns, strict=True)
        )
        # Three digits: a code of two would be that of a real state, where real peoples are at home.
        code = f"{number:03d}"
        land = _land(code, county[low:high], tract[low:high], names, populations[low:high])
        lands[code] = land
        tracts = len(land.county_of_tract)
        plans.append(StatePlan(code, many, AreaCounts(land.counties, tracts, 0, land.blocks), 0))
    return OwnLand(tuple(plans), lands, blocks.num_rows)


def _tiers(blocks: pa.Table, release: Release) -> tuple[Indices, Indices, Indices]:
    """The state, the county and the tract of each block, each numbered anew within the one before it."""
    levels = {level.columns: level for run in release.runs for level in run.geography_levels}
    found = [regions_of(blocks, level) for level in levels.values()]
    whole = [(len(ids), region) for region, ids in found if len(ids) > 1 and not (region == NO_REGION).any()]
    tiers = [region.astype(np.int64) for _, region in sorted(whole, key=lambda pair: pair[0])]
    nothing = np.zeros(blocks.num_rows, dtype=np.int64)
    state = _bundled(tiers[0], nothing, _MOST_STATES) if tiers else nothing
    county = _bundled(tiers[-2 if len(tiers) > 2 else -1], state, _MOST_COUNTIES) if tiers else nothing
    if len(tiers) > 1:
        return state, county, tiers[-1]
    # Stretches of blocks, in the order of the file.
    return state, county, _numbers_within(county) // _BLOCKS_OF_TRACT


def _bundled(region: Indices, outer: Indices, most: int) -> Indices:
    """Numbers of regions within each outer region; where these are too many, several neighbours have one number."""
    pairs, index = np.unique(np.stack([outer, region]), axis=1, return_inverse=True)
    many = np.bincount(pairs[0])
    within = np.arange(pairs.shape[1]) - (np.cumsum(many) - many)[pairs[0]]
    bundles = np.minimum(many, most)[pairs[0]]
    numbers: Indices = (within * bundles // many[pairs[0]])[index.ravel()]
    return numbers + outer * most


def _numbers_within(groups: Indices) -> Indices:
    """For each entry, how many entries before it are of the same group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(starts, append=len(groups))
    numbers = np.empty_like(groups)
    numbers[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return numbers


def _weights(state: Indices, county: Indices, tract: Indices, seed: int) -> Floats:
    """Relative populations of sorted blocks: regions of every tier are unequal, and some blocks are empty."""
    stream = Stream(seed, "own land")
    weights = stream.lognormals(BLOCK_SPREAD, len(state))
    is_first = np.zeros(len(state), dtype=bool)
    for column, spread in ((state, _STATE_SPREAD), (county, _COUNTY_SPREAD), (tract, TRACT_SPREAD)):
        is_first |= np.diff(column, prepend=-1) != 0
        number = np.cumsum(is_first) - 1
        weights *= stream.lognormals(spread, int(number[-1]) + 1)[number]
    if len(state) >= _BLOCKS_TO_BE_EMPTY * is_first.sum():
        # The first block of a tract is never empty, so that no region is.
        weights[~is_first & (stream.uniforms(len(state)) < EMPTY_BLOCKS)] = 0.0
    return weights


def _encoded(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.object_], Indices]:
    """The distinct values of a column, and for each block an index into them."""
    encoded = pc.dictionary_encode(column).combine_chunks()
    values = np.array(encoded.dictionary.to_pylist(), dtype=object)
    return values, encoded.indices.to_numpy().astype(np.int64)


def _part(name: str, values: npt.NDArray[np.object_], index: Indices) -> BlockColumn:
    """A column with the values of some blocks alone."""
    used, own = np.unique(index, return_inverse=True)
    return BlockColumn.of(name, values[used].tolist(), own)


def _land(code: str, county: Indices, tract: Indices, names: tuple[BlockColumn, ...], persons: Indices) -> Land:
    is_county = np.diff(county, prepend=-1) != 0
    is_tract = is_county | (np.diff(tract, prepend=-1) != 0)
    county_number, tract_number = np.cumsum(is_county) - 1, np.cumsum(is_tract) - 1
    nowhere = np.full(len(county), -1, dtype=np.int64)
    return Land(code, county_number[is_tract], tract_number, names, (), nowhere, (), persons, giant_tract=-1)
