"""Group definitions: the code list, the two iteration files and the mapping between them.

In: four text files of the parameters folder. Out: an `IterationCatalogue`. Promise: in a catalogue that comes
back every iteration has codes, and within one iteration level, aloneness and kind of geography a code belongs to
one iteration at most, so that membership is unambiguous and stability is exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetab.errors import Finding, Rule
from safetab.files.parquet import locate_text
from safetab.files.text import TextTable, at_rows, empty_values, read_text, repeated_rows
from safetab.params.files_section import FilesSection
from safetab.params.release import Release
from safetab.population.iterations import Iteration, IterationCatalogue, Kind, Reach
from safetab.rules import group_rules
from safetab.rules.labels import is_label, one_line

_CODE_COLUMNS = ("RACE_ETH_CODE", "RACE_ETH_NAME")
_ETHNICITY_COLUMNS = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL", "DETAILED_ONLY", "COARSE_ONLY")
_RACE_COLUMNS = (*_ETHNICITY_COLUMNS, "ALONE")
_MAPPING_COLUMNS = ("ITERATION_CODE", "RACE_ETH_CODE")
#: Codes and iterations are numbered with 16 bits: a nation has millions of code sets.
_MOST_GROUPS = 32_767
_FLAGS: dict[str, bool | None] = {"True": True, "False": False, "Null": None}


@dataclass(frozen=True, slots=True)
class _Definition:
    """A line of an iteration file, before its codes are known."""

    table: TextTable
    row: int
    code: str
    name: str
    level: int
    kind: Kind
    reach: Reach | None


def read_groups(folder: Path, release: Release, findings: list[Finding]) -> IterationCatalogue | None:
    """Read and judge the four files that define the groups."""
    before = len(findings)
    files = release.files
    codes = _read(folder, files, "codes", _CODE_COLUMNS, findings)
    race = _read(folder, files, "race_iterations", _RACE_COLUMNS, findings)
    has_ethnicity = release.columns.ethnicity is not None
    ethnicity = _read(folder, files, "ethnicity_iterations", _ETHNICITY_COLUMNS, findings) if has_ethnicity else None
    mapping = _read(folder, files, "code_to_iteration", _MAPPING_COLUMNS, findings)

    known_codes = None if codes is None else _known_codes(codes, release, findings)
    definitions = [
        definition
        for table in (race, ethnicity)
        if table is not None
        for definition in _definitions(table, release, findings)
    ]
    _report_repeated_iterations(definitions, findings)
    findings.extend(_too_many(files.race_iterations, len(definitions), "iterations"))
    iterations_are_known = race is not None and (ethnicity is not None or not has_ethnicity)
    if mapping is None or not iterations_are_known:
        return None
    members = _members(mapping, known_codes, definitions, findings)
    _report_missing_codes(definitions, members, findings)
    iterations = [Iteration(d.code, d.name, d.level, d.kind, d.reach, frozenset(members[d.code])) for d in definitions]
    findings.extend(_overlaps(iterations, files.code_to_iteration))
    if known_codes is None or any(finding.is_error for finding in findings[before:]):
        return None
    catalogue = IterationCatalogue(tuple(known_codes), tuple(iterations))
    findings.extend(_levels_without_iterations(release, catalogue, files.race_iterations))
    return catalogue


def _read(
    folder: Path, files: FilesSection, table_key: str, columns: Sequence[str], findings: list[Finding]
) -> TextTable | None:
    path = locate_text(folder, getattr(files, table_key), findings)
    table = None if path is None else read_text(path, columns, findings, files.told(table_key))
    if table is not None:
        findings.extend(empty_values(table, columns))
    return table


def _wrong_width(table: TextTable, column: str, width: int | None) -> list[Finding]:
    values = table.column(column)
    rows = [row for row, value in enumerate(values) if value and width is not None and len(value) != width]
    return [at_rows(group_rules.CODE_WIDTH, table, rows, key=column, seen=f"not {width} wide")] if rows else []


def _not_labels(table: TextTable, column: str) -> list[Finding]:
    rows = [row for row, value in enumerate(table.column(column)) if not is_label(value)]
    return [at_rows(group_rules.CODE_LABEL, table, rows, key=column)] if rows else []


def _too_many(file: str, number: int, what: str) -> list[Finding]:
    return [Finding(group_rules.TOO_MANY_GROUPS, file, seen=f"{number:,} {what}")] if number > _MOST_GROUPS else []


def _known_codes(table: TextTable, release: Release, findings: list[Finding]) -> set[str]:
    codes = table.column("RACE_ETH_CODE")
    repeated = repeated_rows(codes)
    if repeated:
        findings.append(at_rows(group_rules.REPEATED_CODE, table, repeated))
    findings.extend(_wrong_width(table, "RACE_ETH_CODE", release.code_width))
    findings.extend(_not_labels(table, "RACE_ETH_CODE"))
    findings.extend(_too_many(table.file, len(codes), "codes"))
    if release.columns.no_code in codes:
        rows = [row for row, code in enumerate(codes) if code == release.columns.no_code]
        findings.append(at_rows(group_rules.NO_CODE_IS_A_CODE, table, rows, key="RACE_ETH_CODE"))
    return set(codes)


def _definitions(table: TextTable, release: Release, findings: list[Finding]) -> list[_Definition]:
    """The iterations of one file; every line gives one, with a stand-in for a value that is wrong."""
    findings.extend(_wrong_width(table, "ITERATION_CODE", release.code_width))
    findings.extend(_not_labels(table, "ITERATION_CODE"))
    names = table.columns.column_names
    columns = {name: table.column(name) for name in names}
    allowed_levels = {"0", *(str(level) for level in release.iteration_levels)}
    faults: dict[tuple[Rule, str], list[int]] = defaultdict(list)
    definitions: list[_Definition] = []
    for row in range(len(table)):
        line = {name: columns[name][row] for name in names}
        if line["LEVEL"] not in allowed_levels:
            faults[group_rules.ITERATION_LEVEL, "LEVEL"].append(row)
        for name in ("ALONE", "DETAILED_ONLY", "COARSE_ONLY"):
            spelled_right = {"True", "False"} if name == "ALONE" else set(_FLAGS)
            if name in line and line[name] not in spelled_right:
                faults[group_rules.FLAG, name].append(row)
        detailed, coarse = _FLAGS.get(line["DETAILED_ONLY"]), _FLAGS.get(line["COARSE_ONLY"])
        if detailed and coarse:
            faults[group_rules.BOTH_FLAGS, ""].append(row)
        is_level_0 = line["LEVEL"] == "0"
        if (line["DETAILED_ONLY"] == "Null") is not is_level_0 or (line["COARSE_ONLY"] == "Null") is not is_level_0:
            faults[group_rules.LEVEL_0_FLAGS, ""].append(row)
        definitions.append(_define(table, row, line, _reach(detailed, coarse)))
    findings.extend(at_rows(rule, table, rows, key=key) for (rule, key), rows in faults.items())
    return definitions


def _define(table: TextTable, row: int, line: Mapping[str, str], reach: Reach | None) -> _Definition:
    alone = line.get("ALONE")
    kind = Kind.ETHNICITY if alone is None else Kind.ALONE if alone == "True" else Kind.COMBINATION
    level = int(line["LEVEL"]) if line["LEVEL"].isascii() and line["LEVEL"].isdigit() else 0
    return _Definition(table, row, line["ITERATION_CODE"], one_line(line["ITERATION_NAME"]), level, kind, reach)


def _reach(detailed_only: bool | None, coarse_only: bool | None) -> Reach | None:
    if detailed_only is None or coarse_only is None:
        return None
    return Reach.DETAILED_ONLY if detailed_only else Reach.COARSE_ONLY if coarse_only else Reach.COMMON


def _report_repeated_iterations(definitions: Sequence[_Definition], findings: list[Finding]) -> None:
    rows: dict[str, tuple[TextTable, list[int]]] = {}
    for number in repeated_rows([definition.code for definition in definitions]):
        table = definitions[number].table
        rows.setdefault(table.file, (table, []))[1].append(definitions[number].row)
    findings.extend(at_rows(group_rules.REPEATED_ITERATION, table, found) for table, found in rows.values())


def _members(
    mapping: TextTable, known_codes: set[str] | None, definitions: Sequence[_Definition], findings: list[Finding]
) -> Mapping[str, set[str]]:
    """The codes of each iteration."""
    iterations, codes = mapping.column("ITERATION_CODE"), mapping.column("RACE_ETH_CODE")
    defined = {definition.code for definition in definitions}
    pairs = list(zip(iterations, codes, strict=True))
    for rule, rows in (
        (group_rules.REPEATED_MAPPING, repeated_rows(pairs)),
        (group_rules.UNKNOWN_ITERATION, [row for row, it in enumerate(iterations) if it and it not in defined]),
        (group_rules.UNKNOWN_CODE, [row for row, c in enumerate(codes) if known_codes and c and c not in known_codes]),
    ):
        if rows:
            findings.append(at_rows(rule, mapping, rows))
    members: dict[str, set[str]] = defaultdict(set)
    for iteration, code in pairs:
        members[iteration].add(code)
    return members


def _report_missing_codes(
    definitions: Sequence[_Definition], members: Mapping[str, set[str]], findings: list[Finding]
) -> None:
    rows: dict[str, tuple[TextTable, list[int]]] = {}
    for definition in definitions:
        if definition.code and not members.get(definition.code):
            rows.setdefault(definition.table.file, (definition.table, []))[1].append(definition.row)
    findings.extend(at_rows(group_rules.ITERATION_WITHOUT_CODES, table, found) for table, found in rows.values())


def _overlaps(iterations: Sequence[Iteration], file: str) -> list[Finding]:
    """Codes that more than one iteration of a level, kind and kind of geography holds."""
    codes: dict[tuple[int, Kind], set[str]] = defaultdict(set)
    for local in (False, True):
        holder: dict[tuple[int, Kind, str], str] = {}
        for iteration in iterations:
            if not iteration.is_tabulated(local=local):
                continue
            for code in iteration.members:
                if holder.setdefault((iteration.level, iteration.kind, code), iteration.code) != iteration.code:
                    codes[iteration.level, iteration.kind].add(code)
    found: list[Finding] = []
    for (level, kind), overlapping in codes.items():
        shown = ", ".join(sorted(overlapping)[:5]) + (", ..." if len(overlapping) > 5 else "")
        seen = f"{len(overlapping)} code{'s' if len(overlapping) > 1 else ''}: {shown}"
        found.append(Finding(group_rules.OVERLAP, file, key=f"level {level}, {kind.value}", seen=seen))
    return found


def _levels_without_iterations(release: Release, catalogue: IterationCatalogue, file: str) -> list[Finding]:
    return [
        Finding(group_rules.EMPTY_LEVEL, file, key=f"run {run.name}, level {level.name}")
        for run in release.runs
        for level in run.levels_on
        if not catalogue.tabulated(level.iteration_level, local=level.geography.local)
    ]
