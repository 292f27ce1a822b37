"""The form of the records: which columns are written, and how their values are spelled.

In: a release. Out: a `RecordForm`. Promise: the form has every column that the release reads. The Bureau's has two
more, which its files have and SafeTab does not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from safetab.files.compressed import COMPRESSIONS
from safetab.files.delimited import BARS, TextForm
from safetab.files.parts import is_parquet_name
from safetab.params.census import COLUMNS
from safetab.params.files_section import FilesSection
from safetab.params.release import Release
from safetab.synth.ages import OLDEST

HOUSEHOLDER, MAJOR_GROUPS = "HOUSEHOLDER", "CENRACE"


@dataclass(frozen=True, slots=True)
class RecordForm:
    """The columns of the records. `age`, `sex` and `ethnicity` are empty where a release does without."""

    file: str
    text: TextForm
    block: tuple[str, ...]
    age: str
    oldest: int
    sex: str
    sexes: tuple[str, ...]
    race_codes: tuple[str, ...]
    no_code: str
    ethnicity: str
    is_bureau: bool

    @classmethod
    def of(cls, release: Release) -> RecordForm:
        """The form that a release reads."""
        columns = release.columns
        return cls(
            release.files.records,
            written_form(release.files, "records"),
            columns.block,
            columns.age or "",
            max((bins.oldest for bins in release.age_bins), default=OLDEST),
            columns.sex or "",
            columns.sexes,
            columns.race_codes,
            columns.no_code,
            columns.ethnicity or "",
            is_bureau=_reads_the_bureaus_columns(release),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in their order; the Bureau has an order of its own."""
        if self.is_bureau:
            return (self.age, self.sex, HOUSEHOLDER, *self.block, MAJOR_GROUPS, *self.race_codes, self.ethnicity)
        return tuple(name for name in (*self.block, self.age, self.sex, *self.race_codes, self.ethnicity) if name)

    @property
    def is_text_name(self) -> bool:
        """Whether the records may be plain text, by the name that the release gives them."""
        return not is_parquet_name(self.file) and PurePath(self.file).suffix not in COMPRESSIONS


def written_form(files: FilesSection, table: str) -> TextForm:
    """How a table is written as text: as the release says, otherwise as the Bureau writes it."""
    told = files.told(table)
    delimiter = told.delimiter or BARS.delimiter
    return TextForm(delimiter, told.is_quoted if told.is_quoted is not None else delimiter != BARS.delimiter)


def _reads_the_bureaus_columns(release: Release) -> bool:
    """Whether a release reads the columns of the Bureau's records."""
    columns = release.columns
    theirs = (columns.block, columns.age, columns.sex, columns.sexes, columns.race_codes, columns.no_code)
    keys = ("block", "age", "sex", "sexes", "race_codes", "no_code")
    ours = tuple(tuple(COLUMNS[key]) if isinstance(COLUMNS[key], list) else COLUMNS[key] for key in keys)
    return theirs == ours and columns.ethnicity == COLUMNS["ethnicity"]
