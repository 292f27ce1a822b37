"""`safetab calibrate`: from margins of error to budgets, from budgets to margins, from a privacy loss to both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import click

from safetab.accounting.accuracy.calibration import CONFIDENCE_95
from safetab.accounting.events import LevelEvents
from safetab.accounting.paper.formulas import paper_budget
from safetab.accounting.privacy_loss import analyse
from safetab.cli.figures import at_most, nearest, parse_delta, parse_epsilon
from safetab.cli.layout import Grid, unbroken
from safetab.cli.margin_tables import fraction_grids, margins_as_dict, total_margins_grid
from safetab.cli.targets import (
    BUDGET,
    MOE,
    TOTAL_MOE,
    LevelKey,
    Target,
    level_key,
    parse_targets,
    refuse_impossible_noise,
    scaled,
    with_targets,
)
from safetab.cli.terminal import as_it_is, console, grid, print_report
from safetab.params.census import budget_key
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters, load
from safetab.planning.budgets import Scaling


@click.command("calibrate")
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--moe", multiple=True, metavar="LEVEL=MOE", help="A target such as USA,2=6. May be repeated.")
@click.option(
    "--total-moe",
    multiple=True,
    metavar="LEVEL=MOE",
    help="Find the least budget with which the estimate of a group at the finest stat level keeps this margin. May be "
    "repeated.",
)
@click.option(
    "--budget",
    multiple=True,
    metavar="LEVEL=RHO",
    help="Set the budget of a level, rho or epsilon, to see its margins. May be repeated.",
)
@click.option(
    "--privacy", type=click.Choice(["zcdp", "puredp"]), help="Use this privacy definition instead of the release's."
)
@click.option(
    "--epsilon",
    metavar="NUMBER",
    help="Scale every budget by the largest common factor that keeps the release within this epsilon at --delta.",
)
@click.option("--delta", metavar="NUMBER", default="1e-10", show_default=True, help="Report epsilon at this delta.")
@click.option("--json", "as_json", is_flag=True, help="Print the budgets as JSON.")
def command(
    params: Path,
    moe: tuple[str, ...],
    total_moe: tuple[str, ...],
    budget: tuple[str, ...],
    privacy: str | None,
    epsilon: str | None,
    delta: str,
    as_json: bool,
) -> int:
    """Turn margins of error into budgets and report what they cost.

    PARAMS is a release whose levels have `moe_95` targets. --moe sets or replaces the target of a level in every run
    that has this level. The command prints the lines to put into release.toml or config.json. Each budget is the
    smallest one, rounded up to a short decimal, for which the margin of error of a stage 2 count is at most the target.
    With --epsilon all budgets are then multiplied by one factor, which is rounded down.
    """
    exact_delta = parse_delta(delta)
    exact_epsilon = None if epsilon is None else parse_epsilon(epsilon)
    before = load(params)
    targets = parse_targets({MOE: moe, TOTAL_MOE: total_moe, BUDGET: budget}, before)
    parameters, scaling = with_targets(before, targets, privacy), None
    if exact_epsilon is not None:
        words = (f"epsilon {epsilon}", f"delta {delta}")
        parameters, scaling = scaled(parameters, exact_epsilon, exact_delta, words)
    refuse_impossible_noise(parameters)
    loss = analyse(parameters.plan.noise_of_run, exact_delta)
    rows = _rows(parameters, targets)
    if as_json:
        factor = None if scaling is None else decimal_text(scaling.factor)
        print_report(
            "calibrate",
            {"levels": rows, "factor": factor, "target_epsilon": epsilon, "delta": delta, **loss.total.as_json()},
        )
        return 0
    out = console()
    out.print(_budget_grid(rows, parameters.release.privacy.budget_symbol))
    out.print()
    out.print(total_margins_grid(parameters))
    for table in fraction_grids(parameters):
        out.print()
        out.print(table)
    out.print()
    lines = list(_lines_to_copy(before, parameters, targets, scaling))
    for line in lines:
        out.print(as_it_is(line))
    if lines:
        out.print()
    if scaling is not None:
        out.print(f"Every budget is {decimal_text(scaling.factor)} times what it was.")
    total = loss.total
    pure = "" if total.pure_epsilon is None else f"{at_most(total.pure_epsilon)}-DP and "
    rho = f"{at_most(total.rho)}-zCDP and " if total.pure_epsilon is None else ""
    weaker = unbroken(f"({at_most(total.epsilon)}, {delta})")
    out.print(f"Together: {pure}{rho}{weaker}-DP for every person.")
    return 0


def _budget_grid(rows: list[dict[str, object]], symbol: str) -> Grid:
    columns = ["Level", "Target", f"{symbol} exact", f"{symbol} by the paper", "MOE exact", "MOE by the paper's budget"]
    table = [
        [
            f"{row['run']} {unbroken(str(row['level']))}",
            "-" if row["moe_95"] is None else str(row["moe_95"]),
            str(row["budget"]),
            "-" if row["paper_budget"] is None else nearest(float(str(row["paper_budget"]))),
            str(row["stage_2_moe_95"]),
            "-" if row["paper_budget_moe_95"] is None else str(row["paper_budget_moe_95"]),
        ]
        for row in rows
    ]
    return grid("Budgets of the levels; 95 % margins of error of a stage 2 count, or a total", columns, table)


def _lines_to_copy(
    before: Parameters, after: Parameters, targets: Mapping[LevelKey, Target], scaling: Scaling | None
) -> Iterator[str]:
    """What changes, as the file of the release has it: the Bureau's keys, or `budget` below a comment."""
    is_json = after.file.endswith(".json")
    if after.release.privacy is not before.release.privacy:
        definition = after.release.privacy.value
        yield f'"privacy_defn": "{definition}",' if is_json else f'privacy = "{definition}"'
    for run in after.plan.runs:
        for planned in run.measured:
            level = planned.level
            target = targets.get(level_key(level))
            why = (
                []
                if target is None and level.moe_95 is None
                else [target.words if target else f"moe_95 {level.moe_95}"]
            )
            why += [] if scaling is None else [f"times {decimal_text(scaling.factor)}"]
            if not why:
                continue
            if is_json:
                yield f'"{budget_key(*level_key(level))}": {decimal_text(planned.budget)},'
            else:
                yield f"# run {run.name}, level {level.name}: {', '.join(why)}"
                yield f'budget = "{decimal_text(planned.budget)}"'


def _rows(parameters: Parameters, targets: Mapping[LevelKey, Target]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for run in parameters.plan.runs:
        for planned in run.measured:
            moe, level = planned.level.moe_95, planned.noise
            target = targets.get(level_key(planned.level))
            by_paper = None if not moe else _paper_level_budget(moe, level)
            rows.append(
                {
                    "run": run.name,
                    "level": level.name,
                    "moe_95": moe,
                    "total_moe_95": int(target.value) if target is not None and target.option == TOTAL_MOE else None,
                    "budget": decimal_text(level.budget),
                    "stage_2_moe_95": level.event(level.target_stage).law.two_sided_quantile(CONFIDENCE_95),
                    "paper_budget": None if by_paper is None else float(by_paper.budget),
                    "paper_budget_moe_95": None
                    if by_paper is None
                    else by_paper.event(level.target_stage).law.two_sided_quantile(CONFIDENCE_95),
                    **margins_as_dict(parameters, planned),
                }
            )
    return rows


def _paper_level_budget(moe: int, level: LevelEvents) -> LevelEvents:
    base = Fraction(paper_budget(level.mechanism, moe))
    share = 1 - level.stage_1_fraction if level.has_two_stage else 1
    return replace(level, budget=base * level.stability / share)
