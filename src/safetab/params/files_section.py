"""The section [files] of `release.toml`: the names of the files, and how their fields are separated.

In: the parsed section. Out: a `FilesSection`, or pydantic errors that carry one of our rules. Promise: what the section
says of the form of a file is said for that file alone, or for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from safetab.errors import Rule
from safetab.files.delimited import DELIMITERS, QUOTE, ToldForm
from safetab.rules import release_rules
from safetab.rules.labels import is_file_name

#: The keys of the tables that may have a form of their own.
TABLES = ("codes", "race_iterations", "ethnicity_iterations", "code_to_iteration", "geography", "records")
_QUOTES = (QUOTE, "")


class Section(BaseModel):
    """A part of the document: nothing in it is unknown, and nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def broken(rule: Rule) -> PydanticCustomError:
    """The pydantic error that carries one of our rules; its type is the rule's code."""
    return PydanticCustomError(rule.code, "{rule}", {"rule": rule.text})


def _plain_file_name(value: Any) -> Any:
    if isinstance(value, str) and not is_file_name(value):
        raise broken(release_rules.FILE_NAME)
    return value


def _for_tables(allowed: Collection[str], rule: Rule) -> Callable[[Any], dict[str, str]]:
    """One of some values for every table, or a value for each of some tables."""

    def validate(value: Any) -> dict[str, str]:
        by_table = value if isinstance(value, dict) else dict.fromkeys(TABLES, value)
        if not set(by_table) <= set(TABLES) or any(text not in allowed for text in by_table.values()):
            raise broken(rule)
        return by_table

    return validate


def _schema_for_tables(allowed: Collection[str]) -> WithJsonSchema:
    one = {"enum": list(allowed)}
    by_table = {"type": "object", "properties": dict.fromkeys(TABLES, one), "additionalProperties": False}
    return WithJsonSchema({"anyOf": [one, by_table]})


FileName = Annotated[str, BeforeValidator(_plain_file_name)]
Delimiters = Annotated[
    dict[str, str],
    PlainValidator(_for_tables(tuple(DELIMITERS), release_rules.DELIMITER)),
    _schema_for_tables(tuple(DELIMITERS)),
]
Quotes = Annotated[
    dict[str, str], PlainValidator(_for_tables(_QUOTES, release_rules.QUOTE)), _schema_for_tables(_QUOTES)
]


class FilesSection(Section):
    """The names of the files, and their form. A data file may also be Parquet, a file or a folder of part files.

    Text may be compressed, with `.gz` or `.zst` after its name.
    """

    codes: FileName = Field(
        default="race-and-ethnicity-codes.txt", description="The code list, in the parameters folder."
    )
    race_iterations: FileName = Field(
        default="race-characteristic-iterations.txt", description="Race iterations, in the parameters folder."
    )
    ethnicity_iterations: FileName = Field(
        default="ethnicity-characteristic-iterations.txt",
        description="Ethnicity iterations, in the parameters folder. Not read if there is no ethnicity column.",
    )
    code_to_iteration: FileName = Field(
        default="race-and-ethnicity-code-to-iteration.txt", description="Which codes make up which iteration."
    )
    geography: FileName = Field(default="GRF-C.txt", description="The blocks and their regions, in the data folder.")
    records: FileName = Field(
        default="person-records.txt", description="The records, one for each person, in the data folder."
    )
    delimiter: Delimiters = Field(
        default_factory=dict,
        description='What separates the fields: "|", ",", ";" or "\\t". For one file alone, for example '
        '`{ geography = ";" }`. Left out: the header line decides.',
    )
    quote: Quotes = Field(
        default_factory=dict,
        description="""'"' if fields may be quoted as in RFC 4180, "" if not; also for one file alone. Left out: not """
        'between "|", unless the header is quoted.',
    )

    def told(self, table: str) -> ToldForm:
        """What the section says of the form of a table; `table` is its key here."""
        quote = self.quote.get(table)
        return ToldForm(self.delimiter.get(table), None if quote is None else quote == QUOTE, table)
