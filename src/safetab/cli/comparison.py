"""`safetab account A B`: plans side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from safetab.accounting.privacy_loss import delta_of
from safetab.cli.detail import expected_as_dict
from safetab.cli.figures import at_most, budget_text
from safetab.cli.layout import Grid, unbroken
from safetab.cli.margin_tables import totals_as_dicts
from safetab.cli.public_sizes import PublicSizes
from safetab.cli.terminal import alarm, console, facts, grid, number, print_report
from safetab.params.exact import decimal_text
from safetab.planning.comparison import LevelFigures, LevelName, PlanFigures, differences, level_names
from safetab.planning.shown import LOSS_FIGURES

#: As it was written, and exactly; None where it was not asked for.
_Epsilon = tuple[str | None, Fraction | None]


def show(
    paths: Sequence[Path],
    plans: Sequence[PlanFigures],
    sizes: Sequence[PublicSizes | None],
    delta: str,
    epsilon: _Epsilon,
    *,
    as_json: bool,
) -> None:
    """Print plans side by side."""
    if as_json:
        print_report("comparison", _as_dict(paths, plans, sizes, delta, epsilon))
        return
    out = console()
    names = [str(number) for number in range(1, len(plans) + 1)]
    titles = [
        f"{path} ({plan.parameters.release.title or 'untitled'})" for path, plan in zip(paths, plans, strict=True)
    ]
    known = [each for each in sizes if each is not None]
    about = [(f"Plan {name}", title) for name, title in zip(names, titles, strict=True)]
    out.print(facts([*about, *([("Sizes", f"public: {known[0].words}")] if known else [])]))
    if known and known[0].warning:
        out.print(alarm(known[0].warning))
    found = differences(plans)
    out.print()
    if found:
        rows = [[each.name, *(value or "-" for value in each.values)] for each in found]
        out.print(grid("What differs", ["", *names], rows))
    else:
        out.print("The plans choose the same.")
    out.print()
    out.print(_costs(plans, names, delta, epsilon))
    for table in _level_grids(plans, names):
        if table.rows:
            out.print()
            out.print(table)


def _costs(plans: Sequence[PlanFigures], names: Sequence[str], delta: str, epsilon: _Epsilon) -> Grid:
    rows = [["Budget", *(budget_text(plan.loss.total.budget) for plan in plans)]]
    rows += [[name, *(at_most(of(plan.loss.total)) for plan in plans)] for name, of in LOSS_FIGURES.items()]
    rows.append(["Least epsilon", *(at_most(plan.loss.total.epsilon) for plan in plans)])
    if epsilon[1] is not None:
        rows.append([f"delta at epsilon {epsilon[0]}", *(at_most(_largest_delta(plan, epsilon[1])) for plan in plans)])
    return grid(f"Privacy loss of one person by the whole release, epsilon at delta {delta}", ["", *names], rows)


def _largest_delta(plan: PlanFigures, epsilon: Fraction) -> float:
    """The least delta of a run under any analysis; of the run where it is largest."""
    losses = [delta_of(run.name, run.noise, epsilon) for run in plan.parameters.plan.runs]
    least = [
        min(each.delta_renyi, 1.0 if each.delta_loss_distribution is None else each.delta_loss_distribution)
        for each in losses
    ]
    return max(least, default=0.0)


def _level_grids(plans: Sequence[PlanFigures], names: Sequence[str]) -> list[Grid]:
    return [
        _grid(plans, names, "95 % margins of total-only groups", _total_only),
        _grid(plans, names, "95 % margins of totals by stat level: ESTIMATE / COUNT", _margins),
        _grid(plans, names, "Sizes from which a group gets a sex by age table with a probability of 95 %", _detail),
        _grid(plans, names, "Expected numbers of groups, of those whose size is known", _expected),
    ]


#: The figures of a level by what they are called.
_Named = dict[str, str]


def _grid(
    plans: Sequence[PlanFigures], names: Sequence[str], title: str, named: Callable[[LevelFigures], _Named]
) -> Grid:
    rows = []
    for run, level in level_names(plans):
        figures = [named(plan.levels[run, level]) if (run, level) in plan.levels else {} for plan in plans]
        rows += [
            [f"{run} {unbroken(level)}", what, *(unbroken(each.get(what, "-")) for each in figures)]
            for what in dict.fromkeys(name for each in figures for name in each)
        ]
    return grid(title, ["", "", *names], rows, left=2, repeats=False)


def _total_only(level: LevelFigures) -> _Named:
    return {} if level.total_only_moe_95 is None else {"total": number(level.total_only_moe_95)}


def _what(stat_level: int, level: LevelFigures) -> str:
    return "total" if stat_level == 0 else f"{level.totals[stat_level].cells} cells"


def _margins(level: LevelFigures) -> _Named:
    return {
        _what(each.stat_level, level): f"{number(each.estimate_moe_95)} / {number(each.sum_moe_95)}"
        for each in level.totals
    }


def _detail(level: LevelFigures) -> _Named:
    return {_what(n, level): number(size) for n, size in enumerate(level.sizes_with_detail, start=1)}


def _expected(level: LevelFigures) -> _Named:
    if level.expected is None:
        return {}
    by_stat_level = {
        _what(n, level) if level.totals else "total": f"{value:,.1f}"
        for n, value in enumerate(level.expected.stat_levels)
        if level.totals or n == 0
    }
    groups = {"groups with a size": number(level.expected.groups)}
    return groups | by_stat_level | {"published": f"{level.expected.published:,.1f}"}


def _as_dict(
    paths: Sequence[Path],
    plans: Sequence[PlanFigures],
    sizes: Sequence[PublicSizes | None],
    delta: str,
    epsilon: _Epsilon,
) -> dict[str, object]:
    return {
        "delta": delta,
        "epsilon": epsilon[0],
        "plans": [
            {
                "params": str(path),
                "title": plan.parameters.release.title,
                "privacy": plan.parameters.release.privacy.value,
                "sizes": None if known is None else known.as_dict(),
                "release": {"name": plan.loss.total.name, **plan.loss.total.as_json()},
                "delta_at_epsilon": None if epsilon[1] is None else _largest_delta(plan, epsilon[1]),
                "levels": [_level_as_dict(name, level) for name, level in plan.levels.items()],
            }
            for path, plan, known in zip(paths, plans, sizes, strict=True)
        ],
        "differences": [{"name": each.name, "values": list(each.values)} for each in differences(plans)],
    }


def _level_as_dict(name: LevelName, level: LevelFigures) -> dict[str, object]:
    return {
        "run": name[0],
        "level": name[1],
        "budget": decimal_text(level.budget),
        "stability": level.stability,
        "thresholds": list(level.thresholds),
        "total_only_moe_95": level.total_only_moe_95,
        "totals": totals_as_dicts(level.totals),
        "sizes_with_detail": list(level.sizes_with_detail),
        "expected": None if level.expected is None else expected_as_dict(level.expected),
    }
