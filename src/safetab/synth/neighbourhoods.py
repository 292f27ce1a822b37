"""Who lives where: the mix of communities in each state, county and neighbourhood.

In: communities and the land of a state. Out: for each neighbourhood 256 slots, each a community; a person of the
neighbourhood is of the community of a slot drawn evenly. Promise: mixes of states add up to the nation's, and mixes of
counties to their state's; a neighbourhood has few of the many communities, and one or two of them strongly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.synth.ages import NEIGHBOURHOOD_SHARES, Neighbourhood
from safetab.synth.communities import Communities
from safetab.synth.draws import Floats, Stream
from safetab.synth.geography import Land
from safetab.synth.known_groups import Major
from safetab.synth.shapes import StatePlan

SLOTS = 256
#: How unevenly the communities of a major group are spread over the states: the spread of the logarithm.
_SPREAD = {
    Major.WHITE: 0.45, Major.BLACK: 0.9, Major.AIAN: 2.0, Major.ASIAN: 1.0, Major.NHPI: 1.4, Major.OTHER: 0.9,
}  # fmt: skip
_AT_HOME = 8.0
_COUNTY_SPREAD = 0.6
_RAKING_ROUNDS = 15
#: The largest shares that the two communities which keep to themselves can have, and how rare large ones are.
_ENCLAVES, _ENCLAVE_RARITY = (0.65, 0.3), 2.5
_GIANT_SHARE = 0.85
#: Share of an AIANNH area's home community, at the least and at the most; the largest areas have the most.
_AREA_LEAST, _AREA_MOST, _LARGEST_AREAS = 0.5, 0.95, 5


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhoods:
    """The neighbourhoods of one state: the one each block is in, and each one's slots and kind."""

    of_block: npt.NDArray[np.int32]
    slots: npt.NDArray[np.int16]
    kind: npt.NDArray[np.int8]


def state_mixes(
    communities: Communities, plans: tuple[StatePlan, ...], puerto_rican: Floats, seed: int
) -> dict[str, Floats]:
    """The share of each community in each state."""
    states = [plan for plan in plans if not plan.is_puerto_rico]
    mixes = {plan.code: puerto_rican for plan in plans if plan.is_puerto_rico}
    if not states:
        return mixes
    tilt = np.stack([Stream(seed, "mix", plan.code).normals(len(communities)) for plan in states])
    matrix = communities.share * np.exp(_spreads(communities) * tilt)
    for row, plan in enumerate(states):
        at_home = np.array([plan.code in homes for homes in communities.homes])
        matrix[row, at_home] *= _AT_HOME
    sizes = np.array([max(plan.persons, 1) for plan in states], dtype=float)
    raked = _rake(matrix, sizes / sizes.sum(), communities.share)
    return mixes | {plan.code: row for plan, row in zip(states, raked, strict=True)}


def _spreads(communities: Communities) -> Floats:
    return np.array([_SPREAD[list(Major)[number]] for number in communities.major])


def _rake(matrix: Floats, row_sums: Floats, column_sums: Floats) -> Floats:
    """Scale rows and columns in turn until both have nearly the sums wanted; then each row to 1."""
    for _ in range(_RAKING_ROUNDS):
        matrix = matrix * (row_sums / matrix.sum(axis=1))[:, None]
        matrix = matrix * (column_sums / np.maximum(matrix.sum(axis=0), 1e-300))
    shares: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return shares


def settle(land: Land, mix: Floats, communities: Communities, seed: int) -> Neighbourhoods:
    """Settle communities in the neighbourhoods of one state."""
    stream = Stream(seed, "neighbourhoods", land.state)
    of_block, tract, area = _cut(land)
    slots = np.empty((len(tract), SLOTS), dtype=np.int16)
    counties = _county_mixes(land, mix, communities, stream)
    county = land.county_of_tract[tract]
    for number, shares in enumerate(counties):
        rows = np.flatnonzero(county == number)
        cumulative = np.cumsum(shares)
        slots[rows] = stream.picks(cumulative, len(rows), SLOTS)
        start = np.zeros(len(rows), dtype=np.int64)
        for largest in _ENCLAVES:
            share = largest * stream.uniforms(len(rows)) ** _ENCLAVE_RARITY
            _fill(slots, rows, start, share, stream.picks(cumulative, len(rows)))
            start = start + (share * SLOTS).astype(np.int64)
    giant = np.flatnonzero((tract == land.giant_tract) & (area < 0))
    largest_group = np.argmax(mix * communities.is_detailed)
    _fill(slots, giant, np.zeros(len(giant), dtype=np.int64), np.full(len(giant), _GIANT_SHARE), largest_group)
    _settle_areas(slots, area, land, communities, stream)
    kinds = stream.picks(np.cumsum(list(NEIGHBOURHOOD_SHARES.values())), len(tract)).astype(np.int8)
    kinds[giant] = Neighbourhood.FAMILIES
    return Neighbourhoods(of_block, slots, kinds)


def _cut(land: Land) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Neighbourhoods are tracts, and apart from them the parts of tracts in an AIANNH area."""
    key = land.tract * (len(land.areas) + 1) + land.area + 1
    keys, of_block = np.unique(key, return_inverse=True)
    return of_block.astype(np.int32), keys // (len(land.areas) + 1), keys % (len(land.areas) + 1) - 1


def _county_mixes(land: Land, mix: Floats, communities: Communities, stream: Stream) -> Floats:
    counties = len(land.county_codes)
    tilt = stream.normals(counties, len(communities)) * (_COUNTY_SPREAD * _spreads(communities))
    persons = np.bincount(land.county_of_tract[land.tract], weights=land.persons, minlength=counties)
    persons = np.maximum(persons, 1.0)
    return _rake(mix * np.exp(tilt), persons / persons.sum(), mix)


def _fill(
    slots: npt.NDArray[np.int16],
    rows: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    share: Floats,
    community: npt.NDArray[np.int64] | np.int64,
) -> None:
    """Give one community a share of the slots of each row, from `start` on."""
    positions = np.arange(SLOTS)
    stop = start + (share * SLOTS).astype(np.int64)
    taken = (positions >= start[:, None]) & (positions < stop[:, None])
    filled = np.broadcast_to(np.reshape(community, (-1, 1)), taken.shape)
    slots[rows] = np.where(taken, filled, slots[rows])


def _settle_areas(
    slots: npt.NDArray[np.int16], area: npt.NDArray[np.int64], land: Land, communities: Communities, stream: Stream
) -> None:
    """Give each AIANNH area its home community: the larger the area, the larger the community in the nation."""
    homes = communities.most_common(Major.AIAN)
    if not len(homes):
        return
    for number, one in enumerate(land.areas):
        rows = np.flatnonzero(area == number)
        drawn = _AREA_LEAST + (_AREA_MOST - _AREA_LEAST) * float(stream.uniforms(1)[0])
        share = _AREA_MOST if one.rank < _LARGEST_AREAS else drawn
        start = np.zeros(len(rows), dtype=np.int64)
        _fill(slots, rows, start, np.full(len(rows), share), homes[one.rank % len(homes)])
