"""Plans that were kept beside each other, and what people take away.

In: the state of a browser tab. Out: the outputs and downloads of two tabs of the page. The promise: a kept plan is
compared as it was when it was kept; a download is made from the draft of the moment, by the functions of `downloads`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

from htmltools import Tag
from shiny import Inputs, reactive, render, ui

from safetab.explorer import views
from safetab.explorer.computing import Latest, in_thread
from safetab.explorer.downloads import figures_csv, summary_html
from safetab.explorer.plan_state import MOST_KEPT, PlanState, shown_tables
from safetab.explorer.starts import Start
from safetab.explorer.views import View


def scenarios(state: PlanState, input: Inputs) -> None:  # noqa: A002
    """Keep plans, go back to one, remove one, and compare them with the draft."""
    compared = Latest[View]()

    @reactive.effect
    @reactive.event(input.keep)
    def keep() -> None:
        kept = state.kept()
        if len(kept) < MOST_KEPT:
            name = input.scenario_name().strip()[:40] or f"Plan {'ABCD'[len(kept)]}"
            state.kept.set((*kept, (name, state.draft())))
            ui.update_text("scenario_name", value=f"Plan {'ABCDE'[len(kept) + 1]}")

    @reactive.effect
    @reactive.event(input.scenario)
    def use() -> None:
        kept, number = state.kept(), int(input.scenario()["number"])
        if not 0 <= number < len(kept):
            return
        if input.scenario()["what"] == "remove":
            state.kept.set(kept[:number] + kept[number + 1 :])
        else:
            name, draft = kept[number]
            state.load(Start(draft, f"scenario {name}"))

    @reactive.effect
    def compare() -> None:
        draft, kept = state.draft(), state.kept()
        if input.view() == "scenarios" and kept:
            # One delta for all: epsilons at different deltas cannot be compared.
            plans = [(name, replace(each, delta_text=draft.delta_text)) for name, each in (*kept, ("This plan", draft))]
            sized = [(name, each, state.sizes_of(each)) for name, each in plans]
            compared.ask(partial(views.comparison_view, sized, draft.delta_text))

    @render.ui
    def kept() -> Tag:
        rows = [
            ui.tags.li(
                ui.tags.strong(name),
                _button(f"Go back to {name}", "load", number),
                _button(f"Remove {name}", "remove", number),
            )
            for number, (name, _) in enumerate(state.kept())
        ]
        full = ui.p("Four plans are kept. Remove one to keep another.") if len(rows) == MOST_KEPT else None
        return ui.div(ui.tags.ul(*rows, class_="kept") if rows else ui.p("No plan is kept yet."), full)

    @render.ui
    def comparison() -> Tag:
        if not state.kept():
            return ui.div()
        differing, same = compared.newest().tables
        return ui.div(shown_tables([differing]), ui.tags.details(ui.tags.summary(same.caption), shown_tables([same])))


def _button(label: str, what: str, number: int) -> Tag:
    return ui.tags.button(
        {"data-what": what, "data-number": str(number)},
        label,
        type="button",
        class_="btn btn-sm btn-outline-primary scenario",
    )


def downloads(state: PlanState) -> None:
    """release.toml, the summary and the figures of the draft."""

    @render.ui
    def how_to_check() -> Tag:
        folder, delta = state.draft().parameters.folder, state.draft().delta_text
        return ui.div(
            f"Put it beside the group definitions in {folder}. " if folder.is_dir() else "",
            ui.tags.code("safetab check release.toml"),
            " checks it; ",
            ui.tags.code(f"safetab account release.toml --delta {delta}"),
            " reports the figures of this page.",
        )

    @render.download_link(filename="release.toml", media_type="application/toml")
    async def release_toml() -> AsyncIterator[str]:
        yield state.draft().toml

    @render.download_link(filename="summary.html", media_type="text/html")
    async def summary() -> AsyncIterator[str]:
        draft, sizes, source = state.draft(), state.sizes(), state.source()
        words = None if sizes is None or source is None else source.source.words
        row = views.chosen_level(draft, "")
        person = () if row is None else (await in_thread(partial(views.person_view, draft, row))).words
        yield summary_html(draft, await in_thread(partial(views.figures, draft, sizes)), words, person)

    @render.download_link(filename="figures.csv", media_type="text/csv")
    async def figures() -> AsyncIterator[str]:
        draft, sizes = state.draft(), state.sizes()
        yield figures_csv(draft, await in_thread(partial(views.figures, draft, sizes)))
