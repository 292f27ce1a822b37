"""The granularity study: how much detail and how much error budgets, thresholds and stages give.

    python -m studies.granularity                 all findings, and docs/studies anew
    python -m studies.granularity --finding 3     one finding, on the screen

In: a synthetic nation, which is made in memory. Out: docs/studies/granularity.md, its pictures and granularity.json,
which has every figure. The promise: the page is written from that file alone, so that no figure is typed by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.tabulate import PRODUCTION
from safetab.synth.country import DEFAULT_SEED
from safetab.synth.shapes import SHAPES
from studies.budgets import by_epsilon, by_split
from studies.charts import svg_of
from studies.finding import Finding, screen_text
from studies.mechanisms import by_mechanism
from studies.page import FOLDER, JSON, PAGE, Spread, Study, page
from studies.published_figures import beside_published
from studies.published_rows import by_suppression, count_and_estimate
from studies.stages import by_fraction, by_thresholds
from studies.synthetic_nation import NationSizes, nation_sizes
from studies.uniform import without_adaptivity

FINDINGS: tuple[Callable[[NationSizes], Finding], ...] = (
    by_epsilon,
    by_split,
    by_mechanism,
    by_fraction,
    by_thresholds,
    count_and_estimate,
    without_adaptivity,
    by_suppression,
)
#: Other countries that every finding is computed for, to see what depends on the one that was drawn.
OTHER_SEEDS = (1, 7)
ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "study"


def sizes_of(shape: str, seed: int, params: Path | None = None) -> NationSizes:
    """The sizes of a nation; they are kept in build/ until the code that makes them changes."""
    sources = sorted([*(ROOT / "src" / "safetab" / "synth").rglob("*"), ROOT / "studies" / "synthetic_nation.py"])
    sources += sorted(params.iterdir()) if params else []
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources if path.is_file() and path.suffix != ".pyc"))
    kept = BUILD / f"{shape}-{seed}-{code.hexdigest()[:16]}.npz"
    if not kept.exists():
        nation_sizes(SHAPES[shape], seed, params).save(kept)
    return NationSizes.open(kept, seed)


def study(shape: str) -> Study:
    """Every finding, for the nation of the page and for the others."""
    params = PRODUCTION if PRODUCTION.is_dir() else None
    asked: list[tuple[int, Path | None]] = [(seed, None) for seed in (DEFAULT_SEED, *OTHER_SEEDS)]
    asked += [(DEFAULT_SEED, params)] if params else []
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        waiting = [pool.submit(sizes_of, shape, seed, folder) for seed, folder in asked]
        nations = [each.result() for each in waiting]
    found: list[Finding] = []
    spreads: dict[int, dict[str, Spread]] = {}
    for compute in FINDINGS:
        here, *others = [compute(nation) for nation in nations]
        print(f"finding {here.number}: {here.title}", flush=True)
        found.append(here)
        seeds = others[: len(OTHER_SEEDS)]
        with_bureau = others[len(OTHER_SEEDS)].figures if params else {}
        spreads[here.number] = {
            name: Spread(
                value,
                min(each.figures[name] for each in seeds),
                max(each.figures[name] for each in seeds),
                with_bureau.get(name),
            )
            for name, value in here.figures.items()
        }
    published = beside_published(params, nations[-1], nations[0]) if params else ()
    return Study(tuple(found), spreads, published)


def write(whole: Study) -> None:
    """The file of figures, the page and the pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    JSON.write_text(json.dumps(whole.as_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(whole), encoding="utf-8")
    for finding in whole.findings:
        (FOLDER / f"{finding.slug}.svg").write_text(svg_of(finding), encoding="utf-8")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = range(1, len(FINDINGS) + 1)
    parser.add_argument("--finding", type=int, choices=numbers, action="append", help="one finding, on the screen")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of the synthetic nation; 2020 is the page's")
    parser.add_argument(
        "--shape", choices=("town", "state", "nation"), default="nation", help="a smaller country, to try it"
    )
    parser.add_argument("--params", type=Path, help="a folder with other group definitions, in the Bureau's geography")
    parser.add_argument("--page", action="store_true", help="write the page and the pictures from granularity.json")
    options = parser.parse_args(words)
    if options.page:
        write(Study.of_json(json.loads(JSON.read_text(encoding="utf-8"))))
    elif options.finding:
        nation = sizes_of(options.shape, options.seed, options.params)
        for number in options.finding:
            print(screen_text(FINDINGS[number - 1](nation)), end="\n\n")
    else:
        write(study(options.shape))
        print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
