"""The pictures of the findings: one SVG for each, from the points that the finding carries.

In: findings. Out: SVG text. The promise: nothing is computed here; every mark is a point of the finding, and its
figures are in the picture for screen readers too. Colours are those of Okabe and Ito, which colour-blind people can
tell apart; lines differ in their marks as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studies.finding import Finding

_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
_SHAPES = ["circle", "square", "triangle-up", "diamond"]
#: The names of geography levels as a reader knows them.
_LEVELS = {
    "(STATE, 2)": "states, detailed groups",
    "(COUNTY, 2)": "counties, detailed groups",
    "(PLACE, 2)": "places, detailed groups",
    "(TRACT, 2)": "tracts, detailed groups",
    "(COUNTY, 1)": "counties, regional groups",
}
_WIDTH = 460


def svg_of(finding: Finding) -> str:
    """The picture of a finding."""
    import altair as alt
    import vl_convert

    points = [{**point, "level": _LEVELS.get(str(point.get("level")), "")} for point in finding.points]
    chart = _DRAWN[finding.slug](alt.Chart({"values": points}), alt)
    chart = chart.properties(
        title=alt.TitleParams(finding.title, anchor="start", fontSize=14, limit=900, offset=8),
        description=finding.alt,
    )
    chart = chart.configure(
        background="white",
        padding=12,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(labelLimit=420, titleLimit=600, labelFontSize=11, titleFontSize=12),
        legend=alt.LegendConfig(labelLimit=460, labelFontSize=11, orient="top", direction="vertical"),
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _lines(chart: Any, alt: Any, x: Any, y: Any, by: str) -> Any:
    """Lines with a mark at every point. Colours and marks have the same names in the same order, for one legend."""
    names = list(dict.fromkeys(point[by] for point in chart.data["values"]))
    legend = alt.Legend(title=None, symbolSize=90)
    colour = alt.Color(f"{by}:N", scale=alt.Scale(domain=names, range=_COLOURS[: len(names)]), legend=legend)
    shapes = alt.Scale(domain=names, range=_SHAPES[: len(names)])
    lines = chart.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    marks = chart.mark_point(size=70, filled=True, opacity=1).encode(
        x=x, y=y, color=colour, shape=alt.Shape(f"{by}:N", scale=shapes, legend=legend)
    )
    return alt.layer(lines, marks).properties(width=_WIDTH, height=280)


def _bars(chart: Any, alt: Any, rows: str, value: str, title: str, by: str | None = None) -> Any:
    """Bars, side by side where there are several for a row, with the figure at the end of each."""
    base = chart.encode(
        y=alt.Y(f"{rows}:N", sort=None, title=None),
        x=alt.X(f"{value}:Q", title=title, axis=alt.Axis(format=",~s", tickCount=5)),
    )
    bars = base.mark_bar(color=_COLOURS[0])
    if by is not None:
        base = base.encode(yOffset=alt.YOffset(f"{by}:N", sort=None))
        legend = alt.Legend(title=None)
        bars = base.mark_bar().encode(
            color=alt.Color(f"{by}:N", scale=alt.Scale(range=_COLOURS), sort=None, legend=legend)
        )
    text = base.mark_text(align="left", dx=3, fontSize=10).encode(text=alt.Text(f"{value}:Q", format=",.0f"))
    return alt.layer(bars, text).properties(width=_WIDTH)


def _epsilon(chart: Any, alt: Any) -> Any:
    x = alt.X(
        "epsilon:Q",
        scale=alt.Scale(type="log", base=2),
        axis=alt.Axis(values=[1, 2, 4, 8, 16, 32], grid=False),
        title="epsilon of the release, delta 1e-10 (24.4: 2020)",
    )
    y = alt.Y("groups:Q", title="expected number of county groups", axis=alt.Axis(format=",~s"))
    return _lines(chart, alt, x, y, "what")


def _split(chart: Any, alt: Any) -> Any:
    return _bars(chart, alt, "split", "persons", "95 % margin of one cell, persons", "what")


def _mechanisms(chart: Any, alt: Any) -> Any:
    panels = [
        _bars(chart.transform_filter(f"datum.what == '{what}'"), alt, "plan", "groups", f"{what}, expected number")
        for what in ("county totals published", "county groups at another stat level than their size")
    ]
    return alt.vconcat(*(panel.properties(height=200) for panel in panels), spacing=18)


def _fraction(chart: Any, alt: Any) -> Any:
    x = alt.X("share:Q", title="share of the budget for stage 1 (2020: 0.1)", axis=alt.Axis(grid=False))
    y = alt.Y("percent:Q", title="percent", scale=alt.Scale(domain=[0, 105]))
    return _lines(chart, alt, x, y, "what")


def _thresholds(chart: Any, alt: Any) -> Any:
    panels = [_of_level(chart, alt, level, "kind", "thresholds") for level in _LEVELS.values()]
    return alt.vconcat(*(panel.properties(height=110) for panel in panels), spacing=14)


def _of_level(chart: Any, alt: Any, level: str, rows: str, by: str) -> Any:
    here = chart.transform_filter(f"datum.level == '{level}'")
    return _bars(here, alt, rows, "groups", f"{level}: expected number", by)


def _count_and_estimate(chart: Any, alt: Any) -> Any:
    return _bars(chart, alt, "row", "margin", "95 % margin of a county total, persons", "what")


def _uniform(chart: Any, alt: Any) -> Any:
    levels = (_LEVELS[level] for level in ("(COUNTY, 2)", "(TRACT, 2)"))
    panels = [_of_level(chart, alt, level, "plan", "what").properties(height=150) for level in levels]
    return alt.vconcat(*panels, spacing=18)


def _suppression(chart: Any, alt: Any) -> Any:
    x = alt.X(
        "chance:Q",
        scale=alt.Scale(type="log", reverse=True),
        axis=alt.Axis(values=[0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001], format="~r", grid=False),
        title="chance that an empty group is published (2020: 0.0001)",
    )
    y = alt.Y(
        "percent:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=[100, 10, 1, 0.1, 0.01, 0.001], format="~g"),
        title="published rows of nobody, percent",
    )
    return _lines(chart, alt, x, y, "level")


_DRAWN: dict[str, Callable[[Any, Any], Any]] = {
    "epsilon": _epsilon,
    "split": _split,
    "mechanisms": _mechanisms,
    "fraction": _fraction,
    "thresholds": _thresholds,
    "count-and-estimate": _count_and_estimate,
    "uniform": _uniform,
    "suppression": _suppression,
}
