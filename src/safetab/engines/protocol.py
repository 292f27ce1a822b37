"""What the pipeline asks of an engine: the true counts of one run, and nothing else.

In: a `RecordLayout`, and the block set of each block. Out: the distinct code sets, sparse totals, and sparse sex by age
cells of chosen groups, as batches of arrays. Promise: every count is exact, a record is counted once for each
iteration it belongs to, and nothing of a single record leaves the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from safetab.engines.layout import RecordLayout
from safetab.population.geography import Geography
from safetab.population.membership import CodeSets, Pairs

IntArray = npt.NDArray[np.int64]
#: The region of each block set at one geography level.
RegionOfBlockSet = npt.NDArray[np.int32]


#: Receives the share of the records that is read, from 0 to 1.
OnRead = Callable[[float], None]


def unheard(share: float) -> None:
    """Nobody wants to know how far the reading is."""


@dataclass(frozen=True, slots=True)
class Members:
    """Membership of one population group level: iterations of each code set and of each ethnicity code.

    `numbers` has for each iteration of the level its number in the catalogue: what is counted for one level serves
    another level with the same iteration. `whole` is the membership of all levels of the run together, where that is
    known: an engine may count for all of them when it is first asked.
    """

    race: Pairs
    ethnicity: Pairs
    numbers: IntArray
    whole: Members | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """A batch of true totals: how many people of an iteration live in a region. Pairs that are missing are 0."""

    region: IntArray
    iteration: IntArray
    true_count: IntArray


@dataclass(frozen=True, slots=True)
class Cells:
    """The true sex by age cells of chosen groups; `group` is the group's number among those asked for.

    Cells that are missing are 0.
    """

    group: IntArray
    sex: IntArray
    age_bin: IntArray
    true_count: IntArray


@dataclass(frozen=True, slots=True)
class ChosenGroups:
    """Population groups that get a sex by age table, each once, numbered by their position; how finely each is cut."""

    region: IntArray
    iteration: IntArray
    stat_level: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class CellQuestion:
    """What is asked about one level: the sex by age cells of its chosen groups."""

    region_of_block_set: RegionOfBlockSet
    members: Members
    chosen: ChosenGroups


class Records(Protocol):
    """The records of one run, held by an engine."""

    def code_sets(self) -> CodeSets:
        """The distinct sets of race codes, one a row; `Members.race` speaks of these rows."""
        ...

    def totals(self, region_of_block_set: RegionOfBlockSet, members: Members) -> Iterator[Totals]:
        """The true total of every group that has anybody, in the order of the regions; a region is in one batch."""
        ...

    def cells(self, questions: Sequence[CellQuestion]) -> Iterator[Cells]:
        """The true sex by age cells of chosen groups, ages cut as each group's stat level says.

        One answer for each question, in their order: whoever asks about all levels at once lets an engine look at its
        people once for all of them. The members of all questions have the same `whole`, or are the same.
        """
        ...


class Engine(Protocol):
    """A place where records are counted; what it keeps is gone when it is closed."""

    name: str

    def open(self, layout: RecordLayout, geography: Geography, on_read: OnRead = unheard) -> Records:
        """Read and judge the records of one run; raises `InputError` when any record breaks a rule.

        `on_read` receives the share that is read, if the engine knows it.
        """
        ...

    def close(self) -> None:
        """Let go of everything confidential."""
        ...
