"""A tabulation from beginning to end: request, inputs, records, Algorithm 1 for each run, ledger, publication.

In: a parameters folder, and a data folder or tables. Out: an output folder with the tables, their data dictionary and
the ledger. The promise: all of the output appears at once, or none; every record is judged and the spending is written
down before any noise is drawn.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from safetab.arguments import as_path, refuse_other_than_bool
from safetab.engines.choice import EngineChoice, chosen_engine
from safetab.engines.protocol import Records
from safetab.engines.workers import keeping_threads
from safetab.files.durable import write_json
from safetab.files.memory import ReadColumns
from safetab.files.seals import hash_files, read_signing_key, seal
from safetab.noise.source import BitSource
from safetab.params.definitions import group_definitions
from safetab.params.plan import PlannedRun
from safetab.pipeline.columns import data_dictionary
from safetab.pipeline.describe import write_geography
from safetab.pipeline.inputs import Inputs, open_records, read_inputs
from safetab.pipeline.ledger import RunRecord, hashes_of_geography, hashes_of_parameters, ledger
from safetab.pipeline.measure import Gate
from safetab.pipeline.process import heed_interrupt, holding_records, seldom_looking_for_garbage
from safetab.pipeline.progress import Progress, RunWork, Unwatched, Watcher, WholeWork
from safetab.pipeline.progress_report import LOG, Logged, ProgressReport, failures_logged
from safetab.pipeline.publish import DICTIONARY_FILE, Labels, file_stem, read_rows, write_rows
from safetab.pipeline.registry import Registry, Spending
from safetab.pipeline.request import MakeGate, Request, source_of_noise
from safetab.pipeline.run import tabulate_run
from safetab.pipeline.sources import Data, data_sources
from safetab.pipeline.standing import Standing
from safetab.pipeline.workspace import LEDGER_FILE, Workspace, workspace

_OF_A_WATCHER = ("note", "warn", "advance", "read")


@dataclass(frozen=True, slots=True, repr=False)
class TabulatedRelease:
    """A finished release on disk."""

    #: OUT, the folder of the release.
    folder: Path
    #: What was measured and spent: the content of ledger.json.
    ledger: dict[str, Any] = field(compare=False)

    @property
    def t1(self) -> pa.Table:
        """Total population of each population group, all runs."""
        return read_rows(self.folder, "t1")

    @property
    def t2(self) -> pa.Table:
        """Sex by age, or what the release has of the two, of each population group with such a table, all runs."""
        return read_rows(self.folder, "t2")

    def __repr__(self) -> str:
        rows = {name: sum(run["rows"][name] for run in self.ledger["runs"]) for name in ("t1", "t2")}
        privacy = f"{self.ledger['budget_symbol']} {self.ledger['total_budget']}"
        return (
            f"TabulatedRelease({str(self.folder)!r}, T1 {rows['t1']:,} rows, T2 {rows['t2']:,} rows, "
            f"{privacy if self.ledger['is_private'] else 'NOT PRIVATE'})"
        )


def tabulate(
    params: str | Path,
    data: Data,
    out: str | Path,
    *,
    engine: str | EngineChoice = "duckdb",
    records: str | Path | None = None,
    overwrite: bool = False,
    registry: str | Path | None = None,
    spend_again: bool = False,
    sign: str | Path | None = None,
    noise: bool = True,
    source: BitSource | None = None,
    gate: MakeGate = Gate,
    not_private: bool = False,
    progress: bool = False,
    watcher: Watcher | None = None,
) -> TabulatedRelease:
    """Tabulate a release and write it to `out`.

    `data` is the data folder, or a mapping `{"records": ..., "geography": ...}` of paths and of tables in memory, such
    as DataFrames. `engine` is "duckdb", "spark", or `Spark(master=..., session=...)`. `records` names the records where
    they are not in the data folder. `progress=True` shows how far the work is, on a terminal, in a notebook or a log;
    the logger `safetab` receives it too. `sign` is a PEM file with a private Ed25519 key, which signs the ledger.
    `noise=False`, a `source` and a `gate` are for tests and need `not_private=True`.
    """
    refuse_other_than_bool(
        overwrite=overwrite, spend_again=spend_again, noise=noise, not_private=not_private, progress=progress
    )
    key_file = None if sign is None else as_path(sign, "sign")
    if watcher is not None and not all(callable(getattr(watcher, name, None)) for name in _OF_A_WATCHER):
        raise TypeError(
            f"watcher is of type {type(watcher).__name__}: it must have the methods {', '.join(_OF_A_WATCHER)}."
        )
    request = Request(
        params=as_path(params, "params"),
        data=data_sources(data, records),
        out=as_path(out, "out"),
        engine=chosen_engine(engine),
        overwrite=overwrite,
        registry=None if registry is None else as_path(registry, "registry"),
        spend_again=spend_again,
        source=source_of_noise(noise=noise, source=source, make_gate=gate, not_private=not_private),
        make_gate=gate,
        sign=key_file,
        signing_key=None if key_file is None else read_signing_key(key_file),
    )
    spending = None if request.registry is None else Registry(request.registry)
    standing = Standing(spending, is_private=request.is_private)
    with ExitStack() as open_while_running:
        if watcher is None:
            watcher = open_while_running.enter_context(ProgressReport()) if progress else Unwatched()
        open_while_running.enter_context(failures_logged())
        open_while_running.enter_context(standing.told_by_errors())
        open_while_running.enter_context(holding_records())
        open_while_running.enter_context(seldom_looking_for_garbage())
        open_while_running.enter_context(keeping_threads())
        return _carry_out(request, Logged(watcher), standing)


def _carry_out(request: Request, watcher: Watcher, standing: Standing) -> TabulatedRelease:
    inputs, warnings = read_inputs(request.params, request.data)
    watcher.warn(warnings)
    hashes = {
        "parameters": hashes_of_parameters(inputs.parameters),
        "geography": hashes_of_geography(inputs.parameters, inputs.sources),
    }
    with (
        workspace(request.out, overwrite=request.overwrite, for_everybody=request.is_private) as space,
        closing(request.engine.start(space.engine)) as engine,
    ):
        standing.space = space
        work = whole_work(watcher, inputs)
        opened = open_records(engine, inputs, work=work)
        inputs = inputs.without_blocks()
        watcher.note("every record was read and judged")
        heed_interrupt()
        fingerprint = enter_spending(request, inputs, standing.registry)
        standing.may_draw = True
        runs = [
            _tabulate_and_write(run, inputs, opened[run.name], request, space, work.of_run(run.name))
            for run in inputs.parameters.plan.runs
        ]
        release, iterations = inputs.parameters.release, inputs.parameters.catalogue.iterations
        dictionary = data_dictionary(release.text_columns, iterations, inputs.region_names, release.detail)
        dictionary |= group_definitions(release, iterations)
        write_json(space.out / DICTIONARY_FILE, dictionary)
        content = ledger(
            inputs.parameters,
            runs,
            is_private=request.is_private,
            engine=engine.name,
            hashes=hashes,
            records_fingerprint=fingerprint,
            # Everything but the ledger and its seals is written by now.
            outputs=hash_files(space.out),
            signing_key=None if request.signing_key is None else request.signing_key.public,
        )
        write_json(space.out / LEDGER_FILE, content)
        seal(space.out, request.signing_key)
        space.publish()
    published = TabulatedRelease(request.out, content)
    LOG.info("published %r", published)
    return published


def whole_work(watcher: Watcher, inputs: Inputs) -> WholeWork:
    """What there is to do, as far as public files tell."""
    runs: dict[str, RunWork] = {}
    for run in inputs.parameters.plan.runs:
        domains = inputs.domains(run)
        blocks = inputs.geographies[run.name].blocks.num_rows
        runs[run.name] = RunWork(
            blocks,
            groups=sum(domain.groups for domain in domains),
            levels=len(domains),
            levels_with_tables=sum(domain.has_tables for domain in domains),
        )
    return WholeWork(watcher, runs)


def enter_spending(request: Request, inputs: Inputs, registry: Registry | None) -> str | None:
    """Write the spending into the registry, durably, before any noise is drawn; the fingerprint of the records."""
    if registry is None:
        return None
    release = inputs.parameters.release
    spending = Spending(release.privacy, inputs.parameters.plan.budget)
    # Records on a cluster are not fetched for a fingerprint; the spending counts all the same.
    records = inputs.records if isinstance(inputs.records, ReadColumns) else inputs.local_records
    return registry.enter(spending, {"title": release.title}, records, spend_again=request.spend_again)


def _tabulate_and_write(
    run: PlannedRun, inputs: Inputs, records: Records, request: Request, space: Workspace, progress: Progress
) -> RunRecord:
    """One run: its tables, written, and what the ledger says of it."""
    release, domains, gate = inputs.parameters.release, inputs.domains(run), request.make_gate(request.source)
    tables = tabulate_run(domains, records, inputs.parameters, gate, progress)
    mechanism = domains[0].planned.noise.mechanism.value if domains and gate.has_noise else "none"
    labels = Labels(
        tables.order, release.age_bins, release.columns.sexes, mechanism, tables.precisions, release.text_columns
    )
    stem = file_stem(run.name, is_private=request.is_private)
    rows_of_table = {"t1": tables.t1, "t2": tables.t2}
    for name, rows in rows_of_table.items():
        write_rows(rows, labels, space.out, name, stem)
    write_geography(inputs.geographies[run.name], space.out, stem)
    return RunRecord(
        run,
        tuple((domain.planned, domain.groups) for domain in domains),
        gate,
        {name: len(rows) for name, rows in rows_of_table.items()},
        tables.suppressed,
    )
