"""Findings 4 and 5: the share of stage 1, and thresholds that give the most detail at equal margins.

In: the sizes of a synthetic nation. Out: two findings. The promise: the objective is stated in each of them, and
margins are 1.96 standard deviations of the exact noise, so that they move smoothly with the share.

A table is *sound* when the 95 % margin of an average cell is at most a given part of that cell: size / cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf

import numpy as np

from safetab.accounting.accuracy.margins import variance_of_sum
from safetab.planning import DetailRule, chances_of, total_margins
from studies.finding import Finding, Point, percent, significant, whole
from studies.plans import COUNTY_2, plan_of_2020, standard_deviation
from studies.synthetic_nation import Histogram, NationSizes

FRACTIONS = tuple(Fraction(n, 100) for n in (1, 2, 3, 5, 10, 15, 20, 30, 50))
#: The largest chance that a group just too small for a sound table gets it nevertheless.
_UNSOUND = Fraction(5, 100)
_TWO_SIDED = 1.959963984540054


def cell_margin(rule: DetailRule) -> float:
    """The 95 % margin of one cell."""
    return _TWO_SIDED * standard_deviation(variance_of_sum(rule.stage_2, 1))


def coarsest_soundness(rule: DetailRule) -> float:
    """The margin of an average cell of the coarsest table, as a part of it, for a group just at the threshold."""
    return _parts(rule)[0]


def _parts(rule: DetailRule) -> tuple[float, ...]:
    """The margin of an average cell as a part of it, at each threshold."""
    margin = cell_margin(rule)
    return tuple(margin * cells / threshold for cells, threshold in zip(rule.cells[1:], rule.thresholds, strict=True))


def sound_sizes(rule: DetailRule, part: float) -> tuple[int, ...]:
    """The least sizes for which the table of each stat level is sound."""
    return tuple(ceil(cells * cell_margin(rule) / part) for cells in rule.cells[1:])


def sound_thresholds(rule: DetailRule, part: float) -> DetailRule:
    """The rule with thresholds that a group too small for a sound table reaches with a chance of 5 % at most."""
    above = rule.stage_1.quantile(1 - _UNSOUND)
    return replace(rule, thresholds=tuple(size + above for size in sound_sizes(rule, part)))


@dataclass(frozen=True, slots=True)
class Tables:
    """Expected numbers of tables by stat level, how many of them are sound, and the sound cells."""

    by_stat_level: tuple[float, ...]
    sound: float
    sound_cells: float

    @property
    def all(self) -> float:
        return sum(self.by_stat_level)


def tables(rule: DetailRule, sizes: Histogram, part: float) -> Tables:
    """The tables of some groups."""
    chances = chances_of(rule, sizes.size).stat_levels[:, 1:] * sizes.groups[:, None]
    is_sound = sizes.size[:, None] >= np.array(sound_sizes(rule, part))
    sound = (chances * is_sound).sum(axis=0)
    return Tables(
        tuple(chances.sum(axis=0).tolist()), float(sound.sum()), float((sound * np.array(rule.cells[1:])).sum())
    )


def by_fraction(sizes: NationSizes) -> Finding:
    """Finding 4: another share of the same budget for stage 1."""
    base = plan_of_2020()
    part = coarsest_soundness(base.levels[COUNTY_2])
    counties = sizes.two_stage(COUNTY_2)
    rows: list[tuple[str, ...]] = []
    points: list[Point] = []
    cells: dict[Fraction, float] = {}
    margins: dict[Fraction, tuple[float, int, int]] = {}
    for fraction in FRACTIONS:
        rule = sound_thresholds(base.with_fraction(fraction).levels[COUNTY_2], part)
        found = tables(rule, counties, part)
        totals = total_margins(rule.noise, rule.cells)
        cells[fraction] = found.sound_cells
        margins[fraction] = (cell_margin(rule), totals[0].estimate_moe_95, totals[-1].estimate_moe_95)
        rows.append(
            (
                f"{float(fraction):.2f}" + (" (2020)" if fraction == Fraction(1, 10) else ""),
                f"±{cell_margin(rule):.1f}",
                " ".join(map(whole, rule.thresholds)),
                whole(found.sound),
                f"{found.sound_cells / 1000:,.0f}",
                f"±{totals[0].estimate_moe_95}",
                f"±{totals[1].estimate_moe_95}",
                f"±{totals[-1].estimate_moe_95}",
            )
        )
    best = max(cells, key=lambda fraction: cells[fraction])
    widest = margins[FRACTIONS[0]][2]
    for fraction in FRACTIONS:
        for what, value in (
            ("sound cells, percent of the most possible", cells[fraction] / cells[best]),
            ("margin of the total of a finest table, percent of that with share 0.01", margins[fraction][2] / widest),
        ):
            points.append({"share": float(fraction), "what": what, "percent": significant(100 * value)})
    now, twice = Fraction(1, 10), Fraction(2, 10)
    of_2020 = tables(base.levels[COUNTY_2], counties, part).sound_cells
    return Finding(
        4,
        "fraction",
        "The stage 1 share hardly changes the detail; choose it for the totals",
        f"County budget as in 2020. For each share the thresholds are as low as a margin of {percent(part)} of an "
        "average cell allows, with a chance of 5 % at most that a smaller group gets the table. Objective: the "
        "expected number of published cells in such sound tables, detailed groups of counties.",
        f"A share of {float(best):.2f} gives the most sound cells; 0.10 gives "
        f"{percent(1 - cells[now] / cells[best], 1)} "
        f"and 0.20 {percent(1 - cells[twice] / cells[best], 1)} fewer. From 0.10 to 0.20 the margin of a cell grows by "
        f"{percent(margins[twice][0] / margins[now][0] - 1)}, and that of the total of a finest table falls from "
        f"±{margins[now][2]} to ±{margins[twice][2]} (ESTIMATE). Compared with the thresholds of 2020 (finding 5), "
        "the best share "
        f"and its thresholds give {cells[best] / of_2020:.2f} times as many sound cells with the same budget; share "
        "0.2 "
        f"and its thresholds give {cells[twice] / of_2020:.2f} times as many, and better totals.",
        "A share from 0.05 to 0.2 is good for detail. Where totals of large groups matter, take 0.2.",
        (
            "stage 1 share",
            "margin, cell",
            "thresholds",
            "sound tables",
            "sound cells, thousands",
            "margin, total alone",
            "margin, total of a coarsest table",
            "margin, total of a finest table",
        ),
        tuple(rows),
        {
            "share with the most sound cells": float(best),
            "sound cells, share 0.1 over the most": significant(cells[now] / cells[best]),
            "sound cells, share 0.2 over the most": significant(cells[twice] / cells[best]),
            "sound cells, best share and thresholds over 2020": significant(cells[best] / of_2020),
        },
        tuple(points),
        "Two lines over the stage 1 share from 0.01 to 0.5. The number of sound cells stays above nine tenths of the "
        "most up to a share of 0.2. The margin of the total of a finest table falls steeply.",
    )


def by_thresholds(sizes: NationSizes) -> Finding:
    """Finding 5: thresholds with one margin for every kind of table."""
    base = plan_of_2020()
    rows: list[tuple[str, ...]] = []
    points: list[Point] = []
    of_county = _parts(base.levels[COUNTY_2])
    ratios: dict[str, float] = {}
    fine: dict[str, float] = {}
    for level in ("(STATE, 2)", COUNTY_2, "(PLACE, 2)", "(TRACT, 2)", "(COUNTY, 1)"):
        rule, groups = base.levels[level], sizes.two_stage(level)
        part = max(_parts(rule))
        lower = sound_thresholds(rule, part)
        now, then = tables(rule, groups, part), tables(lower, groups, part)
        ratios[level] = then.sound_cells / now.sound_cells
        fine[level] = then.by_stat_level[-1] / now.by_stat_level[-1] if now.by_stat_level[-1] else inf
        for name, chosen, found in (("2020", rule, now), ("equal margins", lower, then)):
            rows.append(
                (
                    f"{level}, {name}",
                    " ".join(map(whole, chosen.thresholds)),
                    " ".join(percent(each, 1) for each in _parts(chosen)),
                    *map(whole, found.by_stat_level),
                    f"{found.sound_cells / 1000:,.0f}",
                )
            )
            for kind, number in zip(("coarse table", "medium table", "fine table"), found.by_stat_level, strict=True):
                points.append({"level": level, "thresholds": name, "kind": kind, "groups": significant(number)})
    return Finding(
        5,
        "thresholds",
        "Thresholds with one margin for all tables give several times as many fine tables, with the same budget",
        "Budgets and stage 1 share as in 2020. A table is sound when the margin of an average cell is at most the "
        "part that the thresholds of 2020 allow at worst at that level. Lower thresholds are such that a smaller "
        "group gets "
        "the table with a chance of 5 % at most. Objective: the expected number of cells in sound tables.",
        f"The thresholds of 2020 ask more of a finer table. With the same relative margin for every kind of table, "
        f"{fine[COUNTY_2]:.1f} times as many county groups get the finest table, and counties have "
        f"{ratios[COUNTY_2]:.2f} times as many sound cells. Privacy loss and margins stay the same. The price: a "
        "cell of a fine "
        f"table just above its threshold has the relative margin that a cell of a coarse table has now, "
        f"{percent(of_county[0], 1)} and not {percent(of_county[-1], 1)}.",
        "State the relative margin that a cell must have, and compute all thresholds from it: threshold = cells x "
        "margin of a cell / relative margin, plus the 95 % quantile of the stage 1 noise.",
        (
            "level, thresholds",
            "thresholds",
            "margin of an average cell there",
            "coarse tables",
            "medium tables",
            "fine tables",
            "sound cells, thousands",
        ),
        tuple(rows),
        {
            "county groups with the finest table, equal margins over 2020": significant(fine[COUNTY_2]),
            "sound cells of counties, equal margins over 2020": significant(ratios[COUNTY_2]),
            "sound cells of states, equal margins over 2020": significant(ratios["(STATE, 2)"]),
        },
        tuple(points),
        "Bars of the number of groups with a coarse, medium and fine table at five levels, with the thresholds of "
        "2020 and with thresholds of equal margins. At every level there are more fine tables with equal margins.",
    )
