"""Spark beside DuckDB on one machine: seconds of each engine in the same run, and the driver's memory as records grow.

`make bench-spark` tabulates one state of 1 and 10 million persons with the production parameters where they are at
hand, else with generated ones. Every tabulation is a process of its own, with noise, so that its peak memory is its
own. The driver is Python, which draws the noise, and the Java under it. On one machine that Java also holds the cached
blocks of the records, which on a cluster it does not; they are told apart. It gets the same heap for every size.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import safetab
from benchmarks.page import Section
from benchmarks.tabulate import PRODUCTION, country_of
from safetab.engines import spark_engine

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
    release = spark_engine.SparkRecords.release

    def watched(self: spark_engine.SparkRecords) -> None:
        context = self._session.sparkContext
        java = context._jvm
        assert java is not None
        java.System.gc()
        runtime = java.Runtime.getRuntime()
        used = float(runtime.totalMemory() - runtime.freeMemory())
        cached = float(sum(block.memSize() for block in context._jsc.sc().getRDDStorageInfo()))
        if used > heap["java"]:
            heap.update(java=used, cached=cached)
        release(self)

    spark_engine.SparkRecords.release = watched  # type: ignore[method-assign]


def in_own_process(engine: str, folder: Path) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.spark", "--one", engine, str(folder)]
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": f"--driver-memory {HEAP} pyspark-shell"}
    told = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    found: dict[str, float] = json.loads(told)
    return found


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
    section.tell(f"Parquet, {parameters}, {os.cpu_count()} cores, {HEAP} of Java heap")
    found: list[dict[str, float]] = []
    for persons in options.persons:
        folder = country_of(persons)
        duckdb, spark = in_own_process("duckdb", folder), in_own_process("spark", folder)
        found.append(spark)
        section.tell(
            f"{persons:>12,} persons   duckdb {duckdb['seconds']:.1f} s, {mib(duckdb['python'])}   "
            f"spark {spark['seconds']:.1f} s, driver: Python {mib(spark['python'])}, Java "
            f"{mib(spark['java'] - spark['cached'])} and {mib(spark['cached'])} of records   "
            f"spark / duckdb {spark['seconds'] / duckdb['seconds']:.2f}, "
            f"{spark['seconds'] - duckdb['seconds']:.1f} s more",
        )
    if len(found) > 1:
        first, last = found[0], found[-1]
        java = (last["java"] - last["cached"]) / (first["java"] - first["cached"])
        section.tell(
            f"{options.persons[-1] / options.persons[0]:.0f} times the records: the driver's Python memory x "
            f"{last['python'] / first['python']:.2f}, its Java without the records x {java:.2f}"
        )
    # Other sizes are for trying out.
    if options.persons == SIZES:
        section.save()


if __name__ == "__main__":
    main()
