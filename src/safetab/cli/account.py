"""`safetab account`: the guarantee of a release and its accuracy, before any record is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click
import numpy as np

from safetab.accounting.accuracy.margins import Figure, FigureAccuracy, FigureKind, level_accuracy
from safetab.accounting.privacy_loss import DeltaLoss, PrivacyLoss, ReleaseLoss, analyse, delta_of
from safetab.accounting.second_opinion import LEAST_DELTA, dp_accounting_epsilon
from safetab.cli import comparison
from safetab.cli.figures import at_most, nearest, parse_delta, parse_epsilon
from safetab.cli.layout import Grid, unbroken
from safetab.cli.margin_tables import fraction_grids, margins_as_dict, total_margins_grid
from safetab.cli.public_sizes import chosen_sizes, sizes_options
from safetab.cli.terminal import console, facts, grid, print_report
from safetab.errors import Finding, UsageError
from safetab.params.load import Parameters, load
from safetab.params.plan import ReleasePlan
from safetab.planning.comparison import figures_of_plan
from safetab.planning.detail import chances_of, detail_rule
from safetab.planning.shown import LOSS_HEADINGS, loss_texts
from safetab.rules.usage_rules import CROSS_CHECK_OF_ONE_PLAN, SIZES_OF_ONE_PLAN


@click.command("account")
@click.argument("params", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--delta", metavar="NUMBER", default="1e-10", show_default=True, help="Report every epsilon at this delta."
)
@click.option("--epsilon", metavar="NUMBER", help="Also report the delta at this epsilon.")
@click.option(
    "--cross-check", is_flag=True, help="Also compute epsilon with the package dp-accounting (safetab[crosscheck])."
)
@sizes_options
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(
    params: tuple[Path, ...],
    delta: str,
    epsilon: str | None,
    cross_check: bool,
    sizes: str | None,
    like: Path | None,
    as_json: bool,
) -> int:
    """Report what a release costs in privacy and how accurate it is.

    PARAMS is a folder with release.toml or the Bureau's config.json, or one of these two files. No record is read.
    Every epsilon, rho and delta is an upper bound and is rounded up. With two or more of them the plans are compared:
    what differs, costs, margins, expected detail. --sizes and --like are for comparisons only.
    """
    exact_delta = parse_delta(delta)
    exact_epsilon = None if epsilon is None else parse_epsilon(epsilon)
    if len(params) > 1:
        if cross_check:
            raise UsageError(Finding(CROSS_CHECK_OF_ONE_PLAN, "--cross-check"))
        return _compare(params, (delta, exact_delta), (epsilon, exact_epsilon), (sizes, like), as_json=as_json)
    if sizes is not None or like is not None:
        raise UsageError(Finding(SIZES_OF_ONE_PLAN, "--sizes" if like is None else "--like"))
    return _report(load(params[0]), (delta, exact_delta), (epsilon, exact_epsilon), cross_check, as_json)


def _compare(
    params: Sequence[Path],
    delta: tuple[str, Fraction],
    epsilon: tuple[str | None, Fraction | None],
    sizes: tuple[str | None, Path | None],
    *,
    as_json: bool,
) -> int:
    plans = [load(path) for path in params]
    known = [chosen_sizes(plan, *sizes) for plan in plans]
    figures = [
        figures_of_plan(plan, delta[1], None if each is None else each.sizes)
        for plan, each in zip(plans, known, strict=True)
    ]
    comparison.show(params, figures, known, delta[0], epsilon, as_json=as_json)
    return 0


def _report(
    parameters: Parameters,
    at_delta: tuple[str, Fraction],
    at_epsilon: tuple[str | None, Fraction | None],
    cross_check: bool,
    as_json: bool,
) -> int:
    (delta, exact_delta), (epsilon, exact_epsilon) = at_delta, at_epsilon
    plan = parameters.plan
    loss = analyse(plan.noise_of_run, exact_delta)
    deltas = [] if exact_epsilon is None else [delta_of(run.name, run.noise, exact_epsilon) for run in plan.runs]
    opinion = _second_opinion(plan, exact_delta) if cross_check else {}
    if as_json:
        print_report("account", as_dict(parameters, loss, deltas, opinion, epsilon))
        return 0
    out = console()
    out.print(facts(_summary(parameters, loss, delta)))
    out.print()
    rows = [
        _loss_row(loss.total, "whole release"),
        *(_loss_row(run.total, f"run {run.total.name}") for run in loss.runs),
    ]
    out.print(grid(f"Privacy loss of one person, epsilon at delta {delta}", _LOSS_COLUMNS, rows))
    for run in loss.runs:
        out.print()
        out.print(
            grid(
                f"Run {run.total.name}: privacy loss to someone who sees one level only",
                _LOSS_COLUMNS,
                [_loss_row(level, unbroken(level.name)) for level in run.levels],
            )
        )
    out.print()
    out.print(_accuracy_grid(parameters))
    if parameters.release.has_tables:
        out.print()
        out.print(total_margins_grid(parameters))
    for table in fraction_grids(parameters):
        out.print()
        out.print(table)
    if deltas:
        out.print()
        rows = [[f"run {d.name}", at_most(d.delta_renyi), at_most(d.delta_loss_distribution)] for d in deltas]
        out.print(grid(f"delta at epsilon {epsilon}", ["", "Rényi divergence", "Loss distribution"], rows))
    for name, value in opinion.items():
        out.print(f"dp-accounting computes epsilon {at_most(value)} at delta {delta} for run {name}.")
    return 0


_LOSS_COLUMNS = ["", *LOSS_HEADINGS]


def _loss_row(loss: PrivacyLoss, name: str) -> list[str]:
    return [name, *loss_texts(loss)]


def _summary(parameters: Parameters, loss: ReleaseLoss, delta: str) -> Iterator[tuple[str, str]]:
    privacy = parameters.release.privacy
    yield "Release", f"{parameters.release.title or 'untitled'} ({parameters.file})"
    yield "Noise", f"{privacy.noise_name}; budgets are {privacy.budget_symbol}"
    weaker = f"{unbroken(f'({at_most(loss.total.epsilon)}, {delta})')}-differential privacy"
    if loss.total.pure_epsilon is None:
        yield "Guarantee", f"{at_most(loss.total.rho)}-zCDP and {weaker}, for every person"
    else:
        yield "Guarantee", f"{at_most(loss.total.pure_epsilon)}-differential privacy and {weaker}, for every person"
    if len(loss.runs) > 1:
        yield "Runs", "no record is in two runs, so the release costs as much as its costliest run"


@dataclass(frozen=True, slots=True)
class _LevelAccuracy:
    run: str
    level: str
    figures: tuple[FigureAccuracy, ...]
    empty_group_seen: float | None
    margins: dict[str, object]

    def as_dict(self) -> dict[str, object]:
        figures = [
            {
                "kind": figure.figure.kind.value,
                "figure": figure.figure.words,
                "cells": figure.figure.n_cells,
                "moe_95": figure.moe,
                "paper_moe_95": figure.paper_moe,
                "standard_deviation": figure.standard_deviation,
            }
            for figure in self.figures
        ]
        return {
            "run": self.run,
            "level": self.level,
            "figures": figures,
            "empty_group_seen": self.empty_group_seen,
            **self.margins,
        }


def _accuracy(parameters: Parameters) -> Iterator[_LevelAccuracy]:
    release = parameters.release
    bins = [len(each) for each in release.age_bins]
    for run in parameters.plan.runs:
        for planned in run.measured:
            level, noise = planned.level, planned.noise
            figures = level_accuracy(noise, bins, len(release.columns.sexes))
            seen = None
            if noise.has_two_stage:
                seen = float(chances_of(detail_rule(release, planned), np.zeros(1, dtype=np.int64)).published[0])
            yield _LevelAccuracy(run.name, level.name, figures, seen, margins_as_dict(parameters, planned))


def _accuracy_grid(parameters: Parameters) -> Grid:
    cells = parameters.release.table_cells
    wanted = [
        Figure(kind) for kind in (FigureKind.TOTAL_ONLY_TOTAL, FigureKind.STAGE_1_TOTAL, FigureKind.STAGE_2_COUNT)
    ]
    wanted += [Figure(FigureKind.SUM_OF_CELLS, count) for count in cells]
    columns = ["", "Total only", "Stage 1", "Stage 2", *(f"{count} cells" for count in cells), "Empty group published"]
    rows = []
    for entry in _accuracy(parameters):
        moes = {figure.figure: str(figure.moe) for figure in entry.figures}
        seen = "-" if entry.empty_group_seen is None else nearest(entry.empty_group_seen, 3)
        rows.append([f"{entry.run} {unbroken(entry.level)}", *(moes.get(figure, "-") for figure in wanted), seen])
    title = "Accuracy: exact 95 % margins of error, in persons; probability that an empty group is published"
    return grid(title, columns, rows)


def _second_opinion(plan: ReleasePlan, delta: Fraction) -> dict[str, float | None]:
    """dp-accounting's epsilon of each run: the larger of all groups TotalOnly and all two-stage."""
    if delta < LEAST_DELTA:
        return {run.name: None for run in plan.runs}
    return {
        run.name: max(dp_accounting_epsilon(run.noise, delta, total_only=kind) for kind in (True, False))
        for run in plan.runs
    }


def as_dict(
    parameters: Parameters,
    loss: ReleaseLoss,
    deltas: list[DeltaLoss],
    opinion: dict[str, float | None],
    epsilon: str | None,
) -> dict[str, object]:
    """The figures for other programs."""
    result: dict[str, object] = {
        "title": parameters.release.title,
        "privacy": parameters.release.privacy.value,
        "delta": at_most(loss.delta, 17),
        "release": loss_as_dict(loss.total),
        "runs": [
            loss_as_dict(run.total) | {"levels": [loss_as_dict(level) for level in run.levels]} for run in loss.runs
        ],
        "accuracy": [entry.as_dict() for entry in _accuracy(parameters)],
    }
    if deltas:
        result["delta_at_epsilon"] = {
            "epsilon": epsilon,
            "runs": [
                {
                    "name": d.name,
                    "delta_renyi": d.delta_renyi,
                    "delta_loss_distribution": d.delta_loss_distribution,
                }
                for d in deltas
            ],
        }
    if opinion:
        result["dp_accounting"] = opinion
    return result


def loss_as_dict(loss: PrivacyLoss) -> dict[str, object]:
    """One privacy loss for other programs."""
    return {"name": loss.name, **loss.as_json()}
