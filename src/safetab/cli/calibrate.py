"""`safetab calibrate`: from margins of error to budgets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import click

from safetab.accounting.analysis import ReleaseLoss, analyse
from safetab.accounting.calibration import CONFIDENCE_95, paper_budget
from safetab.accounting.events import LevelPlan, ReleasePlan
from safetab.cli.figures import at_most, nearest, parse_delta
from safetab.cli.rules import MOE_WORDS
from safetab.cli.show import console, grid, print_json
from safetab.errors import Finding, UsageError
from safetab.noise.laws import Mechanism
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters, load
from safetab.params.release import PopulationGroupLevel, PrivacyDefinition
from safetab.pipeline.plan import MECHANISM_OF, plan_release


@click.command("calibrate")
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--moe", "targets", multiple=True, metavar="LEVEL=MOE", help="A target such as USA,2=6; may be repeated.")
@click.option(
    "--privacy", type=click.Choice(["zcdp", "puredp"]), help="Calibrate for this definition instead of the release's."
)
@click.option("--delta", default="1e-10", show_default=True, help="The delta at which epsilon is stated.")
@click.option("--json", "as_json", is_flag=True, help="Print the budgets as JSON.")
def command(params: Path, targets: tuple[str, ...], privacy: str | None, delta: str, as_json: bool) -> int:
    """Turn margins of error into budgets, and say what they cost.

    PARAMS is a release whose levels have `moe_95` targets; --moe sets or replaces the target of a level, in every run
    that has it. Prints the lines to put into release.toml. Each budget is the least one, rounded up to a short
    decimal, whose stage 2 counts certainly keep within the target with 95 %.
    """
    exact_delta = parse_delta(delta)
    parameters = _with_targets(load(params), targets, privacy)
    plan = plan_release(parameters)
    loss = analyse(plan, exact_delta)
    rows = list(_rows(parameters, plan))
    if as_json:
        print_json({"levels": rows} | _costs(loss, delta))
        return 0
    out = console()
    symbol = parameters.release.privacy.budget_symbol
    columns = ["Level", "Target", f"{symbol} exact", f"{symbol} by the paper", "MOE exact", "MOE by the paper's budget"]
    table = [
        [
            f"{row['run']} {row['level']}",
            "-" if row["moe_95"] is None else str(row["moe_95"]),
            str(row["budget"]),
            "-" if row["paper_budget"] is None else nearest(float(str(row["paper_budget"]))),
            str(row["stage_2_moe_95"]),
            "-" if row["paper_budget_moe_95"] is None else str(row["paper_budget_moe_95"]),
        ]
        for row in rows
    ]
    out.print(grid("Budgets of the levels; 95 % margins of error of a stage 2 count, or a total", columns, table))
    out.print()
    for row in rows:
        if row["moe_95"] is not None:
            out.print(f"# run {row['run']}, level {row['level']}: moe_95 {row['moe_95']}", markup=False)
            out.print(f'budget = "{row["budget"]}"', markup=False)
    out.print()
    total = loss.total
    pure = "" if total.pure_epsilon is None else f"{at_most(total.pure_epsilon)}-DP and "
    rho = f"{at_most(total.rho)}-zCDP and " if total.pure_epsilon is None else ""
    out.print(f"Together: {pure}{rho}({at_most(total.epsilon)}, {delta})-DP for every person.", markup=False)
    return 0


def _with_targets(parameters: Parameters, targets: tuple[str, ...], privacy: str | None) -> Parameters:
    wanted = dict(_parse_target(text, parameters) for text in targets)
    release = parameters.release
    runs = tuple(
        replace(run, levels=tuple(_with_target(level, wanted.get(_key(level))) for level in run.levels))
        for run in release.runs
    )
    definition = release.privacy if privacy is None else PrivacyDefinition(privacy)
    return replace(parameters, release=replace(release, runs=runs, privacy=definition))


def _with_target(level: PopulationGroupLevel, moe: int | None) -> PopulationGroupLevel:
    return level if moe is None else replace(level, budget=None, moe_95=moe)


def _key(level: PopulationGroupLevel) -> tuple[str, int]:
    return level.geography.name, level.iteration_level


def _parse_target(text: str, parameters: Parameters) -> tuple[tuple[str, int], int]:
    name, _, persons = text.partition("=")
    geography, _, iteration_level = name.strip().strip("()").rpartition(",")
    known = {_key(level) for run in parameters.release.runs for level in run.levels}
    try:
        key, moe = (geography.strip(), int(iteration_level)), int(persons)
    except ValueError:
        raise UsageError(Finding(MOE_WORDS, "--moe", seen=repr(text))) from None
    if key not in known or moe < 0:
        raise UsageError(Finding(MOE_WORDS, "--moe", seen=repr(text)))
    return key, moe


def _rows(parameters: Parameters, plan: ReleasePlan) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    mechanism = MECHANISM_OF[parameters.release.privacy]
    for run, planned in zip(parameters.release.runs, plan.runs, strict=True):
        targets = {level.name: level.moe_95 for level in run.levels_on}
        for level in planned.levels:
            moe = targets[level.name]
            by_paper = None if not moe else _paper_level_budget(mechanism, moe, level)
            rows.append(
                {
                    "run": run.name,
                    "level": level.name,
                    "moe_95": moe,
                    "budget": decimal_text(level.budget),
                    "stage_2_moe_95": level.event(level.target_stage).law.two_sided_quantile(CONFIDENCE_95),
                    "paper_budget": None if by_paper is None else float(by_paper.budget),
                    "paper_budget_moe_95": None
                    if by_paper is None
                    else by_paper.event(level.target_stage).law.two_sided_quantile(CONFIDENCE_95),
                }
            )
    return rows


def _paper_level_budget(mechanism: Mechanism, moe: int, level: LevelPlan) -> LevelPlan:
    base = Fraction(paper_budget(mechanism, moe))
    share = 1 - level.stage_1_fraction if level.has_two_stage else 1
    return replace(level, budget=base * level.stability / share)


def _costs(loss: ReleaseLoss, delta: str) -> dict[str, object]:
    total = loss.total
    return {
        "delta": delta,
        "epsilon": total.epsilon,
        "rho": at_most(total.rho, 12),
        "pure_epsilon": None if total.pure_epsilon is None else at_most(total.pure_epsilon, 12),
    }
