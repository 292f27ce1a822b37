"""The page on which a release is planned: its fields, its figures and where they are on the page.

In: the parameters of a release, or none, and public sizes. Out: a `Page`. The promise: the page computes no figure
itself; every field has a label, and a place beside it for what is wrong with it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from safetab.explorer import starts
from safetab.explorer.draft import BUDGET, DELTA, FRACTION, MOE, SUPPRESSION, THRESHOLDS, TITLE, Draft, level_field
from safetab.explorer.page import Page
from safetab.explorer.starts import SizesOfDrafts, SizeSource, Start
from safetab.params.load import Parameters

if TYPE_CHECKING:
    from htmltools import Tag, TagChild

_ABOUT = (
    "Choose margins of error or budgets, and see what they cost and who gets which detail. No record is read. "
    "A number that you type is used when you press Enter or leave the field."
)
_NO_SIZES = "none"


def plan_page(parameters: Parameters | None, given: SizeSource | None) -> Page:
    """The page for planning, starting with this release or with the production settings of 2020."""
    from safetab.explorer.plan_answers import answers

    own = None if parameters is None else starts.opened(parameters)
    start = own or starts.preset("census-2020", None)
    sources = {source.name: SizesOfDrafts(source) for source in (*((given,) if given else ()), starts.us_2020())}
    # Sizes that fit the plan are used from the start; each table says where they are from.
    fitting = next((name for name, source in sources.items() if source.of(start.draft.parameters)), _NO_SIZES)
    contents = partial(_contents, own, sources, fitting)
    return Page("Plan a release", _ABOUT, contents, partial(answers, start, own, sources))


def _contents(own: Start | None, sources: dict[str, SizesOfDrafts], fitting: str) -> TagChild:
    from shiny import ui

    presets = ({starts.OPENED: f"Your release: {own.words}"} if own else {}) | starts.PRESETS
    sizes = {name: f"{name}: {each.source.words.partition(',')[0]}" for name, each in sources.items()} | {
        _NO_SIZES: "no sizes"
    }
    first = starts.OPENED if own else "census-2020"
    parts = {"plan": "The plan", "costs": "What it costs", "levels": "Levels", "gives": "What it gives"}
    links = (ui.a(words, href=f"#{name}") for name, words in parts.items())
    return ui.TagList(
        ui.tags.nav(*links, class_="parts", aria_label="Parts of this page"),
        ui.tags.section(
            ui.h2("The plan", id="plan"),
            ui.div(
                ui.div(
                    ui.input_select("preset", "Start from", presets, selected=first),
                    ui.input_action_button("load", "Load", class_="btn-outline-primary"),
                    class_="beside",
                ),
                ui.input_select("sizes", "Expected sizes of groups (public)", sizes, selected=fitting),
                class_="choices",
            ),
            ui.output_text("words"),
            ui.output_ui("release_fields"),
            aria_label="The plan",
        ),
        ui.tags.section(
            ui.h2("What it costs", id="costs"),
            ui.output_ui("cost"),
            _folded("Level by level", "cost_of_levels"),
            aria_label="What it costs",
        ),
        ui.div(
            ui.tags.section(
                ui.h2("Levels", id="levels"),
                ui.output_ui("level_fields"),
                aria_label="Levels",
            ),
            ui.tags.section(ui.h2("What it gives", id="gives"), _views(), aria_label="What it gives"),
            class_="halves",
        ),
    )


def _views() -> Tag:
    from shiny import ui

    from safetab.explorer.charts import chart_output

    level = ui.output_ui("level_choice")
    return ui.div(
        level,
        ui.navset_underline(
            ui.nav_panel(
                "Detail by size",
                ui.p("The probability of each kind of detail, by the true size of a group. Thresholds are marked."),
                chart_output("chances", "Probability of each detail by true size; the same figures are in the table."),
                ui.output_ui("chances_words"),
                _folded("The figures as a table", "chances_table"),
                value="detail",
            ),
            ui.nav_panel(
                "Who gets what",
                ui.output_ui("expected"),
                ui.input_text("find", "Find a group by name or code", placeholder="Navajo"),
                ui.output_ui("groups"),
                ui.input_text("size", "Or type a number of persons: what a group of that size gets", value="500"),
                ui.output_ui("one_size"),
                value="groups",
            ),
            ui.nav_panel(
                "Interval width",
                ui.p("Half of the 95 % interval by true size, for COUNT and ESTIMATE, at the most probable detail."),
                chart_output("widths", "Half-width of 95 % intervals by true size; the figures are in the table."),
                ui.output_ui("widths_words"),
                _folded("The figures as a table", "widths_table"),
                value="widths",
            ),
            ui.nav_panel(
                "One person",
                ui.output_ui("meaning"),
                chart_output("guesses", "False against true positives of the best possible guess."),
                value="person",
            ),
            ui.nav_panel("Scenarios", _scenarios(), value="scenarios"),
            ui.nav_panel("Download", _downloads(), value="download"),
            id="view",
        ),
    )


def _folded(words: str, name: str) -> Tag:
    """An output that is computed when somebody unfolds it, and stays unfolded."""
    from shiny import ui

    return ui.tags.details(ui.tags.summary(words), ui.output_ui(name))


def _scenarios() -> TagChild:
    from shiny import ui

    return ui.TagList(
        ui.p("Keep up to four plans and compare them with the plan above. What differs is marked with ≠."),
        ui.div(
            ui.input_text("scenario_name", "Name", value="Plan A"),
            ui.input_action_button("keep", "Keep this plan", class_="btn-outline-primary"),
            class_="beside",
        ),
        ui.output_ui("kept"),
        ui.output_ui("comparison"),
    )


def _downloads() -> TagChild:
    from shiny import ui

    return ui.TagList(
        ui.p("What you download is the plan above, with exactly these figures."),
        ui.tags.ul(
            ui.tags.li(ui.download_link("release_toml", "release.toml"), ui.output_ui("how_to_check")),
            ui.tags.li(ui.download_link("summary", "A one-page summary for sign-off (HTML, to print)")),
            ui.tags.li(ui.download_link("figures", "All figures as CSV")),
            class_="downloads",
        ),
    )


def field(name: str, label: str, value: str, *, hides_label: bool = False, hint: str = "") -> Tag:
    """A field of the plan: a label, what is typed, what it means, and a place for what is wrong with it."""
    from shiny import ui

    mode = "text" if name == TITLE else "numeric" if name.endswith(MOE) else "decimal"
    return ui.div(
        ui.tags.label(label, for_=name, class_="visually-hidden" if hides_label else "control-label"),
        ui.tags.input(
            {"data-shiny-no-bind-input": "", "aria-describedby": f"{name}-wrong"},
            id=name,
            type="text",
            inputmode=mode,
            value=value,
            autocomplete="off",
            class_="form-control plan-field",
        ),
        ui.p(id=f"{name}-wrong", class_="wrong", aria_live="polite"),
        ui.p(hint, class_="hint") if hint else None,
        class_="field",
    )


def release_fields(draft: Draft) -> Tag:
    """The fields of the whole release."""
    from shiny import ui

    shown = draft.fields()
    labels = {
        TITLE: ("Title", ""),
        FRACTION: ("Stage 1 fraction", "The part of each budget that chooses how much detail a group gets."),
        SUPPRESSION: ("Suppression of empty local groups", "The probability that an empty group is left out."),
        DELTA: ("Delta", "Each epsilon below holds at this delta. It is not part of the release."),
    }
    fields = (field(name, label, shown[name], hint=hint) for name, (label, hint) in labels.items())
    return ui.div(*fields, class_="choices")


def level_fields(draft: Draft) -> Tag:
    """The fields of every level, as a table that becomes a list on a narrow screen."""
    from shiny import ui

    symbol = draft.parameters.release.privacy.budget_symbol
    heads = ("Level", "Margin, 95 %", f"Budget, {symbol}", "Thresholds", "± of ESTIMATE")
    rows = []
    for row in draft.levels:
        name = f"{row.run} {row.name}"
        inputs = (
            field(level_field(row.number, MOE), f"Margin of {name}", row.margin, hides_label=True),
            field(level_field(row.number, BUDGET), f"Budget of {name}", row.budget, hides_label=True),
            field(level_field(row.number, THRESHOLDS), f"Thresholds of {name}", row.thresholds, hides_label=True),
        )
        cells = [ui.tags.td(part, data_head=head) for head, part in zip(heads[1:4], inputs, strict=True)]
        cells.append(ui.tags.td(id=f"level-{row.number}-estimates", class_="follows", data_head=heads[4]))
        rows.append(ui.tags.tr(ui.tags.th(name, scope="row"), *cells))
    return ui.div(
        ui.p(
            "Type the margin of error of a count, in persons, or a budget; the other follows. The one that you gave is "
            "in bold. A budget of 0 switches a level off. ± of ESTIMATE: the margins of a total, from a total alone "
            "to the finest table.",
            class_="note",
        ),
        ui.tags.table(
            ui.tags.thead(ui.tags.tr(*(ui.tags.th(head, scope="col") for head in heads))),
            ui.tags.tbody(*rows),
            class_="levels",
        ),
    )
