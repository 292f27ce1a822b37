"""CPU time of one change to a plan, with the production parameters: what a page that plans a release must wait for.

A change is a new budget of a level, a new stage 1 fraction or new thresholds. Measured are the steps that follow: the
plan, the privacy loss under every analysis, margins of all levels, curves of chances at 200 sizes for every level, and
expected numbers with the sizes published for 2020; then, apart, interval widths by size, the best guess about
one person, margins at other fractions and the search for the largest budgets. The ratio is to the first time, when
nothing is cached.

Then the page of `safetab explore` itself, by the functions that it calls: what is typed into a field, from text to the
next draft, the costs and margins that are always in sight, and the one view that is open, with its chart and table.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import _lru_cache_wrapper
from pathlib import Path

import numpy as np

from benchmarks.page import Section
from safetab.accounting.privacy_loss import analyse
from safetab.explorer import views
from safetab.explorer.draft import Draft, LevelRow, draft_of, edited
from safetab.explorer.serve import keeping_what_is_loaded
from safetab.explorer.tables import expected_table, loss_table, margin_text
from safetab.params.load import Parameters, load
from safetab.params.release import PopulationGroupLevel
from safetab.planning import (
    Sizes,
    best_guesses,
    by_size,
    chances_of,
    detail_rule,
    largest_scaling,
    margins_by_fraction,
    national_sizes,
    outlook,
    sizes_of_interest,
    total_margins,
)
from safetab.synth.published_sizes import published_sizes_of

PARAMS = Path(__file__).resolve().parents[2] / "shared" / "census-2020"
DELTA = Fraction(1, 10**10)
CHANGES = 30
CURVE = 200


def with_level(parameters: Parameters, number: int, **changes: object) -> Parameters:
    """The release with one level of its first run changed."""
    run = parameters.release.runs[0]
    levels: list[PopulationGroupLevel] = list(run.levels)
    levels[number] = replace(levels[number], **changes)  # type: ignore[arg-type]
    runs = (replace(run, levels=tuple(levels)), *parameters.release.runs[1:])
    return replace(parameters, release=replace(parameters.release, runs=runs))


def changed(parameters: Parameters) -> Iterator[Parameters]:
    """Budgets, fractions and thresholds in turn, none twice."""
    for number in range(CHANGES):
        which = number % 6
        level = parameters.release.runs[0].levels[which]
        if number % 3 == 0:
            yield with_level(parameters, which, budget=Fraction(level.budget or 1) * Fraction(101 + number, 100))
        elif number % 3 == 1:
            fraction = Fraction(100 + number, 1000)
            yield replace(parameters, release=replace(parameters.release, stage_1_fraction=fraction))
        else:
            yield with_level(parameters, which, thresholds=tuple(each + number for each in level.thresholds))


def steps(parameters: Parameters, sizes: Sizes) -> dict[str, Callable[[], object]]:
    """What a change makes anew."""
    rules = [detail_rule(parameters.release, planned) for run in parameters.plan.runs for planned in run.measured]
    curves = [np.unique(np.linspace(0, 2 * rule.thresholds[-1], CURVE).astype(np.int64)) for rule in rules]
    return {
        "privacy loss": lambda: analyse(parameters.plan.noise_of_run, DELTA),
        "margins": lambda: [total_margins(rule.noise, rule.cells) for rule in rules],
        "chances": lambda: [chances_of(rule, curve) for rule, curve in zip(rules, curves, strict=True)],
        "expected": lambda: outlook(parameters, sizes),
    }


def slower_steps(parameters: Parameters) -> dict[str, Callable[[], object]]:
    """What takes longer, for one level or by itself."""
    planned = parameters.plan.runs[0].measured[5]
    rule = detail_rule(parameters.release, planned)
    return {
        "interval widths of one level": lambda: by_size(rule, sizes_of_interest(rule)),
        "the best guess about one person, one level": lambda: best_guesses([rule.noise], [n / 50 for n in range(51)]),
        "other fractions, one level": lambda: margins_by_fraction(rule.noise, rule.cells),
        "largest budgets for epsilon 20": lambda: largest_scaling(parameters.plan.noise_of_run, Fraction(20), DELTA),
    }


def typed() -> Iterator[tuple[str, str]]:
    """What people type: margins, budgets, thresholds and stage 1 fractions in turn, none twice."""
    for number in range(CHANGES):
        level = 1 + number % 11
        yield (
            (f"level-{level}-moe_95", str(5 + number)),
            (f"level-{level}-budget", f"0.{200 + number}"),
            (f"level-{level}-thresholds", f"{500 + number}, {1500 + number}, {9000 + number}"),
            ("stage_1_fraction", f"0.{110 + number}"),
        )[number % 4]


def page_views(sizes: Sizes) -> dict[str, Callable[[Draft, LevelRow], object]]:
    """The views of the page, of which one is open; the last compares two plans."""
    first = draft_of(load(PARAMS))
    return {
        "detail by size": views.chances_view,
        "interval width": views.widths_view,
        "one person": views.person_view,
        "who gets what": lambda draft, _: views.groups_view(draft, sizes, "Navajo Nation"),
        "scenarios": lambda draft, _: views.comparison_view([("A", first, sizes), ("B", draft, sizes)], "1e-10"),
    }


def on_the_page(section: Section, sizes: Sizes) -> None:
    """The CPU time of one change, from what is typed to what is shown, with each view open."""
    opened = draft_of(load(PARAMS))
    release = opened.parameters.release
    limit = 300
    for name, view in page_views(sizes).items():

        def change(field: str, text: str, view: Callable[[Draft, LevelRow], object] = view) -> None:
            draft = edited(opened, field, text)
            plan = views.figures(draft, sizes)
            loss_table(plan.loss, draft.delta_text)
            expected_table(release, plan)
            for each in draft.levels:
                margin_text(each, plan)
            row = views.chosen_level(draft, "us (USA, 2)")
            assert row is not None
            view(draft, row)

        change("title", "warm")
        with keeping_what_is_loaded():
            times = [cpu(lambda each=each, change=change: change(*each)) for each in typed()]  # type: ignore[misc]
        high = float(np.quantile(times, 0.95)) * 1000
        section.tell(f"  {name}: {quantiles(times)}, {high / limit:.2f} of what it may take")
        # Each view starts with what the one before has left: forget the laws and losses of its changes.
        forget()


def forget() -> None:
    """Empty every cache of figures."""
    for each in [found for found in gc.get_objects() if isinstance(found, _lru_cache_wrapper)]:
        if each.__module__.startswith(("safetab.accounting", "safetab.planning", "safetab.noise", "safetab.estimates")):
            each.cache_clear()


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def quantiles(values: list[float]) -> str:
    middle, high = np.quantile(values, [0.5, 0.95]) * 1000
    return f"median {middle:.0f} ms, p95 {high:.0f} ms"


def main() -> None:
    section = Section("Planning")
    parameters = load(PARAMS)
    sizes = national_sizes(parameters, published_sizes_of(parameters.catalogue), "us-2020")
    first = {name: cpu(step) for name, step in steps(parameters, sizes).items()}
    times: dict[str, list[float]] = defaultdict(list)
    slower: dict[str, list[float]] = defaultdict(list)
    changes = changed(parameters)
    for _ in range(CHANGES):
        start = time.process_time()
        now = next(changes)
        times["plan"].append(time.process_time() - start)
        for name, step in steps(now, sizes).items():
            times[name].append(cpu(step))
        if len(times["plan"]) % 3 == 1:
            for name, step in slower_steps(now).items():
                slower[name].append(cpu(step))
    together = [sum(each) for each in zip(*times.values(), strict=True)]
    section.tell(f"{CHANGES} changes of the production plan, CPU time of one: {quantiles(together)}")
    for name, values in times.items():
        ratio = f", {np.median(values) / first[name]:.2f} of the first time" if name in first else ""
        section.tell(f"  {name}: {quantiles(values)}{ratio}")
    for name, values in slower.items():
        section.tell(f"  apart, {name}: {quantiles(values)}")
    section.tell(f"{CHANGES} changes on the page of `safetab explore`, CPU time of one, by the view that is open:")
    forget()
    on_the_page(section, sizes)
    section.save()


if __name__ == "__main__":
    main()
