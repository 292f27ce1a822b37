"""The places of code sets: how many sets of several codes there are, of how many persons, and of which regions.

In: the sizes of the race groups, and the persons who have several codes. Out: `Places`, which codes can be dealt to.
Promise: the persons of the sets add up, and so do, as far as the sizes allow, those with a code of each region and
those whose codes are all of one region.

First come sets within one region, then sets that mix regions. For these, regions are dealt, and then further places of
the same regions are added where a region needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from safetab.synth.dealing import EMPTY, Indices, deal, replace_repeats, swap_apart, tilt_for, weights_of, whole
from safetab.synth.draws import Floats, Stream
from safetab.synth.group_sizes import REGIONS_OF_A_MIXED_PERSON, RaceGroups, RaceSizes

WIDTH = 8
#: The number of sets of several codes in the pool of some persons who have several: scale * persons ** exponent.
_POOL_SCALE, _POOL_EXPONENT = 2.2, 0.705
#: Of these, the share of sets of two, three and more codes: there are few different pairs.
_POOL_SHARES = {2: 0.15, 3: 0.35, 4: 0.5}
#: The largest share of the persons of a kind of sets that one set has.
_HEAVIEST = 0.05
#: Of the sets with a third, fourth, ... code or region, the share that has yet another one.
_YET_ANOTHER_CODE, _YET_ANOTHER_REGION = 0.3, 0.15
#: The average number of codes of a set within one region, where the sizes do not say it, and at most.
_CODES_WITHIN, _MOST_CODES_WITHIN = 2.4, 2.8


#: How often cards are swapped so that no set has two regions of a major group, which is not always possible.
_TRIES_BY_MAJOR = 6
#: The region of a place that is still to be dealt.
_MIXED = -2


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The places of sets of several codes: a row for each set, EMPTY where it has no place. Heaviest first."""

    weight: Indices
    region: Indices


def in_proportion(sizes: Floats, persons: int, stream: Stream) -> Indices:
    """Whole numbers in proportion to sizes that add up to the persons."""
    return whole(sizes * (persons / sizes.sum()), stream)


def plan_places(sizes: RaceSizes, persons: int, most: int, stream: Stream) -> Places:
    """How many sets of which weight there are, and of which region each of their places is."""
    regions = len(sizes.together)
    answers = np.bincount(sizes.groups.region, weights=sizes.combined, minlength=regions)
    within = np.minimum(whole(sizes.within, stream), _room_for_two(sizes.groups, sizes.combined))
    if within.sum() > persons:
        within = in_proportion(within.astype(np.float64), persons, stream)
    surplus = answers - sizes.together
    strata = [
        (number, codes, many)
        for number in np.flatnonzero(within).tolist()
        for codes, many in _numbers(
            int(within[number]), _mean_within(surplus[number], within[number]), _YET_ANOTHER_CODE, most
        )
    ]
    for number, codes, many in strata:
        surplus[number] -= many * (codes - 1)
    mixed = _numbers(persons - int(within.sum()), REGIONS_OF_A_MIXED_PERSON, _YET_ANOTHER_REGION, min(most, regions))
    strata += [(_MIXED, codes, many) for codes, many in mixed]
    tilts = {number: _tilt(strata, persons, number) for number in _POOL_SHARES}
    weights = [weights_of(many, tilts[min(codes, max(tilts))], _HEAVIEST) for _, codes, many in strata]
    weight = np.concatenate([np.empty(0, dtype=np.int64), *weights])
    rows = [_rows(number, codes, len(w)) for (number, codes, _), w in zip(strata, weights, strict=True)]
    region = np.concatenate([np.empty((0, WIDTH), dtype=np.int64), *rows])
    order = np.argsort(-weight, kind="stable")
    places = Places(weight[order], region[order])
    is_mixed = (places.region == _MIXED).any(axis=1)
    _mix_regions(places, is_mixed, sizes, within, stream)
    _add_codes(places, is_mixed, np.maximum(surplus, 0), most, stream)
    return places


def _tilt(strata: list[tuple[int, int, int]], persons: int, codes: int) -> float:
    """How light the weights of the sets of so many codes are."""
    mine = [many for _, one, many in strata if min(one, max(_POOL_SHARES)) == codes]
    return tilt_for(mine, _POOL_SHARES[codes] * _POOL_SCALE * persons**_POOL_EXPONENT, _HEAVIEST)


def _mean_within(surplus: float, within: float) -> float:
    """The average number of codes of sets within a region; the region's mixed sets take what is too much for them."""
    more = 1 + surplus / within
    return _CODES_WITHIN if more > _MOST_CODES_WITHIN else more


def _rows(region: int, codes: int, many: int) -> Indices:
    """Rows of sets with so many places of one region."""
    rows = np.full((many, WIDTH), EMPTY, dtype=np.int64)
    rows[:, :codes] = region
    return rows


def _room_for_two(groups: RaceGroups, combined: Floats) -> Indices:
    """How many persons of each region can have two groups of it: at most those outside its largest group."""
    region = groups.region_of_group
    size = np.bincount(groups.group, weights=combined, minlength=len(region))
    room = np.zeros(len(groups.region_iterations), dtype=np.int64)
    for number in range(len(room)):
        mine = size[region == number]
        room[number] = int(min(mine.sum() - mine.max(initial=0.0), mine.sum() / 2))
    return room


def _numbers(persons: int, mean: float, ratio: float, most: int) -> list[tuple[int, int]]:
    """How many persons have 2, 3, ... of something, so that the mean comes out unless `most` is too small."""
    at_least = [persons, *(int(persons * min(1.0, mean - 2) * (1 - ratio) * ratio**n) for n in range(most - 2)), 0]
    pairs = [(n + 2, at_least[n] - at_least[n + 1]) for n in range(len(at_least) - 1)]
    return [(number, many) for number, many in pairs if many > 0]


def _mix_regions(
    places: Places, is_mixed: npt.NDArray[np.bool_], sizes: RaceSizes, within: Indices, stream: Stream
) -> None:
    """Deal regions to the places of sets that mix them. Few sets have two regions of a major group."""
    groups = sizes.groups
    deck = np.maximum(whole(sizes.together, stream) - within, 0)
    start = deck.copy()
    major = np.zeros(len(deck), dtype=np.int64)
    major[groups.region] = [one.number for one in groups.major]
    rows = np.flatnonzero(is_mixed)
    for weight, mine in by_weight(places, rows):
        some = places.region[mine]
        # A region has room for so many such sets as its codes have; they are used up at the same pace.
        left = sizes.combined * (np.maximum(deck, 0) / np.maximum(start, 1))[groups.region]
        room = np.bincount(groups.region, weights=left // weight, minlength=len(deck)).astype(np.int64)
        room = np.minimum(np.maximum(deck, 0) // weight, room)
        some[some == _MIXED] = deal(deck, room, int((some == _MIXED).sum()), weight, stream)
        some = to_the_left(some)
        swap_apart(some, major, stream, _TRIES_BY_MAJOR)
        swap_apart(some, np.arange(len(deck)), stream)
        replace_repeats(some, np.arange(len(deck)), deck, weight, stream)
        places.region[mine] = some


def _add_codes(places: Places, is_mixed: npt.NDArray[np.bool_], surplus: Floats, most: int, stream: Stream) -> None:
    """Give sets that mix regions further places of a region, until the region has as many places as answers."""
    filled = (places.region != EMPTY).sum(axis=1)
    for number in np.flatnonzero(surplus >= 1):
        wanted = surplus[number]
        rows = np.flatnonzero(is_mixed & (places.region == number).any(axis=1) & (filled < most))
        have = float(places.weight[rows].sum())
        if not len(rows):
            continue
        step = min(1.0, wanted / have)
        chosen = rows[stream.uniforms(len(rows)) < step]
        chosen = chosen[np.cumsum(places.weight[chosen]) <= wanted]
        places.region[chosen, filled[chosen]] = number
        filled[chosen] += 1


def by_weight(places: Places, rows: Indices) -> Iterator[tuple[int, Indices]]:
    """The sets among `rows` by weight, heaviest first."""
    weight = places.weight[rows]
    edges = [*np.flatnonzero(np.diff(weight, prepend=-1)).tolist(), len(rows)]
    for low, high in pairwise(edges):
        yield int(weight[low]), rows[low:high]


def to_the_left(cards: Indices) -> Indices:
    """Move empty places to the end of each row."""
    return np.take_along_axis(cards, np.argsort(cards == EMPTY, axis=1, kind="stable"), axis=1)
