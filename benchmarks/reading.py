"""CPU seconds that questions about a release take: make bench-reading [OUT=folder].

Without a folder, a synthetic state of 2 million persons is made and tabulated with the production parameters first.
Every question is asked of a release that was opened afresh, so that nothing is known from before. CPU time, since the
machine is shared: elapsed time is less where nothing else runs, because DuckDB uses all cores.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import safetab
from benchmarks.page import Section

#: What each line may take, in seconds.
LIMITS = {"open": 1.0, "10,000 totals": 10.0}
ONE_QUESTION = 0.5


def made(folder: Path) -> Path:
    """OUT of a synthetic state."""
    from safetab.cli.main import main

    words = ["synth", str(folder / "state"), "--like", "state", "--persons", "2000000"]
    if main(words) != 0:
        raise SystemExit(f"safetab {' '.join(words)} failed")
    out = folder / "out"
    safetab.tabulate(folder / "state" / "params", folder / "state" / "data", out)
    return out


def seconds(work: Callable[[], object]) -> float:
    """CPU time of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def questions(out: Path) -> dict[str, Callable[[safetab.Release], object]]:
    """What is asked, in words."""
    release = safetab.open(out)
    kinds = ("STATE", "COUNTY", "TRACT")
    regions = {name: [region for region in release.regions if region.type == name] for name in kinds}
    totals = release.table("t1").select(["REGION_TYPE", "ITERATION_CODE", "COUNT"]).sort_by([("COUNT", "descending")])
    state, counties, tracts = regions["STATE"][0], regions["COUNTY"], regions["TRACT"]
    codes = list(dict.fromkeys(totals["ITERATION_CODE"].to_pylist()[:2000]))
    local = [code for code in codes if "COUNTY" in release.levels_of_group(release.runs[0], release.groups[code])]
    group = local[0]
    here = [county for county in counties if county.id.startswith(state.id)]
    many = [(code, region) for code in local[:200] for region in (*counties, *tracts)][:10_000]
    return {
        "total of a state": lambda asked: asked.total(group, state),
        "total of a county": lambda asked: asked.total(group, here[0]),
        "sum of a state's counties but one": lambda asked: asked.total(group, regions=here[1:]),
        "sum of 30 counties, beside its parts": lambda asked: asked.total(group, regions=here[:30]),
        "sum of 30 tracts, beside its parts": lambda asked: asked.total(group, regions=tracts[:30]),
        "sum of 500 tracts": lambda asked: asked.total(group, regions=tracts[:500]),
        "share of a county in its state": lambda asked: asked.share((group, here[0]), (group, state)),
        "difference of two counties": lambda asked: asked.difference((group, here[0]), (group, here[-1])),
        "one sex of a state": lambda asked: asked.total(group, state, sex=asked.dictionary["sexes"][0]),
        "ranks of ten groups": lambda asked: asked.rank(local[:10], state),
        "10,000 totals": lambda asked: asked.totals([code for code, _ in many], [at for _, at in many], zipped=True),
    }


def main() -> None:
    """Time every question, print each as it is answered, write the section of the page."""
    section = Section("Reading a release")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(sys.argv[1]) if len(sys.argv) > 1 else made(Path(folder))
        asked = questions(out)
        release = safetab.open(out)
        rows = sum(run["rows"]["t1"] for run in release.ledger["runs"])
        section.tell(f"T1 has {rows:,} rows, {len(release.regions):,} regions and {len(release.groups):,} groups.")
        section.tell(f"{'open':<40} {told(seconds(partial(safetab.open, out)), 'open')}")
        for words, ask in asked.items():
            section.tell(f"{words:<40} {told(seconds(partial(ask, safetab.open(out))), words)}")
    section.save()


def told(taken: float, words: str) -> str:
    limit = LIMITS.get(words, ONE_QUESTION)
    return f"{taken:7.3f} s, {taken / limit:5.2f} of what it may take"


if __name__ == "__main__":
    main()
