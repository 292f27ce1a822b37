"""The land of one state: counties, tracts, blocks, places and AIANNH areas, with skewed populations.

In: a `StatePlan` and a seed. Out: a `Land`, arrays with one entry per block. Promise: every planned county, tract and
place has blocks, the populations add up to the persons of the plan, and the name of a block is unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from safetab.synth.draws import Floats, Stream
from safetab.synth.shapes import StatePlan, apportion

Indices = npt.NDArray[np.int64]

NO_PLACE, NO_AREA = "99999", "9999"

#: How unequal areas are: the standard deviation of the logarithm of their sizes.
TRACT_SPREAD, BLOCK_SPREAD, PLACE_SPREAD, AREA_SPREAD = 0.42, 0.95, 2.0, 1.7
#: The logarithm of the size of a county is this much of a normal number, and this much of its square: large counties
#: are even larger than in a lognormal law.
COUNTY_SPREAD, COUNTY_SKEW = 1.3, 0.12
#: The share of blocks where nobody lives, and of blocks in a place.
EMPTY_BLOCKS, BLOCKS_IN_PLACES = 0.28, 0.72
#: One tract in each state is a giant: it has this share of the persons, but at most so many average tracts.
GIANT_SHARE, GIANT_TRACT = 0.05, 13.0


@dataclass(frozen=True, slots=True)
class Area:
    """An AIANNH area within one state: its code, the rank of its home community, and its relative size."""

    code: str
    rank: int
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class BlockColumn:
    """A column that describes blocks: for each block an index into the values."""

    name: str
    values: tuple[str, ...]
    index: npt.NDArray[np.integer[Any]]

    @classmethod
    def of(cls, name: str, values: Sequence[str], index: Indices) -> BlockColumn:
        """A column whose indices are as small as they can be."""
        width = np.int16 if len(values) <= np.iinfo(np.int16).max else np.int32
        return cls(name, tuple(values), index.astype(width))

    @property
    def encoded(self) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(self.index), pa.array(self.values, pa.string()))


@dataclass(frozen=True, slots=True, eq=False)
class Land:
    """The blocks of one state, sorted by county and tract."""

    state: str
    county_of_tract: Indices
    tract: Indices
    #: The columns that together name a block, and further columns of the geography file.
    names: tuple[BlockColumn, ...]
    others: tuple[BlockColumn, ...]
    #: Index into `areas`, -1 for most blocks.
    area: Indices
    areas: tuple[Area, ...]
    persons: Indices
    #: The tract that one community has most of, or -1.
    giant_tract: int

    @property
    def blocks(self) -> int:
        return len(self.tract)

    @property
    def counties(self) -> int:
        return int(self.county_of_tract[-1]) + 1

    def table(self) -> pa.Table:
        """The rows of this state in the geography file, as dictionary-encoded text."""
        columns = (*self.names, *self.others)
        return pa.table([column.encoded for column in columns], names=[column.name for column in columns])


BLOCK_CODES = tuple(f"{number:04d}" for number in range(10_000))


def plan_areas(plans: tuple[StatePlan, ...], seed: int) -> dict[str, list[Area]]:
    """The AIANNH areas of each state. The last area of a state reaches into the next state that has areas."""
    stream = Stream(seed, "aiannh")
    states = [plan for plan in plans if plan.aiannh]
    sizes = stream.lognormals(AREA_SPREAD, sum(plan.aiannh for plan in states))
    rank = np.argsort(np.argsort(-sizes))
    areas: dict[str, list[Area]] = {plan.code: [] for plan in plans}
    number = 0
    for plan, following in zip_longest(states, states[1:]):
        for _ in range(plan.aiannh):
            area = Area(f"{10 * (number + 1):04d}", int(rank[number]), float(sizes[number]))
            areas[plan.code].append(area)
            number += 1
        if following is not None and areas[plan.code]:
            last = areas[plan.code][-1]
            areas[following.code].append(Area(last.code, last.rank, last.size / 3))
    return areas


def lay_out(plan: StatePlan, areas: list[Area], area_share: float, seed: int) -> Land:
    """Lay out one state."""
    stream = Stream(seed, "land", plan.code)
    counties = _county_sizes(plan.areas.counties, stream)
    tracts_of = apportion(plan.areas.tracts, counties, least=1)
    county_of_tract = np.repeat(np.arange(plan.areas.counties), tracts_of)
    tract_size = stream.lognormals(TRACT_SPREAD, plan.areas.tracts)
    # The tracts of a county share its persons, so that a county may be smaller than an average tract.
    in_county = np.bincount(county_of_tract, weights=tract_size, minlength=plan.areas.counties)
    tract_size *= (counties / counties.sum() * plan.areas.tracts / in_county)[county_of_tract]
    giant = int(np.argmax(counties[county_of_tract] + 1e-9 * tract_size))
    tract_size[giant] = max(tract_size[giant], min(GIANT_SHARE * tract_size.sum(), GIANT_TRACT * tract_size.mean()))
    blocks_of = apportion(plan.areas.blocks, stream.lognormals(TRACT_SPREAD, plan.areas.tracts), least=2)
    tract = np.repeat(np.arange(plan.areas.tracts), blocks_of)
    place, place_codes = _places(plan, len(tract), stream)
    persons = _populate(plan.persons, tract, tract_size, stream)
    area = _lay_areas(areas, area_share, persons, tract != giant, stream)
    for number, one in enumerate(areas):
        if one.rank == 0:
            # The largest area has a city, as the largest areas of Oklahoma do.
            area[tract == giant] = number
    return Land(
        plan.code,
        county_of_tract,
        tract,
        _block_names(plan, tracts_of, blocks_of),
        (
            BlockColumn.of("PLACEFP", [*place_codes, NO_PLACE], place % (len(place_codes) + 1)),
            BlockColumn.of("AIANNHCE", [*(one.code for one in areas), NO_AREA], area % (len(areas) + 1)),
        ),
        area,
        tuple(areas),
        persons,
        giant,
    )


def _block_names(plan: StatePlan, tracts_of: Indices, blocks_of: Indices) -> tuple[BlockColumn, ...]:
    """State, county, tract and block. Tracts of different counties may have the same code."""
    tract = np.repeat(np.arange(len(blocks_of)), blocks_of)
    county = np.repeat(np.arange(len(tracts_of)), tracts_of)[tract]
    counties = [f"{2 * number + 1:03d}" for number in range(len(tracts_of))]
    tracts = [f"{100 * (number + 1):06d}" for number in range(int(tracts_of.max()))]
    codes = _block_codes(_numbers_within(blocks_of), blocks_of[tract])
    return (
        BlockColumn.of("TABBLKST", [plan.code], np.zeros_like(tract)),
        BlockColumn.of("TABBLKCOU", counties, county),
        BlockColumn.of("TABTRACTCE", tracts, _numbers_within(tracts_of)[tract]),
        BlockColumn.of("TABBLK", BLOCK_CODES, codes),
    )


def _county_sizes(many: int, stream: Stream) -> Floats:
    """The relative sizes of counties, in random order: one in each of as many equally likely ranges of sizes.

    So every state has small and large counties, whatever the seed.
    """
    order = np.argsort(stream.words(many), kind="stable")
    chances = (order + 0.25 + 0.5 * stream.uniforms(many)) / many
    normals = np.array([NormalDist().inv_cdf(float(chance)) for chance in chances])
    sizes: Floats = np.exp(COUNTY_SPREAD * normals + COUNTY_SKEW * normals**2)
    return sizes


def _numbers_within(sizes: Indices) -> Indices:
    """The numbers 0, 1, 2, ... within each group, for groups of these sizes."""
    first = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) - np.repeat(first, sizes)


def _block_codes(within: Indices, blocks: Indices) -> Indices:
    """Four digits: the block group, from 1, and three digits within it; unique in the tract."""
    groups = np.maximum(3, -(-blocks // 900))
    size = -(-blocks // groups)
    return 1000 * (1 + within // size) + within % size


def _populate(persons: int, tract: Indices, tract_size: Floats, stream: Stream) -> Indices:
    """The persons of each block: those of a tract are divided among its blocks, many of which are empty."""
    size = stream.lognormals(BLOCK_SPREAD, len(tract)) * (stream.uniforms(len(tract)) >= EMPTY_BLOCKS)
    # The first block of a tract is never empty, so that no tract is.
    is_first = np.diff(tract, prepend=-1) > 0
    size[is_first] = np.maximum(size[is_first], 0.5)
    in_tract = np.bincount(tract, weights=size, minlength=len(tract_size))
    return apportion(persons, size * (tract_size / in_tract)[tract])


def _places(plan: StatePlan, blocks: int, stream: Stream) -> tuple[Indices, tuple[str, ...]]:
    """Places are stretches of blocks with land between them. They cross tracts and counties, as real places do."""
    many = plan.areas.places
    if not many:
        return np.full(blocks, -1, dtype=np.int64), ()
    sizes = stream.lognormals(PLACE_SPREAD, many)
    in_places = max(many, round(blocks * BLOCKS_IN_PLACES))
    lengths = apportion(in_places, sizes, least=1)
    gaps = apportion(max(0, blocks - int(lengths.sum())), stream.uniforms(many) + 0.1)
    stretches = np.stack([gaps, lengths], axis=1).ravel()
    owners = np.stack([np.full(many, -1), np.arange(many)], axis=1).ravel()
    place = np.repeat(owners, stretches)
    step = max(1, 99_000 // many)
    return place, tuple(f"{100 + step * number:05d}" for number in range(many))


def _lay_areas(
    areas: list[Area], share: float, persons: Indices, allowed: npt.NDArray[np.bool_], stream: Stream
) -> Indices:
    """Put AIANNH areas on stretches of blocks, so large that `share` of the persons live in them.

    They spare the giant tract, which only the largest area of the country has.
    """
    area = np.full(len(persons), -1, dtype=np.int64)
    if not areas:
        return area
    people_before = np.cumsum(persons) - persons
    total = int(persons.sum())
    sizes = np.array([one.size for one in areas])
    wanted = total * share * sizes / sizes.sum()
    # One equal stretch of the blocks for each area, so that no two overlap and each has at least one block.
    edges = np.linspace(0, len(persons), len(areas) + 1).astype(np.int64)
    room = people_before[np.minimum(edges[1:], len(persons) - 1)] - people_before[edges[:-1]]
    spill = stream.uniforms(len(areas))
    for number in range(len(areas)):
        low, high = int(edges[number]), int(edges[number + 1])
        start = low + int(spill[number] * 0.3 * (high - low)) if wanted[number] < 0.5 * room[number] else low
        stop = int(np.searchsorted(people_before, people_before[start] + wanted[number]))
        area[start : max(start + 1, min(stop, high))] = number
    elsewhere = np.bincount(area[allowed & (area >= 0)], minlength=len(areas))
    area[~allowed & (area >= 0) & (elsewhere[area] > 0)] = -1
    return area
