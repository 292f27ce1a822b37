"""How fast synthetic people are made: persons per second, memory, bytes per person, and how speed holds with size.

Each country is made in a process of its own, so that its peak memory is its own. Processor time tells a slow program
from a busy machine. `--nation` makes the whole nation too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.page import Section
from safetab.synth.country import Country, make_country
from safetab.synth.shapes import SHAPES

TARGET_PERSONS_PER_SECOND = 2_000_000
TARGET_MEMORY_GIB, TARGET_DISK_GIB = 1.0, 6.0
CORES = 2


def measure(like: str, persons: int, folder: Path) -> dict[str, float]:
    """Make one country and say what it took."""
    start = time.perf_counter()
    facts = make_country(Country(SHAPES[like].with_persons(persons)), folder / like, workers=CORES)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    processor = used.ru_utime + used.ru_stime
    return {"seconds": seconds, "processor": processor, "memory": used.ru_maxrss * 1024, "bytes": facts.bytes}


def in_own_process(like: str, persons: int) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.synth", "--one", like, str(persons)]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(told)
    return result


def report(section: Section, like: str, persons: int) -> float:
    """Measure, tell a line, and return the persons per second."""
    found = in_own_process(like, persons)
    speed = persons / found["seconds"]
    section.tell(
        f"{like:>7} {persons:>12,} persons {found['seconds']:7.2f} s {speed / 1e6:5.2f} million/s "
        f"{found['processor']:7.2f} s of processor time {found['memory'] / 2**30:5.2f} GiB of memory "
        f"{found['bytes'] / persons:5.2f} bytes/person {found['bytes'] / 2**30:5.2f} GiB of disk"
    )
    return speed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nation", action="store_true", help="make the whole nation as well: some minutes, 2 GiB")
    parser.add_argument("--one", nargs=2, metavar=("LIKE", "PERSONS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(options.one[0], int(options.one[1]), Path(folder))))
        return
    section = Section("Synthetic people")
    section.tell(f"Parquet, {CORES} threads; wanted: {TARGET_PERSONS_PER_SECOND / 1e6:.0f} million/s")
    million = report(section, "state", 1_000_000)
    ten_million = report(section, "state", 10_000_000)
    section.tell(f"speed at 10 million persons over speed at 1 million: {ten_million / million:.2f}")
    report(section, "nation", 20_000_000)
    if options.nation:
        report(section, "nation", SHAPES["nation"].persons)
        section.tell(f"wanted for the nation: {TARGET_MEMORY_GIB} GiB of memory, {TARGET_DISK_GIB} GiB of disk")
    section.save()


if __name__ == "__main__":
    main()
