"""People: from random bits to the columns of their records.

In: what is the same for everyone (`Tables`), the neighbourhoods of a state and a stream of chance. Out: chunks of
records as arrays of small whole numbers. Promise: only table look-ups and two random words a person, and memory that
depends on the size of a chunk and never on the number of persons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.params.census import PUERTO_RICO
from safetab.synth.ages import BITS, Neighbourhood, age_sex_table, householder_chances
from safetab.synth.code_sets import WIDTH, CodeSetPool, build_pool, number_of_codes_table
from safetab.synth.communities import Communities, Pyramid
from safetab.synth.draws import Stream, Words
from safetab.synth.geography import Indices, Land
from safetab.synth.known_groups import Major
from safetab.synth.neighbourhoods import SLOTS, Neighbourhoods

#: Persons in a chunk, and so in a row group of a Parquet file.
CHUNK = 400_000
_OUTCOMES = 1 << BITS
_LOW = np.uint64(_OUTCOMES - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What is the same in every state: the pool of code sets and the look-up tables."""

    communities: Communities
    pool: CodeSetPool
    #: Each set's eight codes as one item of 16 bytes, so that they are fetched in one go.
    packed_sets: npt.NDArray[np.complex128]
    codes_of_major: npt.NDArray[np.uint8]
    log_sizes: npt.NDArray[np.float64]
    age_sex: npt.NDArray[np.uint8]
    householder: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Records in columns. Geography columns index the land's lists, code columns those of the communities."""

    county: npt.NDArray[np.int16]
    tract: npt.NDArray[np.int16]
    block: npt.NDArray[np.int16]
    age: npt.NDArray[np.uint8]
    sex: npt.NDArray[np.uint8]
    householder: npt.NDArray[np.int8]
    cenrace: npt.NDArray[np.uint8]
    #: One row for each of the eight code columns.
    race: npt.NDArray[np.int16]
    ethnicity: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.age)


def make_tables(communities: Communities, persons: int, most_codes: int, seed: int) -> Tables:
    """Everything that can be made before the first person."""
    pool = build_pool(communities, persons, most_codes, seed)
    most = max(1, min(most_codes, WIDTH, len(communities.race_codes)))
    return Tables(
        communities,
        pool,
        np.ascontiguousarray(pool.sets).view(np.complex128)[:, 0],
        np.concatenate([number_of_codes_table(major, most, _OUTCOMES) for major in Major]),
        # Ranks are drawn evenly on a logarithmic scale: the chance of rank r falls as 1 / r.
        np.log(pool.sizes + 1.0).ravel(),
        age_sex_table().ravel(),
        householder_chances(),
    )


def draw_people(tables: Tables, land: Land, neighbourhoods: Neighbourhoods, seed: int) -> Iterator[Chunk]:
    """The people of one state, block after block."""
    stream = Stream(seed, "people", land.state)
    pyramids = tables.communities.pyramid
    if land.state == PUERTO_RICO:
        # Hispanic people are young on the mainland, not on the island.
        pyramids = np.full_like(pyramids, Pyramid.OLDER)
    county = land.county_of_tract[land.tract].astype(np.int16)
    tract = land.code_of_tract[land.tract].astype(np.int16)
    block = land.block_code.astype(np.int16)
    for low, high in _stretches(land.persons):
        persons = land.persons[low:high]
        neighbourhood = np.repeat(neighbourhoods.of_block[low:high], persons)
        count = len(neighbourhood)
        first, second = stream.words(count), stream.words(count)
        slot = (first & np.uint64(SLOTS - 1)).astype(np.int32)
        community = neighbourhoods.slots.ravel().take(neighbourhood * np.int32(SLOTS) + slot)
        sets, several = _draw_sets(tables, community, first)
        kind = neighbourhoods.kind.take(neighbourhood)
        age_sex = _draw_ages(tables, pyramids.take(community), several, kind, second)
        age = age_sex >> np.uint8(1)
        is_householder = _bits(second, BITS) < tables.householder.take(age)
        codes = tables.packed_sets.take(sets).view(np.int16).reshape(count, WIDTH)
        yield Chunk(
            np.repeat(county[low:high], persons),
            np.repeat(tract[low:high], persons),
            np.repeat(block[low:high], persons),
            age,
            (age_sex & np.uint8(1)) + np.uint8(1),
            is_householder.view(np.int8),
            tables.pool.cenrace.take(sets),
            np.ascontiguousarray(codes.T),
            tables.communities.ethnicity.take(community),
        )


def _stretches(persons: Indices) -> Iterator[tuple[int, int]]:
    """Stretches of blocks with about a chunk of persons each."""
    until = np.cumsum(persons)
    low = 0
    while low < len(persons):
        done = int(until[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(until, done + CHUNK, side="right")))
        if until[high - 1] > done:
            yield low, high
        low = high


def _bits(words: Words, shift: int) -> npt.NDArray[np.int32]:
    """Sixteen of the bits of each word."""
    return ((words >> np.uint64(shift)) & _LOW).astype(np.int32)


def _draw_sets(
    tables: Tables, community: npt.NDArray[np.int16], words: Words
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Each person's code set, and who has more than one code. The lowest 8 bits of the words are used already."""
    major = tables.communities.major.take(community).astype(np.int32)
    many = tables.codes_of_major.take(major * _OUTCOMES + _bits(words, 8))
    sets = tables.communities.race.take(community).astype(np.int64)
    several = many > 1
    rows = np.flatnonzero(several)
    cell = sets[rows] * (WIDTH + 1) + many[rows]
    uniform = (words[rows] >> np.uint64(24)) * 2.0**-40
    rank = np.exp(uniform * tables.log_sizes[cell]).astype(np.int64) - 1
    # Rounding may reach the end of the stretch.
    np.minimum(rank, tables.pool.sizes.ravel()[cell] - 1, out=rank)
    sets[rows] = tables.pool.offsets.ravel()[cell] + rank
    return sets, several


def _draw_ages(
    tables: Tables,
    pyramid: npt.NDArray[np.int8],
    several: npt.NDArray[np.bool_],
    kind: npt.NDArray[np.int8],
    words: Words,
) -> npt.NDArray[np.uint8]:
    row = (pyramid.astype(np.int32) * 2 + several) * len(Neighbourhood) + kind
    return tables.age_sex.take(row * _OUTCOMES + _bits(words, 0))
