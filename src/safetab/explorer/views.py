"""Each view of the page as one pure function: from a draft to a chart and the table of the same figures.

In: a draft, a level of it, sizes, and what was typed. Out: what is shown. The promise: these functions are all that a
change of the plan makes the page compute, and they are those that tests and the benchmark call.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from safetab.accounting.privacy_loss import loss_of
from safetab.explorer.draft import Draft, LevelRow
from safetab.explorer.one_person import OnePerson, one_person
from safetab.explorer.plan_charts import Spec, chances_chart, curve_sizes, guess_chart, widths_chart
from safetab.explorer.tables import (
    Table,
    comparison_tables,
    found_groups,
    group_table,
    one_size_table,
    size_table,
    stat_level_names,
    width_table,
)
from safetab.planning.by_size import by_size, sizes_of_interest
from safetab.planning.comparison import PlanFigures, figures_of_plan
from safetab.planning.detail import chances_of, detail_rule
from safetab.planning.expected import outlook
from safetab.planning.sizes import Sizes

#: Points of a curve; enough for the eye.
_CURVE, _WIDTHS = 120, 60
#: Groups that are shown when many are found.
MOST_FOUND = 6
_LARGEST_SIZE = 10**11
NO_SIZES = (
    "No sizes of groups of this plan are known. Choose others above, or start the page with sizes of your own: "
    "safetab explore PARAMS --sizes FILE, or --like OUT for those of a finished release."
)


@dataclass(frozen=True, slots=True)
class View:
    """A chart, the tables of its figures, and words; a chart of None is none."""

    chart: Spec | None = field(default=None, repr=False)
    tables: tuple[Table, ...] = ()
    words: tuple[str, ...] = ()


def figures(draft: Draft, sizes: Sizes | None) -> PlanFigures:
    """Cost, margins and expected detail of the plan."""
    return figures_of_plan(draft.parameters, draft.delta, sizes)


def measured_levels(draft: Draft) -> dict[str, LevelRow]:
    """The levels that are tabulated, by a name for people."""
    return {f"{row.run} {row.name}": row for row in draft.levels if row.planned.is_measured}


def chosen_level(draft: Draft, name: str) -> LevelRow | None:
    """The level of this name, or else the first; None where nothing is measured."""
    levels = measured_levels(draft)
    return levels.get(name) or next(iter(levels.values()), None)


def chances_view(draft: Draft, row: LevelRow, around: int = 0) -> View:
    """The chance of each detail by size, at all sizes or around a threshold."""
    rule, release = detail_rule(draft.parameters.release, row.planned), draft.parameters.release
    if not row.planned.noise.has_two_stage:
        return View(words=("Every group of this level gets a total and nothing else.",))
    chart = chances_chart(rule, chances_of(rule, curve_sizes(rule, _CURVE, around)), stat_level_names(release))
    caption = f"{row.run} {row.name}: what a group gets, by its true size"
    return View(chart, (size_table(release, caption, by_size(rule, sizes_of_interest(rule))),))


def widths_view(draft: Draft, row: LevelRow, around: int = 0) -> View:
    """Interval widths by size, at all sizes or around a threshold."""
    rule, release = detail_rule(draft.parameters.release, row.planned), draft.parameters.release
    if not row.planned.noise.has_two_stage:
        return View(words=("Every group of this level gets a total: its margin is the same at every size.",))
    found = by_size(rule, curve_sizes(rule, _WIDTHS, around))
    caption = f"{row.run} {row.name}: half-widths of 95 % intervals in persons, by true size"
    table = width_table(release, rule, caption, by_size(rule, sizes_of_interest(rule)))
    return View(widths_chart(rule, found), (table,))


def person_view(draft: Draft, row: LevelRow, _around: int = 0) -> View:
    """What the budget of a level means to one person."""
    run = next(run for run in draft.parameters.plan.runs if run.name == row.run)
    epsilon = loss_of(row.name, [row.planned.noise], draft.delta).epsilon
    found: OnePerson = one_person(row, run, epsilon, draft.delta_text)
    return View(guess_chart(found.curves) if found.curves else None, words=found.sentences)


def groups_view(draft: Draft, sizes: Sizes | None, text: str) -> View:
    """What the groups that a text finds can expect, at every level whose sizes are known."""
    if not text.strip():
        return View()
    if sizes is None:
        return View(words=(NO_SIZES,))
    levels = outlook(draft.parameters, sizes)
    found = found_groups(levels, text)
    if not found:
        return View(words=(f"No group with a known size is called “{text.strip()}”.",))
    shown = list(found.items())[:MOST_FOUND]
    tables = tuple(group_table(draft.parameters.release, levels, code, name) for (code, _), name in shown)
    more = len(found) - len(shown)
    return View(tables=tables, words=(f"{more} more groups have this text in their names.",) if more else ())


def size_view(draft: Draft, text: str) -> View:
    """What a group of one size gets at every level."""
    digits = text.strip().replace(",", "")
    if not (digits.isascii() and digits.isdigit() and int(digits) <= _LARGEST_SIZE):
        return View(words=("Write a whole number of persons, such as 500.",))
    caption = f"A group of {int(digits):,} persons"
    return View(tables=(one_size_table(draft, np.array([int(digits)]), caption),))


def comparison_view(kept: list[tuple[str, Draft, Sizes | None]], delta: str) -> View:
    """Plans side by side."""
    plans = [figures(draft, sizes) for _, draft, sizes in kept]
    return View(tables=comparison_tables([name for name, _, _ in kept], plans, delta))
