"""Margins of totals for `account` and `calibrate`: of the estimate beside those of the sum, for each stat level.

In: the parameters of a release. Out: tables for people and values for other programs. The promise: what a plan has no
groups for has no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from safetab.accounting.events import LevelEvents
from safetab.cli.layout import Grid, unbroken
from safetab.cli.terminal import grid, number
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters
from safetab.params.plan import PlannedLevel
from safetab.planning.detail import detail_rule
from safetab.planning.margins import TotalMargins, margins_by_fraction, total_margins

_BOTH = "ESTIMATE (its two stages together) / COUNT (the sum of cells), far from thresholds"


def stat_level_columns(cells: Sequence[int]) -> list[str]:
    """A heading for each stat level: a total, or a table of so many cells."""
    return ["Total", *(f"{count} cells" for count in cells[1:])]


def total_margins_grid(parameters: Parameters) -> Grid:
    """The margins of totals of two-stage groups, level by level."""
    rows = [
        [f"{run} {unbroken(planned.name)}", *_both(total_margins(noise, _cells(parameters)))]
        for run, planned, noise in _two_stage(parameters)
    ]
    return grid(f"95 % margins of totals: {_BOTH}", ["", *stat_level_columns(_cells(parameters))], rows)


def fraction_grids(parameters: Parameters) -> Iterator[Grid]:
    """How these margins move with the stage 1 fraction: a table for all levels with the same noise."""
    names: dict[LevelEvents, list[str]] = {}
    for run, planned, noise in _two_stage(parameters):
        names.setdefault(noise, []).append(f"{run} {unbroken(planned.name)}")
    columns = ["stage_1_fraction", *stat_level_columns(_cells(parameters))]
    for noise, levels in names.items():
        rows = [
            [
                decimal_text(each.stage_1_fraction) + (" *" if each.stage_1_fraction == noise.stage_1_fraction else ""),
                *_both(each.totals),
            ]
            for each in margins_by_fraction(noise, _cells(parameters))
        ]
        yield grid(f"{', '.join(levels)}: the same with other stage 1 fractions (* this release's)", columns, rows)


def _both(totals: Sequence[TotalMargins]) -> list[str]:
    return [unbroken(f"{number(each.estimate_moe_95)} / {number(each.sum_moe_95)}") for each in totals]


def _cells(parameters: Parameters) -> tuple[int, ...]:
    return (1, *parameters.release.table_cells)


def _two_stage(parameters: Parameters) -> Iterator[tuple[str, PlannedLevel, LevelEvents]]:
    """The levels with two-stage groups, and their noise without what makes no difference to these groups."""
    for run in parameters.plan.runs:
        for planned in run.measured:
            if planned.noise.has_two_stage:
                yield run.name, planned, replace(planned.noise, name="", has_total_only=False)


def margins_as_dict(parameters: Parameters, planned: PlannedLevel) -> dict[str, object]:
    """The same of one level for other programs; empty lists where it has no two-stage groups."""
    if not planned.noise.has_two_stage:
        return {"totals": [], "by_stage_1_fraction": []}
    rule = detail_rule(parameters.release, planned)
    return {
        "totals": totals_as_dicts(total_margins(rule.noise, rule.cells)),
        "by_stage_1_fraction": [
            {"stage_1_fraction": decimal_text(each.stage_1_fraction), "totals": totals_as_dicts(each.totals)}
            for each in margins_by_fraction(rule.noise, rule.cells)
        ],
    }


def totals_as_dicts(totals: Sequence[TotalMargins]) -> list[dict[str, object]]:
    """The margins of each stat level for other programs."""
    return [
        {
            "stat_level": each.stat_level,
            "cells": each.cells,
            "estimate_moe_95": each.estimate_moe_95,
            "sum_moe_95": each.sum_moe_95,
        }
        for each in totals
    ]
