"""What an evaluation costs, beside one tabulation of the same records.

`make bench-evaluate` tabulates one state of a million persons and evaluates it with 20 trials, in turns, each in a
process of its own, and prints the ratios of the processor time and of the time that somebody waits.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.page import ROOT, Section
from benchmarks.tabulate import country_of

PERSONS, TRIALS, TURNS = 1_000_000, 20, 5


def measured(job: str, country: Path) -> dict[str, float]:
    """Time and memory of one tabulation, or of one evaluation."""
    import safetab
    from safetab.pipeline.evaluate import evaluate

    start = time.perf_counter()
    if job == "tabulate":
        out = country / "out"
        shutil.rmtree(out, ignore_errors=True)
        safetab.tabulate(country / "params", country / "data", out)
    else:
        evaluate(country / "params", country / "data", trials=TRIALS)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu": used.ru_utime + used.ru_stime, "seconds": seconds, "mib": used.ru_maxrss / 1024}


def in_own_process(job: str, country: Path) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.evaluate", job, str(country)]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], Path(sys.argv[2]))))
        return
    section = Section("Evaluation")
    country = country_of(PERSONS)
    jobs = "tabulate", "evaluate"
    runs = [[in_own_process(job, country) for job in jobs] for _ in range(TURNS)]
    one, many = ({name: median(turn[place][name] for turn in runs) for name in runs[0][0]} for place in (0, 1))
    section.tell(f"{PERSONS:,} persons, the median of {TURNS} turns")
    for name, of_job in (("one tabulation", one), (f"{TRIALS} trials", many)):
        cpu, seconds, memory = of_job["cpu"], of_job["seconds"], of_job["mib"]
        section.tell(f"  {name:<14} {cpu:.2f} s of processor time, {seconds:.2f} s, {memory:.0f} MiB")
    cpu, seconds = (many[name] / one[name] for name in ("cpu", "seconds"))
    section.tell(f"  {cpu:.2f} times the processor time, {seconds:.2f} times the time")
    section.save()


if __name__ == "__main__":
    main()
