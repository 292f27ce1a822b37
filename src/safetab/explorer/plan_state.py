"""What one browser tab has: its draft, what is wrong with its fields, its sizes, its scenarios and the newest figures.

In: where planning starts. Out: values that outputs depend on, and how tables become HTML. The promise: the draft is
always sound; a scenario is a draft that was kept and never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from htmltools import Tag
from shiny import reactive, ui

from safetab.explorer.computing import Latest
from safetab.explorer.draft import Draft
from safetab.explorer.starts import SizesOfDrafts, Start
from safetab.explorer.tables import Table
from safetab.explorer.views import View
from safetab.planning.comparison import PlanFigures
from safetab.planning.sizes import Sizes

MOST_KEPT = 4


class PlanState:
    """One browser tab."""

    def __init__(self, start: Start, sources: Mapping[str, SizesOfDrafts], chosen_source: Callable[[], str]) -> None:
        self.start: reactive.Value[Start] = reactive.Value(start)
        self.draft: reactive.Value[Draft] = reactive.Value(start.draft)
        self.faults: reactive.Value[dict[str, str]] = reactive.Value({})
        self.kept: reactive.Value[tuple[tuple[str, Draft], ...]] = reactive.Value(())
        #: The number of the last edit that was taken: the tab leaves fields with later ones alone.
        self.answered = 0
        self.figures: Latest[tuple[Draft, PlanFigures]] = Latest()
        self._sources, self._chosen = sources, chosen_source

    def load(self, start: Start) -> None:
        """Start again from another plan."""
        self.start.set(start)
        self.draft.set(start.draft)
        self.faults.set({})

    def source(self) -> SizesOfDrafts | None:
        """The sizes that were chosen."""
        return self._sources.get(self._chosen())

    def sizes(self) -> Sizes | None:
        """The sizes of the groups of the draft; None where none are known."""
        return self.sizes_of(self.draft())

    def sizes_of(self, draft: Draft) -> Sizes | None:
        source = self.source()
        return None if source is None else source.of(draft.parameters)


def shown_tables(tables: Iterable[Table]) -> Tag:
    """Tables as HTML, each in a box that scrolls sideways where the screen is narrow."""
    return ui.div(*map(_shown, tables))


def _shown(table: Table) -> Tag:
    head = [ui.tags.th(cell, scope="col") if cell else ui.tags.td() for cell in table.head]
    rows = [
        ui.tags.tr(
            ui.tags.th(row[0], scope="row"),
            *(ui.tags.td(cell) for cell in row[1:]),
            class_="differs" if number in table.differing else None,
        )
        for number, row in enumerate(table.rows)
    ]
    whole = ui.tags.table(
        ui.tags.caption(table.caption),
        ui.tags.thead(ui.tags.tr(*head)),
        ui.tags.tbody(*rows),
        class_="figures",
    )
    # A box that scrolls must be reachable without a mouse.
    return ui.div(whole, class_="scroll", tabindex="0", role="region", aria_label=table.caption)


def shown_words(view: View) -> Tag:
    """The sentences of a view."""
    return ui.div(*(ui.p(sentence) for sentence in view.words), class_="words")
