"""Judging the records: their file first, then every record, in the pass that counts them.

In: a release, its geographies, the path of the records and an engine. Out: the records of each run, opened, or one
`InputError` with the faults of all of them. Promise: no record that breaks a rule is counted or left out silently, and
nothing here says what a record holds unless `show_values` was asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.engines.protocol import Engine, RecordLayout, Records, is_address
from safetab.engines.rules import NO_RECORDS, NOT_A_TABLE
from safetab.errors import UNSPENT, Finding, InputError, MachineError
from safetab.files import rules
from safetab.files.lines import line_findings, looks_uniform
from safetab.files.parquet import part_files
from safetab.files.text import header_is_sound, read_header
from safetab.params.load import Parameters
from safetab.params.release import RecordColumns
from safetab.population.geography import Geography

#: Columns of the Bureau's format that nothing reads, and that nobody needs to be told of.
_UNUSED = {"HOUSEHOLDER", "CENRACE"}


def open_runs(
    engine: Engine,
    path: str,
    parameters: Parameters,
    geographies: Mapping[str, Geography],
    *,
    show_values: bool = False,
) -> dict[str, Records]:
    """The records of every run, read and judged; raises with every fault of every run.

    `path` is a local path, or an address that the engine knows; only a local file can be judged before it is read.
    """
    release = parameters.release
    local = None if is_address(path) else Path(path)
    findings = [finding for finding in judge_file(local, release.columns) if finding.is_error] if local else []
    opened: dict[str, Records] = {}
    for run in release.runs if not findings else ():
        geography = geographies[run.name]
        layout = RecordLayout.of(path, release, run, parameters.catalogue, geography, show_values=show_values)
        try:
            opened[run.name] = engine.open(layout, geography)
        except InputError as error:
            findings += [
                dataclasses.replace(finding, key=f"run {run.name}") if finding.rule is NO_RECORDS else finding
                for finding in error.findings
            ]
        except MachineError:
            damaged = _damaged_parts(local) if local and layout.is_parquet else []
            if not damaged:
                raise
            findings += damaged
    if findings:
        raise InputError(_told_once(Path(path), findings), state=UNSPENT)
    return opened


def judge_file(path: Path, columns: RecordColumns) -> list[Finding]:
    """What can be told of the file before its records are read: header or schemas, line ends, columns nobody reads."""
    wanted = list(dict.fromkeys([*columns.block, columns.age, columns.sex, *columns.race_codes]))
    wanted += [columns.ethnicity] if columns.ethnicity else []
    if path.is_dir() or path.suffix == ".parquet":
        return _judge_parquet(path, wanted)
    findings: list[Finding] = []
    header = read_header(path, findings)
    if header is None or not header_is_sound(path.name, header, wanted, findings):
        return findings
    findings += _unread(path, header.split("|"), wanted)
    if not looks_uniform(path):
        findings += line_findings(path)
    return findings


def _judge_parquet(path: Path, wanted: list[str]) -> list[Finding]:
    parts = part_files(path)
    if not parts:
        return [Finding(rules.EMPTY_FILE, path.name, seen="a folder without .parquet files")]
    findings: list[Finding] = []
    kinds: dict[str, set[str]] = {name: set() for name in wanted}
    unread: set[str] = set()
    for part in parts:
        try:
            schema = pq.read_schema(part)
        except (pa.ArrowException, OSError):
            findings.append(Finding(rules.NOT_PARQUET, part.name))
            continue
        for name in wanted:
            # Engines do not tell capitals apart.
            alike = [other for other in schema.names if other.lower() == name.lower()]
            if alike != [name]:
                rule = rules.REPEATED_COLUMN if name in schema.names else rules.MISSING_COLUMN
                findings.append(Finding(rule, part.name, key=name))
                continue
            kind = _value_type(schema.field(name).type)
            kinds[name].add(str(kind))
            if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                findings.append(Finding(rules.COLUMN_TYPE, part.name, key=name, seen=f"of type {kind}"))
        unread |= set(schema.names)
    for name, found in kinds.items():
        if len(found) > 1:
            seen = f"of types {', '.join(sorted(found))}"
            findings.append(Finding(rules.PARTS_DIFFER, path.name, key=name, seen=seen))
    return findings + _unread(path, sorted(unread), wanted)


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _unread(path: Path, names: list[str], wanted: list[str]) -> list[Finding]:
    """A warning about columns that nothing reads. Only in a file that has all others, so that these are names."""
    unread = sorted(set(names) - set(wanted) - _UNUSED)
    if not unread or set(wanted) - set(names):
        return []
    return [Finding(rules.UNREAD_COLUMN, path.name, seen=", ".join(unread))]


def _damaged_parts(path: Path) -> list[Finding]:
    """The parts that cannot be read to their end; asked only when an engine has failed."""
    damaged: list[Finding] = []
    for part in part_files(path):
        try:
            with pq.ParquetFile(part) as file:
                for _ in file.iter_batches():
                    pass
        except (pa.ArrowException, OSError):
            damaged.append(Finding(rules.NOT_PARQUET, part.name))
    return damaged


def _told_once(path: Path, findings: list[Finding]) -> list[Finding]:
    """Each finding once, and in place of "not a table" the lines that make it none, where they can be found."""
    if path.is_file() and any(finding.rule is NOT_A_TABLE for finding in findings):
        lines = line_findings(path)
        if lines:
            findings = [finding for finding in findings if finding.rule is not NOT_A_TABLE] + lines
    return list(dict.fromkeys(findings))
