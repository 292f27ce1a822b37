"""Spark beside DuckDB on one machine: seconds of each engine in the same run, and the driver's memory as records grow.

`make bench-spark` tabulates one state of 1 and 10 million persons with the production parameters where they are at
hand, else with generated ones. Every tabulation is a process of its own, with noise, so that its peak memory is its
own. The driver is Python, which draws the noise, and the Java under it, which gets the same heap for every size.

A larger state has more blocks and more distinct code sets, which the driver does hold, and on one machine its Java is
the executor too. So what ten times the records alone do to the driver is measured on the small state with every record
ten times over: the same blocks, the same code sets, the same tables.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import safetab
from benchmarks.page import Section
from benchmarks.tabulate import PRODUCTION, country_of
from safetab.engines.spark.tables import SparkTables
from safetab.engines.workers import usable_cores

HEAP = "2g"
SIZES = [1_000_000, 10_000_000]


def tabulate(engine: str, folder: Path) -> dict[str, float]:
    """One tabulation: its seconds, and the peak memory of this process."""
    heap: dict[str, float] = defaultdict(float)
    if engine == "spark":
        _watch_heap(heap)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=folder) as out:
        safetab.tabulate(folder / "params", folder / "data", Path(out) / "out", engine=engine)
    seconds = time.perf_counter() - start
    python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "python": python} | heap


def _watch_heap(heap: dict[str, float]) -> None:
    """Note the Java heap in use after a collection, when all counting is done and the tables are still cached."""
    close = SparkTables.close

    def watched(self: SparkTables) -> None:
        java = self.session.sparkContext._jvm
        assert java is not None
        java.System.gc()
        runtime = java.Runtime.getRuntime()
        heap["java"] = max(heap["java"], float(runtime.totalMemory() - runtime.freeMemory()))
        close(self)

    SparkTables.close = watched  # type: ignore[method-assign]


def in_own_process(engine: str, folder: Path) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.spark", "--one", engine, str(folder)]
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": f"--driver-memory {HEAP} pyspark-shell"}
    told = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    found: dict[str, float] = json.loads(told)
    return found


def ten_times_over(folder: Path) -> Path:
    """The same country with every record ten times."""
    tenfold = folder.with_name(f"{folder.name}-ten-times-over")
    if not tenfold.exists():
        records = tenfold / "data" / "person-records.parquet"
        shutil.copytree(folder / "params", tenfold / "params")
        shutil.copytree(folder / "data", tenfold / "data", ignore=shutil.ignore_patterns(records.name))
        records.mkdir()
        for part in (folder / "data" / records.name).iterdir():
            for number in range(10):
                os.link(part, records / f"{number}-{part.name}")
    return tenfold


def mib(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--persons", type=int, nargs="*", default=SIZES)
    parser.add_argument("--one", nargs=2, metavar=("ENGINE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(tabulate(options.one[0], Path(options.one[1]))))
        return
    section = Section("Spark beside DuckDB")
    parameters = "production parameters" if PRODUCTION.is_dir() else "generated parameters"
    section.tell(f"Parquet, {parameters}, {usable_cores()} cores, {HEAP} of Java heap")
    first, *_ = found = [compare(section, f"{persons:,} persons", country_of(persons)) for persons in options.persons]
    again = compare(section, f"{options.persons[0]:,}, ten times over", ten_times_over(country_of(options.persons[0])))
    section.tell(f"ten times the records, all else the same: {growth(first, again)}")
    times = options.persons[-1] / options.persons[0]
    section.tell(f"a state {times:.0f} times as large, more blocks and code sets too: {growth(first, found[-1])}")
    # Other sizes are for trying out.
    if options.persons == SIZES:
        section.save()


def growth(first: dict[str, float], last: dict[str, float]) -> str:
    python, java = (last[part] / first[part] for part in ("python", "java"))
    return f"the driver's Python memory x {python:.2f}, its Java x {java:.2f}"


def compare(section: Section, name: str, folder: Path) -> dict[str, float]:
    """Both engines on one country; returns what Spark took."""
    duckdb, spark = in_own_process("duckdb", folder), in_own_process("spark", folder)
    section.tell(f"{name}:")
    section.tell(f"  duckdb {duckdb['seconds']:6.1f} s, {mib(duckdb['python'])}")
    section.tell(
        f"  spark  {spark['seconds']:6.1f} s, {spark['seconds'] / duckdb['seconds']:.1f} times as long; driver: "
        f"Python {mib(spark['python'])}, Java {mib(spark['java'])}"
    )
    return spark


if __name__ == "__main__":
    main()
