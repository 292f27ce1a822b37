"""The sections of a report that have figures: guarantee, spending, detail, suppression.

In: an opened release and its survey. Out: sections of the page. The promise: a figure in a picture is in the table
below it too, and bounds on privacy loss are rounded up.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

from safetab.accounting.accuracy.margins import moe_95_of_sum, variance_of_sum
from safetab.accounting.rounding import decimal_above
from safetab.reading.levels import Level
from safetab.reading.opened import Opened
from safetab.reading.survey import Survey
from safetab.reports import charts, markup
from safetab.reports.totals_table import level_name, levels_of

#: How much is published of a group.
KINDS = ("total only", "stat level 0", "stat level 1", "stat level 2", "stat level 3")


def guarantee(release: Opened) -> markup.Section:
    ledger, bound = release.ledger, release.ledger["analyses"]
    if not release.is_private:
        none = "None. Noise was off or seeded, so the numbers protect nobody. Do not publish them."
        return markup.Section("guarantee", "The guarantee", (markup.paragraph(none),))
    kind = "zero-concentrated differential privacy" if ledger["privacy"] == "zcdp" else "pure differential privacy"
    words = [
        "Take any person. Compare the world in which their record is in the data with the world in which it is not. "
        "Every number of this release was drawn at random, and adding or removing that one record can change the "
        "probability of any result by no more than the bound below. Whatever anybody concludes from the tables, with "
        "any other knowledge and any computing power, they could have concluded almost as well without that record.",
        f"The bound is {ledger['budget_symbol']} {ledger['total_budget']} of {kind}. In the more common terms it is "
        f"epsilon {decimal_above(bound['epsilon'], 4)} at delta {bound['delta']}. Each line of the table is a valid "
        "upper bound by itself; the smallest epsilon is the one to quote.",
    ]
    names = {
        "pure_epsilon": "pure epsilon",
        "rho": "rho (zCDP)",
        "epsilon_loss_distribution": f"epsilon by loss distribution, delta {bound['delta']}",
        "epsilon_renyi": f"epsilon by Rényi divergence, delta {bound['delta']}",
        "epsilon_zcdp_analytic": f"epsilon by the zCDP formula, delta {bound['delta']}",
    }
    rows = [(name, _bound(bound[key])) for key, name in names.items() if bound.get(key) is not None]
    note = f"Neighbours: {ledger['neighbours']}. A release costs what its costliest run does: nobody is in two runs."
    return markup.Section(
        "guarantee",
        "The guarantee",
        (*map(markup.paragraph, words), markup.table("bounds", ("Analysis", "Bound"), rows), markup.paragraph(note)),
    )


def _bound(value: Any) -> str:
    return value if isinstance(value, str) else decimal_above(value, 5)


def spending(release: Opened) -> markup.Section:
    symbol = release.ledger["budget_symbol"]
    rows: list[tuple[str, ...]] = []
    bars: list[dict[str, Any]] = []
    for run in release.ledger["runs"]:
        whole = Fraction(run["budget"])
        levels = {level.name: level for level in release.levels if level.run == run["name"]}
        for entry in run["levels"]:
            level, budget = levels[entry["level"]], Fraction(entry["budget"])
            name = level_name(release, run["name"], level.geography, level.iteration_level)
            share = _share(float(budget / whole)) if whole else "-"
            bars.append({"level": name, "budget": float(budget), "label": f"{entry['budget']} ({share})"})
            drawn = sum(part["counts"] for part in entry["measurements"])
            groups = f"{entry['groups']:,}"
            rows.append((name, entry["budget"], share, str(entry["stability"]), groups, f"{drawn:,}", *_noise(level)))
    if not bars:
        none = "No level has a budget, so nothing was measured and nothing was published."
        return markup.Section("spending", "Where the budget went", (markup.paragraph(none),))
    largest = max(bars, key=lambda bar: float(bar["budget"]))
    picture = charts.bars(
        bars,
        "level",
        "budget",
        "label",
        f"budget ({symbol})",
        alt=f"Bars: the budget of each of {len(bars)} levels. The largest is {largest['level']}: {largest['label']}.",
        caption=f"What each level spends of the budget of its run, as {symbol}.",
    )
    columns = (
        "Level",
        symbol,
        "Share of run",
        "Stability",
        "Groups",
        "Noisy counts",
        "Noise, std. dev.",
        "95 % margin",
    )
    note = (
        "Stability is the largest number of groups of the level that one person can be in; they share its budget. "
        "Noise and margin are those of one cell of a table, or of a total at stat level 0."
    )
    return markup.Section(
        "spending",
        "Where the budget went",
        (markup.figure(picture), markup.table("levels", columns, rows), markup.paragraph(note)),
    )


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _noise(level: Level) -> tuple[str, str]:
    law = level.stage_2 or level.total_only
    if law is None or not level.has_noise:
        return "0", "0"
    return f"{sqrt(variance_of_sum(law, 1)):.3g}", f"± {moe_95_of_sum(law, 1):,}"


def detail(release: Opened, survey: Survey) -> markup.Section:
    found: dict[str, dict[str, int]] = {name: dict.fromkeys(KINDS, 0) for name in levels_of(release)}
    for row in survey.detail:
        kind = KINDS[0] if row.is_total_only else KINDS[row.stat_level + 1]
        found[level_name(release, row.run, row.geography, row.iteration_level)][kind] += row.rows
    kinds = [kind for kind in KINDS if any(counts[kind] for counts in found.values())] or [KINDS[1]]
    parts = [
        {"level": name, "kind": kind, "rows": counts[kind], "place": place}
        for name, counts in found.items()
        for place, kind in enumerate(kinds)
    ]
    with_table = sum(counts[kind] for counts in found.values() for kind in KINDS[2:])
    rows_of_all = sum(sum(counts.values()) for counts in found.values())
    if not rows_of_all:
        none = "No group was published."
        return markup.Section("detail-of-groups", "How much detail groups got", (markup.paragraph(none),))
    picture = charts.shares(
        parts,
        "level",
        "kind",
        "rows",
        kinds,
        alt="Stacked bars: the published totals of each level by detail. "
        f"{with_table:,} of {rows_of_all:,} groups have a sex by age table.",
        caption="Published groups of each level by the detail that they got. Total only: groups that have no table "
        "whatever their size. Groups that were left out are not in it.",
    )
    lines = (
        [name, *(f"{counts[kind]:,}" for kind in kinds), f"{sum(counts.values()):,}"] for name, counts in found.items()
    )
    total = [
        "all levels",
        *(f"{sum(counts[kind] for counts in found.values()):,}" for kind in kinds),
        f"{rows_of_all:,}",
    ]
    table = markup.table("detail", ("Level", *kinds, "published"), [*lines, total])
    return markup.Section("detail-of-groups", "How much detail groups got", (markup.figure(picture), table))


def suppression(release: Opened, survey: Survey) -> markup.Section:
    published: dict[str, int] = {}
    for row in survey.detail:
        name = level_name(release, row.run, row.geography, row.iteration_level)
        published[name] = published.get(name, 0) + row.rows
    rows = []
    for run in release.ledger["runs"]:
        for entry in run["levels"]:
            name = level_name(release, run["name"], entry["geography"], entry["iteration_level"])
            bounds = {part["suppressed_up_to"] for part in entry["measurements"]} - {None}
            groups, kept = entry["groups"], published.get(name, 0)
            share = _share((groups - kept) / groups) if groups else "-"
            rows.append(
                (
                    name,
                    f"{max(bounds):,}" if bounds else "none",
                    f"{groups:,}",
                    f"{kept:,}",
                    f"{groups - kept:,}",
                    share,
                )
            )
    if not rows:
        none = "No level was measured, so nothing was left out."
        return markup.Section("suppression", "Suppression", (markup.paragraph(none),))
    words = (
        "Totals of local groups at stat level 0 were left out where the noisy total was at most the bound: noise alone "
        "explains such a total. Sex by age tables and totals above the local levels are never left out."
        if any(row[1] != "none" for row in rows)
        else "Nothing was left out: every population group of every level has a row in T1."
    )
    columns = ("Level", "Left out up to", "Groups", "Published", "Left out", "Share left out")
    return markup.Section(
        "suppression", "Suppression", (markup.paragraph(words), markup.table("left-out", columns, rows))
    )
