"""The frame that every page has: heading, style, scripts, and the application around them.

In: a `Page`. Out: an application that any ASGI server runs. The promise: whatever page is in the frame, each script and
style is a file of this machine, and files outside the folders of assets cannot be asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetab import __version__
from safetab.explorer.page import Page

if TYPE_CHECKING:
    from htmltools import Tag

_ASSETS = Path(__file__).resolve().parent / "assets"


def application(page: Page) -> tuple[Any, Sequence[str]]:
    """The page as an ASGI application, without the rules of access, and the scripts within its document."""
    from shiny import App
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from safetab.explorer.charts import vega_script

    script = vega_script()

    def vega(_: Request) -> Response:
        return Response(script, media_type="text/javascript")

    app = App(framed(page), page.answers, static_assets={"/assets": _ASSETS})
    # Someone who plans sees a sentence, not the text of an unforeseen error.
    app.sanitize_errors = True
    app.sanitize_error_msg = "SafeTab could not compute this. The terminal says why."
    app.starlette_app.router.routes.insert(0, Route("/vega.js", vega, methods=["GET"]))
    return app, re.findall(r"<script>(.*?)</script>", str(app.ui["html"]), re.DOTALL)  # type: ignore[index]


def framed(page: Page) -> Tag:
    """The whole document."""
    from shiny import ui

    return ui.page_fluid(
        ui.head_content(
            ui.tags.link(rel="stylesheet", href="assets/explorer.css"),
            ui.tags.link(rel="icon", href="data:,"),
            ui.tags.script(src="assets/explorer.js", defer=""),
        ),
        ui.a("Skip to the contents", href="#contents", class_="skip-link"),
        ui.tags.header(
            ui.h1(page.title),
            ui.p(page.subtitle, class_="subtitle"),
        ),
        ui.div(
            "SafeTab was stopped, or the connection was lost. The page shows the last figures. "
            "Start the command again to go on.",
            id="stopped",
            role="alert",
            hidden="",
        ),
        ui.tags.main(page.contents(), id="contents", tabindex="-1"),
        ui.tags.footer(ui.p(f"SafeTab {__version__}. This page is served by your own machine and uses no network.")),
        title=f"{page.title} - SafeTab",
        lang="en",
    )
