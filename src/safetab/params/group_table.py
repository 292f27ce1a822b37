"""One table of groups: a line for each code, and a pair of columns (code, name) for each level, coarse to fine.

In: the table, its pairs of columns, and the codes that belong to no group. Out: the code list, the iterations and the
mapping between them, as the files of a parameters folder have them. Promise: at every level each code that belongs to a
group is in exactly one alone group and one in-combination group; no two iterations have the same code.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetab.errors import Finding
from safetab.files.delimited import TextForm, ToldForm
from safetab.files.parquet import read_table
from safetab.files.text import TextTable, at_rows, empty_values, repeated_rows
from safetab.rules import group_rules
from safetab.rules.labels import is_label, one_line

#: What an iteration code ends in, and what the name of the group ends in.
_ALONE, _COMBINATION = ("-alone", " alone"), ("-any", " alone or in combination")
CODES_FILE, ITERATIONS_FILE, MAPPING_FILE = "codes.csv", "iterations.csv", "codes-of-iterations.csv"


@dataclass(frozen=True, slots=True)
class LevelColumns:
    """The columns of one level of groups: codes, and names if there are any."""

    code: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The codes with their names, and for each level the groups: code, name, codes in it."""

    codes: dict[str, str]
    levels: tuple[dict[str, tuple[str, list[str]]], ...]

    def texts(self, form: TextForm, *, one_code: bool) -> dict[str, str]:
        """The group files by name. People who can have one code alone need no in-combination groups."""
        kinds = [("", "")] if one_code else [_ALONE, _COMBINATION]
        all_codes = [code for level in self.levels for code in level]
        # The level goes before a code that stands for groups of several levels, and then before all of them.
        is_shared = len(set(all_codes)) < len(all_codes)
        iterations: list[tuple[str, ...]] = []
        mapping: list[tuple[str, str]] = []
        for number, level in enumerate(self.levels, start=1):
            for code, (name, members) in level.items():
                for ending, words in kinds:
                    iteration = f"{number}.{code}{ending}" if is_shared else f"{code}{ending}"
                    is_alone = str(ending != _COMBINATION[0])
                    iterations.append((iteration, name + words, str(number), is_alone, "False", "False"))
                    mapping += [(iteration, member) for member in members]
        columns = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL", "ALONE", "DETAILED_ONLY", "COARSE_ONLY")
        return {
            CODES_FILE: _text(form, ("RACE_ETH_CODE", "RACE_ETH_NAME"), self.codes.items()),
            ITERATIONS_FILE: _text(form, columns, iterations),
            MAPPING_FILE: _text(form, ("ITERATION_CODE", "RACE_ETH_CODE"), mapping),
        }


def read_group_table(
    path: Path, levels: Sequence[LevelColumns], no_group: Sequence[str], told: ToldForm, findings: list[Finding]
) -> GroupTable | None:
    """Read and judge the table of groups."""
    code_columns = [level.code for level in levels]
    columns = list(dict.fromkeys([*code_columns, *(level.name for level in levels if level.name)]))
    table = read_table(path, columns, {}, findings, told)
    if table is None:
        return None
    found = [
        *empty_values(table, code_columns),
        *_not_labels(table, code_columns),
        *_repeated(table, code_columns[-1]),
    ]
    found += [finding for level in levels[:-1] if level.name for finding in _two_names(table, level.code, level.name)]
    found += _no_group_findings(table, code_columns, no_group)
    findings.extend(found)
    if found:
        return None
    finest = table.column(code_columns[-1])
    codes = dict(zip(finest, _names(table, levels[-1]), strict=True))
    codes |= {code: "In no group" for code in no_group if code not in codes}
    groups = tuple(_groups(table, level, finest, set(no_group)) for level in levels)
    return GroupTable(codes, groups)


def _groups(
    table: TextTable, level: LevelColumns, finest: Sequence[str], no_group: set[str]
) -> dict[str, tuple[str, list[str]]]:
    groups: dict[str, tuple[str, list[str]]] = {}
    for group, name, code in zip(table.column(level.code), _names(table, level), finest, strict=True):
        if code not in no_group:
            groups.setdefault(group, (name, []))[1].append(code)
    return groups


def _names(table: TextTable, level: LevelColumns) -> list[str]:
    """The name on each line of a level; a group without a name has its code in its place."""
    codes = table.column(level.code)
    names = codes if level.name is None else table.column(level.name)
    return [one_line(name) or code for name, code in zip(names, codes, strict=True)]


def _not_labels(table: TextTable, columns: Sequence[str]) -> list[Finding]:
    found: list[Finding] = []
    for column in columns:
        rows = [row for row, code in enumerate(table.column(column)) if not is_label(code)]
        if rows:
            found.append(at_rows(group_rules.CODE_LABEL, table, rows, key=column))
    return found


def _repeated(table: TextTable, column: str) -> list[Finding]:
    rows = repeated_rows(table.column(column))
    return [at_rows(group_rules.CODE_ON_TWO_LINES, table, rows, key=column)] if rows else []


def _no_group_findings(table: TextTable, columns: Sequence[str], no_group: Sequence[str]) -> list[Finding]:
    """Codes of no group that are no codes of records, and a table that keeps no code in a group."""
    finest = set(table.column(columns[-1]))
    coarser = {code for column in columns[:-1] for code in table.column(column)} - finest
    without_zeros = {code.lstrip("0") for code in finest}
    found = [
        Finding(rule, "--no-group", seen=repr(code))
        for code in no_group
        for rule, is_wrong in (
            (group_rules.NO_GROUP_OF_CODES, code in coarser),
            (group_rules.NO_GROUP_SPELLING, code not in finest | coarser and code.lstrip("0") in without_zeros),
            (group_rules.CODE_LABEL, not is_label(code)),
        )
        if is_wrong
    ]
    if finest <= set(no_group):
        found.append(Finding(group_rules.NO_GROUPS_LEFT, table.file, key=columns[-1]))
    return found


def _two_names(table: TextTable, code_column: str, name_column: str) -> list[Finding]:
    first: dict[str, str] = {}
    rows = [
        row
        for row, (code, name) in enumerate(zip(table.column(code_column), table.column(name_column), strict=True))
        if first.setdefault(code, name) != name
    ]
    return [at_rows(group_rules.TWO_NAMES, table, rows, key=name_column)] if rows else []


def _text(form: TextForm, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    if not form.is_quoted:
        return "".join(form.delimiter.join(row) + "\n" for row in (header, *rows))
    out = io.StringIO()
    csv.writer(out, delimiter=form.delimiter, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()
