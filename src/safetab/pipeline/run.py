"""SafeTab, the paper's Algorithm 1: from records to T1 and T2.

In: a parameters folder and a data folder. Out: an output folder with the tables, their data dictionary and the ledger.
The promise: all of the output appears at once, or none; every record is judged and the spending is written down before
any noise is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.accounting.events import ReleasePlan, RunPlan
from safetab.checks.inputs import read_geographies
from safetab.checks.records import open_runs
from safetab.engines.protocol import Engine, Records, is_address
from safetab.errors import UNSPENT, Finding, InputError, UsageError
from safetab.files.parquet import locate
from safetab.files.rules import MISSING_FILE
from safetab.noise.source import BitSource, SystemSource
from safetab.params.load import Parameters, read_parameters
from safetab.params.release import Run
from safetab.pipeline import rules
from safetab.pipeline.assemble import Assembler, KeyOrder, PostProcessing
from safetab.pipeline.groups import GroupDomain, MembersOfRun, domains_of_run
from safetab.pipeline.ledger import RunRecord, hashes_of_parameters, ledger
from safetab.pipeline.measure import Gate
from safetab.pipeline.plan import plan_release, prepare_noise
from safetab.pipeline.precision import Precisions
from safetab.pipeline.publish import Labels, data_dictionary, file_stem, write_rows
from safetab.pipeline.registry import Registry, Spending
from safetab.pipeline.tabulate_level import tabulate_level
from safetab.pipeline.workspace import LEDGER_FILE, Workspace, refuse_output, workspace
from safetab.population.geography import Geography


class Watcher(Protocol):
    """Is told how a tabulation gets on. What it is told is public."""

    def note(self, text: str) -> None:
        """Something happened."""
        ...

    def warn(self, findings: Sequence[Finding]) -> None:
        """Something is odd, and no reason to stop."""
        ...

    def advance(self, done: int, planned: int, what: str) -> None:
        """So many of the planned groups are tabulated; `what` comes next."""
        ...


class _Silence:
    def note(self, text: str) -> None:
        """Nobody listens."""

    def warn(self, findings: Sequence[Finding]) -> None:
        """Nobody listens."""

    def advance(self, done: int, planned: int, what: str) -> None:
        """Nobody listens."""


@dataclass(frozen=True, slots=True)
class TabulatedRelease:
    """A finished release on disk."""

    folder: Path
    ledger: dict[str, Any]

    @property
    def t1(self) -> pa.Table:
        """Total population of each population group, all runs."""
        return self._table("t1")

    @property
    def t2(self) -> pa.Table:
        """Sex by age of each population group that has such a table, all runs."""
        return self._table("t2")

    def _table(self, name: str) -> pa.Table:
        parts = sorted((self.folder / name).glob("*.parquet"))
        return pa.concat_tables([pq.read_table(part) for part in parts])


def tabulate(
    params: str | Path,
    data: str | Path,
    out: str | Path,
    *,
    engine: str | Engine = "duckdb",
    records: str | Path | None = None,
    master: str | None = None,
    session: Any = None,
    overwrite: bool = False,
    registry: str | Path | None = None,
    spend_again: bool = False,
    noise: bool = True,
    source: BitSource | None = None,
    not_private: bool = False,
    watcher: Watcher | None = None,
) -> TabulatedRelease:
    """Tabulate a release and write it to `out`; `noise=False` and `source` are for tests and need `not_private`.

    `engine` is "duckdb", "spark", or an engine that the caller closes. `records` names the records where they are not
    in `data`. `master` and `session` are Spark's: where to run, or the session to run in, which stays open.
    """
    watcher = watcher or _Silence()
    params, data, out = Path(params), Path(data), Path(out)
    source = _source(noise=noise, source=source, not_private=not_private)
    is_private = source is not None and source.is_private
    if registry is not None and not is_private:
        raise UsageError(Finding(rules.NOT_PRIVATE_IN_REGISTRY, str(registry)))
    _refuse_what_is_for_spark(engine, records, master, session)
    refuse_output(out, overwrite=overwrite)
    _refuse_inside(out, (params, data, records, registry))
    inputs = _read_inputs(params, data, records, watcher)
    plan = plan_release(inputs.parameters)
    hashes = hashes_of_parameters(inputs.parameters)
    if source is not None:
        prepare_noise(plan)
    with workspace(out, overwrite=overwrite) as space, _engine(engine, space, master, session) as counting:
        opened = open_runs(counting, inputs.records, inputs.parameters, inputs.geographies)
        watcher.note("every record was read and judged")
        fingerprint = None
        if registry is not None:
            fingerprint = _enter(Path(registry), plan, inputs, spend_again=spend_again)
        progress = _Progress(watcher, inputs, plan)
        runs = [
            _tabulate_run(run, inputs, plan, opened[run.name], source, space, progress)
            for run in inputs.parameters.release.runs
        ]
        content = ledger(
            inputs.parameters,
            plan,
            runs,
            is_private=is_private,
            engine=counting.name,
            parameter_hashes=hashes,
            records_fingerprint=fingerprint,
        )
        _write_json(space.out / "data-dictionary.json", data_dictionary(inputs.parameters.catalogue.iterations))
        _write_json(space.out / LEDGER_FILE, content)
        space.publish()
    return TabulatedRelease(out, content)


@dataclass(frozen=True, slots=True)
class _Inputs:
    parameters: Parameters
    geographies: dict[str, Geography]
    #: A local path, or an address that the engine knows.
    records: str

    def domains(self, run: Run, plan: RunPlan) -> list[GroupDomain]:
        return domains_of_run(run, plan.levels, self.geographies[run.name], self.parameters.catalogue)


class _Progress:
    """Counts tabulated groups against all groups of the release."""

    def __init__(self, watcher: Watcher, inputs: _Inputs, plan: ReleasePlan) -> None:
        self._watcher, self._done = watcher, 0
        runs = zip(inputs.parameters.release.runs, plan.runs, strict=True)
        self._planned = sum(domain.groups for run, planned in runs for domain in inputs.domains(run, planned))

    def begin(self, domain: GroupDomain) -> None:
        self._watcher.advance(self._done, self._planned, domain.level.name)

    def end(self, domain: GroupDomain) -> None:
        self._done += domain.groups
        self._watcher.advance(self._done, self._planned, "")


def _tabulate_run(
    run: Run,
    inputs: _Inputs,
    plan: ReleasePlan,
    records: Records,
    source: BitSource | None,
    space: Workspace,
    progress: _Progress,
) -> RunRecord:
    """Algorithm 1 for one run: loop over the population group levels."""
    release = inputs.parameters.release
    domains = inputs.domains(run, next(planned for planned in plan.runs if planned.name == run.name))
    members = MembersOfRun(inputs.parameters.catalogue, records.code_sets())
    gate = Gate(source)
    policy = PostProcessing(release.zero_suppression_chance, release.allow_negative_counts, gate.has_noise)
    precisions = Precisions(has_noise=gate.has_noise)
    assembler = Assembler(KeyOrder.of(domains), policy, precisions)
    # Finest level first, as releases list the coarsest first: an engine makes counties out of tracts, states out of
    # counties, and need not go back to the people.
    for domain in reversed(domains):
        progress.begin(domain)
        sexes = len(release.columns.sexes)
        for noisy in tabulate_level(records, domain, members.of(domain), gate, release.age_bins, sexes):
            # ---- privacy barrier: from here on there are only noisy numbers ----
            assembler.add(domain, noisy)
        progress.end(domain)
    mechanism = domains[0].plan.mechanism.value if domains and gate.has_noise else "none"
    labels = Labels(assembler.order, release.age_bins, release.columns.sexes, mechanism, precisions.listed)
    stem = file_stem(run.name, is_private=source is not None and source.is_private)
    tables = {"t1": assembler.t1(), "t2": assembler.t2()}
    for name, rows in tables.items():
        write_rows(rows, labels, space.out / name, stem)
    return RunRecord(
        run.name,
        {domain.level.name: domain.groups for domain in domains},
        gate,
        {name: len(rows) for name, rows in tables.items()},
        assembler.suppressed,
    )


def _source(*, noise: bool, source: BitSource | None, not_private: bool) -> BitSource | None:
    """The source of randomness; None where noise is off."""
    if noise and source is None:
        return SystemSource()
    if not not_private and (not noise or (source is not None and not source.is_private)):
        raise UsageError(Finding(rules.NOT_PRIVATE, "tabulate"))
    return source if noise else None


def _read_inputs(params: Path, data: Path, named: str | Path | None, watcher: Watcher) -> _Inputs:
    """Everything public, judged; raises with every fault."""
    findings: list[Finding] = []
    parameters = read_parameters(params, findings)
    records: str | None = None
    geographies: dict[str, Geography] = {}
    if parameters is not None:
        geographies = read_geographies(parameters.release, data, findings)
        records = _place_of_records(named, data, parameters.release.files.records, findings)
    errors = [finding for finding in findings if finding.is_error]
    if errors or parameters is None or records is None:
        raise InputError(errors, state=UNSPENT)
    watcher.warn(findings)
    return _Inputs(parameters, geographies, records)


def _place_of_records(named: str | Path | None, data: Path, file: str, findings: list[Finding]) -> str | None:
    """Where the records are: at the place that was named, else in the data folder."""
    if named is None:
        found = locate(data, file, findings)
        return None if found is None else str(found)
    if not is_address(str(named)) and not Path(named).exists():
        findings.append(Finding(MISSING_FILE, str(named)))
    return str(named)


def _refuse_what_is_for_spark(
    engine: str | Engine, records: str | Path | None, master: str | None, session: Any
) -> None:
    """Raise where DuckDB is asked for what only Spark can do."""
    at_address = records is not None and is_address(str(records))
    if engine == "duckdb" and (at_address or master is not None or session is not None):
        raise UsageError(Finding(rules.FOR_SPARK, "engine duckdb"))


def _refuse_inside(out: Path, places: Iterable[str | Path | None]) -> None:
    """Raise where what must stay lies in the folder that is replaced and published."""
    for place in places:
        if place is not None and not is_address(str(place)) and Path(place).resolve().is_relative_to(out.resolve()):
            raise UsageError(Finding(rules.OUTPUT_HOLDS_INPUT, str(out)))


def _engine(engine: str | Engine, space: Workspace, master: str | None, session: Any) -> AbstractContextManager[Engine]:
    """The engine to count with, imported only now; one of ours is closed before the workspace goes."""
    if not isinstance(engine, str):
        return nullcontext(engine)
    if engine == "duckdb":
        from safetab.engines.duckdb_engine import DuckDbEngine

        return closing(DuckDbEngine(space.engine))
    if engine == "spark":
        from safetab.engines.spark_engine import SparkEngine

        return closing(SparkEngine(space.engine, master=master, session=session))
    raise UsageError(Finding(rules.UNKNOWN_ENGINE, engine))


def _enter(path: Path, plan: ReleasePlan, inputs: _Inputs, *, spend_again: bool) -> str | None:
    """Write the spending into the registry, durably, before any noise is drawn."""
    release = inputs.parameters.release
    spending = Spending(release.privacy, max(run.budget for run in plan.runs))
    # Records on a cluster are not fetched for a fingerprint; the spending counts all the same.
    records = None if is_address(inputs.records) else Path(inputs.records)
    return Registry(path).enter(spending, {"title": release.title}, records, spend_again=spend_again)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
