"""`safetab check`: are these files sound, and what do they amount to?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Group

from safetab.checks.inputs import CheckReport, RunFacts, check_inputs
from safetab.cli.show import console, facts, grid, number, plural, print_findings, print_json
from safetab.errors import SafetabError
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters
from safetab.pipeline.plan import plan_release, prepare_noise
from safetab.population.iterations import Kind


@click.command("check")
@click.argument("params", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--show-values",
    is_flag=True,
    help="Quote the values of records that break a rule. They are confidential: inside the secure area only.",
)
def command(params: Path, data: Path | None, as_json: bool, show_values: bool) -> int:
    """Check the files of a release and say what they are.

    PARAMS is a folder with release.toml or the Bureau's config.json and the group definitions, or one of the two files.
    DATA is the folder with the geography file; where the records are there too, every one of them is judged. No noise
    is drawn and no budget is spent. Exit status 1 when anything is wrong.
    """
    report = _judge_noise(check_inputs(params, data, show_values=show_values))
    if as_json:
        print_json(as_dict(report))
    else:
        _print(report, params, data)
    return 1 if report.errors else 0


def _judge_noise(report: CheckReport) -> CheckReport:
    """Add what is wrong with the noise that the budgets ask for, where the files are sound enough to have a plan."""
    if report.parameters is None or report.errors:
        return report
    try:
        prepare_noise(plan_release(report.parameters))
    except SafetabError as error:
        return replace(report, findings=(*report.findings, *error.findings))
    return report


def _print(report: CheckReport, params: Path, data: Path | None) -> None:
    out = console()
    if report.parameters is not None:
        out.print(facts(_describe(report.parameters)))
        for run in report.runs:
            out.print()
            out.print(_levels_table(run, report.parameters))
    print_findings(report.findings, "No budget was spent." if report.judged_records else "No record was read.")
    if report.errors:
        return
    out.print()
    files = "every record" if report.judged_records else "the geography file"
    looked_at = f"{params}" if data is None else f"{params} and {files} in {data}"
    warnings = len(report.findings)
    note = f" {plural(warnings, 'warning')} above." if warnings else ""
    out.print(f"Nothing wrong found in {looked_at}.{note}", markup=False, soft_wrap=True)


def _describe(parameters: Parameters) -> Iterator[tuple[str, str]]:
    release, catalogue = parameters.release, parameters.catalogue
    privacy = release.privacy
    yield "Release", f"{release.title or 'untitled'} ({parameters.file})"
    yield (
        "Privacy",
        f"{privacy.value}: {privacy.noise_name} noise, budgets are {privacy.budget_symbol}; stage 1 takes "
        f"{decimal_text(release.stage_1_fraction)} of each",
    )
    yield (
        "Groups",
        f"{plural(catalogue.count(Kind.ALONE, Kind.COMBINATION), 'race iteration')} and "
        f"{catalogue.count(Kind.ETHNICITY):,} ethnicity iterations of {plural(len(catalogue.codes), 'code')}; "
        f"a person has up to {plural(release.max_race_codes, 'race code')}",
    )
    yield "Ages", "stat levels 1, 2, 3 have " + ", ".join(str(len(bins)) for bins in release.age_bins) + " age bins"
    chance = release.zero_suppression_chance
    dropped = "never" if chance is None else f"with chance {decimal_text(chance)}"
    negative = "kept" if release.allow_negative_counts else "set to 0"
    yield "Afterwards", f"empty local groups are dropped {dropped}; negative counts are {negative}"


def _levels_table(facts_of_run: RunFacts, parameters: Parameters) -> Group:
    geography = facts_of_run.geography
    symbol = parameters.release.privacy.budget_symbol
    columns = ["Geography", "Iteration level", symbol, "Thresholds", "Iterations", "Total only", "Stability"]
    if geography is not None:
        columns += ["Regions", "Groups"]
    rows: list[list[str]] = []
    for entry in facts_of_run.levels:
        level = entry.level
        if not level.is_on:
            rows.append([level.geography.name, str(level.iteration_level), "off"] + [""] * (len(columns) - 3))
            continue
        row = [
            level.geography.name,
            str(level.iteration_level),
            level.spending,
            " ".join(map(number, level.thresholds)),
            number(entry.iterations),
            number(entry.total_only),
            str(entry.stability),
        ]
        if geography is not None:
            regions = len(geography.regions[geography.level_index(level.geography.name)])
            row += [number(regions), number(regions * entry.iterations)]
        rows.append(row)
    return grid(_run_title(facts_of_run, symbol), columns, rows, left=2)


def _run_title(facts_of_run: RunFacts, symbol: str) -> str:
    run, geography = facts_of_run.run, facts_of_run.geography
    title = f"Run {run.name}"
    if run.only is not None:
        values = run.only.values
        shown = f"one of {len(values)} values" if len(values) > 3 else " or ".join(values)
        title += f": records whose {run.only.column} is {shown}"
    if facts_of_run.budget is not None:
        title += f"; total {symbol} {decimal_text(facts_of_run.budget)}"
    if geography is not None:
        title += f"; {plural(geography.blocks.num_rows, 'block')} in {plural(geography.cells, 'cell')}"
    return title


def as_dict(report: CheckReport) -> dict[str, object]:
    """The report for other programs."""
    result: dict[str, object] = {"findings": [finding.as_json() for finding in report.findings]}
    if report.parameters is None:
        return result
    release, catalogue = report.parameters.release, report.parameters.catalogue
    return result | {
        "title": release.title,
        "privacy": release.privacy.value,
        "race_iterations": catalogue.count(Kind.ALONE, Kind.COMBINATION),
        "ethnicity_iterations": catalogue.count(Kind.ETHNICITY),
        "codes": len(catalogue.codes),
        "max_race_codes": release.max_race_codes,
        "stage_1_fraction": decimal_text(release.stage_1_fraction),
        "runs": [_run_as_dict(run) for run in report.runs],
    }


def _run_as_dict(entry: RunFacts) -> dict[str, object]:
    geography = entry.geography
    result: dict[str, object] = {
        "name": entry.run.name,
        "budget": None if entry.budget is None else decimal_text(entry.budget),
        "levels": [
            {
                "geography": facts.level.geography.name,
                "iteration_level": facts.level.iteration_level,
                "budget": None if facts.level.budget is None else decimal_text(facts.level.budget),
                "moe_95": facts.level.moe_95,
                "thresholds": list(facts.level.thresholds),
                "iterations": facts.iterations,
                "total_only": facts.total_only,
                "stability": facts.stability,
            }
            for facts in entry.levels
        ],
    }
    if geography is not None:
        result["blocks"] = geography.blocks.num_rows
        result["cells"] = geography.cells
        result["regions"] = {
            level.name: len(ids) for level, ids in zip(geography.levels, geography.regions, strict=True)
        }
    return result
