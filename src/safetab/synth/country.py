"""Making a country: every file of it, or nothing.

In: a `Country` that says what is wanted. Out: a folder with `params` and `data` in it. Promise: the folder appears
whole, under its name, when the last byte is written; whatever goes wrong before that leaves nothing behind. The
same wishes and the same seed give the same bytes, on however many threads.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from safetab.errors import Finding, MachineError, UsageError
from safetab.params.load import Parameters, load
from safetab.synth import rules
from safetab.synth.communities import code_names, communities_of
from safetab.synth.draws import Floats
from safetab.synth.faults.site import Fault, Site
from safetab.synth.geography import Area, lay_out, plan_areas
from safetab.synth.neighbourhoods import settle, state_mixes
from safetab.synth.parameters import copy_own, load_own, states_of_release, write_generated
from safetab.synth.people import Chunk, Tables, draw_people, make_tables
from safetab.synth.records import (
    GEOGRAPHY_STEM,
    RECORDS_STEM,
    Format,
    RecordWriter,
    join_tables,
    part_path,
    write_geography,
)
from safetab.synth.shapes import Shape, StatePlan, plan_states

DEFAULT_SEED = 2020
LEAST_PERSONS = 2
MOST_PERSONS = 10_000_000_000
_MOST_SEED = 2**63 - 1
#: Share of the persons that live in AIANNH areas.
_AREA_SHARE, _MOST_AREA_SHARE = 0.012, 0.4
#: A geography file takes so much for each block, in either format, and a parameters folder so much.
_BYTES_PER_BLOCK, _BYTES_OF_PARAMETERS = 32, 1 << 20
_MOST_WORKERS = 8

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Country:
    """What is wanted: a shape, a seed, a format, perhaps one's own parameters, perhaps one deliberate fault."""

    shape: Shape
    seed: int = DEFAULT_SEED
    table_format: Format = Format.PARQUET
    params: Path | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class CountryFacts:
    """What was made."""

    persons: int
    states: int
    has_puerto_rico: bool
    blocks: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Work:
    """What every state needs to be made."""

    country: Country
    data: Path
    tables: Tables
    mixes: dict[str, Floats]
    areas: dict[str, list[Area]]
    area_shares: dict[str, float]
    on_progress: Progress
    stop: threading.Event


class _StoppedError(Exception):
    """Another state failed, or the user wants no more: this one is given up."""


def make_country(
    country: Country, folder: Path, workers: int | None = None, on_progress: Progress = lambda _: None
) -> CountryFacts:
    """Make a country in a new folder; `on_progress` is told how many more persons have been written."""
    _judge(country, folder)
    own = None if country.params is None else load_own(country.params)
    with _all_or_nothing(folder) as unfinished:
        params, data = unfinished / "params", unfinished / "data"
        params.mkdir()
        data.mkdir()
        parameters, plans = _prepare(country, own, params)
        _write_data(country, parameters, plans, data, workers or min(os.cpu_count() or 1, _MOST_WORKERS), on_progress)
        states = tuple(plan.code for plan in plans if not plan.is_puerto_rico)
        if country.fault is not None:
            country.fault.make(Site(unfinished, country.table_format, states, len(states) < len(plans)))
        size = sum(path.stat().st_size for path in unfinished.rglob("*") if path.is_file())
    blocks = sum(plan.areas.blocks for plan in plans)
    return CountryFacts(country.shape.persons, len(states), len(states) < len(plans), blocks, size)


def _judge(country: Country, folder: Path) -> None:
    """Refuse what cannot be done before anything is written."""
    persons = country.shape.persons
    if not LEAST_PERSONS <= persons <= MOST_PERSONS:
        raise UsageError(Finding(rules.PERSONS, "safetab synth", key="--persons", seen=f"{persons}"))
    if not 0 <= country.seed <= _MOST_SEED:
        raise UsageError(Finding(rules.SEED, "safetab synth", key="--seed", seen=f"{country.seed}"))
    if folder.exists() or folder.is_symlink():
        raise UsageError(Finding(rules.EXISTS, str(folder)))
    if not folder.absolute().parent.is_dir():
        raise UsageError(Finding(rules.NO_PARENT, str(folder.absolute().parent)))
    blocks = country.shape.areas.blocks + country.shape.puerto_rico.blocks
    needed = persons * country.table_format.bytes_per_person + blocks * _BYTES_PER_BLOCK + _BYTES_OF_PARAMETERS
    free = shutil.disk_usage(folder.absolute().parent).free
    if needed > free:
        seen = f"some {_gib(needed)} needed, {_gib(free)} free"
        raise MachineError(Finding(rules.NO_SPACE, str(folder), seen=seen))


def _gib(count: float) -> str:
    return f"{count / 2**30:,.1f} GiB"


def _prepare(country: Country, own: Parameters | None, params: Path) -> tuple[Parameters, tuple[StatePlan, ...]]:
    """Write the parameters folder and divide the country into states."""
    shape = country.shape
    if own is None:
        states, puerto_rico = shape.states, shape.puerto_rico_share > 0
        write_generated(params, states, puerto_rico=puerto_rico)
    else:
        states, puerto_rico = states_of_release(own, shape.states)
        copy_own(own, params, states)
    return load(params), plan_states(shape, states, puerto_rico=puerto_rico)


def _write_data(
    country: Country,
    parameters: Parameters,
    plans: tuple[StatePlan, ...],
    data: Path,
    workers: int,
    on_progress: Progress,
) -> None:
    names = code_names(parameters)
    communities = communities_of(parameters.catalogue, names)
    seed = country.seed
    tables = make_tables(communities, country.shape.persons, parameters.release.max_race_codes, seed)
    mixes = state_mixes(communities, plans, communities.puerto_rican_shares(names), seed)
    areas = plan_areas(plans, seed)
    work = _Work(country, data, tables, mixes, areas, _area_shares(plans, areas), on_progress, threading.Event())
    # Largest first: the threads then end at about the same time.
    ordered = sorted(plans, key=lambda plan: -plan.persons)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for done in as_completed([pool.submit(_make_state, work, plan) for plan in ordered]):
                done.result()
        except BaseException:
            work.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    if country.table_format is Format.TEXT:
        join_tables(data)


def _area_shares(plans: tuple[StatePlan, ...], areas: dict[str, list[Area]]) -> dict[str, float]:
    """Which share of each state's persons lives in its AIANNH areas, so that all together have theirs."""
    size = {code: sum(area.size for area in parts) for code, parts in areas.items()}
    everything = sum(size.values())
    persons = sum(plan.persons for plan in plans)
    return {
        plan.code: min(_MOST_AREA_SHARE, _AREA_SHARE * persons * size[plan.code] / everything / plan.persons)
        if everything and plan.persons
        else 0.0
        for plan in plans
    }


def _make_state(work: _Work, plan: StatePlan) -> None:
    """Make one state: its blocks, then its people."""
    country, seed = work.country, work.country.seed
    if work.stop.is_set():
        raise _StoppedError
    land = lay_out(plan, work.areas[plan.code], work.area_shares[plan.code], seed)
    write_geography(land, part_path(work.data, GEOGRAPHY_STEM, plan.code, country.table_format), country.table_format)
    neighbourhoods = settle(land, work.mixes[plan.code], work.tables.communities, seed)
    writer = RecordWriter(land, work.tables.communities)
    chunks = _drawn_ahead(draw_people(work.tables, land, neighbourhoods, seed))
    path = part_path(work.data, RECORDS_STEM, plan.code, country.table_format)
    for persons in writer.write(path, chunks, country.table_format):
        work.on_progress(persons)
        if work.stop.is_set():
            raise _StoppedError


def _drawn_ahead(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The same chunks, each drawn while the one before it is written, so that a lone state uses two cores."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        following = pool.submit(next, chunks, None)
        while (chunk := following.result()) is not None:
            following = pool.submit(next, chunks, None)
            yield chunk


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[Path]:
    """A folder beside `folder` that takes its name at the end, and is removed if the end is not reached."""
    target = folder.absolute()
    with _terminated_as_interrupt():
        unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            yield unfinished
            _open_to_all(unfinished)
            if target.exists():
                raise UsageError(Finding(rules.EXISTS, str(folder)))
            unfinished.rename(target)
        except OSError as error:
            # Arrow puts the system's words in the message and not always the number.
            if error.errno == errno.ENOSPC or "No space left" in str(error):
                raise MachineError(Finding(rules.NO_SPACE, str(folder))) from error
            raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _open_to_all(folder: Path) -> None:
    """Temporary folders are private; the finished one has the permissions any new folder has."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


@contextmanager
def _terminated_as_interrupt() -> Iterator[None]:
    """Let a polite request to end (SIGTERM) clean up as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
