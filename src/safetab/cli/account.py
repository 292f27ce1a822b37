"""`safetab account`: what a release promises and how accurate it is, before any record is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click

from safetab.accounting.accuracy import FigureAccuracy, level_accuracy
from safetab.accounting.analysis import DeltaLoss, PrivacyLoss, ReleaseLoss, analyse, delta_of
from safetab.accounting.crosscheck import LEAST_DELTA, dp_accounting_epsilon
from safetab.accounting.events import ReleasePlan
from safetab.accounting.stat_levels import empty_group_chances
from safetab.cli.figures import at_most, budget_text, nearest, parse_delta, parse_epsilon
from safetab.cli.show import console, facts, grid, print_json
from safetab.params.load import Parameters, load
from safetab.pipeline.plan import plan_release


@click.command("account")
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--delta", default="1e-10", show_default=True, help="The delta at which epsilons are stated.")
@click.option("--epsilon", help="Also state the delta that goes with this epsilon.")
@click.option("--cross-check", is_flag=True, help="Also ask the package dp-accounting, as a second opinion.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(params: Path, delta: str, epsilon: str | None, cross_check: bool, as_json: bool) -> int:
    """Say what a release costs in privacy and how accurate it is.

    PARAMS is a folder with release.toml or the Bureau's config.json, or one of the two files. No record is read.
    Every epsilon, rho and delta is an upper bound, rounded up.
    """
    exact_delta = parse_delta(delta)
    exact_epsilon = None if epsilon is None else parse_epsilon(epsilon)
    parameters = load(params)
    plan = plan_release(parameters)
    loss = analyse(plan, exact_delta)
    deltas = [] if exact_epsilon is None else [delta_of(run.name, run.levels, exact_epsilon) for run in plan.runs]
    opinion = _second_opinion(plan, exact_delta) if cross_check else {}
    if as_json:
        print_json(as_dict(parameters, plan, loss, deltas, opinion, epsilon))
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
                f"Run {run.total.name}: what each level means to someone who looks at that level alone",
                _LOSS_COLUMNS,
                [_loss_row(level, level.name) for level in run.levels],
            )
        )
    out.print()
    out.print(_accuracy_grid(parameters, plan))
    if deltas:
        out.print()
        rows = [[f"run {d.name}", at_most(d.renyi), at_most(d.pld)] for d in deltas]
        out.print(grid(f"delta at epsilon {epsilon}", ["", "By divergence", "By loss distribution"], rows))
    for name, value in opinion.items():
        out.print(f"dp-accounting says of run {name}: epsilon {at_most(value)} at delta {delta}.", markup=False)
    return 0


_LOSS_COLUMNS = ["", "Budget", "Pure epsilon", "rho", "zCDP analytic", "By divergence", "By loss distribution"]


def _loss_row(loss: PrivacyLoss, name: str) -> list[str]:
    return [
        name,
        budget_text(loss.budget),
        at_most(loss.pure_epsilon),
        at_most(loss.rho),
        at_most(loss.analytic),
        at_most(loss.renyi.value),
        at_most(loss.pld),
    ]


def _summary(parameters: Parameters, loss: ReleaseLoss, delta: str) -> Iterator[tuple[str, str]]:
    privacy = parameters.release.privacy
    yield "Release", f"{parameters.release.title or 'untitled'} ({parameters.file})"
    yield "Noise", f"{privacy.noise_name}; budgets are {privacy.budget_symbol}"
    promise = f"({at_most(loss.total.epsilon)}, {delta})-differential privacy for every person"
    if loss.total.pure_epsilon is None:
        yield "Promise", f"{at_most(loss.total.rho)}-zCDP, and with it {promise}"
    else:
        yield "Promise", f"{at_most(loss.total.pure_epsilon)}-differential privacy, and {promise}"
    if len(loss.runs) > 1:
        yield "Runs", "see disjoint records, so the release costs what its costliest run does"


@dataclass(frozen=True, slots=True)
class _LevelAccuracy:
    run: str
    level: str
    figures: tuple[FigureAccuracy, ...]
    empty_group_seen: float | None

    def as_dict(self) -> dict[str, object]:
        figures = [
            {
                "figure": figure.figure,
                "cells": figure.n_cells,
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
        }


def _accuracy(parameters: Parameters, plan: ReleasePlan) -> Iterator[_LevelAccuracy]:
    release = parameters.release
    bins = [len(each) for each in release.age_bins]
    for run, planned in zip(release.runs, plan.runs, strict=True):
        chosen = {level.name: level for level in run.levels_on}
        for level in planned.levels:
            choice = chosen[level.name]
            figures = level_accuracy(level, bins, len(release.columns.sexes))
            chance = release.zero_suppression_chance if choice.geography.local else None
            seen = empty_group_chances(level, choice.thresholds, chance).seen if level.has_two_stage else None
            yield _LevelAccuracy(run.name, level.name, figures, seen)


def _accuracy_grid(parameters: Parameters, plan: ReleasePlan) -> object:
    sexes = len(parameters.release.columns.sexes)
    cells = [sexes * len(bins) for bins in parameters.release.age_bins]
    wanted = ["total of a TotalOnly group", "stage 1 total, not published", "total or cell of stage 2"]
    wanted += [f"total of {count} cells" for count in cells]
    columns = ["", "TotalOnly", "Stage 1", "Stage 2", *(f"{count} cells" for count in cells), "Empty group seen"]
    rows = []
    for entry in _accuracy(parameters, plan):
        moes = {figure.figure: str(figure.moe) for figure in entry.figures}
        seen = "-" if entry.empty_group_seen is None else nearest(entry.empty_group_seen, 3)
        rows.append([f"{entry.run} {entry.level}", *(moes.get(name, "-") for name in wanted), seen])
    title = "Accuracy: exact 95 % margins of error, in persons; chance that an empty group is published"
    return grid(title, columns, rows)


def _second_opinion(plan: ReleasePlan, delta: Fraction) -> dict[str, float | None]:
    """dp-accounting's epsilon of each run: the larger of all groups TotalOnly and all two-stage."""
    if delta < LEAST_DELTA:
        return {run.name: None for run in plan.runs}
    return {
        run.name: max(dp_accounting_epsilon(run.levels, delta, total_only=kind) for kind in (True, False))
        for run in plan.runs
    }


def as_dict(
    parameters: Parameters,
    plan: ReleasePlan,
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
        "accuracy": [entry.as_dict() for entry in _accuracy(parameters, plan)],
    }
    if deltas:
        result["delta_at_epsilon"] = {
            "epsilon": epsilon,
            "runs": [{"name": d.name, "renyi": d.renyi, "pld": d.pld} for d in deltas],
        }
    if opinion:
        result["dp_accounting"] = opinion
    return result


def loss_as_dict(loss: PrivacyLoss) -> dict[str, object]:
    """One privacy loss for other programs; rho and budget as text, because they may be exact."""
    return {
        "name": loss.name,
        "budget": budget_text(loss.budget),
        "pure_epsilon": None if loss.pure_epsilon is None else at_most(loss.pure_epsilon, 12),
        "rho": at_most(loss.rho, 12),
        "rho_quoted": at_most(loss.rho_quoted, 12),
        "epsilon": loss.epsilon,
        "epsilon_analytic": loss.analytic,
        "epsilon_renyi": loss.renyi.value,
        "alpha": float(loss.renyi.alpha) if loss.renyi.alpha < 10**300 else None,
        "epsilon_pld": loss.pld,
    }
