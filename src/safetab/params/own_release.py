"""A release for files of one's own: from what the columns are to a document and its group files.

In: `OwnFiles`, what an office says about its files. Out: a release document and the texts of the group files. Promise:
no record is read here; the document loads and checks without changes if the files have what was said of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetab.errors import Finding
from safetab.files.compressed import COMPRESSIONS
from safetab.files.delimited import QUOTE, TextForm, ToldForm
from safetab.files.parquet import is_parquet, judged_parts, read_table
from safetab.files.schemas import read_schemas, schema_findings
from safetab.files.text import TextTable, form_of_file
from safetab.params.census import AGES
from safetab.params.group_table import CODES_FILE, ITERATIONS_FILE, MAPPING_FILE, LevelColumns
from safetab.rules import usage_rules

#: The margin of error that every level begins with, in persons.
_MOE = 20
ADVICE = (
    "The margins of error below are a place to start from, not advice: choose your own, and look at what they cost",
    "with `safetab account`. A threshold is this margin times the cells of a table, so that on average a cell has as",
    "many people as its margin of error.",
)
#: How text is written where nobody has text yet.
_USUAL = TextForm(",", is_quoted=True)
_GROUP_FILES = ("codes", "race_iterations", "code_to_iteration")


@dataclass(frozen=True, slots=True)
class RegionColumns:
    """A geography level: its name, the column of its region ids if it has several regions, and that of their names."""

    level: str
    code: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """What an office says about its files."""

    title: str
    records: Path
    geography: Path
    groups: Path
    group_levels: tuple[LevelColumns, ...]
    block: tuple[str, ...]
    age: str | None
    sex: str | None
    sexes: tuple[str, ...]
    codes: tuple[str, ...]
    regions: tuple[RegionColumns, ...]
    no_code: str
    #: What was told about the form of records, geography and groups.
    told: Mapping[str, ToldForm]

    @property
    def geography_columns(self) -> list[str]:
        """The columns that name blocks and regions, each once."""
        regions = [part.code for part in self.regions if part.code]
        return list(dict.fromkeys([*self.block, *regions]))


@dataclass(frozen=True, slots=True)
class OwnForms:
    """How the files are separated; None for Parquet."""

    records: TextForm | None
    geography: TextForm | None
    groups: TextForm | None

    @property
    def of_group_files(self) -> TextForm:
        """The group files are written as the table of groups is."""
        return self.groups or _USUAL


def read_forms(own: OwnFiles, findings: list[Finding]) -> OwnForms | None:
    """Read the header lines, or the schemas of Parquet, and find every column that was named."""
    of_records = list(dict.fromkeys([*own.block, *filter(None, [own.age, own.sex]), *own.codes]))
    of_geography = [*own.geography_columns, *(part.name for part in own.regions if part.name)]
    of_groups = [column for level in own.group_levels for column in (level.code, level.name) if column]
    before = len(findings)
    records, geography, groups = (
        _form(path, columns, own.told[key], findings)
        for key, path, columns in (
            ("records", own.records, of_records),
            ("geography", own.geography, of_geography),
            ("groups", own.groups, of_groups),
        )
    )
    return None if len(findings) > before else OwnForms(records, geography, groups)


def _form(path: Path, columns: Sequence[str], told: ToldForm, findings: list[Finding]) -> TextForm | None:
    if not is_parquet(path):
        return form_of_file(path, columns, findings, told)
    schemas = read_schemas(judged_parts(path, findings), findings)
    findings += schema_findings(path.name, schemas, columns)
    return None


def own_document(own: OwnFiles, forms: OwnForms, widths: Mapping[str, int]) -> dict[str, Any]:
    """The release document, complete, with margins of error to start from."""
    columns = {
        "block": list(own.block),
        **({"age": own.age} if own.age else {}),
        **({"sex": own.sex, "sexes": list(own.sexes)} if own.sex else {}),
        "race_codes": list(own.codes),
        "no_code": own.no_code,
        **({"widths": dict(widths)} if widths else {}),
    }
    run = re.sub(r"[^a-z0-9]+", "-", own.regions[0].level.lower()).strip("-")[:100] or "all"
    bins = [len(starts) for starts in AGES["bins"]] if own.age else [1] if own.sex else []
    thresholds = [_MOE * max(len(own.sexes), 1) * number for number in bins]
    return {
        "safetab": 1,
        "title": own.title,
        "privacy": "zcdp",
        "max_race_codes": len(own.codes),
        "stage_1_fraction": "0.1",
        "zero_suppression_chance": "0.9999",
        "allow_negative_counts": True,
        **({"ages": AGES} if own.age else {}),
        "files": _files(own, forms),
        "output": {"columns": "all"},
        "columns": columns,
        "geography": _geography(own.regions),
        "run": [{"name": run}],
        "level": [
            {
                "run": run,
                "geography": part.level,
                "iteration_level": number,
                "moe_95": _MOE,
                **({"thresholds": thresholds} if thresholds else {}),
            }
            for part in own.regions
            for number in range(1, len(own.group_levels) + 1)
        ],
    }


def _files(own: OwnFiles, forms: OwnForms) -> dict[str, Any]:
    names = dict(zip(_GROUP_FILES, (CODES_FILE, ITERATIONS_FILE, MAPPING_FILE), strict=True))
    of_table = dict.fromkeys(_GROUP_FILES, forms.of_group_files)
    of_table |= {key: form for key, form in (("geography", forms.geography), ("records", forms.records)) if form}
    delimiters = {table: form.delimiter for table, form in of_table.items()}
    quotes = {table: QUOTE if form.is_quoted else "" for table, form in of_table.items()}
    return {
        **names,
        "geography": _plain_name(own.geography),
        "records": _plain_name(own.records),
        "delimiter": _once(delimiters),
        "quote": _once(quotes),
    }


def _once(by_table: Mapping[str, str]) -> str | dict[str, str]:
    """One value where all tables have it."""
    values = set(by_table.values())
    return values.pop() if len(values) == 1 else dict(by_table)


def _plain_name(path: Path) -> str:
    """The name of a file without the ending that compression gives it."""
    return path.stem if path.suffix in COMPRESSIONS else path.name


def _geography(regions: Sequence[RegionColumns]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    # As in the United States: the country and its largest regions are not local, all below them are.
    large = next((part for part in regions if part.code), None)
    for part in regions:
        if part.code is None:
            found[part.level] = {"region_id": "1"}
            continue
        found[part.level] = {"columns": [part.code]}
        if part.name:
            found[part.level]["name_column"] = part.name
        if part is not large:
            found[part.level]["local"] = True
    return found


def judge_geography(own: OwnFiles, findings: list[Finding]) -> dict[str, int]:
    """Judge the order of the geography levels by the blocks; the widths of the columns that have leading zeros."""
    table = read_table(own.geography, own.geography_columns, {}, findings, own.told["geography"])
    if table is None:
        return {}
    findings += _wrong_order(own.regions, table)
    return _fixed_widths(own.geography_columns, table)


def _wrong_order(regions: Sequence[RegionColumns], table: TextTable) -> list[Finding]:
    """A finding where a level comes before one that contains it. If neither contains the other, any order will do."""
    ids = [table.column(part.code) if part.code else [""] * len(table) for part in regions]
    numbers = [len(set(of_level)) for of_level in ids]
    wrong: list[str] = []
    for (first, fine), (later, coarse) in itertools.combinations(enumerate(ids), 2):
        if numbers[later] < numbers[first] == len(set(zip(fine, coarse, strict=True))):
            wrong.append(f"{regions[first].level} before {regions[later].level}")
    return [Finding(usage_rules.LEVELS_OUT_OF_ORDER, "--region", seen=", ".join(wrong))] if wrong else []


def _fixed_widths(columns: Sequence[str], table: TextTable) -> dict[str, int]:
    """The widths of the columns that have leading zeros, so that whole numbers in Parquet get them back."""
    widths: dict[str, int] = {}
    for column in columns:
        values = table.column(column)
        has_zeros = any(value.startswith("0") for value in values)
        if has_zeros and all(value.isascii() and value.isdecimal() for value in values):
            lengths = {len(value) for value in values}
            widths |= {column: lengths.pop()} if len(lengths) == 1 else {}
    return widths
