"""A release: the frozen model of everything that is chosen before a record is read.

In: a checked `ReleaseDocument`. Out: a `Release` whose names are resolved. It knows nothing of where it was written
down, so the Bureau's `config.json` and our `release.toml` become the same value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from safetab.params.document import FilesPart, ReleaseDocument
from safetab.params.exact import decimal_text
from safetab.population.ages import AgeBins
from safetab.population.geography import GeographyLevel
from safetab.population.geography_file import BlockFilter


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


@dataclass(frozen=True, slots=True)
class PopulationGroupLevel:
    """One geography level times one iteration level (the paper's P_i), with what it may spend."""

    geography: GeographyLevel
    iteration_level: int
    #: None where a margin of error is asked for instead; calibration then finds the budget.
    budget: Fraction | None
    moe_95: int | None
    thresholds: tuple[int, int, int]

    @property
    def name(self) -> str:
        return f"({self.geography.name}, {self.iteration_level})"

    @property
    def is_on(self) -> bool:
        """Whether the level is tabulated at all: a budget of 0 switches it off."""
        return self.budget is None or self.budget > 0

    @property
    def spending(self) -> str:
        """Its budget, or the margin of error that stands for one, as people write it."""
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
    age: str
    sex: str
    sexes: tuple[str, ...]
    race_codes: tuple[str, ...]
    ethnicity: str | None
    no_code: str
    widths: Mapping[str, int]


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
    #: For stat levels 1, 2 and 3.
    age_bins: tuple[AgeBins, AgeBins, AgeBins]
    files: FilesPart
    columns: RecordColumns
    runs: tuple[Run, ...]

    @property
    def iteration_levels(self) -> frozenset[int]:
        return frozenset(level.iteration_level for run in self.runs for level in run.levels)


def build(document: ReleaseDocument) -> Release:
    """The release a checked document describes."""
    geography = {
        name: GeographyLevel(name, tuple(part.columns), part.region_id or "", part.absent, part.local)
        for name, part in document.geography.items()
    }
    levels: dict[str, list[PopulationGroupLevel]] = {part.name: [] for part in document.run}
    for part in document.level:
        low, middle, high = part.thresholds
        levels[part.run].append(
            PopulationGroupLevel(
                geography[part.geography], part.iteration_level, part.budget, part.moe_95, (low, middle, high)
            )
        )
    runs = tuple(
        Run(
            run.name,
            next((BlockFilter(column, tuple(values)) for column, values in (run.where or {}).items()), None),
            tuple(levels[run.name]),
        )
        for run in document.run
    )
    coarse, medium, fine = (AgeBins(tuple(starts), document.ages.oldest) for starts in document.ages.bins)
    columns = document.columns
    return Release(
        title=document.title,
        privacy=PrivacyDefinition(document.privacy),
        max_race_codes=document.max_race_codes,
        stage_1_fraction=document.stage_1_fraction,
        zero_suppression_chance=document.zero_suppression_chance or None,
        allow_negative_counts=document.allow_negative_counts,
        code_width=document.code_width,
        age_bins=(coarse, medium, fine),
        files=document.files,
        columns=RecordColumns(
            block=tuple(columns.block),
            age=columns.age,
            sex=columns.sex,
            sexes=tuple(columns.sexes),
            race_codes=tuple(columns.race_codes),
            ethnicity=columns.ethnicity,
            no_code=columns.no_code,
            widths=columns.widths,
        ),
        runs=runs,
    )
