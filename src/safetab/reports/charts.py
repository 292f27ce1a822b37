"""Pictures for pages: bars, stacked bars, lines and intervals as SVG, each with its text for those who cannot see it.

In: rows of figures and what they are called. Out: `Picture`s. The promise: a picture is finished here, by Vega-Lite
without a browser; the page that holds it needs no script and no network to show it. Altair is imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from safetab.errors import Finding, MachineError
from safetab.rules import report_rules

Rows = Sequence[Mapping[str, Any]]

_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_WIDTH = 560
#: Around bars and the figures beside them: a browser's font may be wider than the one a picture is measured with.
_ROOM = {"left": 16, "top": 5, "right": 30, "bottom": 8}
#: Shares as the text of a page writes them.
_PERCENT = {"format": ",~%", "labelExpr": "replace(datum.label, '%', ' %')"}
#: How wide a label may be, how wide a letter of it is, and how much wider than measured it may be drawn.
_LABEL, _LETTER, _WIDER = 260, 6.5, 0.25
#: Colours that people with any colour vision tell apart (Okabe and Ito), dark enough on white.
PALETTE = ("#0072b2", "#d55e00", "#007f5f", "#a8518a", "#8a6d00", "#3b7ea1", "#555555", "#b2182b")
#: From no detail to the finest.
DETAIL_COLOURS = ("#9a9a9a", "#c6dbef", "#6baed6", "#2171b5", "#08306b")
_CONFIG = {
    "font": _FONT,
    "background": "white",
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleColor": "#444",
        "labelColor": "#222",
        "gridColor": "#e4e4e4",
        "domainColor": "#999",
        "tickColor": "#999",
        "labelLimit": _LABEL,
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": _LABEL},
    "range": {"category": list(PALETTE)},
}


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG and what it shows, in words."""

    svg: str
    alt: str
    caption: str


def bars(rows: Rows, name: str, value: str, label: str, title: str, *, alt: str, caption: str) -> Picture:
    """A bar for each row, with its figure beside it; in the order of the rows."""
    alt_ = altair()
    # Beside the longest bar there is room for its figure.
    scale = alt_.Scale(domainMin=0, domainMax=1.25 * max((row[value] for row in rows), default=0) or 1)
    base = alt_.Chart(alt_.InlineData(values=list(rows))).encode(
        y=alt_.Y(f"{name}:N", sort=None, title=None),
        x=alt_.X(f"{value}:Q", title=title, axis=alt_.Axis(tickCount=5), scale=scale),
    )
    marks = base.mark_bar(color=PALETTE[0], height={"band": 0.7})
    texts = base.mark_text(align="left", dx=5, fontSize=12, color="#222").encode(text=f"{label}:N")
    chart = alt_.layer(marks, texts).properties(width=_WIDTH, height={"step": 26}, padding=_ROOM)
    return _picture(chart, alt, caption)


def shares(rows: Rows, name: str, kind: str, value: str, kinds: Sequence[str], *, alt: str, caption: str) -> Picture:
    """For each name, how its whole is divided among kinds."""
    alt_ = altair()
    colours = DETAIL_COLOURS[-len(kinds) :] if len(kinds) <= len(DETAIL_COLOURS) else PALETTE
    chart = (
        alt_.Chart(alt_.InlineData(values=list(rows)))
        .mark_bar(height={"band": 0.7})
        .encode(
            y=alt_.Y(f"{name}:N", sort=None, title=None),
            x=alt_.X(f"{value}:Q", stack="normalize", axis=alt_.Axis(**_PERCENT, tickCount=5), title=None),
            color=alt_.Color(
                f"{kind}:N",
                scale=alt_.Scale(domain=list(kinds), range=list(colours)),
                legend=alt_.Legend(title=None, orient="top", columns=len(kinds), columnPadding=18),
            ),
            order=alt_.Order("place:Q"),
        )
        .properties(width=_WIDTH, height={"step": 26})
    )
    return _picture(chart, alt, caption)


def lines(
    rows: Rows,
    across: str,
    up: str,
    kind: str,
    *,
    titles: tuple[str, str],
    alt: str,
    caption: str,
    is_percent: bool = True,
    is_log: bool = True,
    rule: float | None = None,
) -> Picture:
    """A line for each kind over a logarithmic axis of sizes; perhaps with a level line at `rule`."""
    alt_ = altair()
    kinds = list(dict.fromkeys(row[kind] for row in rows))
    form = _PERCENT if is_percent else {"format": "~s"}
    base = alt_.Chart(alt_.InlineData(values=list(rows))).encode(
        x=alt_.X(
            f"{across}:Q",
            title=titles[0],
            scale=alt_.Scale(type="log", nice=False, padding=12),
            axis=alt_.Axis(format=",", values=[10**power for power in range(9)], grid=False),
        ),
        y=alt_.Y(
            f"{up}:Q",
            title=titles[1],
            scale=alt_.Scale(type="log" if is_log else "linear", zero=False, nice=True),
            axis=alt_.Axis(**form, tickCount=6),
        ),
        color=alt_.Color(f"{kind}:N", sort=None, scale=_colours(alt_, kinds), legend=_legend(alt_)),
        shape=alt_.Shape(f"{kind}:N", sort=None, scale=_shapes(alt_, kinds), legend=_legend(alt_)),
    )
    marks = base.mark_line(strokeWidth=1.6).encode(shape=alt_.Undefined), base.mark_point(size=45, filled=True)
    level = [] if rule is None else [_level_line(alt_, rule)]
    return _picture(alt_.layer(*level, *marks).properties(width=_WIDTH, height=300), alt, caption)


def intervals(rows: Rows, name: str, *, title: str, alt: str, caption: str) -> Picture:
    """A dot and an interval around it, for each row; in the order of the rows."""
    alt_ = altair()
    base = alt_.Chart(alt_.InlineData(values=list(rows))).encode(y=alt_.Y(f"{name}:N", sort=None, title=None))
    scale = alt_.Scale(zero=False, nice=True)
    whiskers = base.mark_rule(strokeWidth=5, opacity=0.35, color=PALETTE[0]).encode(
        x=alt_.X("low:Q", title=title, scale=scale, axis=alt_.Axis(format=",d", tickCount=6)), x2="high:Q"
    )
    points = base.mark_point(size=40, filled=True, color=PALETTE[0], opacity=1).encode(x="estimate:Q")
    longest = min(_LABEL, _LETTER * max((len(row[name]) for row in rows), default=0))
    room = _ROOM | {"left": round(_WIDER * longest)}
    chart = alt_.layer(whiskers, points).properties(width=_WIDTH, height={"step": 22}, padding=room)
    return _picture(chart, alt, caption)


def altair() -> Any:
    """The package Altair, where it is installed."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise MachineError(Finding(report_rules.NO_CHARTS, "safetab"), "") from None
    return altair


def _colours(alt_: Any, kinds: Sequence[str]) -> Any:
    return alt_.Scale(domain=list(kinds), range=[PALETTE[number % len(PALETTE)] for number in range(len(kinds))])


def _shapes(alt_: Any, kinds: Sequence[str]) -> Any:
    """Another shape where the colours begin again."""
    shapes = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
    chosen = [shapes[number // len(PALETTE) % len(shapes)] for number in range(len(kinds))]
    return alt_.Scale(domain=list(kinds), range=chosen)


def _legend(alt_: Any) -> Any:
    return alt_.Legend(title=None, orient="bottom", columns=4, symbolStrokeWidth=2)


def _level_line(alt_: Any, level: float) -> Any:
    data = alt_.InlineData(values=[{"level": level}])
    return alt_.Chart(data).mark_rule(strokeDash=[5, 4], color="#666").encode(y=alt_.Y("level:Q"))


def _picture(chart: Any, alt: str, caption: str) -> Picture:
    import vl_convert

    spec = chart.configure(**_CONFIG).to_dict()
    # What a chart shows is in it: it may fetch nothing.
    svg: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return Picture(_scalable(svg), alt, caption)


def _scalable(svg: str) -> str:
    """The picture without a fixed size, so that it fits a page and a phone; its view box keeps its shape."""
    width = re.search(r'\bwidth="([0-9.]+)"', svg)
    assert width, "Vega-Lite gives every picture a width"  # noqa: S101
    head, rest = svg.split(">", 1)
    head = re.sub(r'\s(?:width|height|class|version|xmlns:xlink)="[^"]*"', "", head)
    return f'{head} style="max-width:{float(width[1]):.0f}px" aria-hidden="true">{_without_ids(rest)}'


def _without_ids(svg: str) -> str:
    """Several pictures share one page: what one of them names must not be another's, nor be read aloud twice."""
    number = crc32(svg.encode())
    svg = re.sub(r'\bid="([^"]+)"', rf'id="\1-{number}"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#\1-{number})", svg)
    return re.sub(r'\s(?:aria-[a-z]+|role)="[^"]*"', "", svg)
