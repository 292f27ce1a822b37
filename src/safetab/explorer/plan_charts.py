"""The charts of a plan: chances by size, interval widths by size, and the best guess about one person.

In: figures of `planning`. Out: Vega-Lite as dictionaries. The promise: a chart shows the numbers that it is given and
nothing else; lines differ in colour and in dashes, so that no colour is needed to read them. What a chart looks like is
made once; a change of the plan changes its data alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from safetab.accounting.accuracy.calibration import CONFIDENCE_95
from safetab.explorer.charts import COLOURS, DASHES, IS_NARROW
from safetab.planning.best_guess import Guess
from safetab.planning.by_size import AtSize
from safetab.planning.detail import Chances, DetailRule
from safetab.planning.noise_arrays import Integers
from safetab.planning.widths import count_half_width

_ROWS, _THRESHOLDS = "rows", "thresholds"
_HEIGHT = 360
#: From this ratio of sizes on, an axis is by ratio.
_WIDE = 50
#: Up to this ratio of thresholds, every second label is raised.
_CLOSE = 10
_PUBLISHED = "Published at all"
Spec = dict[str, Any]


def curve_sizes(rule: DetailRule, number: int, around: int = 0) -> Integers:
    """Sizes for a curve: evenly by ratio from 1 to four times the last threshold, with the thresholds themselves.

    `around` a threshold, which is counted from 1: evenly within three stage 1 margins of it.
    """
    if 0 < around <= len(rule.thresholds):
        middle, margin = rule.thresholds[around - 1], rule.stage_1.two_sided_quantile(CONFIDENCE_95)
        return np.unique(np.linspace(max(1, middle - 3 * margin), max(1, middle) + 3 * margin, number).astype(np.int64))
    spread = np.geomspace(1, 4 * max(*rule.thresholds, 25), number)
    # Where a curve bends it needs more points.
    margin = rule.stage_1.two_sided_quantile(CONFIDENCE_95)
    near = [threshold + margin * step / 4 for threshold in rule.thresholds for step in range(-8, 9)]
    sizes = np.unique(np.round([*spread, *near]).astype(np.int64))
    return sizes[sizes >= 1]


def chances_chart(rule: DetailRule, chances: Chances, names: Sequence[str]) -> Spec:
    """The chance of each stat level, and of being published, by true size."""
    series = [*zip(names, chances.stat_levels.T, strict=True), (_PUBLISHED, chances.published)]
    rows = [
        {"size": size, "chance": chance, "what": what}
        for what, values in series
        for size, chance in zip(chances.sizes.tolist(), values.tolist(), strict=True)
    ]
    marks = _marks(rule, chances.sizes)
    look = _by_size((*names, _PUBLISHED), "chance", "Probability", is_percent=True, is_log=_is_wide(chances.sizes))
    return look | {"datasets": {_ROWS: rows, _THRESHOLDS: marks}}


def widths_chart(rule: DetailRule, found: Sequence[AtSize]) -> Spec:
    """Half-widths of 95 % intervals by true size: of ESTIMATE, and of COUNT at the most probable stat level."""
    rows: list[dict[str, object]] = [
        {"size": row.size, "width": row.half_width, "what": "ESTIMATE"} for row in found if row.half_width is not None
    ]
    rows += [{"size": row.size, "width": count_half_width(rule, row.probable), "what": "COUNT"} for row in found]
    sizes = np.array([row.size for row in found])
    marks = _marks(rule, sizes)
    look = _by_size(("ESTIMATE", "COUNT"), "width", "± persons", is_percent=False, is_log=_is_wide(sizes))
    return look | {"datasets": {_ROWS: rows, _THRESHOLDS: marks}}


def guess_chart(curves: Sequence[tuple[str, Sequence[Guess]]]) -> Spec:
    """False against true positives of the best possible guess; the diagonal is a guess without the release."""
    blind = [Guess(0.0, 0.0), Guess(1.0, 1.0)]
    rows = [
        {"false": guess.false_positive, "true": guess.true_positive, "what": what}
        for what, guesses in (*curves, ("Without the release", blind))
        for guess in guesses
    ]
    look = _guesses((*(what for what, _ in curves), "Without the release"))
    return look | {"datasets": {_ROWS: rows}}


def _marks(rule: DetailRule, sizes: Integers) -> list[dict[str, object]]:
    """The thresholds that are within the sizes of a chart."""
    marks: list[dict[str, object]] = []
    below, is_raised = 0, False
    for each in (threshold for threshold in rule.thresholds if sizes[0] <= threshold <= sizes[-1]):
        # On a phone, labels that are close would run into each other.
        is_raised = not is_raised and each < _CLOSE * below
        marks.append({"size": each, "label": f"{each:,}", "raised": is_raised})
        below = each
    return marks


def _is_wide(sizes: Integers) -> bool:
    return bool(sizes[-1] > _WIDE * sizes[0])


@cache
def _by_size(names: tuple[str, ...], value: str, title: str, *, is_percent: bool, is_log: bool) -> Spec:
    import altair as alt

    along = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False, nice=False)
    # Powers of ten; elsewhere as many as there is room for.
    ticks = alt.Axis(values=[10**power for power in range(12)]) if is_log else alt.Axis(tickCount=6)
    x = alt.X("size:Q", title="True size of the group, persons", scale=along, axis=ticks)
    axis = alt.Axis(format="%") if is_percent else alt.Axis()
    scale = alt.Scale(domain=[0, 1]) if is_percent else alt.Scale(zero=True)
    lines = (
        alt.Chart(alt.NamedData(name=_ROWS))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=alt.Y(f"{value}:Q", title=title, axis=axis, scale=scale),
            color=_colours(names),
            strokeDash=_dashes(names),
            tooltip=[
                alt.Tooltip("what:N", title="Figure"),
                alt.Tooltip("size:Q", title="Size", format=","),
                alt.Tooltip(f"{value}:Q", title=title, format=".1%" if is_percent else ",.1f"),
            ],
        )
    )
    marks = alt.Chart(alt.NamedData(name=_THRESHOLDS))
    rules = marks.mark_rule(color="#4d4d4d", strokeDash=[2, 3]).encode(x="size:Q")
    low, high = (
        marks.transform_filter(chosen)
        .mark_text(baseline="bottom", dy=rise, color="#1b1b1b", fontSize=12)
        .encode(x="size:Q", y=alt.value(0), text=alt.Text("label:N"))
        for chosen, rise in (("!datum.raised", -3), ("datum.raised", -17))
    )
    return _finished(lines + rules + low + high)


@cache
def _guesses(names: tuple[str, ...]) -> Spec:
    import altair as alt

    axis, scale = alt.Axis(format="%"), alt.Scale(domain=[0, 1])
    lines = (
        alt.Chart(alt.NamedData(name=_ROWS))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("false:Q", title="False positives", axis=axis, scale=scale),
            y=alt.Y("true:Q", title="True positives, at most", axis=axis, scale=scale),
            color=_colours(names, columns=1),
            strokeDash=_dashes(names),
            tooltip=[
                alt.Tooltip("what:N", title="Who"),
                alt.Tooltip("false:Q", title="False positives", format=".1%"),
                alt.Tooltip("true:Q", title="True positives", format=".1%"),
            ],
        )
    )
    return _finished(lines)


def _colours(names: Sequence[str], columns: int = 2) -> Any:
    import altair as alt

    legend = alt.Legend(
        title=None,
        orient="top",
        # At 400 % zoom two columns would be cut off.
        columns=alt.ExprRef(expr=f"{IS_NARROW} ? 1 : {columns}"),
        symbolType="stroke",
        symbolSize=500,
        labelLimit=400,
        labelFontSize=13,
        offset=32,
    )
    return alt.Color("what:N", scale=alt.Scale(domain=list(names), range=list(COLOURS[: len(names)])), legend=legend)


def _dashes(names: Sequence[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=list(names), range=list(DASHES[: len(names)]))
    return alt.StrokeDash("what:N", scale=scale, sort=None)


def _finished(chart: Any) -> Spec:
    import altair as alt

    sized = chart.properties(width="container", height=_HEIGHT, autosize={"type": "fit", "contains": "padding"})
    titles = alt.ExprRef(expr=f"{IS_NARROW} ? 10 : 13")
    spec: Spec = sized.configure(font="sans-serif").configure_axis(labelFontSize=13, titleFontSize=titles).to_dict()
    return spec
