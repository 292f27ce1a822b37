"""Charts on a page: Altair describes them, the browser draws them, and nothing comes from another server.

In: an Altair chart as a dictionary. Out: an output of a page. The promise: every script is from this machine; a chart
has a description for people who do not see it, and the last good picture stays while the next is computed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from shiny import ui
from shiny.render.renderer import Renderer

if TYPE_CHECKING:
    from htmltools import Tag

#: Colours of Okabe and Ito that people tell apart with any colour vision; the order is from most to least contrast.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
#: Second sign beside the colour: the dashes of lines.
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 1])

#: Whether the page is a phone's or at 400 % zoom, in the words of Vega. It asks for the room that a chart has, not for
#: the width that is left beside its labels: that changes while a chart is fitted in. Vega asks again when the width has
#: changed, and only because it is named.
IS_NARROW = "(width >= 0 && containerSize()[0] < 310)"


@cache
def vega_script() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, from the installed package; takes a second or two."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def chart_output(name: str, label: str) -> Tag:
    """The place of a chart on a page; `label` says what it shows to people who do not see it."""
    return ui.div({"class": "safetab-chart", "role": "img", "aria-label": label}, id=name)


class render_chart(Renderer[dict[str, Any]]):  # noqa: N801
    """Decorates a function that returns a chart as a dictionary (`chart.to_dict()`), or None for no chart."""

    def auto_output_ui(self) -> Tag:
        return chart_output(self.output_id, "")

    async def transform(self, value: dict[str, Any]) -> Any:
        return value
