"""Tables of a plan as plain rows: what the page shows, what the summary prints and what the CSV file lists.

In: figures of `planning`. Out: frozen tables of text. The promise: nothing is computed here but words; each figure is
the one of `safetab account` and `safetab detail`, written in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safetab.accounting.privacy_loss import PrivacyLoss, ReleaseLoss
from safetab.explorer.draft import Draft, LevelRow
from safetab.params.release import Release
from safetab.planning.by_size import AtSize
from safetab.planning.comparison import LevelName, PlanFigures, differences, level_names
from safetab.planning.detail import DetailRule, chances_of, detail_rule
from safetab.planning.expected import ExpectedNumbers, LevelOutlook
from safetab.planning.noise_arrays import Integers
from safetab.planning.shown import LOSS_FIGURES, LOSS_HEADINGS, at_most, budget_text, loss_texts, percent
from safetab.planning.widths import count_half_width

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Text in rows; the first cell of a row is its heading. `differing` are the numbers of rows to highlight."""

    caption: str
    head: Row
    rows: tuple[Row, ...]
    differing: frozenset[int] = frozenset()


def stat_level_names(release: Release) -> tuple[str, ...]:
    """What a group gets at stat level 0, 1, 2, ... in words."""
    if not release.has_tables:
        return ("Total only",)
    sex = " by sex" if release.columns.sex else ""
    with_ages = (f"{len(bins)} ages{sex}" if bins.has_ages else "by sex" for bins in release.age_bins)
    return ("Total only", *with_ages)


_LOSS_HEAD = ("", *LOSS_HEADINGS, "Least")
_EPSILONS_COMPARED = ("zCDP analytic", "Rényi divergence", "Loss distribution")


def _loss_row(name: str, loss: PrivacyLoss) -> Row:
    return (name, *loss_texts(loss), at_most(loss.epsilon))


def loss_table(loss: ReleaseLoss, delta: str) -> Table:
    """Epsilon of the release and of its runs under every analysis."""
    rows = [_loss_row("Whole release", loss.total)]
    if len(loss.runs) > 1:
        rows += [_loss_row(f"run {run.total.name}", run.total) for run in loss.runs]
    return Table(f"Privacy loss of one person, epsilon at delta {delta}", _LOSS_HEAD, tuple(rows))


def level_loss_table(loss: ReleaseLoss, delta: str) -> Table:
    """Epsilon of each level by itself."""
    rows = [_loss_row(f"{run.total.name} {level.name}", level) for run in loss.runs for level in run.levels]
    return Table(f"To someone who sees one level only, epsilon at delta {delta}", _LOSS_HEAD, tuple(rows))


def margin_text(row: LevelRow, plan: PlanFigures) -> str:
    """The margins of ESTIMATE at each stat level, for the row of a level."""
    figures = plan.levels.get((row.run, row.name))
    if figures is None:
        return "off"
    if not figures.totals:
        return f"± {figures.total_only_moe_95:,}"
    return " / ".join(f"{each.estimate_moe_95:,}" for each in figures.totals)


def least_sizes(row: LevelRow, plan: PlanFigures) -> str:
    """The sizes from which a group has each table with a probability of 95 %."""
    figures = plan.levels.get((row.run, row.name))
    return " / ".join(f"{size:,}" for size in figures.sizes_with_detail) if figures else ""


def level_table(draft: Draft, plan: PlanFigures) -> Table:
    """The choices and the accuracy of every level."""
    symbol = draft.parameters.release.privacy.budget_symbol
    head = ("", "Margin of a count", f"Budget ({symbol})", "Stability", "Thresholds", "Margins of ESTIMATE", "Sizes")
    rows = tuple(
        (
            f"{row.run} {row.name}",
            row.margin or "-",
            row.budget,
            str(row.planned.stability),
            row.thresholds or "-",
            margin_text(row, plan),
            least_sizes(row, plan) or "-",
        )
        for row in draft.levels
    )
    caption = (
        "Levels: 95 % margins of error in persons; sizes from which a group gets each table with a probability of 95 %"
    )
    return Table(caption, head, rows)


def size_table(release: Release, caption: str, rows: Sequence[AtSize]) -> Table:
    """What groups get, by their true size."""
    head = ("Persons", *stat_level_names(release), "Published", "Interval ±", "± of size")
    return Table(
        caption,
        head,
        tuple(
            (
                f"{row.size:,}",
                *map(percent, row.stat_levels),
                percent(row.published),
                *_widths(row),
            )
            for row in rows
        ),
    )


def width_table(release: Release, rule: DetailRule, caption: str, rows: Sequence[AtSize]) -> Table:
    """Half-widths of the intervals of COUNT and ESTIMATE at the most probable detail, by true size."""
    names = stat_level_names(release)
    return Table(
        caption,
        ("Persons", "Most probable", "COUNT ±", "ESTIMATE ±", "ESTIMATE, ± of size"),
        tuple(
            (
                f"{row.size:,}",
                names[row.probable],
                f"{count_half_width(rule, row.probable):,}",
                *_widths(row),
            )
            for row in rows
        ),
    )


def _widths(row: AtSize) -> Row:
    return (
        "-" if row.half_width is None else f"{row.half_width:,.1f}",
        "-" if row.relative_half_width is None else f"{100 * row.relative_half_width:,.1f} %",
    )


def expected_table(release: Release, plan: PlanFigures) -> Table:
    """The expected numbers of groups at each level that has sizes."""
    head = ("", "Groups", *stat_level_names(release), "Published", "Without a table")
    rows = tuple(
        (f"{run} {level}", f"{figures.expected.groups:,}", *_expected(figures.expected))
        for (run, level), figures in plan.levels.items()
        if figures.expected is not None
    )
    return Table("Expected numbers of groups, of those whose size is known", head, rows)


def _expected(expected: ExpectedNumbers) -> Row:
    without = min(expected.stat_levels[0] / expected.groups, 1.0) if expected.groups else 0.0
    numbers = (f"{value:,.1f}" for value in (*expected.stat_levels, expected.published))
    return (*numbers, percent(without))


def found_groups(levels: Sequence[LevelOutlook], text: str) -> dict[tuple[str, str], str]:
    """The groups whose name contains the text, or whose code it is: a name for people, by code and name."""
    wanted = text.strip().casefold()
    names = {(each.iteration.code, each.iteration.name) for level in levels for each in level.groups}
    found = sorted(pair for pair in names if wanted in pair[1].casefold() or wanted == pair[0].casefold())
    return {pair: f"{pair[1]} ({pair[0]})" for pair in found} if wanted else {}


def group_table(release: Release, levels: Sequence[LevelOutlook], code: str, caption: str) -> Table:
    """What one group can expect at every level that tabulates it: a mean where it has several regions."""
    head = ("", "Regions", "Persons", *stat_level_names(release), "Published")
    rows = tuple(
        (
            f"{level.run} {level.level}",
            f"{each.expected.groups:,}",
            f"{each.expected.persons:,}",
            *(percent(min(value / each.expected.groups, 1.0)) for value in each.expected.stat_levels),
            percent(min(each.expected.published / each.expected.groups, 1.0)),
        )
        for level in levels
        for each in level.groups
        if each.iteration.code == code
    )
    return Table(caption, head, rows)


def one_size_table(draft: Draft, sizes: Integers, caption: str) -> Table:
    """What a group of one size gets at every level."""
    release = draft.parameters.release
    rows: list[Row] = []
    for run in draft.parameters.plan.runs:
        for planned in run.measured:
            has_table = planned.noise.has_two_stage
            chances = chances_of(detail_rule(release, planned), sizes, total_only=not has_table)
            figures = (*chances.stat_levels[0], chances.published[0])
            rows.append((f"{run.name} {planned.name}", *(percent(float(value)) for value in figures)))
    return Table(caption, ("", *stat_level_names(release), "Published"), tuple(rows))


def comparison_tables(names: Sequence[str], plans: Sequence[PlanFigures], delta: str) -> tuple[Table, Table]:
    """Plans side by side: costs and what differs, with those rows to highlight, and then what is the same."""
    totals = [plan.loss.total for plan in plans]
    rows: list[Row] = [
        ("Budget", *(budget_text(each.budget) for each in totals)),
        (f"Least epsilon at delta {delta}", *(at_most(each.epsilon) for each in totals)),
        *((name, *(at_most(LOSS_FIGURES[name](each)) for each in totals)) for name in _EPSILONS_COMPARED),
    ]
    costs = len(rows)
    rows += [(each.name, *(value or "-" for value in each.values)) for each in differences(plans)]
    for name in level_names(plans):
        rows += _level_rows(name, plans)
    differ = [len(set(row[1:])) > 1 for row in rows]
    shown = [number for number in range(len(rows)) if number < costs or differ[number]]
    highlighted = frozenset(place for place, number in enumerate(shown) if differ[number])
    head = ("", *names)
    same = tuple(row for number, row in enumerate(rows) if number not in shown)
    return (
        Table(
            "Plans side by side: costs, and what differs", head, tuple(rows[number] for number in shown), highlighted
        ),
        Table("The same in all plans", head, same),
    )


def _level_rows(name: LevelName, plans: Sequence[PlanFigures]) -> list[Row]:
    levels = [plan.levels.get(name) for plan in plans]
    margins = (
        "-" if each is None else " / ".join(f"{total.estimate_moe_95:,}" for total in each.totals) or "-"
        for each in levels
    )
    sizes = (
        "-" if each is None else " / ".join(f"{size:,}" for size in each.sizes_with_detail) or "-" for each in levels
    )
    with_table = (
        "-" if each is None or each.expected is None else f"{each.expected.with_table:,.1f} of {each.expected.groups:,}"
        for each in levels
    )
    label = f"{name[0]} {name[1]}"
    rows: list[Row] = [
        (f"{label}: margins of ESTIMATE", *margins),
        (f"{label}: sizes with a table, 95 %", *sizes),
        (f"{label}: groups expected with a table", *with_table),
    ]
    return [row for row in rows if set(row[1:]) != {"-"}]
