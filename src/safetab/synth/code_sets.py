"""The pool of race code sets that people of a country have, with the exact number of persons of each.

In: the sizes of the race groups, and the number of persons. Out: a `CodeSetPool`. Promise: the persons of the sets add
up to the persons of the country, and those with a code, alone and together with others, to its size. A pool grows more
slowly than the population, so that a nation has one or two million distinct sets and most people share theirs with many
others. The codes of a set are distinct and ascending.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from safetab.synth.dealing import EMPTY, Indices, deal, replace_repeats, swap_apart, whole
from safetab.synth.draws import Floats, Stream
from safetab.synth.group_sizes import RaceGroups, RaceSizes
from safetab.synth.set_places import WIDTH, Places, by_weight, in_proportion, plan_places, to_the_left

#: Codes that are left over are added to sets of so few persons.
_FEW_PERSONS = 32


class Answer(IntEnum):
    """What kind of sets the people of a strand have."""

    ONE_CODE = 0
    SEVERAL_CODES = 1
    SEVERAL_WITH_AN_ORIGIN = 2


@dataclass(frozen=True, slots=True, eq=False)
class Strands:
    """Persons by the rarest code of their set and the kind of the set; people live where their rarest group lives.

    The first strands are those of one code, in the order of the race codes. Each of the others has the sets from row
    `first` of the pool on, and the persons with these sets are numbered from `start` on.
    """

    primary: Indices
    answer: Indices
    persons: Indices
    first: Indices
    start: Indices


@dataclass(frozen=True, slots=True, eq=False)
class CodeSetPool:
    """Sets of race codes, a row each: ascending indices into the race codes, padded with the number of race codes.

    The first rows are the sets of one code, in the order of the race codes; the others are in the order of their
    strands, most common first. `persons` is how many have each set.
    """

    sets: npt.NDArray[np.int16]
    persons: Indices
    cenrace: npt.NDArray[np.uint8]
    strands: Strands


def most_codes_of_a_person(codes: int, allowed: int) -> int:
    """The largest number of codes of a person, given how many codes there are and how many the records allow."""
    return max(1, min(allowed, WIDTH, codes))


def build_pool(sizes: RaceSizes, origins: Collection[str], persons: int, most_codes: int, seed: int) -> CodeSetPool:
    """The pool of a country with this number of persons, whose records have at most `most_codes` codes.

    `origins` are the codes of Hispanic origins, which are answers to the race question too.
    """
    groups, stream = sizes.groups, Stream(seed, "code sets")
    count = len(groups.codes)
    most = most_codes_of_a_person(count, most_codes)
    if most == 1:
        alone = in_proportion(sizes.alone + sizes.combined, persons, stream)
        codes, weight = np.empty((0, WIDTH), dtype=np.int64), np.empty(0, dtype=np.int64)
    else:
        alone = whole(sizes.alone, stream)
        if alone.sum() > persons:
            alone = in_proportion(sizes.alone, persons, stream)
        places = plan_places(sizes, persons - int(alone.sum()), most, stream)
        codes, weight = _fill_places(places, groups, whole(sizes.combined, stream), most, stream), places.weight
        is_single = (codes != EMPTY).sum(axis=1) == 1
        # What is left of a set whose other cards were dropped.
        alone += np.bincount(codes[is_single].max(axis=1), weights=weight[is_single], minlength=count).astype(np.int64)
        codes, weight = codes[~is_single], weight[~is_single]
    everyone = np.bincount(groups.group, weights=sizes.alone + sizes.combined)[groups.group]
    is_origin = np.array([code in origins for code in groups.codes])
    return _assemble(alone, codes, weight, everyone.astype(np.float64), groups, is_origin)


def _fill_places(places: Places, groups: RaceGroups, deck: Indices, most: int, stream: Stream) -> Indices:
    """The codes of every set. Each region has a deck of its own."""
    codes = np.full_like(places.region, EMPTY)
    common = _most_common(groups, deck)
    for number in range(len(groups.region_iterations)):
        own = np.flatnonzero(groups.region == number)
        left = deck[own]
        for weight, mine in by_weight(places, np.flatnonzero((places.region == number).any(axis=1))):
            is_here = places.region[mine] == number
            width = int(is_here.sum(axis=1).max())
            cards = np.full((len(mine), width), EMPTY, dtype=np.int64)
            is_filled = np.arange(width) < is_here.sum(axis=1)[:, None]
            cards[is_filled] = deal(left, np.maximum(left // weight, 0), int(is_here.sum()), weight, stream)
            cards = to_the_left(cards)
            swap_apart(cards, groups.group[own], stream)
            replace_repeats(cards, groups.group[own], left, weight, stream)
            some = codes[mine]
            some[is_here] = np.where(cards == EMPTY, EMPTY, own[cards])[is_filled]
            codes[mine] = some
        deck[own] = left
    codes = to_the_left(codes)
    _complete(codes, groups, common)
    _use_up(codes, places, groups, deck, most, stream)
    return codes


def _most_common(groups: RaceGroups, deck: Indices) -> list[int]:
    """The code that most people have together with others, and the one of another group that most have."""
    order = np.argsort(-deck, kind="stable")
    other = order[groups.group[order] != groups.group[order[0]]]
    return [int(order[0]), *other[:1].tolist()]


def _complete(codes: Indices, groups: RaceGroups, common: list[int]) -> None:
    """Give sets that were left with fewer than two codes the most common ones, for which it makes no difference."""
    for place in range(len(common)):
        for code in common:
            rows = np.flatnonzero(codes[:, place] == EMPTY)
            other = codes[rows, 1 - place]
            codes[rows[(other == EMPTY) | (groups.group[other] != groups.group[code])], place] = code


def _use_up(codes: Indices, places: Places, groups: RaceGroups, deck: Indices, most: int, stream: Stream) -> None:
    """Add the codes that are left to sets of few persons that have room for them."""
    group = np.append(groups.group, -1)
    filled = (codes != EMPTY).sum(axis=1)
    for weight, rows in by_weight(places, np.flatnonzero((places.weight <= _FEW_PERSONS) & (filled < most))):
        rows = rows[np.argsort(stream.words(len(rows)), kind="stable")]
        cards = np.repeat(np.arange(len(deck)), np.maximum(deck, 0) // weight)
        cards = cards[np.argsort(stream.words(len(cards)), kind="stable")][: len(rows)]
        rows = rows[: len(cards)]
        is_new = (group[codes[rows]] != group[cards][:, None]).all(axis=1)
        codes[rows[is_new], filled[rows[is_new]]] = cards[is_new]
        np.subtract.at(deck, cards[is_new], weight)


def _merged(sets: Indices, weight: Indices) -> tuple[Indices, Indices]:
    """Every set once, with the persons of all that are the same."""
    sets.sort(axis=1)
    words = np.ascontiguousarray(sets.astype(np.int16)).view(np.uint64)
    order = np.lexsort((words[:, 0], words[:, 1]))
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    starts = np.flatnonzero(is_first)
    return sets[order[starts]], np.add.reduceat(weight[order], starts) if len(starts) else weight


def _assemble(
    alone: Indices,
    codes: Indices,
    weight: Indices,
    everyone: Floats,
    groups: RaceGroups,
    is_origin: npt.NDArray[np.bool_],
) -> CodeSetPool:
    """Put the sets in the order of their strands."""
    count = len(groups.codes)
    sets, weight = _merged(np.where(codes == EMPTY, count, codes), weight)
    rarity = np.empty(count + 1, dtype=np.int64)
    by_rarity = np.lexsort((np.arange(count), everyone))
    rarity[by_rarity], rarity[count] = np.arange(count), count
    primary = by_rarity[rarity[sets].min(axis=1)] if len(sets) else np.empty(0, dtype=np.int64)
    answer = np.where(np.append(is_origin, False)[sets].any(axis=1), *list(Answer)[:0:-1])
    order = np.lexsort((-weight, answer, primary))
    sets, weight, key = sets[order], weight[order], (primary * len(Answer) + answer)[order]
    key, first, sizes = np.unique(key, return_index=True, return_counts=True)
    until = np.concatenate([[0], np.cumsum(weight)])
    singles = np.full((count, WIDTH), count, dtype=np.int64)
    singles[:, 0] = np.arange(count)
    narrow = np.concatenate([singles, sets]).astype(np.int16)
    bits = np.array([1 << major.number for major in groups.major] + [0], dtype=np.uint8)
    strands = Strands(
        np.concatenate([np.arange(count), key // len(Answer)]),
        np.concatenate([np.full(count, Answer.ONE_CODE), key % len(Answer)]),
        np.concatenate([alone, until[first + sizes] - until[first]]),
        np.concatenate([np.arange(count), count + first]),
        np.concatenate([np.zeros(count, dtype=np.int64), until[first]]),
    )
    return CodeSetPool(narrow, np.concatenate([alone, weight]), np.bitwise_or.reduce(bits[narrow], axis=1), strands)
