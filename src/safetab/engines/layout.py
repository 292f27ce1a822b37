"""How the records of one run are laid out: where they are, and what their columns mean.

In: a release, one of its runs, the geography and the place of the records. Out: a frozen `RecordLayout`, all that an
engine knows of a release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetab.files.compressed import COMPRESSIONS
from safetab.files.delimited import NOTHING_TOLD, ToldForm
from safetab.files.memory import ReadColumns
from safetab.files.parquet import is_parquet
from safetab.files.parts import Part
from safetab.params.release import RecordColumns, Release, Run
from safetab.population.ages import AgeBins
from safetab.population.geography import Geography
from safetab.population.geography_file import BlockFilter
from safetab.population.iterations import IterationCatalogue

#: An address such as s3a://bucket/records; a single letter before the colon is a drive, not a scheme.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_TEXT_FILES = tuple(text + end for text in (".txt", ".csv") for end in ("", *COMPRESSIONS))


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
    #: What the release says of the form of text.
    told: ToldForm = NOTHING_TOLD
    #: Records in memory; `path` is then what findings call them.
    table: Any = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        records: str | ReadColumns,
        release: Release,
        run: Run,
        catalogue: IterationCatalogue,
        geography: Geography,
        *,
        show_values: bool = False,
    ) -> RecordLayout:
        path, table = (records.name, records.table) if isinstance(records, ReadColumns) else (records, None)
        return cls(
            path=path,
            is_parquet=not path.endswith(_TEXT_FILES) if is_address(path) else is_parquet(Path(path)),
            columns=release.columns,
            codes=catalogue.codes,
            code_width=release.code_width,
            max_race_codes=release.max_race_codes,
            age_bins=release.age_bins,
            only=run.only,
            left_out=geography.left_out,
            show_values=show_values,
            told=release.files.told("records"),
            table=table,
        )

    @property
    def name(self) -> str:
        return Path(self.path).name

    @property
    def unit(self) -> str:
        """What a place in a record file is called."""
        return "line" if self.is_text else "row"

    @property
    def is_text(self) -> bool:
        return not self.is_parquet and self.table is None

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns of the records that are read, each once."""
        return self.columns.read

    def width_of(self, column: str) -> int | None:
        """How many digits a whole number of a column has, with its leading zeros; None if any number will do."""
        columns = self.columns
        if column in (*columns.race_codes, columns.ethnicity):
            return self.code_width
        return columns.widths.get(column)

    def values_of_folders(self, part: Part, columns: Iterable[str]) -> list[str | None]:
        """What the names of a part's folders say of some columns."""
        return [part.value(column, self.width_of(column)) for column in columns]

    @property
    def age_atoms(self) -> AgeBins:
        """The coarsest bins that every kind of table can be put together from."""
        starts = sorted({start for bins in self.age_bins for start in bins.starts})
        return AgeBins(tuple(starts), self.age_bins[0].oldest)

    @property
    def is_address(self) -> bool:
        return is_address(self.path)
