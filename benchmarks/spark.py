"""Spark beside DuckDB on one machine: seconds of each engine in the same run, and the driver's memory as records grow.

Every tabulation is a process of its own, with noise, so that its peak memory is its own. The driver is Python, which
draws the noise; the Java under it is given the same heap for every size, so that growth would show as failure. On one
machine that Java also holds the records, which on a cluster it does not.
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
from pathlib import Path

import safetab
from safetab.engines import spark_engine
from safetab.synth.country import Country, make_country
from safetab.synth.shapes import SHAPES

HEAP = "2g"


def tabulate(engine: str, folder: Path) -> dict[str, float]:
    """One tabulation: its seconds, and the peak memory of this process."""
    heap = [0.0]
    if engine == "spark":
        _watch_heap(heap)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=folder) as out:
        safetab.tabulate(folder / "params", folder / "data", Path(out) / "out", engine=engine)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "python": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "heap": heap[0],
    }


def _watch_heap(heap: list[float]) -> None:
    """Note the Java heap in use after a collection, when all counting is done and the tables are still cached."""
    release = spark_engine.SparkRecords.release

    def watched(self: spark_engine.SparkRecords) -> None:
        java = self._session.sparkContext._jvm
        assert java is not None
        java.System.gc()
        runtime = java.Runtime.getRuntime()
        heap[0] = max(heap[0], float(runtime.totalMemory() - runtime.freeMemory()))
        release(self)

    spark_engine.SparkRecords.release = watched  # type: ignore[method-assign]


def in_own_process(engine: str, folder: Path) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.spark", "--one", engine, str(folder)]
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": f"--driver-memory {HEAP} pyspark-shell"}
    told = subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout
    found: dict[str, float] = json.loads(told)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--persons", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--one", nargs=2, metavar=("ENGINE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(tabulate(options.one[0], Path(options.one[1]))))
        return
    print(f"Parquet, {os.cpu_count()} cores, {HEAP} of Java heap; load {os.getloadavg()[0]:.1f} before")
    memory: list[float] = []
    for persons in options.persons:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "country"
            make_country(Country(SHAPES["state"].with_persons(persons)), folder)
            duckdb, spark = in_own_process("duckdb", folder), in_own_process("spark", folder)
        memory.append(spark["python"])
        print(
            f"{persons:>12,} persons   duckdb {duckdb['seconds']:7.1f} s {duckdb['python'] / 2**20:7.0f} MiB   "
            f"spark {spark['seconds']:7.1f} s, Python {spark['python'] / 2**20:6.0f} MiB, "
            f"Java heap {spark['heap'] / 2**20:6.0f} MiB   spark / duckdb {spark['seconds'] / duckdb['seconds']:5.2f}",
            flush=True,
        )
    if len(memory) > 1:
        print(f"the driver's Python memory at the largest size over the smallest: {memory[-1] / memory[0]:.2f}")


if __name__ == "__main__":
    main()
