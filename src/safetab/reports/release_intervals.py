"""The sections of a report about intervals: how wide they are, the extremes, and what contradicts what.

In: an opened release and its survey. Out: sections of the page. The promise: a figure in a picture is in the table
below it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from safetab.reading.opened import Opened
from safetab.reading.survey import SIZE_STARTS, Contradictions, Survey, TotalRow
from safetab.reports import charts, markup
from safetab.reports.totals_table import in_words, level_name

_EXTREMES = 8
_ONLY_ZERO = (
    "An interval from 0 to 0 comes from a noisy count far below 0. The true number cannot be below 0, so nothing else "
    "is left of the interval. It does not prove that the group has no people."
)
_NO_TOTAL = "No total was published."
#: Where sizes from 0 are on a logarithmic axis.
_FIRST = 3


def margins(release: Opened, survey: Survey) -> markup.Section:
    found = survey.margins()
    if not found:
        return markup.Section("margins-by-size", "Margins against the size of groups", (markup.paragraph(_NO_TOTAL),))
    points: list[dict[str, Any]] = []
    rows: list[tuple[str, ...]] = []
    for row in found:
        name = level_name(release, row.run, row.geography, row.iteration_level)
        if row.median_relative > 0:
            points.append({"level": name, "size": max(row.least_size, _FIRST), "relative": row.median_relative})
        spread = f"{_percent(row.low_relative)} to {_percent(row.high_relative)}"
        half = f"{row.median_half_width:,g}"
        rows.append((name, size_class(row.least_size), f"{row.rows:,}", half, _percent(row.median_relative), spread))
    columns = ("Level", "ESTIMATE", "Totals", "Half-width, median", "Relative, median", "Relative, 10 % to 90 %")
    parts = [markup.table("margins", columns, rows, left=2)]
    if points:
        smallest, largest = (choose(points, key=lambda point: point["relative"]) for choose in (min, max))
        picture = charts.lines(
            points,
            "size",
            "relative",
            "level",
            titles=("size of the group (ESTIMATE, lower end of its class)", "relative margin, median"),
            alt="Lines, one for each level: the larger a group, the smaller its relative margin. Medians go from "
            f"{_percent(largest['relative'])} ({largest['level']}) to {_percent(smallest['relative'])} "
            f"({smallest['level']}).",
            caption="The half-width of the 95 % interval divided by ESTIMATE, by size: the median of each class of "
            f"size. Both axes are logarithmic; the class from 0 is drawn at {_FIRST}. An ESTIMATE of 0 counts as 1.",
            rule=0.1,
        )
        about = (
            "The dashed line is 10 %. The noise does not depend on the size of a group but on its level and its "
            "detail. Intervals of small groups are narrower only where they end at 0."
        )
        parts = [markup.figure(picture), markup.paragraph(about), *parts]
    return markup.Section("margins-by-size", "Margins against the size of groups", tuple(parts))


def size_class(start: int) -> str:
    """A class of sizes in words."""
    place = SIZE_STARTS.index(start)
    if place + 1 == len(SIZE_STARTS):
        return f"{start:,} or more"
    return f"{start:,} to {SIZE_STARTS[place + 1] - 1:,}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share < 10 else f"{100 * share:,.0f} %"


def extremes(release: Opened, survey: Survey) -> markup.Section:
    columns = ("Region", "Group", "ESTIMATE", "LOW_95", "HIGH_95", "Half-width", "Stat level")
    narrowest = survey.narrowest(_EXTREMES)
    if not narrowest:
        return markup.Section("intervals", "The widest and narrowest intervals", (markup.paragraph(_NO_TOTAL),))

    def table(table_id: str, rows: Iterable[TotalRow]) -> str:
        return markup.table(table_id, columns, (_extreme(release, row) for row in rows), left=2)

    return markup.Section(
        "intervals",
        "The widest and narrowest intervals",
        (
            *_pictured(release, survey),
            "<h3>Widest</h3>",
            table("widest", survey.widest(_EXTREMES)),
            "<h3>Narrowest, and of equal ones the largest groups</h3>",
            *(markup.paragraph(_ONLY_ZERO) for row in narrowest[:1] if release.is_private and row.high_95 == 0),
            table("narrowest", narrowest),
        ),
    )


def _extreme(release: Opened, row: TotalRow) -> tuple[str, ...]:
    numbers = (row.estimate, row.low_95, row.high_95)
    half = (row.high_95 - row.low_95) / 2
    return *in_words(release, row), *(f"{value:,}" for value in numbers), f"{half:,g}", str(row.stat_level)


def _pictured(release: Opened, survey: Survey) -> Iterator[str]:
    """The widest intervals as a picture, each beside its ESTIMATE: totals of thousands would hide their widths."""
    widest = survey.widest(_EXTREMES)
    if not widest or widest[0].high_95 == widest[0].low_95:
        return
    rows = [
        {
            "name": ", ".join(in_words(release, row)),
            "estimate": 0,
            "low": row.low_95 - row.estimate,
            "high": row.high_95 - row.estimate,
        }
        for row in widest
    ]
    first, total = rows[0], widest[0]
    yield markup.figure(
        charts.intervals(
            rows,
            "name",
            title="people fewer or more than ESTIMATE",
            alt=f"The {len(rows)} widest intervals. The widest is {first['name']}: from {total.low_95:,} to "
            f"{total.high_95:,}, where ESTIMATE is {total.estimate:,}.",
            caption="The totals with the widest intervals: how far LOW_95 and HIGH_95 are from ESTIMATE, the dot.",
        )
    )


def contradictions(survey: Survey) -> markup.Section:
    counted = survey.detail
    cells, negative_cells = survey.negative_cells()
    totals = sum(row.rows for row in counted)
    pairs = [survey.alone_above_combination(), *survey.finer_above_coarser()]
    rows: list[Sequence[str]] = [
        ("negative counts in T1", f"{sum(row.negative for row in counted):,}", "0", f"{totals:,} rows"),
        ("negative counts in T2", f"{negative_cells:,}", "0", f"{cells:,} rows"),
        *(_compared(found) for found in pairs),
        (
            "alone with more detail than alone or in combination",
            f"{pairs[0].more_detail:,}",
            "-",
            f"{pairs[0].pairs:,} pairs",
        ),
        (
            "totals without a margin (`MOE_95`)".replace("`", ""),
            f"{sum(row.without_margin for row in counted):,}",
            "-",
            f"{totals:,} rows",
        ),
    ]
    words = (
        "Each number has its own noise, so numbers contradict each other now and then. That is not an error. Nobody "
        "repaired it, because repairs make intervals untrue. This is how often it happens here. Compare intervals, "
        "not single numbers."
    )
    columns = ("What", "In COUNT", "In ESTIMATE", "Of")
    return markup.Section(
        "stumbles",
        "What readers will stumble over",
        (markup.paragraph(words), markup.table("contradictions", columns, rows)),
    )


def _compared(found: Contradictions) -> tuple[str, ...]:
    return found.what, f"{found.in_count:,}", f"{found.in_estimate:,}", f"{found.pairs:,} pairs"
