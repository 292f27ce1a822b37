"""Findings 1 and 2: what more or less epsilon gives, and what another split of the same epsilon gives.

In: the sizes of a synthetic nation. Out: two findings. The promise: every epsilon is the least of all certified
analyses at delta 1e-10, and budgets are the largest with six digits that keep it.
"""

from __future__ import annotations

from fractions import Fraction

from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.noise.laws import Mechanism
from safetab.planning import DetailRule, moe_95_of_estimate
from studies.finding import Finding, Point, percent, significant, whole
from studies.plans import COUNTY_2, STATE_2, TRACT_2, USA_2, Plan, calibrated, expected, plan_of_2020, with_budget
from studies.stages import coarsest_soundness, sound_thresholds
from studies.synthetic_nation import NationSizes

#: Epsilons of the first finding; the release of 2020 stands between them.
EPSILONS = (1, 2, 4, 8, 16, 32)
#: A quarter of 2.134, which the detailed groups of the nation and the states had in 2020: the paper's own budget.
_QUARTER = Fraction("0.534")


def by_epsilon(sizes: NationSizes) -> Finding:
    """Finding 1: every budget times the same factor."""
    base = plan_of_2020()
    plans = {f"{epsilon}": base.at_epsilon(Fraction(epsilon)) for epsilon in EPSILONS}
    plans[f"{base.epsilon():.1f} (2020)"] = base
    ordered = sorted(plans.items(), key=lambda item: float(item[0].split()[0]))
    rows: list[tuple[str, ...]] = []
    points: list[Point] = []
    found: dict[str, tuple[float, float, float]] = {}
    part = coarsest_soundness(base.levels[COUNTY_2])
    for name, plan in ordered:
        county, tract, state = (plan.levels[level] for level in (COUNTY_2, TRACT_2, STATE_2))
        of_county = expected(county, sizes.two_stage(COUNTY_2))
        of_tract = expected(tract, sizes.two_stage(TRACT_2))
        of_state = expected(state, sizes.two_stage(STATE_2))
        followed = expected(sound_thresholds(county, part), sizes.two_stage(COUNTY_2)).with_table
        found[name] = (of_county.with_table, of_county.published, followed)
        rows.append(
            (
                name,
                f"±{total_moe(state)}",
                f"±{total_moe(county)}",
                whole(of_state.with_table),
                whole(of_county.with_table),
                whole(of_county.stat_levels[-1]),
                whole(of_county.published),
                whole(of_tract.published),
                whole(followed),
            )
        )
        epsilon = float(name.split()[0])
        for what, value in (
            ("county groups with a published total", of_county.published),
            ("county groups with a sex by age table, thresholds of 2020", of_county.with_table),
            ("county groups with a sex by age table, thresholds that follow the margin", followed),
        ):
            points.append({"epsilon": epsilon, "what": what, "groups": significant(value)})
    now = found[ordered[-2][0]]
    less, more = found["4"], found["32"]
    return Finding(
        1,
        "epsilon",
        "More epsilon buys smaller margins and more small totals, but no tables unless the thresholds follow",
        "All budgets of 2020 times one factor; thresholds, stage 1 share and suppression as in 2020. Margins are "
        "those of "
        "ESTIMATE. In the last column thresholds follow the margin: a cell of a group at the threshold has a margin "
        "of "
        f"{percent(part)}, as for the coarsest county table of 2020 (finding 5).",
        f"From epsilon 4 to 32 the number of county groups with a sex by age table changes by "
        f"{percent(abs(more[0] / less[0] - 1), 1)}, while the number with a published total grows from "
        f"{whole(less[1])} to {whole(more[1])}. The thresholds decide who gets a table, and the noise of stage 1 is "
        "small beside them. Only at epsilon 2 and below is it so wide that groups get tables by chance. If the "
        "thresholds "
        f"follow the margin, tables grow from {whole(less[2])} to {whole(more[2])}.",
        "Change thresholds together with budgets. A larger epsilon with the old thresholds gives smaller margins and "
        "more "
        "totals of small groups, and nothing else.",
        (
            "epsilon",
            "margin, state total",
            "margin, county total",
            "state groups with a table",
            "county groups with a table",
            "of these the finest table",
            "county totals published",
            "tract totals published",
            "if thresholds follow",
        ),
        tuple(rows),
        {
            "county groups with a table, epsilon 32 over epsilon 4": significant(more[0] / less[0]),
            "county totals published, epsilon 32 over epsilon 4": significant(more[1] / less[1]),
            "county groups with a table, epsilon 32 over epsilon 4, thresholds follow": significant(more[2] / less[2]),
            "county groups with a table in 2020": significant(now[0]),
            "county totals published in 2020": significant(now[1]),
        },
        tuple(points),
        "Three lines over epsilon from 1 to 32. The number of county groups with a published total rises all the way. "
        "The number with a sex by age table stays level with the thresholds of 2020, and rises if they follow the "
        "margin.",
    )


def total_moe(rule: DetailRule) -> int:
    """The margin of the estimate of a group with a total alone."""
    return moe_95_of_estimate(rule.stage_1, rule.stage_2, 1)


def _splits() -> dict[str, Plan]:
    """Splits of the epsilon of 2020 between the levels."""
    base = plan_of_2020()
    epsilon = Fraction(base.epsilon())

    def wide(name: str, rule: DetailRule) -> DetailRule:
        return with_budget(rule, _QUARTER) if name in (USA_2, STATE_2) else rule

    def even(name: str, rule: DetailRule) -> DetailRule:
        return with_budget(rule, Fraction(1)) if name.endswith("2)") else rule

    def without_tracts() -> Plan:
        return Plan({name: rule for name, rule in base.levels.items() if "TRACT" not in name})

    return {
        "as in 2020": base,
        "no tracts at all": without_tracts().at_epsilon(epsilon),
        "nation and states: a quarter of the weight": base.changed(wide).at_epsilon(epsilon),
        "every detailed level: the same weight": base.changed(even).at_epsilon(epsilon),
        "nation and states: a quarter, the rest saved": base.changed(wide),
        "as in 2020, least budgets for the same margins": calibrated(
            base, Mechanism.DISCRETE_GAUSSIAN, Fraction(1, 10)
        ),
    }


def by_split(sizes: NationSizes) -> Finding:
    """Finding 2: the same epsilon, divided in another way between the levels."""
    rows: list[tuple[str, ...]] = []
    points: list[Point] = []
    found: dict[str, tuple[int, int, float, float]] = {}
    for name, plan in _splits().items():
        total = sum(rule.noise.budget for rule in plan.levels.values())
        top = sum(plan.levels[level].noise.budget for level in (USA_2, STATE_2)) / total
        state, county = plan.levels[STATE_2], plan.levels[COUNTY_2]
        of_county = expected(county, sizes.two_stage(COUNTY_2))
        of_tract = expected(plan.levels[TRACT_2], sizes.two_stage(TRACT_2)) if TRACT_2 in plan.levels else None
        found[name] = (total_moe(state), total_moe(county), of_county.published, plan.epsilon())
        rows.append(
            (
                name,
                f"{plan.epsilon():.1f}",
                percent(float(top)),
                f"±{moe_95_of_sum(state.stage_2, 1)}",
                f"±{moe_95_of_sum(county.stage_2, 1)}",
                whole(of_county.published),
                whole(of_tract.published) if of_tract else "none",
                whole(of_county.with_table),
            )
        )
        split = f"{name} (epsilon {plan.epsilon():.1f})"
        for what, rule in (("margin of a state cell", state), ("margin of a county cell", county)):
            points.append({"split": split, "what": what, "persons": moe_95_of_sum(rule.stage_2, 1)})
    (_, _, before, epsilon), _, (_, _, after, _), _, (*_, saved), (*_, least) = found.values()
    return Finding(
        2,
        "split",
        "The nation and the states take most of the budget; the local levels are cheap",
        "Epsilon as in 2020 where nothing else is said; thresholds, stage 1 fraction and suppression as in 2020.",
        f"In 2020 the detailed groups of the nation and the states have {rows[0][2]} of rho. Without any tract "
        f"table their margin would stay at {rows[1][3]}. With a quarter of their weight their margin goes from "
        f"{rows[0][3]} to {rows[2][3]}, that of counties, places and tracts from {rows[0][4]} to {rows[2][4]}, and "
        f"{percent(after / before - 1)} more county totals are published at the same epsilon. If what is freed is "
        f"saved and not shared out, epsilon goes from {epsilon:.1f} to {saved:.1f}. And even with the "
        f"margins of 2020 at every level, exact calibration needs an epsilon of {least:.1f} only.",
        "Ask first whether state totals need a margin of 3. Leaving out tracts saves hardly anything. State margins, "
        "and "
        "let `safetab calibrate` find the least budgets.",
        (
            "split",
            "epsilon",
            "rho of nation and states",
            "margin, state cell",
            "margin, county cell",
            "county totals published",
            "tract totals published",
            "county groups with a table",
        ),
        tuple(rows),
        {
            "county totals published, a quarter of the weight over 2020": significant(after / before),
            "epsilon if the rest is saved": significant(saved),
            "epsilon of the least budgets for the margins of 2020": significant(least),
        },
        tuple(points),
        "Bars of the margin of a state cell and of a county cell for six splits. With the split of 2020 they are 3 "
        "and 11. With the same weight for every detailed level both are 5.",
    )
