"""The shape of `release.toml`: every key, its type and what it means.

In: the parsed file, numbers as `Decimal`. Out: a `ReleaseDocument`, or findings with key paths. The JSON schema for
editors and the reference page are generated from these classes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from safetab.errors import Rule
from safetab.params.exact import exact
from safetab.params.files_section import FilesSection, Section, broken
from safetab.rules import release_rules
from safetab.rules.labels import has_control_characters, is_label


def _exact_within(is_allowed: Callable[[Fraction], bool], rule: Rule) -> Callable[[Any], Fraction]:
    def validate(value: Any) -> Fraction:
        try:
            number = exact(value)
        except ValueError:
            raise broken(release_rules.NOT_A_DECIMAL) from None
        if not is_allowed(number):
            raise broken(rule)
        return number

    return validate


def _whole_number(minimum: int, rule: Rule, most: int | None = None) -> Callable[[Any], int]:
    def validate(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum or (most and value > most):
            raise broken(rule)
        return value

    return validate


def _thresholds(value: Any) -> list[int]:
    if (
        not isinstance(value, list)
        or not 1 <= len(value) <= _MOST_TABLES
        or any(type(item) is not int or abs(item) > _LARGEST_THRESHOLD for item in value)
    ):
        raise broken(release_rules.THRESHOLDS)
    if sorted(value) != value:
        raise broken(release_rules.FALLING_THRESHOLDS)
    return value


def _text(value: Any) -> Any:
    if value == "":
        raise broken(release_rules.EMPTY_TEXT)
    return _without_control_characters(value)


def _without_control_characters(value: Any) -> Any:
    if isinstance(value, str) and has_control_characters(value):
        raise broken(release_rules.CONTROL_CHARACTERS)
    return value


def _label(value: Any) -> Any:
    if isinstance(value, str) and not is_label(value):
        raise broken(release_rules.LABEL)
    return _text(value)


def _distinct(value: Any) -> Any:
    if isinstance(value, list):
        texts = [item for item in value if isinstance(item, str)]
        if len(set(texts)) != len(texts):
            raise broken(release_rules.REPEATED_NAME)
    return value


def _not_too_many(value: Any) -> Any:
    if isinstance(value, list) and len(value) > _MOST_SEXES:
        raise broken(release_rules.TOO_MANY_SEXES)
    return value


_MOST_SEXES = 1000
MOST_CODES = 8
#: Kinds of tables that T2 can have, from coarse to fine.
_MOST_TABLES = 3
#: Far more than any number of people, and little enough that noise can be added to it in 64 bits.
_LARGEST_THRESHOLD = 10**15 - 1
_DECIMAL = {"anyOf": [{"type": "string"}, {"type": "number"}]}

Budget = Annotated[
    Fraction, PlainValidator(_exact_within(lambda x: x >= 0, release_rules.NEGATIVE_BUDGET)), WithJsonSchema(_DECIMAL)
]
ProperFraction = Annotated[
    Fraction,
    PlainValidator(_exact_within(lambda x: 0 < x < 1, release_rules.STAGE_1_FRACTION)),
    WithJsonSchema(_DECIMAL),
]
Chance = Annotated[
    Fraction,
    PlainValidator(_exact_within(lambda x: 0 <= x < 1, release_rules.SUPPRESSION_CHANCE)),
    WithJsonSchema(_DECIMAL),
]
Thresholds = Annotated[
    list[int],
    PlainValidator(_thresholds),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "integer", "minimum": -_LARGEST_THRESHOLD, "maximum": _LARGEST_THRESHOLD},
            "minItems": 1,
            "maxItems": _MOST_TABLES,
        }
    ),
]
LevelNumber = Annotated[
    int, PlainValidator(_whole_number(1, release_rules.LEVEL_NUMBER)), WithJsonSchema({"type": "integer", "minimum": 1})
]
MoeTarget = Annotated[
    int, PlainValidator(_whole_number(1, release_rules.MOE_TARGET)), WithJsonSchema({"type": "integer", "minimum": 1})
]
RaceCodes = Annotated[
    int,
    PlainValidator(_whole_number(1, release_rules.MAX_RACE_CODES, most=MOST_CODES)),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 8}),
]
Text = Annotated[str, BeforeValidator(_text)]
Label = Annotated[str, BeforeValidator(_label)]
Names = Annotated[list[Text], BeforeValidator(_distinct)]
Sexes = Annotated[list[Label], BeforeValidator(_distinct), BeforeValidator(_not_too_many)]


class AgesSection(Section):
    """The age bins."""

    oldest: int = Field(default=115, ge=0, le=200, description="The oldest age a record can have.")
    bins: list[list[int]] = Field(
        description="One, two or three lists with the first age of each bin, for stat levels 1, 2 and 3: coarse, "
        "medium, fine."
    )

    @model_validator(mode="after")
    def _rising_lists(self) -> AgesSection:
        rising = all(
            starts and starts[0] == 0 and sorted(set(starts)) == starts and starts[-1] <= self.oldest
            for starts in self.bins
        )
        if not 1 <= len(self.bins) <= _MOST_TABLES or not rising:
            raise broken(release_rules.AGE_BINS)
        return self


class ColumnsSection(Section):
    """The columns of the data files that SafeTab reads."""

    block: Names = Field(min_length=1, description="The columns that together name a block, in both data files.")
    age: Text | None = Field(default=None, description="Age in years. Leave it out to publish nothing by age.")
    sex: Text | None = Field(default=None, description="Sex. Leave it out to publish nothing by sex.")
    sexes: Annotated[Sexes, Field(min_length=1)] | None = Field(
        default=None, description="The values of the sex column. They are published unchanged."
    )
    race_codes: Names = Field(
        min_length=1, max_length=MOST_CODES, description="The race code columns. Records fill the first ones first."
    )
    ethnicity: Text | None = Field(
        default=None, description="The ethnicity code column. Leave it out if there are no ethnicity groups."
    )
    no_code: Annotated[str, BeforeValidator(_without_control_characters)] = Field(
        default="Null", description="The value of a race code column that contains no code."
    )
    widths: dict[str, Annotated[int, Field(ge=1, le=100)]] = Field(
        default_factory=dict,
        description="Fixed widths of geography columns. Whole numbers in Parquet are filled up with leading zeros.",
    )

    @model_validator(mode="after")
    def _sex_with_its_values(self) -> ColumnsSection:
        if (self.sex is None) != (self.sexes is None):
            raise broken(release_rules.SEX_AND_SEXES)
        return self


class GeographySection(Section):
    """One geography level: which region of it a block is in."""

    columns: Names = Field(
        default_factory=list, description="The region id is the values of these columns, one after the other."
    )
    region_id: Label | None = Field(
        default=None, description="Instead of columns: the id of one region that contains everything."
    )
    absent: dict[str, str] = Field(
        default_factory=dict, description="A block is in no region of this level if the column has this value."
    )
    name_column: Text | None = Field(
        default=None,
        description="The column of the geography file with the names of the regions. Readers see a name beside its id.",
    )
    local: bool = Field(
        default=False,
        description="true for levels below the state: coarse-only iterations are tabulated, detailed-only ones are "
        "not, and totals may be suppressed.",
    )

    @model_validator(mode="after")
    def _one_way_to_name_regions(self) -> GeographySection:
        if bool(self.columns) == (self.region_id is not None):
            raise broken(release_rules.REGION_COLUMNS)
        if self.name_column is not None and not self.columns:
            raise broken(release_rules.NAME_COLUMN)
        if not set(self.absent) <= set(self.columns):
            raise broken(release_rules.ABSENT_COLUMN)
        return self


class RunSection(Section):
    """One run: it takes some of the records, and no other run takes these."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,99}$", description="The name of the run and of its output files.")
    where: dict[str, Names] | None = Field(
        default=None,
        description="One block column, and its values in the records of this run. May be left out if there is one run.",
    )


class LevelSection(Section):
    """One population group level: a geography level and an iteration level, with a budget and thresholds."""

    run: str = Field(description="The run.")
    geography: str = Field(description="The geography level.")
    iteration_level: LevelNumber = Field(description="The iteration level: the LEVEL in the iteration files.")
    budget: Budget | None = Field(
        default=None,
        description="The privacy budget of the level: rho for zcdp, epsilon for puredp. 0 switches it off.",
    )
    moe_95: MoeTarget | None = Field(
        default=None,
        description="Instead of a budget: the 95 % margin of error that a stage 2 count must have, or a total if no "
        "group of the level has two stages.",
    )
    thresholds: Thresholds | None = Field(
        default=None,
        description="The noisy totals from which a group gets the table of each list of age bins, coarse to fine. One "
        "threshold if there is sex and no age. Left out if there is neither.",
    )

    @model_validator(mode="after")
    def _budget_or_target(self) -> LevelSection:
        if (self.budget is None) == (self.moe_95 is None):
            raise broken(release_rules.BUDGET_OR_MOE)
        return self


class OutputSection(Section):
    """What is written."""

    columns: Literal["all", "bureau"] = Field(
        default="all",
        description="The columns of the text files. all: the same as in the Parquet files, with estimates and "
        "intervals. bureau: the keys and COUNT, as in the Bureau's files.",
    )


class ReleaseDocument(Section):
    """A release: everything you choose before any record is read."""

    safetab: Literal[1] = Field(description="The version of the file format: 1.")
    title: str = Field(default="", description="A title for people.")
    privacy: Literal["zcdp", "puredp"] = Field(
        description="zcdp: discrete Gaussian noise, budgets are rho. puredp: geometric noise, budgets are epsilon."
    )
    max_race_codes: RaceCodes = Field(description="The largest number of race codes a record can have.")
    stage_1_fraction: ProperFraction = Field(
        description="The share of a budget that is spent on choosing the detail of a group."
    )
    zero_suppression_chance: Chance | None = Field(
        default=None, description="The probability with which an empty local group is suppressed. 0 or left out: never."
    )
    allow_negative_counts: bool = Field(default=True, description="false: negative counts become 0.")
    code_width: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None, description="The number of characters of race, ethnicity and iteration codes, if it is fixed."
    )
    ages: AgesSection | None = None
    files: FilesSection = FilesSection()
    output: OutputSection = OutputSection()
    columns: ColumnsSection
    geography: dict[str, GeographySection] = Field(description="The geography levels, by name.")
    run: list[RunSection] = Field(description="The runs.")
    level: list[LevelSection] = Field(description="The population group levels.")


def json_schema() -> dict[str, Any]:
    """The JSON schema of `release.toml`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | ReleaseDocument.model_json_schema()
