"""The pictures of the page of a release: totals with their intervals, and the sex by age pyramid.

In: rows of a release. Out: Altair charts as dictionaries. The promise: a mark is where the number is, and a line from
one end of the 95 % interval to the other; nobody needs to see colours to tell two things apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from safetab.explorer.charts import COLOURS, IS_NARROW
from safetab.explorer.release_answers import Pair, age_name, label
from safetab.reading.release import Release

_ROW = 26


def totals_chart(release: Release, pairs: Sequence[Pair]) -> dict[str, Any]:
    """A point and a line for each population group."""
    found = release.totals([group for group, _ in pairs], [region for _, region in pairs], zipped=True).to_pylist()
    several = len({region for _, region in pairs}) > 1
    rows = [
        {
            "name": group.name + (f", {label(release, region)}" if several else ""),
            "people": row["ESTIMATE"] if row["IS_PUBLISHED"] else row["LOW_95"],
            "published": row["IS_PUBLISHED"],
            "low": row["LOW_95"],
            "high": row["HIGH_95"],
        }
        for (group, region), row in zip(pairs, found, strict=True)
    ]
    frame = alt.Chart(alt.InlineData(values=rows)).encode(y=alt.Y("name:N", sort=None, title=None, axis=_wide_labels()))
    lines = frame.mark_rule(strokeWidth=3, color=COLOURS[0]).encode(
        x=alt.X("low:Q", title="people, 95 % interval", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6)),
        x2="high:Q",
    )
    # What is not published has an interval and no point.
    size = alt.condition(alt.datum.published, alt.value(70), alt.value(0))
    points = frame.mark_point(filled=True, color="#1b1b1b").encode(x="people:Q", size=size)
    return _finished(lines + points, _ROW * len(rows))


def pyramid_chart(release: Release, pair: Pair) -> dict[str, Any] | None:
    """Ages upwards, one sex to each side; None where the population group has no such table."""
    found = release.sex_by_age(*pair).to_pylist()
    if not found:
        return None
    sexes = sorted({row["SEX"] for row in found})
    to_left = sexes[0] if len(sexes) == 2 else None
    rows = []
    for row in found:
        sign = -1 if row["SEX"] == to_left else 1
        ends = {"people": sign * row["ESTIMATE"], "low": sign * row["LOW_95"], "high": sign * row["HIGH_95"]}
        rows.append({"ages": age_name(row), "sex": f"sex {row['SEX']}", **ends})
    ages = list(dict.fromkeys(row["ages"] for row in rows))
    title = ["people, with 95 % intervals", *([f"sex {to_left} left, {sexes[1]} right"] if to_left else [])]
    axis = alt.Axis(labelExpr="format(abs(datum.value), ',')", title=title)
    frame = alt.Chart(alt.InlineData(values=rows)).encode(y=alt.Y("ages:N", sort=ages[::-1], title="ages"))
    colour = alt.Color("sex:N", scale=alt.Scale(range=list(COLOURS[: len(sexes)])), legend=None)
    bars = frame.mark_bar(opacity=0.55).encode(x=alt.X("people:Q", axis=axis), color=colour)
    lines = frame.mark_rule(strokeWidth=2, color="#1b1b1b").encode(x="low:Q", x2="high:Q")
    return _finished(bars + lines, _ROW * len(ages))


def _wide_labels() -> alt.Axis:
    # On a phone at most half of the picture: the rest is for the lines.
    return alt.Axis(labelLimit=alt.ExprRef(expr="min(260, containerSize()[0] / 2)"))


def _finished(chart: alt.LayerChart, height: int) -> dict[str, Any]:
    sized = chart.properties(width="container", height=max(height, 2 * _ROW), background="white")
    titles = alt.ExprRef(expr=f"{IS_NARROW} ? 9 : 12")
    drawn: dict[str, Any] = sized.configure_axis(labelFontSize=12, titleFontSize=titles).to_dict()
    return drawn
