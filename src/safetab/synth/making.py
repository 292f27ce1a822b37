"""Making the data files of a planned country: its states one beside the other.

In: a `CountryPlan`, the form of the records and a folder. Out: the records, and where the land was drawn the geography.
Promise: the files are the same on any number of threads. When one state fails, the others stop.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from safetab.files.delimited import BARS, TextForm
from safetab.synth.country_plan import CountryPlan
from safetab.synth.people import Chunk, Tables, draw_people, make_tables
from safetab.synth.record_form import RecordForm
from safetab.synth.shapes import StatePlan
from safetab.synth.write_data import Format, RecordWriter, join_text, part_path, table_path, write_geography

_MOST_WORKERS = 8

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Target:
    """Where data files are written, and how. The name of the geography is empty if it has its file already."""

    data: Path
    form: RecordForm
    table_format: Format
    geography: str = ""
    geography_form: TextForm = BARS


@dataclass(frozen=True, slots=True)
class _Work:
    """What is needed to make a state."""

    target: Target
    plan: CountryPlan
    tables: Tables
    on_progress: Progress
    stop: threading.Event


class _StoppedError(Exception):
    """Another state failed or the user interrupted: this state is abandoned."""


def write_data(plan: CountryPlan, target: Target, workers: int | None, on_progress: Progress) -> None:
    """Write the data files of a country; `on_progress` receives how many more persons have been written."""
    tables = make_tables(plan.communities, target.form.oldest, len(target.form.sexes))
    work = _Work(target, plan, tables, on_progress, threading.Event())
    # Largest first, so that the threads end at about the same time.
    ordered = sorted(plan.states, key=lambda state: -state.persons)
    with ThreadPoolExecutor(max_workers=workers or min(os.cpu_count() or 1, _MOST_WORKERS)) as pool:
        try:
            for done in as_completed([pool.submit(_make_state, work, state) for state in ordered]):
                done.result()
        except BaseException:
            work.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    if target.table_format is Format.TEXT:
        join_text(table_path(target.data, target.form.file, Format.TEXT), target.form.names, target.form.text)
        if target.geography:
            columns = plan.lay_out(plan.states[0]).table().column_names
            join_text(table_path(target.data, target.geography, Format.TEXT), columns, target.geography_form)


def _make_state(work: _Work, state: StatePlan) -> None:
    """Make one state: its blocks, then its people."""
    target, plan = work.target, work.plan
    if work.stop.is_set():
        raise _StoppedError
    land = plan.lay_out(state)
    if target.geography:
        path = part_path(target.data, target.geography, state.code, target.table_format)
        write_geography(land, path, target.table_format, target.geography_form)
    people = draw_people(work.tables, land, plan.settler(land).settle(), plan.counts[state.code], plan.seed)
    writer = RecordWriter(target.form, land, plan.communities)
    path = part_path(target.data, target.form.file, state.code, target.table_format)
    for persons in writer.write(path, _drawn_ahead(people), target.table_format):
        work.on_progress(persons)
        if work.stop.is_set():
            raise _StoppedError


def _drawn_ahead(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The same chunks, each drawn while the one before it is written, so that even a single state uses two cores."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        following = pool.submit(next, chunks, None)
        while (chunk := following.result()) is not None:
            following = pool.submit(next, chunks, None)
            yield chunk
