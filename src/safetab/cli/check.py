"""`safetab check`: are these files sound, and what do they describe?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from safetab.cli.layout import Grid, unbroken
from safetab.cli.terminal import as_it_is, console, facts, grid, number, plural, print_findings, print_report
from safetab.errors import Finding
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters, differences, load
from safetab.params.plan import PlannedLevel
from safetab.params.release import Release
from safetab.pipeline.check import CheckedRun, CheckReport, check_inputs
from safetab.population.iterations import IterationCatalogue, Kind
from safetab.rules.release_rules import DIFFERENT_RELEASES


@click.command("check")
@click.argument("params", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--show-values",
    is_flag=True,
    help="Quote the values of records that break a rule. They are confidential: use this inside the secure area only.",
)
@click.option(
    "--same-as",
    type=click.Path(path_type=Path),
    metavar="OTHER",
    help="Another release, such as the config.json that this one was written from. It is an error if the two differ.",
)
def command(params: Path, data: Path | None, as_json: bool, show_values: bool, same_as: Path | None) -> int:
    """Check the files of a release and summarize them.

    PARAMS is a folder with the group definitions and release.toml or the Bureau's config.json, or one of these two
    files. DATA is the folder with the geography file. If it contains the records too, every record is checked. No
    noise is drawn and no budget is spent. The exit status is 1 if anything is wrong.
    """
    report = check_inputs(params, data, show_values=show_values)
    if same_as is not None and report.parameters is not None:
        report = _compared(report, report.parameters, same_as)
    if as_json:
        print_report("check", as_dict(report))
    else:
        _print(report, data)
        if same_as is not None and not report.errors:
            console().print(as_it_is(f"{params} and {same_as} are equal."))
    return 1 if report.errors else 0


def _compared(report: CheckReport, parameters: Parameters, other: Path) -> CheckReport:
    """The report with a finding where another release is not the same."""
    unequal = differences(parameters, load(other))
    if not unequal:
        return report
    finding = Finding(DIFFERENT_RELEASES, f"{parameters.file} and {other}", seen=", ".join(unequal))
    return replace(report, findings=(*report.findings, finding))


def _print(report: CheckReport, data: Path | None) -> None:
    out = console()
    if report.parameters is not None:
        out.print(facts([*_describe(report.parameters), ("Records", _of_records(report, data))]))
        for run in report.runs:
            out.print()
            out.print(_levels_table(run, report.parameters))
    if report.findings:
        console(to_stderr=True).print()
    print_findings(report.findings, "No budget was spent." if report.judged_records else "No record was read.")
    if report.errors:
        return
    out.print()
    looked_at = "the parameters"
    if data is not None:
        looked_at += ", the geography file and the records" if report.judged_records else " and the geography file"
    warnings = len(report.findings)
    note = "" if report.judged_records else " No record was judged."
    note += f" {plural(warnings, 'warning')} above." if warnings else ""
    out.print(f"Nothing wrong found in {looked_at}.{note}")


def _of_records(report: CheckReport, data: Path | None) -> str:
    """Whether the records were judged, and if not, why not."""
    if report.judged_records:
        return f"{_every_record(report)} was judged"
    if data is None:
        return "not judged, because no data folder was named"
    return "not judged, because of the faults below" if report.errors else f"not judged: there are none in {data}"


def _every_record(report: CheckReport) -> str:
    return f"every record of {plural(report.record_files, 'file')}"


def _describe(parameters: Parameters) -> Iterator[tuple[str, str]]:
    release, catalogue = parameters.release, parameters.catalogue
    privacy = release.privacy
    yield "Release", f"{release.title or 'untitled'} ({parameters.file})"
    yield (
        "Privacy",
        f"{privacy.value}: {privacy.noise_name} noise, budgets are {privacy.budget_symbol}; stage 1 takes "
        f"{decimal_text(release.stage_1_fraction)} of each",
    )
    yield "Groups", _of_groups(release, catalogue)
    yield "Tables", _of_tables(release)
    chance = release.zero_suppression_chance
    suppressed = "never" if chance is None else f"with probability {decimal_text(chance)}"
    negative = "kept" if release.allow_negative_counts else "set to 0"
    yield "Output", f"empty local groups are suppressed {suppressed}; negative counts are {negative}"


def _of_groups(release: Release, catalogue: IterationCatalogue) -> str:
    """How many iterations of how many codes; a country with one kind of groups does not read about two."""
    of_race, of_ethnicity = catalogue.count(Kind.ALONE, Kind.COMBINATION), catalogue.count(Kind.ETHNICITY)
    kind, iterations = "code", plural(of_race, "iteration")
    if of_ethnicity:
        kind = "race code"
        iterations = f"{plural(of_race, 'race iteration')} and {plural(of_ethnicity, 'ethnicity iteration')}"
    codes, most = plural(len(catalogue.codes), "code"), plural(release.max_race_codes, kind)
    return f"{iterations} of {codes}; a person has up to {most}"


def _of_tables(release: Release) -> str:
    """What T2 is by at each stat level."""
    if not release.has_tables:
        return "none: the release has neither sex nor age, so every group gets a total"
    if release.columns.age is None:
        return "sex, at stat level 1"
    levels, bins = range(1, len(release.age_bins) + 1), [len(each) for each in release.age_bins]
    several = "s" if len(bins) > 1 else ""
    verb = "have" if len(bins) > 1 else "has"
    cut = f"stat level{several} {', '.join(map(str, levels))} {verb} {', '.join(map(str, bins))} age bins"
    return f"{release.detail}; {cut}"


def _levels_table(facts_of_run: CheckedRun, parameters: Parameters) -> Grid:
    geography = facts_of_run.geography
    symbol = parameters.release.privacy.budget_symbol
    columns = ["Level", symbol, "Thresholds", "Iterations", "Total only", "Stability"]
    if geography is not None:
        columns += ["Regions", "Groups"]
    rows: list[list[str]] = []
    for planned in facts_of_run.planned.levels:
        level = planned.level
        if not level.is_on:
            rows.append([unbroken(level.name), "off"] + [""] * (len(columns) - 2))
            continue
        row = [
            unbroken(level.name),
            unbroken(level.spending),
            " ".join(map(number, level.thresholds)),
            number(len(planned.iterations)),
            number(_total_only(planned)),
            str(planned.stability),
        ]
        if geography is not None:
            regions = len(geography.regions[geography.level_index(level.geography.name)])
            row += [number(regions), number(regions * len(planned.iterations))]
        rows.append(row)
    return grid(_run_title(facts_of_run, symbol), columns, rows)


def _total_only(planned: PlannedLevel) -> int:
    return sum(map(planned.is_total_only, planned.iterations))


def _run_title(facts_of_run: CheckedRun, symbol: str) -> str:
    run, geography = facts_of_run.planned.run, facts_of_run.geography
    title = f"Run {run.name}"
    if run.only is not None:
        values = run.only.values
        shown = f"one of {len(values)} values" if len(values) > 3 else " or ".join(values)
        title += f": records whose {run.only.column} is {shown}"
    title += f"; total {symbol} {decimal_text(facts_of_run.planned.budget)}"
    if geography is not None:
        title += f"; {plural(geography.blocks.num_rows, 'block')} in {plural(geography.block_sets, 'block set')}"
    return title


def as_dict(report: CheckReport) -> dict[str, object]:
    """The report for other programs."""
    result: dict[str, object] = {
        "findings": [finding.as_json() for finding in report.findings],
        "records_judged": report.judged_records,
        "record_files": report.record_files,
    }
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


def _run_as_dict(entry: CheckedRun) -> dict[str, object]:
    geography = entry.geography
    result: dict[str, object] = {
        "name": entry.planned.name,
        "budget": decimal_text(entry.planned.budget),
        "levels": [
            {
                "geography": planned.level.geography.name,
                "iteration_level": planned.level.iteration_level,
                "budget": decimal_text(planned.budget),
                "moe_95": planned.level.moe_95,
                "thresholds": list(planned.level.thresholds),
                "iterations": len(planned.iterations),
                "total_only": _total_only(planned),
                "stability": planned.stability,
            }
            for planned in entry.planned.levels
        ],
    }
    if geography is not None:
        result["blocks"] = geography.blocks.num_rows
        result["block_sets"] = geography.block_sets
        result["regions"] = {
            level.name: len(ids) for level, ids in zip(geography.levels, geography.regions, strict=True)
        }
    return result
