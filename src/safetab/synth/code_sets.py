"""The pool of race code sets that people of a country have.

In: communities and how many persons the country has. Out: a `CodeSetPool`: for each first code and number of codes, a
stretch of the pool, most common set first. Promise: a pool grows more slowly than the persons, so that a nation has
a few million distinct sets and most people share theirs with many others; codes of a set are distinct and rise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.synth.communities import Communities
from safetab.synth.draws import Floats, Stream
from safetab.synth.known_groups import Major

WIDTH = 8
#: Chance of having 1 to 8 codes, by major group of the first.
CODES_PER_PERSON: dict[Major, tuple[float, ...]] = {
    Major.WHITE: (0.735, 0.180, 0.058, 0.018, 0.006, 0.002, 0.0006, 0.0004),
    Major.BLACK: (0.830, 0.115, 0.036, 0.012, 0.004, 0.002, 0.0006, 0.0004),
    Major.AIAN: (0.560, 0.280, 0.100, 0.035, 0.015, 0.007, 0.0020, 0.0010),
    Major.ASIAN: (0.800, 0.135, 0.043, 0.014, 0.005, 0.002, 0.0006, 0.0004),
    Major.NHPI: (0.480, 0.310, 0.130, 0.045, 0.020, 0.010, 0.0030, 0.0020),
    Major.OTHER: (0.700, 0.220, 0.055, 0.016, 0.006, 0.002, 0.0006, 0.0004),
}
#: A pool for so many persons has this many sets: scale * persons ** exponent.
_POOL_SCALE, _POOL_EXPONENT = 0.7, 0.88
#: How often a further code is of the first code's major group, and how much commoner groups are preferred.
_SAME_MAJOR, _PREFERENCE = 0.62, 0.5
_MOST_REDRAWS = 200


@dataclass(frozen=True, slots=True, eq=False)
class CodeSetPool:
    """Sets of race codes, a row each: indices into the race codes, rising, filled up with `no_code`.

    The first rows are the sets of one code, in the order of the race codes. Sets of `n` codes around first code `r`
    are the `sizes[r, n]` rows from `offsets[r, n]` on, most common first.
    """

    sets: npt.NDArray[np.int16]
    cenrace: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    no_code: int

    def __len__(self) -> int:
        return len(self.sets)


def number_of_codes_table(major: Major, most: int, resolution: int) -> npt.NDArray[np.uint8]:
    """The number of codes for each of `resolution` equally likely outcomes, none above `most`."""
    chances = np.array(CODES_PER_PERSON[major][:most])
    edges = np.cumsum(chances) / chances.sum()
    outcomes = (np.arange(resolution) + 0.5) / resolution
    return (1 + np.searchsorted(edges, outcomes)).clip(1, most).astype(np.uint8)


def build_pool(communities: Communities, persons: int, most_codes: int, seed: int) -> CodeSetPool:
    """The pool of a country with so many persons, whose records have `most_codes` codes at the most."""
    race_count = len(communities.race_codes)
    most = max(1, min(most_codes, WIDTH, race_count))
    sizes = _pool_sizes(communities, persons, most)
    flat = sizes.ravel()
    offsets = (np.cumsum(flat) - flat).reshape(sizes.shape) + race_count
    first = np.repeat(np.repeat(np.arange(race_count), WIDTH + 1), flat)
    many = np.repeat(np.tile(np.arange(WIDTH + 1), race_count), flat)
    share = np.bincount(communities.race, weights=communities.share, minlength=race_count).astype(np.float64)
    sets = _draw_sets(first, many, share, communities, Stream(seed, "code sets"))
    singles = np.full((race_count, WIDTH), race_count, dtype=np.int16)
    singles[:, 0] = np.arange(race_count)
    sets = np.concatenate([singles, sets])
    return CodeSetPool(sets, _cenrace(sets, communities), offsets, sizes, race_count)


def _pool_sizes(communities: Communities, persons: int, most: int) -> npt.NDArray[np.int64]:
    race_count = len(communities.race_codes)
    expected = np.bincount(communities.race, weights=communities.share, minlength=race_count) * persons
    sizes = np.zeros((race_count, WIDTH + 1), dtype=np.int64)
    for number, major in enumerate(communities.major_of_code):
        chances = np.array(CODES_PER_PERSON[major])
        sizes[number, 2 : most + 1] = 1 + _POOL_SCALE * (expected[number] * chances[1:most]) ** _POOL_EXPONENT
    # With two codes there are no more sets than other codes.
    sizes[:, 2] = np.minimum(sizes[:, 2], max(1, race_count - 1))
    return sizes


def _draw_sets(
    first: npt.NDArray[np.int64], many: npt.NDArray[np.int64], share: Floats, communities: Communities, stream: Stream
) -> npt.NDArray[np.int16]:
    """Draw the further codes of each set; those that repeat one are drawn again."""
    race_count = len(share)
    everyone = np.cumsum(share**_PREFERENCE)
    order = list(Major)
    major = np.array([order.index(one) for one in communities.major_of_code])
    of_major = [np.cumsum(share**_PREFERENCE * (major == number)) for number in range(len(order))]
    sets = np.full((len(first), WIDTH), race_count, dtype=np.int16)
    sets[:, 0] = first
    for position in range(1, WIDTH):
        rows = np.flatnonzero(many > position)
        for attempt in range(_MOST_REDRAWS):
            if not len(rows):
                break
            drawn = stream.picks(everyone, len(rows))
            same = stream.uniforms(len(rows)) < _SAME_MAJOR
            for number, cumulative in enumerate(of_major):
                chosen = np.flatnonzero(same & (major[first[rows]] == number))
                if len(chosen) and cumulative[-1] > 0:
                    drawn[chosen] = stream.picks(cumulative, len(chosen))
            if attempt > _MOST_REDRAWS // 2:
                # A catalogue with few codes: go round them all, the next one up each time.
                drawn = (sets[rows, position - 1] + attempt) % race_count
            sets[rows, position] = drawn
            repeats = (sets[rows, :position] == sets[rows, position : position + 1]).any(axis=1)
            rows = rows[repeats]
    sets.sort(axis=1)
    return sets


def _cenrace(sets: npt.NDArray[np.int16], communities: Communities) -> npt.NDArray[np.uint8]:
    """The major groups of a set as a number from 1 to 63, a bit for each."""
    order = list(Major)
    bits = np.array([1 << order.index(major) for major in communities.major_of_code] + [0], dtype=np.uint8)
    masks: npt.NDArray[np.uint8] = np.bitwise_or.reduce(bits[sets], axis=1)
    return masks
