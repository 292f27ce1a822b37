"""An evaluation: the records are counted once, the noise of a release is drawn many times, and the errors are measured.

In: a parameters folder and a data folder, of confidential or of synthetic people. Out: an `Evaluation`, a table of
figures. The promise: each trial is what a tabulation does, through the same loop and the same gate; nothing is
published. The figures compare noisy numbers with true ones, so they are NOT PRIVATE and stay in the secure area.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from safetab.arguments import as_path
from safetab.engines.choice import DuckDb
from safetab.engines.workers import keeping_threads, side_by_side
from safetab.noise.source import BitSource, SystemSource
from safetab.pipeline.evaluated_run import SCHEMA, EvaluatedRun, Trial
from safetab.pipeline.inputs import open_records, read_inputs
from safetab.pipeline.measure import Gate
from safetab.pipeline.process import heed_interrupt, holding_records, seldom_looking_for_garbage
from safetab.pipeline.progress import Unwatched, Watcher
from safetab.pipeline.sources import Data, data_sources
from safetab.pipeline.workspace import private_folder

#: Makes the source of randomness of a trial.
SourceOfTrial = Callable[[int], BitSource | None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """The figures of an evaluation: NOT PRIVATE."""

    title: str
    trials: int
    has_noise: bool
    figures: pa.Table

    def __repr__(self) -> str:
        return f"Evaluation({self.title!r}, {self.trials} trials, NOT PRIVATE)"


def _fresh(trial: int) -> BitSource:  # noqa: ARG001
    return SystemSource()


@seldom_looking_for_garbage()
@holding_records()
@keeping_threads()
def evaluate(
    params: str | Path,
    data: Data,
    *,
    trials: int = 20,
    source_of_trial: SourceOfTrial = _fresh,
    gate: Callable[[BitSource | None], Gate] = Gate,
    watcher: Watcher | None = None,
) -> Evaluation:
    """Count the records of a release once, draw its noise `trials` times and measure the errors.

    `source_of_trial` and `gate` are for tests.
    """
    watcher = watcher or Unwatched()
    inputs, warnings = read_inputs(as_path(params, "params"), data_sources(data))
    watcher.warn(warnings)
    sources = [source_of_trial(trial) for trial in range(trials)]
    rows: list[dict[str, Any]] = []
    has_noise = True
    # What the engine keeps is confidential: a folder of its own, mode 0700, in TMPDIR.
    own = private_folder(Path(tempfile.gettempdir()), "safetab-evaluate-")
    with own as folder, closing(DuckDb().start(folder)) as engine:
        opened = open_records(engine, inputs)
        watcher.note("every record was read and judged")
        for run in inputs.parameters.plan.runs:
            evaluated = EvaluatedRun(run, inputs, opened[run.name])
            gates = [gate(source) for source in sources]
            has_noise = has_noise and all(made.has_noise for made in gates)
            for number, trial in enumerate(_drawn(evaluated, gates), start=1):
                heed_interrupt()
                evaluated.add(trial)
                watcher.note(f"run {run.name}: trial {number} of {trials}")
            rows += evaluated.figures()
    figures = pa.Table.from_pylist(rows, schema=SCHEMA)
    return Evaluation(inputs.parameters.release.title or "untitled", trials, has_noise, figures)


def _drawn(evaluated: EvaluatedRun, gates: Sequence[Gate]) -> Iterator[Trial]:
    """The trials in their order, some of them drawn at the same time.

    The first one alone: it counts the tables and finds the interval ends that all of them need.
    """
    yield from map(evaluated.draw, gates[:1])
    yield from side_by_side(evaluated.draw, gates[1:])
