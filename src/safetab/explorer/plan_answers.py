"""What answers the page for planning: edits of the draft, figures in threads, and the outputs that show them.

In: what a browser tab sends. Out: what it shows. The promise: a wrong field leaves the draft and the picture as they
were; only the figures that can be seen are computed; nothing that takes long is computed on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from htmltools import Tag, TagList
from shiny import Inputs, Outputs, Session, reactive, render, ui

from safetab.explorer import plan_page, starts, views
from safetab.explorer.charts import render_chart
from safetab.explorer.computing import Latest, in_thread
from safetab.explorer.draft import BUDGET, MOE, WrongFieldError, edited, level_field
from safetab.explorer.plan_charts import Spec
from safetab.explorer.plan_scenarios import downloads, scenarios
from safetab.explorer.plan_state import PlanState, shown_tables, shown_words
from safetab.explorer.starts import SizesOfDrafts, Start
from safetab.explorer.tables import expected_table, level_loss_table, loss_table, margin_text
from safetab.explorer.views import View
from safetab.planning.shown import at_most


def answers(
    start: Start,
    own: Start | None,
    sources: Mapping[str, SizesOfDrafts],
    input: Inputs,  # noqa: A002
    output: Outputs,  # noqa: ARG001
    session: Session,
) -> None:
    """Answer one browser tab."""
    state = PlanState(start, sources, input.sizes)
    _edits(state, own, input)
    _fields(state)
    _messages(state, session)
    _costs(state)
    _detail(state, input)
    _groups(state, input)
    scenarios(state, input)
    downloads(state)


def _edits(state: PlanState, own: Start | None, input: Inputs) -> None:  # noqa: A002
    @reactive.effect
    @reactive.event(input.edit)
    async def take_edit() -> None:
        name, text = str(input.edit()["field"]), str(input.edit()["text"])
        state.answered = int(input.edit()["number"])
        faults = {key: value for key, value in state.faults().items() if key != name}
        try:
            changed = await in_thread(partial(edited, state.draft(), name, text))
        except WrongFieldError as error:
            state.faults.set({**faults, name: str(error)})
            return
        # A margin that is accepted takes the place of a wrong budget, and the other way round.
        partner = name.replace(MOE, BUDGET) if name.endswith(MOE) else name.replace(BUDGET, MOE)
        state.faults.set({key: value for key, value in faults.items() if key != partner})
        state.draft.set(changed)

    @reactive.effect
    @reactive.event(input.load)
    async def load() -> None:
        name = input.preset()
        if name == starts.OPENED and own is not None:
            state.load(own)
        else:
            parameters = None if own is None else own.draft.parameters
            state.load(await in_thread(partial(starts.preset, name, parameters)))

    @reactive.effect
    def compute() -> None:
        draft, sizes = state.draft(), state.sizes()
        state.figures.ask(lambda: (draft, views.figures(draft, sizes)))


def _fields(state: PlanState) -> None:
    """The fields, made anew when another plan is loaded; edits change what is in them."""

    @render.ui
    def release_fields() -> Tag:
        return plan_page.release_fields(state.start().draft)

    @render.ui
    def level_fields() -> Tag:
        return plan_page.level_fields(state.start().draft)

    @render.text
    def words() -> str:
        return f"Loaded: {state.start().words}."

    @render.ui
    def level_choice() -> Tag:
        levels = list(views.measured_levels(state.start().draft))
        around = {"0": "All sizes", "1": "Around the first threshold", "2": "The second", "3": "The third"}
        return ui.div(
            ui.input_select("level", "Level of the charts", levels),
            ui.input_select("around", "Sizes on the charts", around),
            class_="choices",
        )


def _messages(state: PlanState, session: Session) -> None:
    """What changes in the fields and beside them."""

    @reactive.effect
    async def show_fields() -> None:
        draft = state.draft()
        given = [level_field(row.number, MOE if row.is_margin_given else BUDGET) for row in draft.levels]
        message: dict[str, object] = {
            "values": draft.fields(),
            "faults": state.faults(),
            "given": given,
            "answered": state.answered,
        }
        await session.send_custom_message("fields", message)

    @reactive.effect
    async def show_margins() -> None:
        draft, plan = state.figures.newest()
        margins: dict[str, object] = {f"level-{row.number}-estimates": margin_text(row, plan) for row in draft.levels}
        await session.send_custom_message("margins", margins)


def _costs(state: PlanState) -> None:
    @render.ui
    def cost() -> TagList:
        draft, plan = state.figures.newest()
        total, delta = plan.loss.total, draft.delta_text
        exact = f"{at_most(total.rho)}-zCDP" if total.pure_epsilon is None else f"{at_most(total.pure_epsilon)}-DP"
        return TagList(
            ui.p(
                f"Every person has {exact} and ",
                ui.tags.strong(f"({at_most(total.epsilon)}, {delta})-differential privacy", id="guarantee"),
                ".",
                aria_live="polite",
            ),
            shown_tables([loss_table(plan.loss, delta)]),
            ui.p("Each epsilon is an upper bound by another analysis. The least one counts.", class_="note"),
        )

    @render.ui
    def cost_of_levels() -> Tag:
        draft, plan = state.figures.newest()
        return shown_tables([level_loss_table(plan.loss, draft.delta_text)])


def _detail(state: PlanState, input: Inputs) -> None:  # noqa: A002
    """The views of one level; each is computed while it is open."""
    makers = {"detail": views.chances_view, "widths": views.widths_view, "person": views.person_view}
    found = {name: Latest[View]() for name in makers}

    @reactive.effect
    def compute() -> None:
        name, draft = input.view(), state.draft()
        row = views.chosen_level(draft, input.level())
        if name in makers and row is not None:
            found[name].ask(partial(makers[name], draft, row, int(input.around())))

    @render_chart
    def chances() -> Spec | None:
        return found["detail"].newest().chart

    @render.ui
    def chances_words() -> Tag:
        return shown_words(found["detail"].newest())

    @render.ui
    def chances_table() -> Tag:
        return shown_tables(found["detail"].newest().tables)

    @render_chart
    def widths() -> Spec | None:
        return found["widths"].newest().chart

    @render.ui
    def widths_words() -> Tag:
        return shown_words(found["widths"].newest())

    @render.ui
    def widths_table() -> Tag:
        return shown_tables(found["widths"].newest().tables)

    @render_chart
    def guesses() -> Spec | None:
        return found["person"].newest().chart

    @render.ui
    def meaning() -> Tag:
        return shown_words(found["person"].newest())


def _groups(state: PlanState, input: Inputs) -> None:  # noqa: A002
    found, of_size = Latest[View](), Latest[View]()

    @reactive.effect
    def compute() -> None:
        if input.view() == "groups":
            found.ask(partial(views.groups_view, state.draft(), state.sizes(), input.find()))

    @reactive.effect
    def compute_size() -> None:
        if input.view() == "groups":
            of_size.ask(partial(views.size_view, state.draft(), input.size()))

    @render.ui
    def expected() -> TagList:
        source, (draft, plan) = state.source(), state.figures.newest()
        if source is None or not any(level.expected for level in plan.levels.values()):
            return TagList(ui.p(views.NO_SIZES))
        origin = ui.p(f"Sizes are public input: {source.source.words}. ", source.source.warning, class_="note")
        return TagList(shown_tables([expected_table(draft.parameters.release, plan)]), origin)

    @render.ui
    def groups() -> Tag:
        view = found.newest()
        return ui.div(shown_tables(view.tables), shown_words(view), aria_live="polite")

    @render.ui
    def one_size() -> Tag:
        view = of_size.newest()
        return ui.div(shown_tables(view.tables), shown_words(view), aria_live="polite")
