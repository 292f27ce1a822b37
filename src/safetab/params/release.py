"""A release: the frozen model of everything that is chosen before a record is read.

In: a checked `ReleaseDocument`. Out: a `Release` whose names are resolved. It knows nothing of where it was written
down, so the Bureau's `config.json` and our `release.toml` become the same value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction

from safetab.params.document import ReleaseDocument
from safetab.params.exact import decimal_text
from safetab.params.files_section import FilesSection
from safetab.population.ages import NO_AGES, AgeBins
from safetab.population.geography import GeographyLevel
from safetab.population.geography_file import BlockFilter

#: Published in place of a sex in a release without sex.
ALL_SEXES = "*"


class PrivacyDefinition(Enum):
    """What the guarantee is stated in; it decides the noise and the meaning of a budget."""

    ZCDP = "zcdp"
    PURE_DP = "puredp"

    @property
    def budget_symbol(self) -> str:
        return "rho" if self is PrivacyDefinition.ZCDP else "epsilon"

    @property
    def noise_name(self) -> str:
        return "discrete Gaussian" if self is PrivacyDefinition.ZCDP else "two-sided geometric"


class TextColumns(Enum):
    """Which columns the text files have."""

    #: Those of the Parquet files.
    ALL = "all"
    #: Keys and COUNT, as the Bureau's program writes them.
    BUREAU = "bureau"


@dataclass(frozen=True, slots=True)
class PopulationGroupLevel:
    """One geography level times one iteration level (the paper's P_i), with what it may spend."""

    geography: GeographyLevel
    iteration_level: int
    #: None where a margin of error is asked for instead; calibration then finds the budget.
    budget: Fraction | None
    moe_95: int | None
    #: One for each stat level above 0.
    thresholds: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"({self.geography.name}, {self.iteration_level})"

    @property
    def is_on(self) -> bool:
        """Whether the level is tabulated at all: a budget of 0 switches it off."""
        return self.budget is None or self.budget > 0

    @property
    def spending(self) -> str:
        """Its budget, or the margin of error in its place, as people write it."""
        return f"moe_95 {self.moe_95}" if self.budget is None else decimal_text(self.budget)


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of the algorithm over records that no other run sees."""

    name: str
    only: BlockFilter | None
    levels: tuple[PopulationGroupLevel, ...]

    @property
    def levels_on(self) -> tuple[PopulationGroupLevel, ...]:
        return tuple(level for level in self.levels if level.is_on)

    @property
    def geography_levels(self) -> tuple[GeographyLevel, ...]:
        """The geography levels that are tabulated, each once, in the order of the release."""
        return tuple({level.geography.name: level.geography for level in self.levels_on}.values())


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """Which columns of the data files are read, and how their values are spelled."""

    block: tuple[str, ...]
    #: None: the release publishes nothing by age.
    age: str | None
    #: None: the release publishes nothing by sex.
    sex: str | None
    #: How sexes are published; ALL_SEXES alone where there is no sex.
    sexes: tuple[str, ...]
    race_codes: tuple[str, ...]
    ethnicity: str | None
    no_code: str
    widths: Mapping[str, int]

    @property
    def read(self) -> tuple[str, ...]:
        """The columns of the records that are read, each once."""
        optional = [column for column in (self.age, self.sex) if column]
        ethnicity = [self.ethnicity] if self.ethnicity else []
        return tuple(dict.fromkeys([*self.block, *optional, *self.race_codes, *ethnicity]))


@dataclass(frozen=True, slots=True)
class Release:
    """Everything a release chooses."""

    title: str
    privacy: PrivacyDefinition
    max_race_codes: int
    stage_1_fraction: Fraction
    #: None: off.
    zero_suppression_chance: Fraction | None
    allow_negative_counts: bool
    code_width: int | None
    #: For the stat levels from 1 on; NO_AGES alone where there is no age.
    age_bins: tuple[AgeBins, ...]
    files: FilesSection
    text_columns: TextColumns
    columns: RecordColumns
    runs: tuple[Run, ...]

    @property
    def has_tables(self) -> bool:
        """Whether there is anything to tabulate by. Without sex and age every group gets a total and nothing else."""
        return bool(self.detail)

    @property
    def detail(self) -> str:
        """What the tables are by: sex by age, or what there is of the two."""
        parts = (("sex", self.columns.sex), ("age", self.columns.age))
        return " by ".join(word for word, column in parts if column is not None)

    @property
    def has_sex_marginals(self) -> bool:
        """Whether T2 sums each sex over all ages. Without ages, or without sex, the sum is published already."""
        return self.columns.age is not None and self.columns.sex is not None

    @property
    def table_cells(self) -> tuple[int, ...]:
        """The number of cells of the table of each stat level from 1 on; none where no group has a table."""
        return tuple(len(self.columns.sexes) * len(bins) for bins in self.age_bins) if self.has_tables else ()

    @property
    def most_cells(self) -> int:
        """The number of cells of the largest table; a total is one."""
        return max(self.table_cells, default=1)

    @property
    def iteration_levels(self) -> frozenset[int]:
        return frozenset(level.iteration_level for run in self.runs for level in run.levels)


def unequal_parts(one: Release, other: Release) -> list[str]:
    """The choices in which two releases differ. What their files are called is no choice."""
    names = [part.name for part in fields(Release) if part.name != "files"]
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def build(document: ReleaseDocument) -> Release:
    """The release a checked document describes."""
    geography = {
        name: GeographyLevel(
            name, tuple(part.columns), part.region_id or "", part.absent, part.local, part.name_column or ""
        )
        for name, part in document.geography.items()
    }
    levels: dict[str, list[PopulationGroupLevel]] = {part.name: [] for part in document.run}
    for part in document.level:
        thresholds = tuple(part.thresholds or ())
        levels[part.run].append(
            PopulationGroupLevel(geography[part.geography], part.iteration_level, part.budget, part.moe_95, thresholds)
        )
    runs = tuple(
        Run(
            run.name,
            next((BlockFilter(column, tuple(values)) for column, values in (run.where or {}).items()), None),
            tuple(levels[run.name]),
        )
        for run in document.run
    )
    columns, ages = document.columns, document.ages
    return Release(
        title=document.title,
        privacy=PrivacyDefinition(document.privacy),
        max_race_codes=document.max_race_codes,
        stage_1_fraction=document.stage_1_fraction,
        zero_suppression_chance=document.zero_suppression_chance or None,
        allow_negative_counts=document.allow_negative_counts,
        code_width=document.code_width,
        age_bins=tuple(AgeBins(tuple(starts), ages.oldest) for starts in ages.bins) if ages else (NO_AGES,),
        files=document.files,
        text_columns=TextColumns(document.output.columns),
        columns=RecordColumns(
            block=tuple(columns.block),
            age=columns.age,
            sex=columns.sex,
            sexes=tuple(columns.sexes or (ALL_SEXES,)),
            race_codes=tuple(columns.race_codes),
            ethnicity=columns.ethnicity,
            no_code=columns.no_code,
            widths=columns.widths,
        ),
        runs=runs,
    )
