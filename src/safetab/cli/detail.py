"""`safetab detail`: who gets which detail, before any record is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.events import Stage
from safetab.cli.figures import percent
from safetab.cli.layout import Grid, unbroken
from safetab.cli.margin_tables import stat_level_columns
from safetab.cli.public_sizes import PublicSizes, chosen_sizes, sizes_options
from safetab.cli.terminal import alarm, console, facts, grid, number, print_report
from safetab.params.load import Parameters, load
from safetab.planning.by_size import AtSize, by_size, sizes_of_interest
from safetab.planning.detail import DetailRule, detail_rule
from safetab.planning.expected import ExpectedNumbers, GroupOutlook, LevelOutlook, outlook


@click.command("detail")
@click.argument("params", type=click.Path(path_type=Path))
@sizes_options
@click.option("--group", metavar="TEXT", help="Show the groups whose name contains this text, or whose code it is.")
@click.option(
    "--rows", type=click.IntRange(1, 100_000), default=12, show_default=True, help="How many groups of a level to show."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures, of all groups, as JSON.")
def command(params: Path, sizes: str | None, like: Path | None, group: str | None, rows: int, as_json: bool) -> int:
    """Show which groups get which detail.

    PARAMS is a folder with release.toml or the Bureau's config.json, or one of these two files. No record is read.
    For groups of any size: the probability of a total alone and of each kind of sex by age table, of being published at
    all, and how wide the interval of the estimate is. With --sizes or --like: the expected numbers of groups at each
    level, and what each group can expect.
    """
    parameters = load(params)
    known = chosen_sizes(parameters, sizes, like)
    levels = () if known is None else outlook(parameters, known.sizes)
    if as_json:
        print_report("detail", _as_dict(parameters, known, levels, group))
        return 0
    out = console()
    out.print(facts(_summary(parameters, known)))
    if known is not None and known.warning:
        out.print(alarm(known.warning))
    for rule, names in _levels_of_rules(parameters) if group is None else ():
        out.print()
        if rule.noise.has_two_stage:
            out.print(_size_grid(rule, names))
        if rule.noise.has_total_only:
            margin = moe_95_of_sum(rule.noise.event(Stage.TOTAL_ONLY).law, 1)
            out.print(f"{', '.join(names)}: groups that get a total only have it within ± {number(margin)}.")
    if levels:
        out.print()
        out.print(_level_grid(levels))
    for level in levels:
        shown = _chosen(level.groups, group)
        if shown:
            out.print()
            out.print(_group_grid(level, shown, rows))
    return 0


def _summary(parameters: Parameters, known: PublicSizes | None) -> Iterator[tuple[str, str]]:
    yield "Release", f"{parameters.release.title or 'untitled'} ({parameters.file})"
    if known is None:
        yield "Sizes", "none; --sizes or --like tells what to expect of real groups"
        return
    yield "Sizes", f"public: {known.words}"
    if known.sizes.left_out:
        what = "size is of a group" if known.sizes.left_out == 1 else "sizes are of groups"
        yield "", f"{number(known.sizes.left_out)} {what} that this release does not tabulate"


def _levels_of_rules(parameters: Parameters) -> Iterator[tuple[DetailRule, list[str]]]:
    """The different rules of a release, and the levels that each is the rule of."""
    names: dict[DetailRule, list[str]] = {}
    for run in parameters.plan.runs:
        for planned in run.measured:
            name = f"{run.name} {unbroken(planned.name)}"
            names.setdefault(detail_rule(parameters.release, planned), []).append(name)
    yield from names.items()


def _size_grid(rule: DetailRule, names: Sequence[str]) -> Grid:
    title = f"{', '.join(names)}: what a group gets, by its true size; half-width of the 95 % interval of its estimate"
    columns = ["Persons", *stat_level_columns(rule.cells), "Published", "Interval ±", "± of size"]
    rows = [
        [
            number(row.size),
            *map(percent, row.stat_levels),
            percent(row.published),
            "-" if row.half_width is None else f"{row.half_width:,.1f}",
            "-" if row.relative_half_width is None else f"{100 * row.relative_half_width:,.1f} %",
        ]
        for row in by_size(rule, sizes_of_interest(rule))
    ]
    return grid(title, columns, rows, left=0)


def _level_grid(levels: Sequence[LevelOutlook]) -> Grid:
    columns = ["", "Groups", *stat_level_columns(levels[0].rule.cells), "Published", "Without ages"]
    rows = [
        [f"{each.run} {unbroken(each.level)}", number(each.total.groups), *_numbers(each.total), _without_ages(each)]
        for each in levels
    ]
    return grid("Expected numbers of groups, of those whose size is known", columns, rows)


def _numbers(expected: ExpectedNumbers) -> list[str]:
    return [f"{value:,.1f}" for value in (*expected.stat_levels, expected.published)]


def _without_ages(level: LevelOutlook) -> str:
    return percent(min(level.total.stat_levels[0] / level.total.groups, 1.0))


def _group_grid(level: LevelOutlook, groups: Sequence[GroupOutlook], most: int) -> Grid:
    one_region = all(each.expected.groups == 1 for each in level.groups)
    what = "probabilities" if one_region else "expected numbers of regions"
    order = sorted(groups, key=lambda each: (-each.expected.persons, each.iteration.code))
    shown = "all" if len(order) <= most else f"the largest {number(most)}"
    title = f"{level.run} {unbroken(level.level)}: {what}, {shown} of {number(len(order))} groups"
    columns = ["Group", "Code", *([] if one_region else ["Regions"]), "Persons"]
    columns += [*stat_level_columns(level.rule.cells), "Published"]
    rows = [_group_row(each, one_region=one_region) for each in order[:most]]
    return grid(title, columns, rows, left=2)


def _group_row(each: GroupOutlook, *, one_region: bool) -> list[str]:
    expected = each.expected
    chances = (*expected.stat_levels, expected.published)
    figures = list(map(percent, chances)) if one_region else [number(expected.groups), *_numbers(expected)]
    figures.insert(0 if one_region else 1, number(expected.persons))
    return [each.iteration.name, each.iteration.code, *figures]


def _chosen(groups: Sequence[GroupOutlook], text: str | None) -> list[GroupOutlook]:
    if text is None:
        return list(groups)
    wanted = text.casefold()
    return [each for each in groups if wanted in each.iteration.name.casefold() or each.iteration.code == text]


def _as_dict(
    parameters: Parameters, known: PublicSizes | None, levels: Sequence[LevelOutlook], group: str | None
) -> dict[str, object]:
    found = {(each.run, each.level): each for each in levels}
    return {
        "title": parameters.release.title,
        "privacy": parameters.release.privacy.value,
        "sizes": None if known is None else known.as_dict(),
        "levels": [
            _level_as_dict(run.name, planned.name, detail_rule(parameters.release, planned))
            | _outlook_as_dict(found.get((run.name, planned.name)), group)
            for run in parameters.plan.runs
            for planned in run.measured
        ],
    }


def _level_as_dict(run: str, level: str, rule: DetailRule) -> dict[str, object]:
    noise = rule.noise
    return {
        "run": run,
        "level": level,
        "thresholds": list(rule.thresholds),
        "cells": list(rule.cells),
        "suppressed_up_to": rule.dropped_up_to(),
        "total_only_moe_95": moe_95_of_sum(noise.event(Stage.TOTAL_ONLY).law, 1) if noise.has_total_only else None,
        "by_size": [_at_size(row) for row in by_size(rule, sizes_of_interest(rule))] if noise.has_two_stage else [],
    }


def _at_size(row: AtSize) -> dict[str, object]:
    return {
        "size": row.size,
        "stat_levels": list(row.stat_levels),
        "published": row.published,
        "probable_stat_level": row.probable,
        "half_width_95": row.half_width,
        "relative_half_width_95": row.relative_half_width,
    }


def _outlook_as_dict(level: LevelOutlook | None, group: str | None) -> dict[str, object]:
    if level is None:
        return {"expected": None, "groups": []}
    groups = [
        {"code": each.iteration.code, "name": each.iteration.name, **expected_as_dict(each.expected)}
        for each in _chosen(level.groups, group)
    ]
    expected = expected_as_dict(level.total) | {"iterations_without_size": level.unsized}
    return {"expected": expected, "groups": groups}


def expected_as_dict(expected: ExpectedNumbers) -> dict[str, object]:
    """Expected numbers for other programs."""
    return {
        "groups": expected.groups,
        "total_only": expected.total_only,
        "persons": expected.persons,
        "stat_levels": list(expected.stat_levels),
        "published": expected.published,
    }
