"""Who lives where: whole numbers of persons of each community in each state, county and neighbourhood.

In: communities and the land of a state. Out: `Settlement`s, one after the other, each with some neighbourhoods and the
communities that live there. Promise: the states add up to the country, the counties to their state and the
neighbourhoods to their county, for every community and to the person. Neighbouring counties have similar peoples. A
neighbourhood is a tract, or what lies of a tract in an AIANNH area.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from safetab.synth.ages import NEIGHBOURHOOD_SHARES, Neighbourhood
from safetab.synth.code_sets import Answer
from safetab.synth.communities import Communities
from safetab.synth.concentration import Concentration, densities
from safetab.synth.dealing import Indices
from safetab.synth.draws import Stream
from safetab.synth.geography import Land
from safetab.synth.known_groups import Major
from safetab.synth.shapes import StatePlan
from safetab.synth.spreading import spread

#: Counties that lie together, as five neighbours do, share this much of what makes their peoples differ from others.
_VICINITY, _SHARED = 5, 0.5
#: How much denser a tribe is in the counties around its areas.
_AROUND_AREAS = 6.0
#: How unevenly peoples are spread over the neighbourhoods of a county, by major group; origins have a number too.
_NEIGHBOURHOOD_SPREAD = {
    Major.WHITE: 0.9, Major.BLACK: 1.7, Major.AIAN: 1.2, Major.ASIAN: 1.3, Major.NHPI: 1.2, Major.OTHER: 1.2,
}  # fmt: skip
_ORIGIN_SPREAD = 1.4
#: Neighbourhoods that are settled together.
_DISTRICT = 32
#: The persons of a county in which peoples are as dense as in the country; it matters for cities alone.
_TYPICAL_COUNTY = 25_000
_GIANT_SHARE, _MOST_OF_COMMUNITY = 0.85, 0.8
_AREA_SHARE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Settlement:
    """Some neighbourhoods, whose blocks are those from `low` to `high`, and what communities live in them.

    A *part* is the persons of one community in one neighbourhood. Parts are in the order of their neighbourhoods.
    `first` is the number of the first person of a part among all of its community in the country.
    """

    low: int
    high: int
    #: The neighbourhood of each block, from 0; the persons and the kind of each neighbourhood.
    of_block: Indices
    persons: Indices
    kind: npt.NDArray[np.int8]
    community: Indices
    count: Indices
    first: Indices

    @classmethod
    def joined(cls, parts: Sequence[Settlement]) -> Settlement:
        """Consecutive settlements as one."""
        sizes = [len(part.persons) for part in parts]
        shifts = (np.cumsum(sizes) - sizes).tolist()
        return cls(
            parts[0].low,
            parts[-1].high,
            np.concatenate([part.of_block + shift for part, shift in zip(parts, shifts, strict=True)]),
            np.concatenate([part.persons for part in parts]),
            np.concatenate([part.kind for part in parts]),
            np.concatenate([part.community for part in parts]),
            np.concatenate([part.count for part in parts]),
            np.concatenate([part.first for part in parts]),
        )


def state_counts(
    communities: Communities,
    plans: tuple[StatePlan, ...],
    concentration: Concentration,
    area_persons: Mapping[str, Mapping[str, float]],
    seed: int,
) -> dict[str, Indices]:
    """The persons of each community in each state, and in Puerto Rico."""
    found = {plan.code: communities.puerto_rican(plan.persons, seed) for plan in plans if plan.is_puerto_rico}
    states = [plan for plan in plans if not plan.is_puerto_rico]
    if not states:
        return found
    persons = np.array([plan.persons for plan in states], dtype=np.int64)
    many = len(concentration.homes)
    tilt = np.stack([Stream(seed, "mix", plan.code).normals(many) for plan in states])
    weights = np.maximum(persons, 1)[:, None] * np.exp(concentration.over_states * tilt)
    homes = np.zeros_like(weights)
    for row, plan in enumerate(states):
        is_home = np.array([plan.code in its_homes for its_homes in concentration.homes])
        weights[row, is_home] *= concentration.at_home[is_home]
        for code, inside in area_persons[plan.code].items():
            if code in concentration.people_of_area:
                homes[row, concentration.people_of_area[code]] += inside
    density = densities(communities.people, weights, homes, concentration.in_areas)
    table = spread(density, persons, communities.persons, Stream(seed, "states"), rounds=15)
    return found | {plan.code: row for plan, row in zip(states, table, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class _Housed:
    """Numbers of persons of some communities in some neighbourhoods."""

    row: Indices
    community: Indices
    count: Indices

    @classmethod
    def joined(cls, parts: Iterable[_Housed]) -> _Housed:
        """Several as one, in the order of the neighbourhoods."""
        nothing = np.empty(0, dtype=np.int64)
        rows = [(part.row, part.community, part.count) for part in parts]
        row, community, count = (np.concatenate([nothing, *column]) for column in zip(*rows, strict=True))
        order = np.argsort(row, kind="stable")
        return cls(row[order], community[order], count[order])


class Settler:
    """Settles the communities of one state, county by county."""

    def __init__(
        self,
        land: Land,
        counts: Indices,
        first: Indices,
        communities: Communities,
        concentration: Concentration,
        seed: int,
    ) -> None:
        self._land, self._communities, self._concentration = land, communities, concentration
        self._stream = Stream(seed, "neighbourhoods", land.state)
        self._counts, self._next = counts, first.copy()
        groups = communities.groups
        spreads = [_NEIGHBOURHOOD_SPREAD[groups.major[code]] for code in groups.first_codes.tolist()]
        self._uneven = np.array([*spreads, *[_ORIGIN_SPREAD] * len(communities.origins.names)])

    def settle(self) -> Iterator[Settlement]:
        """The whole state, in the order of its blocks."""
        land = self._land
        edges = np.searchsorted(land.county_of_tract[land.tract], np.arange(land.counties + 1)).tolist()
        for counts, low, high in zip(self.counties(), edges[:-1], edges[1:], strict=True):
            yield from self._settle_county(low, high, counts)

    def counties(self) -> Indices:
        """The persons of each community in each county."""
        land, known = self._land, self._concentration
        many = land.counties
        county = land.county_of_tract[land.tract]
        persons = np.bincount(county, weights=land.persons, minlength=many).astype(np.int64)
        own = self._stream.normals(many, len(known.homes))
        shared = self._stream.normals(-(-many // _VICINITY), len(known.homes))
        vicinity = np.arange(many) // _VICINITY
        tilt = np.sqrt(1 - _SHARED) * own + np.sqrt(_SHARED) * shared[vicinity]
        size = np.maximum(persons, 1) / _TYPICAL_COUNTY
        weights = np.exp(np.log(size)[:, None] * (1 + known.in_cities) + known.over_counties * tilt)
        homes = np.zeros_like(weights)
        for number, area in enumerate(land.areas):
            people = known.people_of_area.get(area.code)
            if people is not None:
                inside = np.bincount(county, weights=land.persons * (land.area == number), minlength=many)
                homes[:, people] += inside
                weights[np.isin(vicinity, vicinity[inside > 0]), people] *= _AROUND_AREAS
        density = densities(self._communities.people, weights, homes, known.in_areas)
        return spread(density, persons, self._counts, self._stream, rounds=8)

    def _settle_county(self, low: int, high: int, counts: Indices) -> Iterator[Settlement]:
        """The districts of a county: stretches of tracts that are settled together."""
        land = self._land
        key = land.tract[low:high] * (len(land.areas) + 1) + land.area[low:high] + 1
        keys, of_block = np.unique(key, return_inverse=True)
        persons = np.bincount(of_block, weights=land.persons[low:high], minlength=len(keys)).astype(np.int64)
        tract, area = keys // (len(land.areas) + 1), keys % (len(land.areas) + 1) - 1
        fixed = self._at_home(tract, area, persons, counts)
        left = counts - np.bincount(fixed.community, weights=fixed.count, minlength=len(counts)).astype(np.int64)
        room = persons - np.bincount(fixed.row, weights=fixed.count, minlength=len(keys)).astype(np.int64)
        # A district ends where a tract ends.
        district = np.maximum.accumulate(np.where(np.diff(tract, prepend=-1) > 0, np.arange(len(keys)), 0)) // _DISTRICT
        starts = np.flatnonzero(np.diff(district, prepend=-1))
        present = np.flatnonzero(left)
        shares = self._spread(np.add.reduceat(room, starts), left[present], present)
        for row, (begin, end) in enumerate(zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True)):
            some = np.flatnonzero(shares[row])
            table = self._spread(room[begin:end], shares[row, some], present[some])
            rows, columns = np.nonzero(table)
            mine = (fixed.row >= begin) & (fixed.row < end)
            housed = _Housed.joined(
                [
                    _Housed(rows, present[some][columns], table[rows, columns]),
                    _Housed(fixed.row[mine] - begin, fixed.community[mine], fixed.count[mine]),
                ]
            )
            blocks = np.flatnonzero((of_block >= begin) & (of_block < end))
            is_giant = tract[begin:end] == land.giant_tract
            yield self._settlement(low + blocks, of_block[blocks] - begin, persons[begin:end], housed, is_giant)

    def _spread(self, rooms: Indices, counts: Indices, present: Indices) -> Indices:
        """Persons of each of some communities in neighbourhoods or districts with so much room."""
        if len(rooms) == 1:
            return counts[None, :]
        peoples, index = np.unique(self._communities.people[present], return_inverse=True)
        tilt = self._stream.normals(len(rooms), len(peoples)) * self._uneven[peoples]
        density = (np.exp(tilt) * np.maximum(rooms, 1e-9)[:, None])[:, index]
        return spread(density, rooms, counts, self._stream, rounds=3)

    def _at_home(self, tract: Indices, area: Indices, persons: Indices, counts: Indices) -> _Housed:
        """Those who have their place: tribes in their areas, and the people that is most of the giant tract."""
        land, communities, counts = self._land, self._communities, counts.copy()
        is_plain = (communities.ethnicity == 0) & (counts > 0)
        parts: list[_Housed] = []
        for number in np.unique(area[area >= 0]).tolist():
            people = self._concentration.people_of_area.get(land.areas[number].code)
            rows = np.flatnonzero((area == number) & (tract != land.giant_tract))
            members = np.flatnonzero(is_plain & (communities.people == people))
            parts.append(_placed(rows, members, _AREA_SHARE * persons[rows], counts))
        giant = np.flatnonzero(tract == land.giant_tract)
        if len(giant):
            answer = communities.pool.strands.answer[communities.strand]
            is_one = is_plain & (answer == Answer.ONE_CODE) & communities.is_detailed
            parts.append(_placed(giant, np.array([np.argmax(counts * is_one)]), _GIANT_SHARE * persons[giant], counts))
        return _Housed.joined(parts) if parts else _Housed(*(np.empty(0, dtype=np.int64) for _ in range(3)))

    def _settlement(
        self, blocks: Indices, of_block: Indices, persons: Indices, housed: _Housed, is_giant: npt.NDArray[np.bool_]
    ) -> Settlement:
        """Number the persons of each community, and draw what kind of neighbourhoods these are."""
        order = np.argsort(housed.community, kind="stable")
        community, count = housed.community[order], housed.count[order]
        before = np.cumsum(count) - count
        is_start = np.diff(community, prepend=-1) > 0
        first = np.empty_like(count)
        first[order] = before - before[np.maximum.accumulate(np.where(is_start, np.arange(len(count)), 0))]
        first += self._next[housed.community]
        self._next += np.bincount(community, weights=count, minlength=len(self._next)).astype(np.int64)
        kind = self._stream.picks(np.cumsum(list(NEIGHBOURHOOD_SHARES.values())), len(persons)).astype(np.int8)
        kind[is_giant] = Neighbourhood.FAMILIES
        low, high = (int(blocks[0]), int(blocks[-1]) + 1) if len(blocks) else (0, 0)
        return Settlement(low, high, of_block, persons, kind, housed.community, housed.count, first)


def _placed(rows: Indices, members: Indices, wanted: npt.NDArray[np.floating[Any]], counts: Indices) -> _Housed:
    """Put so many of some communities into each row, in proportion, and take them from the counts."""
    have = int(counts[members].sum())
    share = wanted * min(1.0, _MOST_OF_COMMUNITY * have / max(float(wanted.sum()), 1e-9)) / max(have, 1)
    table = np.floor(share[:, None] * counts[members]).astype(np.int64)
    counts[members] -= table.sum(axis=0)
    row, column = np.nonzero(table)
    return _Housed(rows[row], members[column], table[row, column])
