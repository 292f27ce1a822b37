"""What the pipeline asks of an engine: the true counts of one run, and nothing else.

In: where the records are, how they are laid out, which cell each block is in. Out: the distinct code sets, sparse
totals, and sparse sex by age cells of chosen groups, as batches of arrays. Promise: every count is exact, a record is
counted once for each iteration it belongs to, and nothing of a single record leaves the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from safetab.params.release import RecordColumns, Release, Run
from safetab.population.ages import AgeBins
from safetab.population.geography import Geography
from safetab.population.geography_file import BlockFilter
from safetab.population.iterations import IterationCatalogue
from safetab.population.membership import CodeSets, Pairs

IntArray = npt.NDArray[np.int64]
#: An address such as s3a://bucket/records; a single letter before the colon is a drive, not a scheme.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_TEXT_FILES = (".txt", ".csv", ".txt.gz", ".csv.gz")


def is_address(place: str) -> bool:
    """Whether a place of records is an address, for an engine that knows its scheme, rather than a local path."""
    return _ADDRESS.match(place) is not None


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """How to read the records of a run: where they are, and what their columns mean."""

    path: str
    is_parquet: bool
    columns: RecordColumns
    codes: tuple[str, ...]
    code_width: int | None
    max_race_codes: int
    age_bins: tuple[AgeBins, ...]
    only: BlockFilter | None
    #: Values of the filter's column that the geography file has and this run does not take.
    left_out: tuple[str, ...] = ()
    #: Whether findings may quote values; for the secure area only.
    show_values: bool = False

    @classmethod
    def of(
        cls,
        path: str,
        release: Release,
        run: Run,
        catalogue: IterationCatalogue,
        geography: Geography,
        *,
        show_values: bool = False,
    ) -> RecordLayout:
        local = Path(path)
        return cls(
            path=path,
            is_parquet=(
                not path.endswith(_TEXT_FILES) if is_address(path) else local.is_dir() or local.suffix == ".parquet"
            ),
            columns=release.columns,
            codes=catalogue.codes,
            code_width=release.code_width,
            max_race_codes=release.max_race_codes,
            age_bins=release.age_bins,
            only=run.only,
            left_out=geography.left_out,
            show_values=show_values,
        )

    @property
    def name(self) -> str:
        return Path(self.path).name

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns of the records that are read, each once."""
        columns = self.columns
        ethnicity = [columns.ethnicity] if columns.ethnicity else []
        return tuple(dict.fromkeys([*columns.block, columns.age, columns.sex, *columns.race_codes, *ethnicity]))

    @property
    def age_atoms(self) -> AgeBins:
        """The coarsest bins that every kind of table can be put together from."""
        starts = sorted({start for bins in self.age_bins for start in bins.starts})
        return AgeBins(tuple(starts), self.age_bins[0].oldest)

    @property
    def is_address(self) -> bool:
        return is_address(self.path)


@dataclass(frozen=True, slots=True)
class Members:
    """Membership of one population group level: iterations of each code set and of each ethnicity code."""

    race: Pairs
    ethnicity: Pairs


@dataclass(frozen=True, slots=True)
class Totals:
    """A batch of true totals: how many people of an iteration live in a region. Pairs that are missing are 0."""

    region: IntArray
    iteration: IntArray
    true_count: IntArray


@dataclass(frozen=True, slots=True)
class Cells:
    """A batch of true sex by age cells of chosen groups; `group` is the group's number among those asked for."""

    group: IntArray
    sex: IntArray
    age_bin: IntArray
    true_count: IntArray


@dataclass(frozen=True, slots=True)
class ChosenGroups:
    """Population groups that get a sex by age table, numbered by their position, and how finely each is cut."""

    region: IntArray
    iteration: IntArray
    stat_level: IntArray


class Records(Protocol):
    """The records of one run, held by an engine."""

    @property
    def persons(self) -> int:
        """How many records the run has. Confidential: it enters no file and no message."""
        ...

    def code_sets(self) -> CodeSets:
        """The distinct sets of race codes, one a row; `Members.race` speaks of these rows."""
        ...

    def totals(self, region_of_cell: npt.NDArray[np.int32], members: Members) -> Iterator[Totals]:
        """The true total of every group that has anybody, each group in one batch only."""
        ...

    def cells(self, region_of_cell: npt.NDArray[np.int32], members: Members, chosen: ChosenGroups) -> Iterator[Cells]:
        """The true sex by age cells of the chosen groups, ages cut as each group's stat level says."""
        ...


class Engine(Protocol):
    """A place where records are counted; what it keeps is gone when it is closed."""

    name: str

    def open(self, layout: RecordLayout, geography: Geography) -> Records:
        """Read and judge the records of one run; raises `InputError` when any record breaks a rule."""
        ...

    def close(self) -> None:
        """Let go of everything confidential."""
        ...
