"""The land of one state: counties, tracts, blocks, places and AIANNH areas, with skewed populations.

In: a `StatePlan` and a stream of chance. Out: a `Land`, arrays with one entry a block. Promise: every county, tract
and place that was planned has blocks, populations add up to the plan's persons exactly, and a block's name is unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from safetab.synth.draws import Floats, Stream
from safetab.synth.shapes import StatePlan, apportion

Indices = npt.NDArray[np.int64]

NO_PLACE, NO_AREA = "99999", "9999"
GEOGRAPHY_COLUMNS = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "PLACEFP", "AIANNHCE")

#: How unequal areas are: the spread of the logarithm of their sizes.
COUNTY_SPREAD, TRACT_SPREAD, BLOCK_SPREAD, PLACE_SPREAD, AREA_SPREAD = 1.45, 0.42, 0.95, 2.0, 1.7
#: Share of the blocks where nobody lives, and of those that lie in some place.
EMPTY_BLOCKS, BLOCKS_IN_PLACES = 0.28, 0.72
#: One tract in each state is a giant with this share of it, up to so many times the size of an ordinary tract.
GIANT_SHARE, GIANT_TRACT = 0.05, 13.0


@dataclass(frozen=True, slots=True)
class Area:
    """An AIANNH area's part in one state: its code, its home community's rank, its size among such areas."""

    code: str
    rank: int
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class Land:
    """One state's blocks in order. Blocks of one tract stand together, and so do tracts of one county."""

    state: str
    county_codes: tuple[str, ...]
    #: Codes that tracts have, each once: tracts of different counties may have the same.
    tract_codes: tuple[str, ...]
    code_of_tract: Indices
    county_of_tract: Indices
    tract: Indices
    block_code: Indices
    place: Indices
    place_codes: tuple[str, ...]
    #: Index into `areas`, -1 for most blocks.
    area: Indices
    areas: tuple[Area, ...]
    persons: Indices
    giant_tract: int

    @property
    def blocks(self) -> int:
        return len(self.tract)

    def table(self) -> pa.Table:
        """The geography file's rows of this state, as dictionary-encoded text."""
        places = [*self.place_codes, NO_PLACE]
        areas = [*(area.code for area in self.areas), NO_AREA]
        columns = [
            _encoded(np.zeros(self.blocks), [self.state]),
            _encoded(self.county_of_tract[self.tract], self.county_codes),
            _encoded(self.code_of_tract[self.tract], self.tract_codes),
            _encoded(self.block_code, BLOCK_CODES),
            _encoded(self.place % len(places), places),
            _encoded(self.area % len(areas), areas),
        ]
        return pa.table(columns, names=list(GEOGRAPHY_COLUMNS))


BLOCK_CODES = tuple(f"{number:04d}" for number in range(10_000))


def _encoded(indices: npt.NDArray[np.generic], values: tuple[str, ...] | list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), pa.array(values, pa.string()))


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
    counties = stream.lognormals(COUNTY_SPREAD, plan.areas.counties)
    tracts_of = apportion(plan.areas.tracts, counties, least=1)
    county_of_tract = np.repeat(np.arange(plan.areas.counties), tracts_of)
    tract_size = stream.lognormals(TRACT_SPREAD, plan.areas.tracts)
    giant = int(np.argmax(counties[county_of_tract] + 1e-9 * tract_size))
    tract_size[giant] = max(tract_size[giant], min(GIANT_SHARE * tract_size.sum(), GIANT_TRACT * tract_size.mean()))
    blocks_of = apportion(plan.areas.blocks, stream.lognormals(TRACT_SPREAD, plan.areas.tracts), least=2)
    tract = np.repeat(np.arange(plan.areas.tracts), blocks_of)
    within = _numbers_within(blocks_of)
    place, place_codes = _places(plan, len(tract), stream)
    persons = _populate(plan.persons, tract, tract_size, stream)
    return Land(
        plan.code,
        tuple(f"{2 * number + 1:03d}" for number in range(plan.areas.counties)),
        tuple(f"{100 * (number + 1):06d}" for number in range(int(tracts_of.max()))),
        _numbers_within(tracts_of),
        county_of_tract,
        tract,
        _block_codes(within, blocks_of[tract]),
        place,
        place_codes,
        _lay_areas(areas, area_share, persons, tract != giant, stream),
        tuple(areas),
        persons,
        giant,
    )


def _numbers_within(sizes: Indices) -> Indices:
    """0, 1, 2 and so on within each group, for groups of these sizes one after the other."""
    first = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) - np.repeat(first, sizes)


def _block_codes(within: Indices, blocks: Indices) -> Indices:
    """Four digits: the block group, 1 and up, and three digits within it; each number of a tract once."""
    groups = np.maximum(3, -(-blocks // 900))
    size = -(-blocks // groups)
    return 1000 * (1 + within // size) + within % size


def _populate(persons: int, tract: Indices, tract_size: Floats, stream: Stream) -> Indices:
    """Persons of each block: a tract's share is divided among its blocks, many of which are empty."""
    size = stream.lognormals(BLOCK_SPREAD, len(tract)) * (stream.uniforms(len(tract)) >= EMPTY_BLOCKS)
    # The first block of a tract is never empty, or all of the tract might be.
    is_first = np.diff(tract, prepend=-1) > 0
    size[is_first] = np.maximum(size[is_first], 0.5)
    in_tract = np.bincount(tract, weights=size, minlength=len(tract_size))
    return apportion(persons, size * (tract_size / in_tract)[tract])


def _places(plan: StatePlan, blocks: int, stream: Stream) -> tuple[Indices, tuple[str, ...]]:
    """Places are runs of blocks with land between them; they cross tracts and counties as real ones do."""
    many = plan.areas.places
    if not many:
        return np.full(blocks, -1, dtype=np.int64), ()
    sizes = stream.lognormals(PLACE_SPREAD, many)
    in_places = max(many, round(blocks * BLOCKS_IN_PLACES))
    lengths = apportion(in_places, sizes, least=1)
    gaps = apportion(max(0, blocks - int(lengths.sum())), stream.uniforms(many) + 0.1)
    runs = np.stack([gaps, lengths], axis=1).ravel()
    owners = np.stack([np.full(many, -1), np.arange(many)], axis=1).ravel()
    place = np.repeat(owners, runs)
    step = max(1, 99_000 // many)
    return place, tuple(f"{100 + step * number:05d}" for number in range(many))


def _lay_areas(
    areas: list[Area], share: float, persons: Indices, allowed: npt.NDArray[np.bool_], stream: Stream
) -> Indices:
    """Lay AIANNH areas on runs of blocks, together so large that they hold `share` of the persons.

    The giant tract stays free of them, so that its own community stays as large as it is meant to be.
    """
    area = np.full(len(persons), -1, dtype=np.int64)
    if not areas:
        return area
    people_before = np.cumsum(persons) - persons
    total = int(persons.sum())
    sizes = np.array([one.size for one in areas])
    wanted = total * share * sizes / sizes.sum()
    # Equal stretches of the block list, one an area, so that no two overlap and each has a block at the least.
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
