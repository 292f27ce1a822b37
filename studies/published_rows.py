"""Findings 6 and 8: COUNT beside ESTIMATE, and how many empty groups get a row for a given chance of suppression.

In: the sizes of a synthetic nation. Out: two findings. The promise: errors of COUNT and ESTIMATE are sums over all
pairs of noisy counts with their chances, given that the row is published; nothing is simulated.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from safetab.estimates import estimates_95
from safetab.planning import DetailRule, budget_for_total_moe, chances_of, total_margins
from safetab.planning.noise_arrays import Floats, Integers, noise_array
from studies.finding import Finding, Point, percent, significant, whole
from studies.plans import COUNTY_2, PLACE_2, TRACT_2, expected, plan_of_2020
from studies.synthetic_nation import NationSizes

#: Bands of true sizes of county groups with a total alone; above them suppression plays no part.
BANDS = ((1, 10), (11, 20), (21, 30), (31, 50), (51, 100))
#: Noise is followed until its chance is below this, which changes no printed digit.
_RARE = 1e-10
CHANCES = tuple(1 - Fraction(1, 10**n) for n in (1, 2, 3, 4, 5, 6))


def row_errors(rule: DetailRule, sizes: Integers) -> Floats:
    """Of groups of these sizes that are published with a total alone: mean and mean absolute error, given that.

    One row for each size: those of COUNT, then those of ESTIMATE.
    """
    published = rule.publication(0)
    if published is None:
        raise ValueError("no group has a total alone: the first threshold is too low")
    x, chance_x = _likely(*noise_array(rule.stage_1, 1))
    s, chance_s = _likely(*noise_array(rule.stage_2, 1))
    dropped = rule.dropped_up_to()
    found = np.zeros((len(sizes), 4))
    for row, size in enumerate(sizes.tolist()):
        is_seen = np.ones(len(s), dtype=np.bool_) if dropped is None else size + s > dropped
        is_below = size + x < rule.thresholds[0]
        x_all = np.repeat(size + x[is_below], int(is_seen.sum()))
        s_all = np.tile(size + s[is_seen], int(is_below.sum()))
        chance = np.outer(chance_x[is_below], chance_s[is_seen]).ravel()
        chance /= chance.sum()
        for column, value in ((0, s_all), (2, estimates_95(published, x_all, s_all).estimate)):
            error = value - size
            found[row, column : column + 2] = (chance * error).sum(), (chance * np.abs(error)).sum()
    return found


def _likely(values: Integers, chances: Floats) -> tuple[Integers, Floats]:
    kept = chances > _RARE
    return values[kept], chances[kept]


def count_and_estimate(sizes: NationSizes) -> Finding:
    """Finding 6: which of the two published numbers to use, and what COUNT would cost to be as good."""
    rule, groups = plan_of_2020().levels[COUNTY_2], sizes.two_stage(COUNTY_2)
    rows: list[tuple[str, ...]] = []
    points: list[Point] = []
    factors: list[float] = []
    names = ("total alone", "coarse table", "medium table", "fine table")
    for name, margins in zip(names, total_margins(rule.noise, rule.cells), strict=True):
        factor = _budget_factor(rule, margins.cells, margins.estimate_moe_95)
        factors.append(factor)
        shown = (f"±{margins.sum_moe_95}", f"±{margins.estimate_moe_95}", "0", "0", f"{factor:.1f}")
        rows.append((f"{name}, far from limits", *shown))
        for what, value in (("COUNT", margins.sum_moe_95), ("ESTIMATE", margins.estimate_moe_95)):
            points.append({"row": name, "what": what, "margin": value})
    biases: list[tuple[float, float]] = []
    for low, high in BANDS:
        here = np.flatnonzero((groups.size >= low) & (groups.size <= high))
        chances = chances_of(rule, groups.size[here])
        weight = groups.groups[here] * (chances.published - chances.with_table)
        errors = (row_errors(rule, groups.size[here]) * weight[:, None]).sum(axis=0) / weight.sum()
        biases.append((errors[0], errors[2]))
        rows.append(
            (
                f"published total, true size {low} to {high}",
                f"{errors[1]:.1f} on average",
                f"{errors[3]:.1f} on average",
                f"{errors[0]:+.1f}",
                f"{errors[2]:+.1f}",
                "",
            )
        )
    return Finding(
        6,
        "count-and-estimate",
        "Read ESTIMATE: for large groups COUNT would need several times the budget to be as good",
        "Detailed groups of counties with the plan of 2020. Margins are those of totals, 95 %. For small totals the "
        "figures are average errors of the rows that suppression leaves, over the sizes of the nation.",
        f"The total of a fine table has a margin of {rows[3][1]} as COUNT and {rows[3][2]} as ESTIMATE; COUNT would "
        f"need {factors[3]:.1f} times the county budget to be as good. Of groups with 11 to 20 people those that are "
        "published are "
        f"published because of their noise: COUNT is {_too(biases[1][0])} on average, ESTIMATE {_too(biases[1][1])}. "
        f"ESTIMATE pays for this with a larger average error from 21 to 30 people ({rows[6][2].split()[0]} against "
        f"{rows[6][1].split()[0]}).",
        "Tell users to take ESTIMATE for totals, above all of groups with a table and for sums over many groups. "
        "Neither number is good for one group near the suppression limit; its interval says so.",
        (
            "county rows",
            "COUNT",
            "ESTIMATE",
            "COUNT too high by",
            "ESTIMATE too high by",
            "budget that COUNT would need, times",
        ),
        tuple(rows),
        {
            "budget that COUNT would need, fine table": significant(factors[3]),
            "COUNT too high by, true size 11 to 20": significant(biases[1][0], 3),
            "ESTIMATE too high by, true size 11 to 20": significant(biases[1][1], 3),
        },
        tuple(points),
        "Bars of the margin of a total as COUNT and as ESTIMATE, for groups with a total alone, a coarse, a medium and "
        "a fine table. The margin of COUNT grows with the number of cells, that of ESTIMATE hardly does.",
    )


def _too(bias: float) -> str:
    return f"{abs(bias):.1f} too {'high' if bias > 0 else 'low'}"


def _budget_factor(rule: DetailRule, cells: int, moe: int) -> float:
    """How many times the budget a plan without stage 1 estimates needs, for a sum of cells with this margin."""
    apart = replace(rule.noise, has_two_stage=False, stability=rule.noise.stability * cells)
    if cells == 1 and total_margins(rule.noise, (1,))[0].sum_moe_95 == moe:
        return 1.0
    # A sum of cells has the variance of one count with a budget divided by the cells; stage 2 has its own share.
    needed = budget_for_total_moe(apart, moe, 1) / (1 - rule.noise.stage_1_fraction)
    return float(needed / rule.noise.budget)


def by_suppression(sizes: NationSizes) -> Finding:
    """Finding 8: the chance with which an empty group is suppressed."""
    base = plan_of_2020()
    rows: list[tuple[str, ...]] = []
    points: list[Point] = []
    shares: dict[Fraction, float] = {}
    tracts: dict[Fraction, float] = {}
    for chance in CHANCES:
        cells: list[str] = []
        for level in (COUNTY_2, PLACE_2, TRACT_2):
            rule = replace(base.levels[level], suppression_chance=chance)
            found = expected(rule, sizes.two_stage(level))
            share = found.published_empty / found.published
            cells += [whole(found.published - found.published_empty), whole(found.published_empty)]
            points.append(
                {"chance": significant(float(1 - chance)), "level": level, "percent": significant(100 * share)}
            )
            if level == TRACT_2:
                shares[chance], tracts[chance] = share, found.published
        limit = replace(base.levels[COUNTY_2], suppression_chance=chance).dropped_up_to()
        name = f"{float(chance):.6f}".rstrip("0") + (" (2020)" if chance == CHANCES[3] else "")
        rows.append((name, str(limit), *cells, percent(shares[chance], 1 if shares[chance] > 0.001 else 3)))
    return Finding(
        8,
        "suppression",
        "A suppression chance that sounds strict still publishes thousands of empty groups, because there are so many",
        "Budgets, thresholds and stage 1 share as in 2020; detailed groups.",
        f"There are {whole(sizes.two_stage(TRACT_2).groups[0])} empty groups in the tracts. With 0.9999 each of them "
        f"is published with a chance of one in 10,000, and {rows[3][7]} tract rows are about nobody "
        f"({percent(shares[CHANCES[3]], 1)} of those published). With 0.999 it would be "
        f"{percent(shares[CHANCES[2]], 0)}. "
        f"With 0.99999 it is {percent(shares[CHANCES[4]], 2)}, and "
        f"{percent(1 - tracts[CHANCES[4]] / tracts[CHANCES[3]])} "
        "fewer tract totals are published.",
        "Choose the chance from the number of groups of the largest level, which is public; most of them are empty. "
        "With "
        "100 million groups, 0.9999 is the least of these that keeps rows of nobody below 1 %.",
        (
            "suppression chance",
            "largest total dropped",
            "county rows with people",
            "county rows of nobody",
            "place rows with people",
            "place rows of nobody",
            "tract rows with people",
            "tract rows of nobody",
            "tract rows of nobody, share",
        ),
        tuple(rows),
        {
            "share of tract rows of nobody, 0.9999": significant(shares[CHANCES[3]], 3),
            "share of tract rows of nobody, 0.999": significant(shares[CHANCES[2]], 3),
        },
        tuple(points),
        "Lines of the share of published rows that are of empty groups, for counties, places and tracts, over the "
        "chance that an empty group is published. All fall steeply as the chance gets smaller; places and tracts are "
        "highest.",
    )
