"""Which iterations a kind of people is in.

In: who is in what, by code set and by ethnicity code; the code set and the ethnicity code of each kind. Out: the
iterations of each kind, in one list. Promise: a kind is in an iteration exactly if its code set or its ethnicity code
is, and is listed there once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.engines.protocol import IntArray, Members
from safetab.population.membership import Pairs


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Every kind of people among the records: its code set and its ethnicity code."""

    code_set: npt.NDArray[np.int32]
    ethnicity: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.code_set)


@dataclass(frozen=True, slots=True, eq=False)
class KindMembers:
    """The iterations of each kind: those of kind k are `iteration[starts[k] : starts[k + 1]]`."""

    starts: IntArray
    iteration: IntArray

    def expand(self, kind: IntArray) -> tuple[IntArray, IntArray]:
        """Every pair of a row of `kind` and an iteration that its kind is in."""
        row, place = expand(self.starts, kind)
        return row, self.iteration.take(place)

    def restricted(self, number_of_iteration: IntArray) -> KindMembers:
        """The same with other numbers for the iterations; those that get a negative number are left out."""
        number = number_of_iteration.take(self.iteration)
        is_kept = number >= 0
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(is_kept)])
        return KindMembers(before.take(self.starts), number.compress(is_kept))


def members_of_kinds(members: Members, kinds: Kinds) -> KindMembers:
    """Put together what code sets and ethnicity codes say about each kind."""
    race_of_set = _by_row(members.race, int(kinds.code_set.max(initial=-1)) + 1)
    race, race_iteration = race_of_set.expand(kinds.code_set.astype(np.int64))
    ethnicity = _by_row(members.ethnicity, int(kinds.ethnicity.max(initial=-1)) + 1)
    other, other_iteration = ethnicity.expand(kinds.ethnicity.astype(np.int64))
    pairs = Pairs(np.concatenate([race, other]), np.concatenate([race_iteration, other_iteration]))
    return _by_row(pairs, len(kinds))


def expand(starts: IntArray, number: IntArray) -> tuple[IntArray, IntArray]:
    """For lists that lie one after another: every pair of a row of `number` and a place in the list of that number."""
    first = starts.take(number)
    lengths = starts.take(number + 1) - first
    row = np.repeat(np.arange(len(number)), lengths)
    place = (first - np.cumsum(lengths) + lengths).take(row)
    place += np.arange(len(row))
    return row, place


def _by_row(pairs: Pairs, rows: int) -> KindMembers:
    """The iterations of the first so many rows."""
    order = np.argsort(pairs.row, kind="stable")
    starts = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(pairs.row, minlength=rows)[:rows], out=starts[1:])
    return KindMembers(starts, pairs.iteration.take(order).astype(np.int64))
