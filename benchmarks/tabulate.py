"""What a tabulation costs, beside the least any engine must do: one plain GROUP BY over the same file.

`make bench` tabulates one state of 2, 5 and 20 million persons with the production parameters where they are at hand,
else with generated ones. For each size one process groups the columns the job needs with DuckDB, another tabulates;
printed are the seconds of both, their ratio, the peak memory, nanoseconds per record and where the time went. Last, the
largest size once more without judging the records: what the record checks add to a run.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.page import ROOT, Section

BUILD = ROOT / "build" / "bench"
PRODUCTION = ROOT.parent / "shared" / "census-2020"
SIZES = (2_000_000, 5_000_000, 20_000_000)
COLUMNS = (
    "TABBLKST, TABBLKCOU, TABTRACTCE, TABBLK, QRACE1, QRACE2, QRACE3, QRACE4, QRACE5, QRACE6, QRACE7, QRACE8, "
    "QSPAN, QSEX, QAGE"
)


def group_by(country: Path) -> dict[str, Any]:
    """The plainest thing that reads what the job needs: group by all of it, and count the groups."""
    import duckdb

    start = time.perf_counter()
    # The same share of memory as ours has, so that a nation fits beside other work.
    memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2 >> 20} MiB"
    connection = duckdb.connect(config={"temp_directory": str(BUILD / "spill"), "memory_limit": memory})
    source = f"read_parquet('{country}/data/person-records.parquet/*.parquet')"
    grouped = f"SELECT {COLUMNS}, count(*) AS n FROM {source} GROUP BY {COLUMNS}"  # noqa: S608
    row = connection.execute(f"SELECT count(*), sum(n) FROM ({grouped})").fetchone()  # noqa: S608
    return {"seconds": time.perf_counter() - start, "persons": int(row[1]) if row else 0}


def tabulate(country: Path) -> dict[str, Any]:
    """A real release, with the time each step took."""
    import safetab
    from safetab.engines.duckdb_engine import DuckDbEngine, DuckDbRecords
    from safetab.pipeline import run as steps
    from safetab.pipeline.measure import Gate

    spent: dict[str, float] = defaultdict(float)
    _time_calls(DuckDbEngine, "open", "read, judge and fold the records", spent)
    _time_calls(DuckDbRecords, "_settle", "fold people into regions", spent)
    _time_generator(DuckDbRecords, "totals", "count totals", spent)
    _time_generator(DuckDbRecords, "cells", "count cells", spent)
    _time_calls(Gate, "measure", "draw noise", spent)
    _time_calls(steps, "read_geographies", "read the geography", spent)
    _time_calls(steps, "write_rows", "write the tables", spent)
    out = country / "out"
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter()
    release = safetab.tabulate(country / "params", country / "data", out)
    seconds = time.perf_counter() - start
    # Folding happens inside counting; it is told apart.
    spent["count totals"] -= spent["fold people into regions"]
    spent["everything else"] = seconds - sum(spent.values())
    counts = [m["counts"] for r in release.ledger["runs"] for level in r["levels"] for m in level["measurements"]]
    return {"seconds": seconds, "steps": dict(spent), "counts": sum(counts), "ledger": release.ledger}


def unjudged(country: Path) -> dict[str, Any]:
    """The same release with every record taken to be sound."""
    from safetab.engines.queries import RecordQueries

    def no_fault(self: RecordQueries) -> str:  # noqa: ARG001
        return "0"

    RecordQueries._faults = no_fault  # type: ignore[method-assign]
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
        start = time.perf_counter()
        parts = list(original(*words, **options))
        spent[step] += time.perf_counter() - start
        yield from parts

    setattr(owner, name, timed)


def in_own_process(job: str, country: Path) -> dict[str, Any]:
    """Run one job apart from everything else, and add its peak memory."""
    words = [sys.executable, "-m", "benchmarks.tabulate", job, str(country)]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def country_of(persons: int) -> Path:
    """A synthetic state of so many persons, made when it is missing."""
    folder = BUILD / f"state-{persons}"
    if not folder.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        words = ["synth", str(folder), "--like", "state", "--persons", str(persons)]
        words += ["--params", str(PRODUCTION)] if PRODUCTION.is_dir() else []
        subprocess.run([sys.executable, "-m", "safetab", *words], check=True, stdout=subprocess.DEVNULL)
    return folder


JOBS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "group_by": group_by,
    "tabulate": tabulate,
    "unjudged": unjudged,
}


def main() -> None:
    if len(sys.argv) == 3:
        result = JOBS[sys.argv[1]](Path(sys.argv[2]))
        result["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return
    compare()


def compare() -> None:
    """Both jobs at every size, and the checks at the largest."""
    section = Section("One state")
    section.tell(
        f"{'persons':>12} {'group by':>9} {'tabulate':>9} {'ratio':>6} {'ns/record':>10} {'MiB':>7} "
        f"{'noisy counts':>13}"
    )
    for persons in SIZES:
        country = country_of(persons)
        least, ours = in_own_process("group_by", country), in_own_process("tabulate", country)
        ratio = ours["seconds"] / least["seconds"]
        section.tell(
            f"{persons:>12,} {least['seconds']:>8.1f}s {ours['seconds']:>8.1f}s {ratio:>6.2f} "
            f"{ours['seconds'] / persons * 1e9:>10,.0f} {ours['mib']:>7,.0f} {ours['counts']:>13,}"
        )
    section.tell("\nWhere the time went at the largest size:")
    for step, seconds in sorted(ours["steps"].items(), key=lambda item: -item[1]):
        section.tell(f"  {seconds:>7.1f}s  {step}")
    without = in_own_process("unjudged", country)["seconds"]
    section.tell(f"\nWithout judging the records {without:.1f}s: the checks add {ours['seconds'] / without - 1:.1%}.")
    section.save()


if __name__ == "__main__":
    main()
