"""What a tabulation costs, beside the least any engine must do: one plain GROUP BY over the same file.

`make bench` tabulates one state of 2, 5 and 20 million persons with the production parameters where they are at hand,
else with generated ones. For each size one process groups the columns the job needs with DuckDB, another tabulates;
printed are the seconds of both, their ratio, the peak memory, nanoseconds per record and where the time went. Last, the
largest size once more without judging the records, which is what the record checks add to a run, and on one core. What
is measured here is also on the page about sizing a machine.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.page import ROOT, Section
from benchmarks.sizing import Point, record
from safetab.engines.memory import usable_memory
from safetab.engines.workers import usable_cores

BUILD = ROOT / "build" / "bench"
PRODUCTION = ROOT.parent / "shared" / "census-2020"
SIZES = (2_000_000, 5_000_000, 20_000_000)
COLUMNS = (
    "TABBLKST, TABBLKCOU, TABTRACTCE, TABBLK, QRACE1, QRACE2, QRACE3, QRACE4, QRACE5, QRACE6, QRACE7, QRACE8, "
    "QSPAN, QSEX, QAGE"
)


#: How the columns of a record and of its block name its region.
REGION_SQL = {
    "USA": "'1'",
    "STATE": "TABBLKST",
    "COUNTY": "TABBLKST || TABBLKCOU",
    "TRACT": "TABBLKST || TABBLKCOU || TABTRACTCE",
    "PLACE": "TABBLKST || PLACEFP",
    "AIANNH": "AIANNHCE",
}


def group_by(country: Path) -> dict[str, Any]:
    """The plainest thing that reads what the job needs: group by all of it, and count the groups."""
    import duckdb

    start = time.perf_counter()
    # The same share of memory as ours has, so that a nation fits beside other work.
    memory = f"{usable_memory() // 2 >> 20} MiB"
    connection = duckdb.connect(config={"temp_directory": str(BUILD / "spill"), "memory_limit": memory})
    source = f"read_parquet('{country}/data/person-records.parquet/*.parquet')"
    grouped = f"SELECT {COLUMNS}, count(*) AS n FROM {source} GROUP BY {COLUMNS}"  # noqa: S608
    row = connection.execute(f"SELECT count(*), sum(n) FROM ({grouped})").fetchone()  # noqa: S608
    return {"seconds": time.perf_counter() - start, "persons": int(row[1]) if row else 0}


def scan(country: Path) -> dict[str, Any]:
    """The bare scan: read every column the job needs and hash it."""
    import duckdb

    start = time.perf_counter()
    source = f"read_parquet('{country}/data/person-records.parquet/*.parquet')"
    duckdb.connect().execute(f"SELECT bit_xor(hash({COLUMNS})) FROM {source}").fetchone()  # noqa: S608
    return {"seconds": time.perf_counter() - start}


def tabulate(country: Path) -> dict[str, Any]:
    """A real release, with the time each step took."""
    import safetab
    from safetab.engines.arrays.records import ArrayRecords
    from safetab.engines.duckdb.engine import DuckDbEngine
    from safetab.pipeline import inputs
    from safetab.pipeline import tabulate as steps
    from safetab.pipeline.measure import Gate

    spent: dict[str, float] = defaultdict(float)
    _time_calls(DuckDbEngine, "open", "read, judge and fold the records", spent)
    _time_generator(ArrayRecords, "totals", "count totals", spent)
    _time_generator(ArrayRecords, "cells", "count cells", spent)
    _time_calls(Gate, "measure", "draw noise", spent)
    _time_calls(inputs, "read_geographies", "read the geography", spent)
    _time_calls(steps, "write_rows", "write the tables", spent)
    out = country / "out"
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter()
    told = Shares(start)
    release = safetab.tabulate(country / "params", country / "data", out, watcher=told)
    seconds = time.perf_counter() - start
    spent["everything else"] = seconds - sum(spent.values())
    counts = [m["counts"] for r in release.ledger["runs"] for level in r["levels"] for m in level["measurements"]]
    return {
        "seconds": seconds,
        "steps": dict(spent),
        "counts": sum(counts),
        "ledger": release.ledger,
        "foretold": told.foretold(seconds),
    }


class Shares:
    """A watcher that remembers when which share of the work was said to be done."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._said: list[tuple[float, float]] = []

    def note(self, text: str) -> None:
        """Not of interest here."""

    def warn(self, findings: Sequence[Any]) -> None:
        """Not of interest here."""

    def advance(self, done: int, planned: int, what: str) -> None:  # noqa: ARG002
        self.read(done / planned)

    def read(self, share: float) -> None:
        self._said.append((time.perf_counter() - self._start, share))

    def foretold(self, seconds: float) -> dict[str, float]:
        """The whole time as the bar would have foretold it after a quarter, half and three quarters of it."""
        found = {}
        for part in (0.25, 0.5, 0.75):
            passed, share = max((said for said in self._said if said[0] <= part * seconds), default=(0.0, 1.0))
            found[f"{part:.0%}"] = passed / share
        return found


def unjudged(country: Path) -> dict[str, Any]:
    """The same release with every record taken to be sound."""
    from safetab.engines.logical_plan import RecordQueries

    def no_fault(self: RecordQueries, which: slice = slice(None)) -> str:  # noqa: ARG001
        return "0"

    RecordQueries.faults = no_fault  # type: ignore[method-assign]
    return tabulate(country)


def _time_calls(owner: Any, name: str, step: str, spent: dict[str, float]) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    def timed(*words: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return original(*words, **options)
        finally:
            spent[step] += time.perf_counter() - start

    setattr(owner, name, timed)


def _time_generator(owner: Any, name: str, step: str, spent: dict[str, float]) -> None:
    original: Callable[..., Iterator[Any]] = getattr(owner, name)

    def timed(*words: Any, **options: Any) -> Iterator[Any]:
        parts = original(*words, **options)
        while True:
            start = time.perf_counter()
            part = next(parts, None)
            spent[step] += time.perf_counter() - start
            if part is None:
                return
            yield part

    setattr(owner, name, timed)


def in_own_process(job: str, country: Path, cores: int | None = None) -> dict[str, Any]:
    """Run one job apart from everything else, and add its peak memory and the most disk of its temporary files."""
    words = [sys.executable, "-m", "benchmarks.tabulate", job, str(country), *([str(cores)] if cores else [])]
    with temporary_files(country) as most:
        done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result | {"disk_mib": most[0] / 2**20}


@contextmanager
def temporary_files(country: Path) -> Iterator[list[int]]:
    """The most bytes that the temporary folder of a tabulation has, looked at every half second."""
    most, done = [0], threading.Event()

    def look() -> None:
        while not done.wait(0.5):
            size = 0
            # Folders and files may be gone before they are looked at; what was seen until then counts.
            with suppress(OSError):
                for path in country.glob(".out.safetab-*/**/*"):
                    size += path.stat().st_size
            most[0] = max(most[0], size)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield most
    finally:
        done.set()
        looking.join()


def median_of_three(job: str, country: Path) -> dict[str, Any]:
    """The run of three whose time is in the middle."""
    return sorted((in_own_process(job, country) for _ in range(3)), key=lambda run: run["seconds"])[1]


def country_of(persons: int) -> Path:
    """A synthetic state of so many persons, made when it is missing."""
    folder = BUILD / f"state-{persons}"
    if not folder.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        words = ["synth", str(folder), "--like", "state", "--persons", str(persons)]
        words += ["--params", str(PRODUCTION)] if PRODUCTION.is_dir() else []
        subprocess.run([sys.executable, "-m", "safetab", *words], check=True, stdout=subprocess.DEVNULL)
    return folder


def point_of(name: str, country: Path, persons: int, ours: dict[str, Any], cores: int | None = None) -> Point:
    """What was measured, for the page about sizing a machine."""
    import duckdb

    distinct = ", ".join(f"count(DISTINCT {sql})" for sql in REGION_SQL.values())
    blocks, *regions = duckdb.execute(
        f"SELECT count(*), {distinct} FROM '{country}/data/GRF-C.parquet/*.parquet'"  # noqa: S608
    ).fetchall()[0]
    return Point(
        name=name,
        persons=persons,
        blocks=blocks,
        regions=sum(regions),
        groups=sum(level["groups"] for run in ours["ledger"]["runs"] for level in run["levels"]),
        cores=cores or usable_cores(),
        seconds=round(ours["seconds"], 1),
        memory_mib=round(ours["mib"]),
        disk_mib=round(ours["disk_mib"]),
    )


JOBS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "group_by": group_by,
    "scan": scan,
    "tabulate": tabulate,
    "unjudged": unjudged,
}


def main() -> None:
    if len(sys.argv) > 2:
        if len(sys.argv) > 3:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[3])])
        result = JOBS[sys.argv[1]](Path(sys.argv[2]))
        result["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return
    compare()


def compare() -> None:
    """All jobs at every size, the median of three runs, and the checks at the largest."""
    section = Section("One state")
    section.tell(
        f"{'persons':>12} {'scan':>7} {'group by':>9} {'tabulate':>9} {'ratio':>6} {'to scan':>7} "
        f"{'ns/record':>10} {'MiB':>7} {'noisy counts':>13}"
    )
    for persons in SIZES:
        country = country_of(persons)
        bare, least, ours = (median_of_three(job, country) for job in ("scan", "group_by", "tabulate"))
        record(point_of(f"{persons // 1_000_000} million", country, least["persons"], ours))
        ratio = ours["seconds"] / least["seconds"]
        section.tell(
            f"{persons:>12,} {bare['seconds']:>6.2f}s {least['seconds']:>8.1f}s {ours['seconds']:>8.1f}s {ratio:>6.2f} "
            f"{ours['seconds'] / bare['seconds']:>7.1f} "
            f"{ours['seconds'] / persons * 1e9:>10,.0f} {ours['mib']:>7,.0f} {ours['counts']:>13,}"
        )
    section.tell("\nWhere the time went at the largest size:")
    for step, seconds in sorted(ours["steps"].items(), key=lambda item: -item[1]):
        section.tell(f"  {seconds:>7.1f}s  {step}")
    without = in_own_process("unjudged", country)["seconds"]
    section.tell(f"\nWithout judging the records {without:.1f}s: the checks add {ours['seconds'] / without - 1:.1%}.")
    alone = in_own_process("tabulate", country, cores=1)
    record(point_of(f"{persons // 1_000_000} million, one core", country, least["persons"], alone, cores=1))
    section.tell(f"On one core {alone['seconds']:.1f}s, {alone['mib']:,.0f} MiB.")
    foretold = ", ".join(f"at {part} {seconds:.1f}s" for part, seconds in ours["foretold"].items())
    section.tell(f"The bar predicted a total time of: {foretold}; it was {ours['seconds']:.1f}s.")
    section.save()


if __name__ == "__main__":
    main()
