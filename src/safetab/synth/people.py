"""People: from communities in neighbourhoods to the columns of their records.

In: what is the same for everyone (`Tables`), the settlements of a state and a seed. Out: chunks of records, as arrays
of small whole numbers. Promise: a person takes only table look-ups and one random word, and memory depends on the size
of a chunk, never on the number of persons. In the country, every code set has exactly as many persons as the pool says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from safetab.params.census import PUERTO_RICO
from safetab.synth.ages import BITS, OLDEST, Neighbourhood, age_sex_table, householder_chances
from safetab.synth.code_sets import Answer
from safetab.synth.communities import Communities, Pyramid
from safetab.synth.dealing import Indices
from safetab.synth.draws import Stream, Words
from safetab.synth.geography import Land
from safetab.synth.neighbourhoods import Settlement
from safetab.synth.set_places import WIDTH

#: Persons in a chunk, and therefore in a row group of a Parquet file.
CHUNK = 400_000
_OUTCOMES = 1 << BITS
_LOW = np.uint64(_OUTCOMES - 1)
#: Primes. Going through a list with a stride that is prime, and larger than the list, visits every place once.
STRIDES = np.array([2281701377, 2885681153, 3221225473, 3489660929, 4294967279, 4294967291], dtype=np.uint64)
#: Cells of the table that finds the code set of a person: about so many for each set.
_GUIDE_CELLS = 4
#: The share of each sex after the first two, and at most of all of them.
_OTHER_SEX, _MOST_OTHER_SEXES = 0.01, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What is the same in every state: the communities, their code sets and the look-up tables."""

    communities: Communities
    #: The eight codes of each set as one item of 16 bytes, so that they are fetched together.
    packed_sets: npt.NDArray[np.complex128]
    #: How many persons with several codes have this set or one before it; and the set of every so-many-th person.
    until: Indices
    guide: npt.NDArray[np.int32]
    step: int
    #: Whether the codes of each set are of several major groups.
    is_mixed: npt.NDArray[np.bool_]
    age_sex: npt.NDArray[np.uint8]
    householder: npt.NDArray[np.uint16]
    #: The oldest age, and the number of sexes, that records can have.
    oldest: int
    sexes: int


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Records in columns. Block columns are indices into the values of the land, code columns into the codes."""

    #: For each column that names a block, an index into its values.
    block: tuple[npt.NDArray[np.integer[Any]], ...]
    age: npt.NDArray[np.uint8]
    #: The number of the sex, from 0.
    sex: npt.NDArray[np.integer[Any]]
    householder: npt.NDArray[np.int8]
    cenrace: npt.NDArray[np.uint8]
    #: One row for each of the eight code columns.
    race: npt.NDArray[np.int16]
    ethnicity: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.age)


def make_tables(communities: Communities, oldest: int = OLDEST, sexes: int = 2) -> Tables:
    """Everything that can be prepared before the first person."""
    pool = communities.pool
    until = np.cumsum(pool.persons[len(communities.race_codes) :])
    total = int(until[-1]) if len(until) else 0
    step = max(1, total // (_GUIDE_CELLS * max(1, len(until))))
    guide = np.searchsorted(until, np.arange(0, total + 1, step), side="right").astype(np.int32)
    packed = np.ascontiguousarray(pool.sets).view(np.complex128)[:, 0]
    is_mixed = (pool.cenrace & (pool.cenrace - np.uint8(1))) > 0
    ages, householder = age_sex_table().ravel(), householder_chances()
    return Tables(communities, packed, until, guide, step, is_mixed, ages, householder, oldest, sexes)


def draw_people(
    tables: Tables, land: Land, settlements: Iterable[Settlement], counts: Indices, seed: int
) -> Iterator[Chunk]:
    """The people of one state, block by block; `counts` are its persons of each community."""
    stream = Stream(seed, "people", land.state)
    pyramids = tables.communities.pyramid
    is_apart = land.state == PUERTO_RICO
    if is_apart:
        # Hispanic people are young on the mainland, not on the island.
        pyramids = np.full_like(pyramids, Pyramid.OLDER)
    for some in _batches(settlements):
        persons = land.persons[some.low : some.high]
        neighbourhood, part, number = _shuffled(some, persons, stream)
        for low, high, begin, end in _stretches(persons, some.low):
            community = some.community.take(part[begin:end])
            which = number[begin:end]
            if is_apart:
                # The island's people are not among those of the pool: they are spread over its sets in proportion.
                which = which * tables.communities.persons[community] // counts[community]
            sets = _find_sets(tables, community, which)
            words = stream.words(end - begin)
            mixed = tables.is_mixed.take(sets)
            kind = some.kind.take(neighbourhood[begin:end])
            age_sex = _draw_ages(tables, pyramids.take(community), mixed, kind, words)
            age = age_sex >> np.uint8(1)
            codes = tables.packed_sets.take(sets).view(np.int16).reshape(end - begin, WIDTH)
            inside = land.persons[low:high]
            yield Chunk(
                tuple(np.repeat(column.index[low:high], inside) for column in land.names),
                np.minimum(age, tables.oldest) if tables.oldest < OLDEST else age,
                _sexes(age_sex & np.uint8(1), tables.sexes, words),
                (_bits(words, BITS) < tables.householder.take(age)).view(np.int8),
                tables.communities.pool.cenrace.take(sets),
                np.ascontiguousarray(codes.T),
                tables.communities.ethnicity.take(community),
            )


def _batches(settlements: Iterable[Settlement]) -> Iterator[Settlement]:
    """Settlements joined until they have about a chunk of persons."""
    waiting: list[Settlement] = []
    persons = 0
    for one in settlements:
        many = int(one.persons.sum())
        if waiting and persons + many > CHUNK:
            yield Settlement.joined(waiting)
            waiting, persons = [], 0
        waiting.append(one)
        persons += many
    if persons:
        yield Settlement.joined(waiting)


def _shuffled(
    some: Settlement, persons: Indices, stream: Stream
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Indices]:
    """For each person in the order of the blocks: the neighbourhood, the part and the number in the community.

    The parts of a neighbourhood make a list of persons, which is read with a stride.
    """
    size = some.persons
    draws = stream.words(2 * len(size)).reshape(2, -1)
    divisor = np.maximum(size, 1).astype(np.uint64)
    stride = STRIDES[(draws[0] % np.uint64(len(STRIDES))).astype(np.int64)] % divisor
    shift = draws[1] % divisor
    order = np.argsort(some.of_block, kind="stable")
    before = np.empty(len(persons), dtype=np.int64)
    before[order] = np.cumsum(persons[order]) - persons[order]
    starts = np.cumsum(size) - size
    before -= starts[some.of_block]
    block_starts = np.cumsum(persons) - persons
    total = int(size.sum())
    neighbourhood = np.repeat(some.of_block.astype(np.int32), persons)
    # The place of a person in the neighbourhood, block by block; numbers stay small enough for fast division.
    word = np.uint32 if size.max(initial=0) < 1 << 16 else np.uint64
    place = np.arange(total, dtype=np.int64) + np.repeat(before - block_starts, persons)
    slot = place.astype(word) * stride.astype(word).take(neighbourhood) + shift.astype(word).take(neighbourhood)
    slot %= divisor.astype(word).take(neighbourhood)
    at = slot.astype(np.int64) + starts.take(neighbourhood)
    part = np.repeat(np.arange(len(some.count), dtype=np.int32), some.count).take(at)
    number = at + (some.first - (np.cumsum(some.count) - some.count)).take(part)
    return neighbourhood, part, number


def _stretches(persons: Indices, first: int) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of blocks with at most about a chunk of persons: from and to which block, from and to which person."""
    until = np.cumsum(persons)
    low = 0
    while low < len(persons):
        done = int(until[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(until, done + CHUNK, side="right")))
        if until[high - 1] > done:
            yield first + low, first + high, done, int(until[high - 1])
        low = high


def _sexes(drawn: npt.NDArray[np.uint8], sexes: int, words: Words) -> npt.NDArray[np.integer[Any]]:
    """The number of the sex: one of the first two as drawn, or for a few persons one of the others."""
    if sexes <= 2:
        return drawn if sexes == 2 else np.zeros_like(drawn)
    bits = _bits(words, 2 * BITS)
    is_other = bits < min(_MOST_OTHER_SEXES, _OTHER_SEX * (sexes - 2)) * _OUTCOMES
    return np.where(is_other, 2 + bits % (sexes - 2), drawn).astype(np.uint16)


def _bits(words: Words, shift: int) -> npt.NDArray[np.int32]:
    """Sixteen of the bits of each word."""
    return ((words >> np.uint64(shift)) & _LOW).astype(np.int32)


def _find_sets(tables: Tables, community: Indices, number: Indices) -> Indices:
    """The code set of each person, from the number of the person in the community."""
    communities, strands = tables.communities, tables.communities.pool.strands
    strand = communities.strand.take(community)
    sets: Indices = strands.first.take(strand)
    rows = np.flatnonzero(strands.answer.take(strand) != Answer.ONE_CODE)
    strand = strand[rows]
    place = (number[rows] + communities.first.take(community[rows])).astype(np.uint64)
    place = place * STRIDES.take(strand % len(STRIDES)) % strands.persons.take(strand).astype(np.uint64)
    person = place.astype(np.int64) + strands.start.take(strand)
    found = tables.guide.take(person // tables.step).astype(np.int64)
    late = np.flatnonzero(tables.until.take(found) <= person)
    while len(late):
        found[late] += 1
        late = late[tables.until.take(found[late]) <= person[late]]
    sets[rows] = found + len(communities.race_codes)
    return sets


def _draw_ages(
    tables: Tables,
    pyramid: npt.NDArray[np.int8],
    mixed: npt.NDArray[np.bool_],
    kind: npt.NDArray[np.int8],
    words: Words,
) -> npt.NDArray[np.uint8]:
    row = (pyramid.astype(np.int32) * 2 + mixed) * len(Neighbourhood) + kind
    return tables.age_sex.take(row * _OUTCOMES + _bits(words, 0))
