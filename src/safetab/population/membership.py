"""Membership, the paper's g_i: from a person's codes to the iterations the person is counted in.

In: an `IterationCatalogue` and arrays of distinct code sets. Out: pairs (row of the array, iteration).
Promise: a set of race codes is "alone" in an iteration that contains every one of its codes, and "alone or in
combination" in an iteration that contains at least one, once however many it contains; an ethnicity code is looked
up among ethnicity iterations only. The catalogue is restricted to the iterations tabulated at the geography level
before any of this is decided. Works on whole arrays: a nation has millions of distinct code sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.population.iterations import Iteration, IterationCatalogue, Kind

#: Fills a code set up to its width, and stands for "no iteration" in the look-up tables.
NONE = -1

CodeSets = npt.NDArray[np.int16]
Indices = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which rows of an array belong to which iterations, by row; `iteration` indexes `Membership.iterations`."""

    row: npt.NDArray[np.int64]
    iteration: npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """Who belongs to which of some iterations of one level.

    The look-up tables have a row per code of `codes` and one more, all NONE, that the padding index -1 falls on. They
    have as many columns as iterations of that kind share a code: one, in every catalogue that passes the checks.
    """

    codes: tuple[str, ...]
    iterations: tuple[Iteration, ...]
    alone_of: npt.NDArray[np.int16]
    combination_of: npt.NDArray[np.int16]
    ethnicity_of: npt.NDArray[np.int16]

    def code_sets(self, sets: Sequence[Sequence[str]], width: int) -> CodeSets:
        """Sets of code texts as the array that `of_race_codes` takes: a set a row, padded with NONE."""
        index = {code: number for number, code in enumerate(self.codes)}
        array = np.full((len(sets), width), NONE, dtype=np.int16)
        for row, codes in enumerate(sets):
            array[row, : len(codes)] = [index[code] for code in codes]
        return array

    def of_race_codes(self, sets: CodeSets) -> Pairs:
        """The race iterations of each code set; a set's codes come before its padding, and may repeat."""
        # Column by column: a column of a million codes is one contiguous look-up.
        columns = np.ascontiguousarray(sets.T)
        filled = [column for column in columns if (column != NONE).any()]
        if not filled:
            return Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int16))
        found = [*_shared_by_all(self.alone_of, filled), *_held_by_any(self.combination_of, filled)]
        return _as_pairs(found, len(sets))

    def of_ethnicity_codes(self, codes: npt.NDArray[np.int16]) -> Pairs:
        """The ethnicity iterations of each code."""
        return _as_pairs([column[codes] for column in self.ethnicity_of.T], len(codes))


def membership(catalogue: IterationCatalogue, iteration_level: int, *, local: bool) -> Membership:
    """The membership function of one iteration level at local, or at other, geography levels."""
    iterations = catalogue.tabulated(iteration_level, local=local)
    return Membership(
        codes=catalogue.codes,
        iterations=iterations,
        alone_of=_look_up_table(catalogue.codes, iterations, Kind.ALONE),
        combination_of=_look_up_table(catalogue.codes, iterations, Kind.COMBINATION),
        ethnicity_of=_look_up_table(catalogue.codes, iterations, Kind.ETHNICITY),
    )


def _look_up_table(codes: Sequence[str], iterations: Sequence[Iteration], kind: Kind) -> npt.NDArray[np.int16]:
    holders: dict[str, list[int]] = {}
    for number, iteration in enumerate(iterations):
        if iteration.kind is kind:
            for code in iteration.members:
                holders.setdefault(code, []).append(number)
    width = max((len(numbers) for numbers in holders.values()), default=1)
    table = np.full((len(codes) + 1, width), NONE, dtype=np.int16)
    for row, code in enumerate(codes):
        numbers = holders.get(code, [])
        table[row, : len(numbers)] = numbers
    return table


def _shared_by_all(
    table: npt.NDArray[np.int16], columns: Sequence[npt.NDArray[np.int16]]
) -> list[npt.NDArray[np.int16]]:
    """For each iteration of a set's first code, that iteration where it holds every other code too, else NONE."""
    candidates = [side[columns[0]] for side in table.T]
    for column in columns[1:]:
        absent = column == NONE
        holders = [side[column] for side in table.T]
        for candidate in candidates:
            held = absent.copy()
            for holder in holders:
                held |= holder == candidate
            candidate[~held] = NONE
    return candidates


def _held_by_any(table: npt.NDArray[np.int16], columns: Sequence[npt.NDArray[np.int16]]) -> list[npt.NDArray[np.int16]]:
    """The iterations of every code of a set; one that an earlier column has given already becomes NONE."""
    found: list[npt.NDArray[np.int16]] = []
    for column in columns:
        for side in table.T:
            iterations = side[column]
            for earlier in found:
                iterations[iterations == earlier] = NONE
            found.append(iterations)
    return found


def _as_pairs(columns: Sequence[npt.NDArray[np.int16]], rows: int) -> Pairs:
    matrix = np.stack(columns, axis=1) if columns else np.empty((rows, 0), dtype=np.int16)
    row, column = np.nonzero(matrix != NONE)
    return Pairs(row, matrix[row, column])
