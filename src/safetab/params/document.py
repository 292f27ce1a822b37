"""The shape of `release.toml`: every key, its type and what it means.

In: the parsed file, numbers as `Decimal`. Out: a `ReleaseDocument`, or findings with key paths. The JSON schema for
editors and the reference page are generated from these classes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from safetab.errors import Rule
from safetab.params import rules
from safetab.params.exact import exact


def broken(rule: Rule) -> PydanticCustomError:
    """The pydantic error that carries one of our rules; its type is the rule's code."""
    return PydanticCustomError(rule.code, "{rule}", {"rule": rule.text})


def _exact_within(is_allowed: Callable[[Fraction], bool], rule: Rule) -> Callable[[Any], Fraction]:
    def validate(value: Any) -> Fraction:
        try:
            number = exact(value)
        except ValueError:
            raise broken(rules.NOT_A_DECIMAL) from None
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
    if not isinstance(value, list) or len(value) != 3 or any(type(item) is not int for item in value):
        raise broken(rules.THREE_THRESHOLDS)
    if sorted(value) != value:
        raise broken(rules.FALLING_THRESHOLDS)
    return value


def _plain_file_name(value: Any) -> Any:
    if isinstance(value, str) and ("/" in value or "\\" in value or value in {"", ".", ".."}):
        raise broken(rules.FILE_NAME)
    return value


def _text(value: Any) -> Any:
    if value == "":
        raise broken(rules.EMPTY_TEXT)
    return value


def _distinct(value: Any) -> Any:
    if isinstance(value, list):
        texts = [item for item in value if isinstance(item, str)]
        if len(set(texts)) != len(texts):
            raise broken(rules.REPEATED_NAME)
    return value


_DECIMAL = {"anyOf": [{"type": "string"}, {"type": "number"}]}

Budget = Annotated[
    Fraction, PlainValidator(_exact_within(lambda x: x >= 0, rules.NEGATIVE_BUDGET)), WithJsonSchema(_DECIMAL)
]
ProperFraction = Annotated[
    Fraction, PlainValidator(_exact_within(lambda x: 0 < x < 1, rules.STAGE_1_FRACTION)), WithJsonSchema(_DECIMAL)
]
Chance = Annotated[
    Fraction, PlainValidator(_exact_within(lambda x: 0 <= x < 1, rules.SUPPRESSION_CHANCE)), WithJsonSchema(_DECIMAL)
]
Thresholds = Annotated[
    list[int],
    PlainValidator(_thresholds),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3}),
]
LevelNumber = Annotated[
    int, PlainValidator(_whole_number(1, rules.LEVEL_NUMBER)), WithJsonSchema({"type": "integer", "minimum": 1})
]
MoeTarget = Annotated[
    int, PlainValidator(_whole_number(1, rules.MOE_TARGET)), WithJsonSchema({"type": "integer", "minimum": 1})
]
RaceCodes = Annotated[
    int,
    PlainValidator(_whole_number(1, rules.MAX_RACE_CODES, most=8)),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 8}),
]
Text = Annotated[str, BeforeValidator(_text)]
FileName = Annotated[str, BeforeValidator(_plain_file_name)]
Names = Annotated[list[Text], BeforeValidator(_distinct)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AgesPart(_Part):
    """How ages are cut into bins."""

    oldest: int = Field(default=115, ge=0, le=200, description="The oldest age a record can have.")
    bins: list[list[int]] = Field(
        description="Three lists of the first age of each bin, for stat levels 1, 2 and 3: coarse, medium, fine."
    )

    @model_validator(mode="after")
    def _three_rising_lists(self) -> AgesPart:
        rising = all(
            starts and starts[0] == 0 and sorted(set(starts)) == starts and starts[-1] <= self.oldest
            for starts in self.bins
        )
        if len(self.bins) != 3 or not rising:
            raise broken(rules.AGE_BINS)
        return self


class FilesPart(_Part):
    """The names of the files read; a data file may also be Parquet under the same stem."""

    codes: FileName = Field(default="race-and-ethnicity-codes.txt", description="Code list, in the parameters folder.")
    race_iterations: FileName = Field(
        default="race-characteristic-iterations.txt", description="Race iterations, in the parameters folder."
    )
    ethnicity_iterations: FileName = Field(
        default="ethnicity-characteristic-iterations.txt",
        description="Ethnicity iterations, in the parameters folder; not read where there is no ethnicity column.",
    )
    code_to_iteration: FileName = Field(
        default="race-and-ethnicity-code-to-iteration.txt", description="Which codes make up which iteration."
    )
    geography: FileName = Field(default="GRF-C.txt", description="The blocks and their regions, in the data folder.")
    records: FileName = Field(default="person-records.txt", description="One line a person, in the data folder.")


class ColumnsPart(_Part):
    """The columns of the data files that are read."""

    block: Names = Field(min_length=1, description="The columns that together name a block, in both data files.")
    age: Text = Field(description="Age in years.")
    sex: Text = Field(description="Sex.")
    sexes: Names = Field(min_length=1, description="The values of the sex column; they are published as they are.")
    race_codes: Names = Field(min_length=1, max_length=8, description="Race code columns; no code after the first gap.")
    ethnicity: Text | None = Field(
        default=None, description="Ethnicity code; leave out where there are no such groups."
    )
    no_code: str = Field(default="Null", description="What stands in a race code column that holds no code.")
    widths: dict[str, Annotated[int, Field(ge=1, le=100)]] = Field(
        default_factory=dict,
        description="Fixed widths of geography columns; whole numbers in Parquet are padded with zeros to them.",
    )


class GeographyPart(_Part):
    """One geography level: how a block's columns name its region."""

    columns: Names = Field(default_factory=list, description="The region id is these columns put end to end.")
    region_id: Text | None = Field(
        default=None, description="Instead of columns: the id of the one region that holds all."
    )
    absent: dict[str, str] = Field(
        default_factory=dict, description="A block has no region here when a column has this value."
    )
    local: bool = Field(
        default=False,
        description="Below the state: coarse-only iterations are tabulated, detailed-only ones are not, and counts "
        "may be suppressed.",
    )

    @model_validator(mode="after")
    def _one_way_to_name_regions(self) -> GeographyPart:
        if bool(self.columns) == (self.region_id is not None):
            raise broken(rules.REGION_COLUMNS)
        if not set(self.absent) <= set(self.columns):
            raise broken(rules.ABSENT_COLUMN)
        return self


class RunPart(_Part):
    """One run over a part of the records that no other run sees."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="Also the name of its output files.")
    where: dict[str, Names] | None = Field(
        default=None,
        description="One block column and the values it has in this run's records; may be left out of a lone run.",
    )


class LevelPart(_Part):
    """One population group level: a geography level, an iteration level, a budget and thresholds."""

    run: str = Field(description="The run it belongs to.")
    geography: str = Field(description="The geography level.")
    iteration_level: LevelNumber = Field(description="The LEVEL of its iterations.")
    budget: Budget | None = Field(
        default=None, description="Privacy budget of the level: rho for zcdp, epsilon for puredp; 0 switches it off."
    )
    moe_95: MoeTarget | None = Field(
        default=None,
        description="Instead of a budget: the 95 % margin of error wanted of a stage 2 count, or of a total where no "
        "group of the level has two stages.",
    )
    thresholds: Thresholds = Field(
        description="Noisy totals from which the coarse, medium and fine sex by age tables are published."
    )

    @model_validator(mode="after")
    def _budget_or_target(self) -> LevelPart:
        if (self.budget is None) == (self.moe_95 is None):
            raise broken(rules.BUDGET_OR_MOE)
        return self


class ReleaseDocument(_Part):
    """A release: everything that is chosen before any record is read."""

    safetab: Literal[1] = Field(description="The version of this file's format.")
    title: str = Field(default="", description="What the release is, for people.")
    privacy: Literal["zcdp", "puredp"] = Field(
        description="zcdp: discrete Gaussian noise, budgets are rho. puredp: two-sided geometric, budgets are epsilon."
    )
    max_race_codes: RaceCodes = Field(description="The most race codes a record can have.")
    stage_1_fraction: ProperFraction = Field(description="Share of a budget spent on choosing the age detail.")
    zero_suppression_chance: Chance | None = Field(
        default=None, description="Chance with which a local group without people is dropped; 0 or left out: off."
    )
    allow_negative_counts: bool = Field(default=True, description="false: negative counts become 0.")
    code_width: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None, description="Number of characters of race, ethnicity and iteration codes, where it is fixed."
    )
    ages: AgesPart
    files: FilesPart = FilesPart()
    columns: ColumnsPart
    geography: dict[str, GeographyPart] = Field(description="The geography levels, by name.")
    run: list[RunPart] = Field(description="The runs.")
    level: list[LevelPart] = Field(description="The population group levels, listed one by one.")


def json_schema() -> dict[str, Any]:
    """The JSON schema of `release.toml`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | ReleaseDocument.model_json_schema()
