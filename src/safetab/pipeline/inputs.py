"""Reading and judging everything a release is made from: the public files first, then the record files.

In: a parameters folder, the sources of geography and records, and an engine. Out: `Inputs`, then the
records of each run, opened. Promise: `check` and `tabulate` both judge here and nowhere else; every fault that can be
found is in the findings; no record that breaks a rule is counted or left out silently, and nothing here says what a
record holds unless `show_values` was asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from safetab.engines.layout import RecordLayout, is_address
from safetab.engines.protocol import Engine, Records, unheard
from safetab.errors import UNSPENT, Finding, InputError, MachineError
from safetab.files import arrow
from safetab.files.compressed import reading_failed
from safetab.files.delimited import judged_form
from safetab.files.lines import judge_lines, line_findings
from safetab.files.memory import MemoryTable, ReadColumns, read_columns
from safetab.files.parquet import is_parquet, judged_parts
from safetab.files.parts import list_parts
from safetab.files.schemas import damaged_parts, read_schemas, schema_findings
from safetab.files.text import form_of_file, read_header
from safetab.params.load import Parameters, read_parameters
from safetab.params.plan import PlannedRun
from safetab.params.release import Release
from safetab.pipeline.groups import GroupDomain, domains_of_run
from safetab.pipeline.progress import WholeWork
from safetab.pipeline.sources import NO_SOURCES, DataSources
from safetab.population.geography import Geography, GeographyLevel
from safetab.population.geography_file import geography_columns, geography_of_run, in_no_run, read_block_table
from safetab.rules import file_rules
from safetab.rules.record_rules import NOT_A_TABLE

#: Columns of the Bureau's format that nothing reads, and that nobody needs to be warned about.
_UNUSED = {"HOUSEHOLDER", "CENRACE"}


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything public, read and sound, and where the records are."""

    parameters: Parameters
    geographies: Mapping[str, Geography]
    #: A local path, an address that the engine knows, or columns in memory.
    records: str | ReadColumns
    #: Where everything was read from; a geography in memory can be read again.
    sources: DataSources = NO_SOURCES

    @property
    def local_records(self) -> Path | None:
        """The records as a path on this machine; None for an address and for a table in memory."""
        return None if isinstance(self.records, ReadColumns) or is_address(self.records) else Path(self.records)

    @property
    def name_of_records(self) -> str:
        """What findings call the records."""
        return self.records.name if isinstance(self.records, ReadColumns) else Path(self.records).name

    @property
    def region_names(self) -> dict[str, dict[str, str]]:
        """The names of regions, by geography level and id; levels without names are left out."""
        names: dict[str, dict[str, str]] = {}
        for geography in self.geographies.values():
            for level, of_level in zip(geography.levels, geography.names, strict=True):
                if of_level:
                    names[level.name] = {**of_level, **names.get(level.name, {})}
        return {level: dict(sorted(of_level.items())) for level, of_level in names.items()}

    def without_blocks(self) -> Inputs:
        """The same, of which the blocks have been let go, once the records are read."""
        geographies = {name: geography.without_blocks() for name, geography in self.geographies.items()}
        arrow.give_back()
        return replace(self, geographies=geographies)

    def domains(self, run: PlannedRun) -> list[GroupDomain]:
        return domains_of_run(run, self.geographies[run.name])


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """What could be read of the parameters and the geography, as far as they are sound."""

    parameters: Parameters | None
    geographies: Mapping[str, Geography]
    findings: tuple[Finding, ...]
    #: Where the geography was read from; a table in memory can be read again.
    sources: DataSources = NO_SOURCES

    @property
    def is_sound(self) -> bool:
        """Whether every run has a plan and a geography, so that records can be judged."""
        return self.parameters is not None and len(self.geographies) == len(self.parameters.release.runs)


def read_public(params: Path, data: DataSources | None) -> PublicFiles:
    """Read and judge the parameter files and, where data are named, the geography file."""
    findings: list[Finding] = []
    parameters = read_parameters(params, findings)
    if data is not None and data.folder is not None and not data.folder.is_dir():
        findings.append(Finding(file_rules.MISSING_FILE, str(data.folder), seen="the data folder"))
        data = None
    geographies: dict[str, Geography] = {}
    if parameters is not None and data is not None:
        data = _held(data, parameters.release, findings)
        geographies = read_geographies(parameters.release, data, findings)
    return PublicFiles(parameters, geographies, tuple(findings), data or NO_SOURCES)


def _held(data: DataSources, release: Release, findings: list[Finding]) -> DataSources:
    """The sources with a geography in memory that can be read more than once: a stream is gone after the first time."""
    if not isinstance(data.geography, MemoryTable):
        return data
    found = read_columns(data.geography, geography_columns(release.columns.block, _levels(release)), findings)
    return replace(data, geography=None if found is None else MemoryTable(found.name, found.table))


def read_inputs(params: Path, data: DataSources) -> tuple[Inputs, list[Finding]]:
    """Everything that a tabulation needs, and the warnings; raises with every fault."""
    public = read_public(params, data)
    findings = list(public.findings)
    records: str | ReadColumns | None = None
    if public.parameters is not None and (data.folder is None or data.folder.is_dir()):
        records = find_records(data, public.parameters.release, findings)
    errors = [finding for finding in findings if finding.is_error]
    if errors or public.parameters is None or records is None:
        raise InputError(errors, state=UNSPENT)
    return Inputs(public.parameters, public.geographies, records, public.sources), findings


def find_records(data: DataSources, release: Release, findings: list[Finding]) -> str | ReadColumns | None:
    """Where the records are, or, of records in memory, the columns that are read."""
    source = data.find_records(release.files.records, findings)
    if not isinstance(source, MemoryTable):
        return source
    return read_columns(source, release.columns.read, findings)


def _levels(release: Release) -> list[GeographyLevel]:
    return list({level.name: level for run in release.runs for level in run.geography_levels}.values())


def read_geographies(release: Release, data: Path | DataSources, findings: list[Finding]) -> dict[str, Geography]:
    """The geography of each run, as far as the geography table is sound; `data` may be the folder that it is in."""
    sources = data if isinstance(data, DataSources) else DataSources(folder=data)
    columns, files = release.columns, release.files
    source = sources.find_geography(files.geography, findings)
    if source is None:
        return {}
    table = read_block_table(source, columns.block, _levels(release), columns.widths, findings, files.told("geography"))
    if table is None:
        return {}
    geographies = {
        run.name: geography_of_run(table, run.name, run.only, columns.block, run.geography_levels, findings)
        for run in release.runs
    }
    file = table.file
    # A nation's geography takes several times the memory while it is read and folded.
    del table
    arrow.give_back()
    found = {name: geography for name, geography in geographies.items() if geography is not None}
    findings += in_no_run(file, [run.only for run in release.runs], list(found.values()))
    return found


def open_records(
    engine: Engine,
    inputs: Inputs,
    *,
    show_values: bool = False,
    work: WholeWork | None = None,
) -> dict[str, Records]:
    """The records of every run, read and judged; raises with every fault of every run.

    Only columns in memory and a file on this machine can be judged before they are read. `work` receives the progress
    of the reading, and columns that nothing reads: their names are public. Other warnings depend on what records
    contain; they are for `check`, which stays in the secure area.
    """
    parameters, local = inputs.parameters, inputs.local_records
    release = parameters.release
    judged = judge_records(inputs)
    findings = [finding for finding in judged if finding.is_error]
    if work is not None and not findings:
        work.watcher.warn([finding for finding in judged if finding.rule is file_rules.UNREAD_COLUMN])
    opened: dict[str, Records] = {}
    for run in release.runs if not findings else ():
        geography = inputs.geographies[run.name]
        layout = RecordLayout.of(inputs.records, release, run, parameters.catalogue, geography, show_values=show_values)
        on_read = unheard if work is None else partial(work.reading, run.name)
        on_read(0)
        try:
            opened[run.name] = engine.open(layout, geography, on_read)
            if work is not None:
                work.was_read(run.name)
        except InputError as error:
            findings += error.findings
        except MachineError:
            damaged = damaged_parts(list_parts(local)[0]) if local and layout.is_parquet else []
            if not damaged:
                raise
            findings += damaged
    if findings:
        raise InputError(_each_once(inputs, findings), state=UNSPENT)
    return opened


def judge_records(inputs: Inputs) -> list[Finding]:
    """What can be said of the records before they are read; nothing of those on a cluster."""
    release = inputs.parameters.release
    if isinstance(inputs.records, ReadColumns):
        return unread_columns(inputs.records.name, inputs.records.all_names, release.columns.read)
    return [] if inputs.local_records is None else _judge_record_file(inputs.local_records, release)


def _judge_record_file(path: Path, release: Release) -> list[Finding]:
    """What can be said of the file before its records are read: header or schemas, line ends, columns nobody reads."""
    wanted = list(release.columns.read)
    findings: list[Finding] = []
    if is_parquet(path):
        schemas = read_schemas(judged_parts(path, findings), findings)
        findings += schema_findings(path.name, schemas, wanted)
        return findings + unread_columns(path.name, {name for schema in schemas for name in schema.names}, wanted)
    told = release.files.told("records")
    header = read_header(path, findings, may_be_quoted=told.is_quoted is not False)
    form = None if header is None else judged_form(path.name, header, wanted, told, findings)
    if header is None or form is None:
        return findings
    findings += unread_columns(path.name, form.names(header), wanted)
    try:
        findings += judge_lines(path, form, told)
    except OSError:
        findings.append(reading_failed(path))
    return findings


def unread_columns(table: str, names: Collection[str], wanted: Sequence[str]) -> list[Finding]:
    """A warning about columns that nothing reads. Only in a table that has all others, so that these are names."""
    unread = sorted(set(names) - set(wanted) - _UNUSED)
    if not unread or set(wanted) - set(names):
        return []
    shown = [name or "one without a name" for name in unread]
    return [Finding(file_rules.UNREAD_COLUMN, table, seen=", ".join(shown))]


def _each_once(inputs: Inputs, findings: list[Finding]) -> list[Finding]:
    """Each finding once, and in place of "not a table" the lines that are to blame, where they can be found."""
    local = inputs.local_records
    if local is not None and local.is_file() and any(finding.rule is NOT_A_TABLE for finding in findings):
        release = inputs.parameters.release
        told = release.files.told("records")
        form = form_of_file(local, release.columns.read, [], told)
        lines = [] if form is None else line_findings(local, form, told)
        if lines:
            findings = [finding for finding in findings if finding.rule is not NOT_A_TABLE] + lines
    return list(dict.fromkeys(findings))
