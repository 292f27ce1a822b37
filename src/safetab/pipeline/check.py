"""Everything that can be judged without drawing noise: parameter files, group definitions, geography, records.

In: a parameters folder and perhaps a data folder or tables. Out: a `CheckReport`, as full as the files allow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from safetab.arguments import as_path, refuse_other_than_bool
from safetab.engines.choice import DuckDb
from safetab.engines.protocol import Records
from safetab.errors import Finding, InputError
from safetab.files.parts import part_files
from safetab.params.load import Parameters
from safetab.params.plan import PlannedRun
from safetab.pipeline.inputs import (
    Inputs,
    PublicFiles,
    find_records,
    judge_records,
    open_records,
    read_public,
)
from safetab.pipeline.process import holding_records
from safetab.pipeline.sources import Data, data_sources
from safetab.pipeline.workspace import private_folder
from safetab.population.geography import Geography
from safetab.rules.file_rules import EMPTY_VALUE, MISSING_FILE
from safetab.rules.record_rules import FAULTS, LEADING_ZEROS, NO_RECORDS

#: What can be wrong with records that were judged, every one; any other fault kept them from being read.
_OF_RECORDS = {*FAULTS, EMPTY_VALUE, LEADING_ZEROS, NO_RECORDS}


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run: its plan and, where a data folder was named, its geography."""

    planned: PlannedRun
    geography: Geography | None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found: what the release will be, as far as the files are sound, and every finding."""

    #: The release and its plan; None where its files are not sound.
    parameters: Parameters | None
    #: The plan of each run and, where a data folder was named, its geography.
    runs: tuple[CheckedRun, ...]
    #: Everything that was found, errors and warnings.
    findings: tuple[Finding, ...]
    #: Whether the records were there and were judged, every one.
    judged_records: bool = False
    #: How many files with records there are.
    record_files: int = 0

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop a tabulation."""
        return tuple(finding for finding in self.findings if finding.is_error)

    def __repr__(self) -> str:
        errors = len(self.errors)
        return f"CheckReport({len(self.runs)} runs, {errors} errors, {len(self.findings) - errors} warnings)"


@holding_records()
def check_inputs(params: str | Path, data: Data | None = None, *, show_values: bool = False) -> CheckReport:
    """Judge a parameters folder and, where data are named, the geography, and the records if there are any.

    `data` is the data folder, or a mapping `{"records": ..., "geography": ...}` of paths and of tables in memory.
    With `show_values` findings quote what the records contain; for the secure area only.
    """
    refuse_other_than_bool(show_values=show_values)
    params = as_path(params, "params")
    sources = None if data is None else data_sources(data, may_lack_records=True)
    public = read_public(params, sources)
    if public.parameters is None:
        return CheckReport(None, (), public.findings)
    runs = tuple(CheckedRun(run, public.geographies.get(run.name)) for run in public.parameters.plan.runs)
    findings = list(public.findings)
    records = None
    if sources is not None and (sources.folder is None or sources.folder.is_dir()):
        absent: list[Finding] = []
        records = find_records(sources, public.parameters.release, absent)
        # A folder without records is sound; a place that was named and is not there is not.
        findings += [found for found in absent if found.rule is not MISSING_FILE or sources.records is not None]
    if records is None:
        return CheckReport(public.parameters, runs, tuple(findings))
    inputs = Inputs(public.parameters, public.geographies, records, public.sources)
    judged = _check_records(public, inputs, findings, show_values)
    files = 0 if inputs.local_records is None else len(part_files(inputs.local_records))
    return CheckReport(public.parameters, runs, tuple(findings), judged, files)


def _check_records(public: PublicFiles, inputs: Inputs, findings: list[Finding], show_values: bool) -> bool:
    """Judge every record, where the files are sound and there is a geography to judge them by; whether that was so."""
    of_files = judge_records(inputs)
    findings += of_files
    if not public.is_sound or any(finding.is_error for finding in of_files):
        return False
    # What the engine keeps while it reads is confidential: a folder of its own, mode 0700, in TMPDIR.
    own = private_folder(Path(tempfile.gettempdir()), "safetab-check-")
    with own as folder, closing(DuckDb().start(folder)) as engine:
        try:
            findings += _empty_runs(inputs.name_of_records, open_records(engine, inputs, show_values=show_values))
        except InputError as error:
            findings += error.findings
            return all(finding.rule in _OF_RECORDS for finding in error.findings)
    return True


def _empty_runs(file: str, opened: Mapping[str, Records]) -> list[Finding]:
    """A warning about runs without records: they are tabulated like all others, and are seldom meant."""
    return [
        Finding(NO_RECORDS, file, key=f"run {name}") for name, records in opened.items() if not len(records.code_sets())
    ]
