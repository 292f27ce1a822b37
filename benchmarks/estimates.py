"""What estimates add to a tabulation, and what a nation's local totals cost by themselves.

`make bench-estimates` tabulates one state of 2 million persons in turns with estimates and with counts in their place,
each in a process of its own, and prints the ratio of the processor time. Then it estimates as many local totals as a
nation publishes, in as many parts, with the production settings of a county.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.page import ROOT, Section
from benchmarks.tabulate import country_of

PERSONS = 2_000_000
TURNS = 5
ROWS, PARTS = 6_300_000, 130


def tabulated(country: Path, *, with_estimates: bool) -> dict[str, float]:
    """Processor time and memory of one tabulation."""
    import safetab
    from safetab.estimates import Estimates
    from safetab.pipeline import estimate

    if not with_estimates:

        def as_counts(published: object, stage_1: object, sums: Any) -> Estimates:  # noqa: ARG001
            return Estimates(sums, sums, sums)

        vars(estimate)["estimates_95"] = as_counts
    out = country / "out"
    shutil.rmtree(out, ignore_errors=True)
    safetab.tabulate(country / "params", country / "data", out)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"seconds": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024}


def in_own_process(country: Path, *, with_estimates: bool) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.estimates", str(country), str(int(with_estimates))]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def seconds_of_a_nation() -> float:
    """Estimates of a nation's local totals, most of them little above what suppression drops."""
    from safetab.estimates import Publication, estimates_95
    from safetab.noise.laws import DiscreteGaussian

    budget = Fraction("0.159") / 9
    stage_1, stage_2 = (DiscreteGaussian(1 / (2 * budget * share)) for share in (Fraction("0.1"), Fraction("0.9")))
    dropped = stage_2.quantile(Fraction("0.9999"))
    published = Publication.two_stage(stage_1, stage_2, 1, (971, 4971, 19971), 0, dropped)
    draw = np.random.default_rng(1)
    spent = 0.0
    for _ in range(PARTS):
        true = np.minimum(draw.geometric(1 / 60, ROWS // PARTS), 900)
        x = np.minimum(true + draw.normal(0, 16.8, true.size).astype(np.int64), 970)
        s = np.maximum(true + draw.normal(0, 5.6, true.size).astype(np.int64), dropped + 1)
        start = time.process_time()
        estimates_95(published, x, s)
        spent += time.process_time() - start
    return spent


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(tabulated(Path(sys.argv[1]), with_estimates=sys.argv[2] == "1")))
        return
    section = Section("Estimates")
    country = country_of(PERSONS)
    runs = [[in_own_process(country, with_estimates=chosen) for chosen in (False, True)] for _ in range(TURNS)]
    without, ours = ([turn[place] for turn in runs] for place in (0, 1))
    seconds = [median(run["seconds"] for run in side) for side in (without, ours)]
    memory = [median(run["mib"] for run in side) for side in (without, ours)]
    section.tell(f"{PERSONS:,} persons, processor time, the median of {TURNS} turns")
    section.tell(f"  without estimates {seconds[0]:.2f} s, {memory[0]:.0f} MiB")
    section.tell(f"  with estimates    {seconds[1]:.2f} s, {memory[1]:.0f} MiB: {seconds[1] / seconds[0] - 1:+.1%}")
    section.tell(f"{ROWS:,} local totals of a nation in {PARTS} parts: {seconds_of_a_nation():.2f} s")
    section.save()


if __name__ == "__main__":
    main()
