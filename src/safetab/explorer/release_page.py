"""The page on which a published release is read.

In: an opened release. Out: a `Page`: search, pick groups and regions, and see their totals with intervals, their sum,
shares, comparisons, and the sex by age pyramid. The promise: every figure is one of `reading`, given by
`release_answers`; a release that is not private says so in red.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from safetab.explorer.page import Page
from safetab.explorer.release_answers import (
    MOST_PAIRS,
    Answer,
    Pair,
    Table,
    about_search,
    ages_table,
    comparison_table,
    first_picks,
    hits,
    label,
    people_table,
    picked,
    shares_table,
    sum_answer,
    what_is_not_shown,
)
from safetab.reading.release import Release

if TYPE_CHECKING:
    from htmltools import Tag, TagChild
    from shiny import Inputs, Outputs, Session

_ALL = "all"
#: Gives what is picked now.
Picks = Callable[[], list[Pair]]


def release_page(release: Release) -> Page:
    """The page of one release."""
    title = release.ledger["title"] or "A release"
    groups, regions = first_picks(release)

    def contents() -> TagChild:
        return _contents(release, groups, regions)

    def answers(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002, ARG001
        _answer(release, input)

    return Page("Read a release", f"{title} ({release.folder.name})", contents, answers)


def _contents(release: Release, groups: list[str], regions: list[str]) -> TagChild:
    from shiny import ui

    from safetab.explorer.charts import chart_output

    pick = ui.div(
        ui.h2("Pick"),
        ui.input_text("group_words", "Search for groups", placeholder="a name or a code"),
        ui.output_ui("about_groups"),
        ui.input_checkbox_group("groups", "Groups", hits(release, "group", "", groups), selected=groups),
        ui.input_text("region_words", "Search for regions", placeholder="a name, an id, or TYPE/ID"),
        ui.output_ui("about_regions"),
        ui.input_checkbox_group("regions", "Regions", hits(release, "region", "", regions), selected=regions),
        class_="release-pick",
    )
    found = ui.div(
        ui.h2("Totals"),
        ui.output_ui("not_shown"),
        chart_output("totals", "The totals of the groups that are picked, with 95 % intervals. The table has them."),
        ui.output_ui("people"),
        ui.h2("Together"),
        ui.input_checkbox("may_overlap", "Add groups or regions that overlap; people may be counted twice"),
        ui.output_ui("sum"),
        ui.h2("Shares"),
        ui.input_select("whole", "Share of", {_ALL: "all that is picked"}),
        ui.output_ui("shares"),
        ui.h2("Comparisons"),
        ui.input_select("reference", "Compare with", {}),
        ui.output_ui("comparisons"),
        ui.h2("Sex by age"),
        ui.input_select("of_ages", "Group and region", {}),
        ui.output_ui("no_ages"),
        chart_output("pyramid", "The sex by age pyramid, with 95 % intervals. The table below has its numbers."),
        ui.output_ui("ages"),
        class_="release-found",
    )
    return ui.div(_banner(release), ui.div(pick, found, class_="release-columns"))


def _banner(release: Release) -> TagChild:
    from shiny import ui

    if release.is_private:
        return None
    words = "NOT PRIVATE. The noise of this release was switched off or can be repeated, so it protects nobody. "
    return ui.div(ui.strong(words), "Do not publish these numbers.", class_="not-private", role="alert")


def _answer(release: Release, input: Inputs) -> None:  # noqa: A002
    """Everything that a tab shows; each part follows what is picked."""
    from shiny import reactive

    @reactive.calc
    def pairs() -> list[Pair]:
        return picked(release, input.groups(), input.regions())

    _answer_searches(release, input)
    _offer(release, input, pairs)
    _answer_totals(release, input, pairs)
    _answer_questions(release, input, pairs)
    _answer_ages(release, input, pairs)


def _chosen(pairs: Picks, key: str) -> Pair | None:
    return next((pair for pair in pairs()[:MOST_PAIRS] if _key(pair) == key), None)


def _answer_searches(release: Release, input: Inputs) -> None:  # noqa: A002
    from shiny import render, ui

    @render.ui
    def about_groups() -> Tag:
        return ui.p(about_search(release, "group", input.group_words()), class_="wrong", role="status")

    @render.ui
    def about_regions() -> Tag:
        return ui.p(about_search(release, "region", input.region_words()), class_="wrong", role="status")


def _offer(release: Release, input: Inputs, pairs: Picks) -> None:  # noqa: A002
    """What can be picked, after every search and every tick."""
    from shiny import reactive, ui

    @reactive.effect
    @reactive.event(input.group_words, ignore_init=True)
    def _search_groups() -> None:
        kept = input.groups()
        ui.update_checkbox_group("groups", choices=hits(release, "group", input.group_words(), kept), selected=kept)

    @reactive.effect
    @reactive.event(input.region_words, ignore_init=True)
    def _search_regions() -> None:
        kept = input.regions()
        ui.update_checkbox_group("regions", choices=hits(release, "region", input.region_words(), kept), selected=kept)

    @reactive.effect
    def _offer_pairs() -> None:
        shown = pairs()[:MOST_PAIRS]
        every: dict[str, str] = {_key(pair): " in ".join(label(release, part) for part in pair) for pair in shown}
        with reactive.isolate():
            before = {name: input[name]() for name in ("whole", "reference", "of_ages")}
        choices: dict[str, dict[str, str]] = {"whole": {_ALL: "all that is picked"} | every}
        choices |= {"reference": every, "of_ages": every}
        for name, offered in choices.items():
            kept = before[name] if before[name] in offered else next(iter(offered), None)
            ui.update_select(name, choices=offered, selected=kept)


def _answer_totals(release: Release, input: Inputs, pairs: Picks) -> None:  # noqa: A002
    from shiny import render, req, ui

    from safetab.explorer.charts import render_chart
    from safetab.explorer.release_charts import totals_chart

    @render.ui
    def not_shown() -> TagChild:
        words = what_is_not_shown(release, input.groups(), input.regions(), pairs())
        return ui.p(words, class_="wrong", role="status") if words else None

    @render_chart
    def totals() -> dict[str, Any]:
        req(pairs())
        return totals_chart(release, pairs()[:MOST_PAIRS])

    @render.ui
    def people() -> TagChild:
        req(pairs())
        return drawn(people_table(release, pairs()[:MOST_PAIRS]))


def _answer_questions(release: Release, input: Inputs, pairs: Picks) -> None:  # noqa: A002
    from shiny import render, req

    @render.ui
    def sum() -> TagChild:  # noqa: A001
        req(pairs())
        return drawn(sum_answer(release, pairs()[:MOST_PAIRS], may_overlap=input.may_overlap()))

    @render.ui
    def shares() -> TagChild:
        req(pairs())
        whole = _chosen(pairs, input.whole())
        return drawn(shares_table(release, pairs()[:MOST_PAIRS], whole, may_overlap=input.may_overlap()))

    @render.ui
    def comparisons() -> TagChild:
        reference = _chosen(pairs, input.reference())
        req(reference)
        return drawn(comparison_table(release, pairs()[:MOST_PAIRS], reference)) if reference else None


def _answer_ages(release: Release, input: Inputs, pairs: Picks) -> None:  # noqa: A002
    from shiny import render, ui

    from safetab.explorer.charts import render_chart
    from safetab.explorer.release_charts import pyramid_chart

    @render_chart
    def pyramid() -> dict[str, Any] | None:
        pair = _chosen(pairs, input.of_ages())
        return pyramid_chart(release, pair) if pair else None

    @render.ui
    def ages() -> TagChild:
        pair = _chosen(pairs, input.of_ages())
        table = ages_table(release, pair) if pair else None
        return drawn(table) if table else None

    @render.ui
    def no_ages() -> TagChild:
        pair = _chosen(pairs, input.of_ages())
        if pair is None or ages_table(release, pair):
            return None
        return ui.p("This group has no sex by age table in this region: its stage 1 count reached no threshold.")


def _key(pair: Pair) -> str:
    return f"{pair[0].code} {pair[1]}"


def drawn(thing: Table | Answer) -> Tag:
    """A table or an answer as HTML."""
    from shiny import ui

    if isinstance(thing, Answer):
        number = ui.p(thing.number, class_="wrong" if thing.is_refused else "answer")
        interval = ui.p(f"{thing.interval} with a probability of at least 95 %") if thing.interval else None
        how = ui.p(f"Computed from {thing.how}." if thing.interval else thing.how, class_="note")
        return ui.div(number, interval, how, *(ui.p(words, class_="wrong") for words in thing.warnings), role="status")
    columns = enumerate(thing.head)
    head = [ui.tags.th(words, scope="col", class_="words" if at < thing.headings else "") for at, words in columns]
    rows = [
        ui.tags.tr(
            *(ui.tags.th(cell, scope="row") if at < thing.headings else ui.tags.td(cell) for at, cell in enumerate(row))
        )
        for row in thing.rows
    ]
    body = ui.tags.thead(ui.tags.tr(*head)), ui.tags.tbody(*rows)
    table = ui.tags.table(ui.tags.caption(thing.caption), *body, class_="figures")
    # A table that is wider than a phone scrolls, with the keyboard too.
    scrolled = ui.div(table, class_="scroll", tabindex="0", role="region", aria_label=thing.caption)
    return ui.div(scrolled, ui.p(thing.note, class_="note") if thing.note else None, _how(thing))


def _how(table: Table) -> TagChild:
    from shiny import ui

    if not table.how:
        return None
    lines = [ui.tags.li(words) for words in dict.fromkeys(table.how)]
    return ui.tags.details(ui.tags.summary("How these were computed"), ui.tags.ul(*lines), class_="note")
