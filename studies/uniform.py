"""Finding 7: what a plan without stages gives, with the same budget: every group the finest table, or a total alone.

In: the sizes of a synthetic nation. Out: a finding. The promise: the plans without stages spend all of the budget on
what they publish, and the finest table may be summed up to coarser ones, so that they are compared at their best.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from safetab.accounting.accuracy.margins import moe_95_of_sum, variance_of_sum
from safetab.accounting.events import law_of
from safetab.noise.laws import Law
from safetab.planning import DetailRule, chances_of, total_margins
from studies.finding import Finding, Point, percent, significant, whole
from studies.plans import COUNTY_2, TRACT_2, plan_of_2020, standard_deviation
from studies.stages import cell_margin, coarsest_soundness, sound_sizes, sound_thresholds, tables
from studies.synthetic_nation import Histogram, NationSizes

#: A total is good when its margin is at most this part of it.
_GOOD = 0.1
_TWO_SIDED = 1.959963984540054


def _law_without_stages(rule: DetailRule) -> Law:
    """The noise of a count that has the whole budget of a group."""
    return law_of(rule.noise.mechanism, rule.noise.budget / rule.noise.stability)


def _at_least(sizes: Histogram, least: float) -> float:
    return float(sizes.groups[sizes.size >= least].sum())


def _good_totals(rule: DetailRule, sizes: Histogram) -> float:
    """The expected number of published groups whose estimate has a margin of at most a tenth of the size."""
    chances = chances_of(rule, sizes.size)
    margins = np.array([each.estimate_moe_95 for each in total_margins(rule.noise, rule.cells)])
    at = chances.stat_levels.copy()
    at[:, 0] -= 1 - chances.published
    return float((at * (sizes.size[:, None] * _GOOD >= margins) * sizes.groups[:, None]).sum())


def without_adaptivity(sizes: NationSizes) -> Finding:
    """Finding 7: two uniform plans beside the adaptive one."""
    rows: list[tuple[str, ...]] = []
    points: list[Point] = []
    kept: dict[tuple[str, str], tuple[float, ...]] = {}
    for level in (COUNTY_2, TRACT_2):
        rule, groups = plan_of_2020().levels[level], sizes.two_stage(level)
        part = coarsest_soundness(rule)
        law, most = _law_without_stages(rule), rule.cells[-1]
        margin = _TWO_SIDED * standard_deviation(variance_of_sum(law, 1))
        of_sum, of_total = moe_95_of_sum(law, most), moe_95_of_sum(law, 1)
        for name, chosen in (("adaptive, 2020", rule), ("adaptive, equal margins", sound_thresholds(rule, part))):
            found, ends = tables(chosen, groups, part), total_margins(chosen.noise, chosen.cells)
            cells = sum(n * k for n, k in zip(found.by_stat_level, chosen.cells[1:], strict=True))
            fine = _sound_fine(chosen, groups, part)
            figures = (_good_totals(chosen, groups), found.sound, fine, cells, found.sound_cells / cells)
            of_totals = f"±{ends[0].estimate_moe_95} to ±{ends[-1].estimate_moe_95}"
            rows.append(_row(level, name, of_totals, cell_margin(chosen), figures))
            _note(points, level, name, figures)
            kept[level, name] = figures[:2]
        # A coarse cell is the sum of several fine ones, and so has more noise than if it were measured.
        coarse = ceil(rule.cells[1] * margin * sqrt(most / rule.cells[1]) / part)
        fine = ceil(most * margin / part)
        usable, everything = _at_least(groups, coarse), groups.total * most
        finest = (
            _at_least(groups, of_sum / _GOOD),
            usable,
            _at_least(groups, fine),
            everything,
            _at_least(groups, fine) * most / everything,
        )
        rows.append(_row(level, "finest table for every group", f"±{of_sum}", margin, finest))
        total = (_at_least(groups, of_total / _GOOD), 0.0, 0.0, 0.0, 0.0)
        rows.append(_row(level, "total alone for every group", f"±{of_total}", None, total))
        for name, figures in (("finest table for every group", finest), ("total alone for every group", total)):
            _note(points, level, name, figures)
            kept[level, name] = figures[:2]
    (totals, sound), _, (finest_totals, finest_sound), (only_totals, _), *_ = kept.values()
    return Finding(
        7,
        "uniform",
        "Adaptivity costs almost nothing, and saves the small totals",
        f"Budgets as in 2020. A total is good when its margin is at most {percent(_GOOD)} of it. A table is sound when "
        f"the margin of an average cell is at most {percent(part)} of it, as at the lowest county threshold of 2020. "
        "Fine tables "
        "may be summed up to coarse ones.",
        f"If every county group got the finest table, {rows[2][6]} million cells would be published, nearly all "
        f"of them noise, and {percent(1 - finest_totals / totals)} of the good totals "
        "would be lost. "
        f"{percent(1 - finest_sound / sound)} of the sound tables would be lost "
        "too, since "
        f"coarse cells would be sums of noisy fine ones. With a total alone for every group there would be "
        f"{whole(only_totals)} good totals, against {whole(totals)}, and no table: "
        "ESTIMATE uses "
        f"stage 1 too, so a small group loses nothing. The price of the stages is a margin of {rows[0][2]} against "
        f"{rows[2][2]} persons in a cell.",
        "Keep the two stages. One table for every group is a choice only if nobody needs totals of small groups.",
        (
            "level, plan",
            "margin, total",
            "margin, cell",
            "good totals",
            "sound tables",
            "of these fine",
            "cells published, millions",
            "of these in sound tables",
        ),
        tuple(rows),
        {
            "good totals of counties, finest for all over adaptive": significant(finest_totals / totals),
            "sound tables of counties, finest for all over adaptive": significant(finest_sound / sound),
            "good totals of counties, total alone over adaptive": significant(only_totals / totals),
        },
        tuple(points),
        "Bars of good totals and sound tables in counties and tracts for four plans. The plan with the finest table "
        "for "
        "every group has far fewer good totals; the plan with a total alone has no table.",
    )


def _sound_fine(rule: DetailRule, sizes: Histogram, part: float) -> float:
    finest = chances_of(rule, sizes.size).stat_levels[:, -1] * sizes.groups
    return float(finest[sizes.size >= sound_sizes(rule, part)[-1]].sum())


def _row(level: str, name: str, margin: str, cell: float | None, figures: tuple[float, ...]) -> tuple[str, ...]:
    totals, sound, fine, cells, share = figures
    return (
        f"{level}, {name}",
        margin,
        "none" if cell is None else f"±{cell:.1f}",
        whole(totals),
        whole(sound),
        whole(fine),
        f"{cells / 1e6:,.1f}",
        percent(share, 0 if share > 0.1 else 1 if share > 0.001 else 3) if cells else "none",
    )


def _note(points: list[Point], level: str, name: str, figures: tuple[float, ...]) -> None:
    for what, value in (("good totals", figures[0]), ("sound tables", figures[1])):
        points.append({"level": level, "plan": name, "what": what, "groups": significant(value)})
