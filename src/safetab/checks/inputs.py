"""Everything that can be judged without drawing noise: parameter files, group definitions, geography, records.

In: a parameters folder and perhaps a data folder. Out: a `CheckReport`, as full as the files allow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from safetab.checks.records import judge_file, open_runs
from safetab.errors import Finding, InputError
from safetab.files.parquet import locate
from safetab.files.rules import MISSING_FILE
from safetab.params.load import Parameters, read_parameters
from safetab.params.release import PopulationGroupLevel, Release, Run
from safetab.population.geography import Geography
from safetab.population.geography_file import geography_of_run, read_blocks
from safetab.population.iterations import IterationCatalogue
from safetab.population.stability import stability


@dataclass(frozen=True, slots=True)
class LevelFacts:
    """What a population group level amounts to, given its iterations."""

    level: PopulationGroupLevel
    iterations: int
    total_only: int
    stability: int

    @classmethod
    def of(cls, level: PopulationGroupLevel, release: Release, catalogue: IterationCatalogue) -> LevelFacts:
        tabulated = catalogue.tabulated(level.iteration_level, local=level.geography.local)
        return cls(
            level,
            len(tabulated),
            sum(iteration.is_total_only for iteration in tabulated),
            stability(tabulated, release.max_race_codes),
        )


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run amounts to, given the groups and, where a data folder was named, the geography."""

    run: Run
    levels: tuple[LevelFacts, ...]
    geography: Geography | None

    @property
    def budget(self) -> Fraction | None:
        """The sum of the budgets, where each level states one."""
        budgets = [level.budget for level in self.run.levels]
        stated = [budget for budget in budgets if budget is not None]
        return sum(stated, Fraction(0)) if len(stated) == len(budgets) else None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found: the facts where the files are sound, and every finding."""

    parameters: Parameters | None
    runs: tuple[RunFacts, ...]
    findings: tuple[Finding, ...]
    #: Whether the records were there and were judged, every one.
    judged_records: bool = False

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_error)


def check_inputs(params: Path, data: Path | None = None, *, show_values: bool = False) -> CheckReport:
    """Judge a parameters folder and, where one is named, a data folder: its geography, and its records if it has any.

    With `show_values` findings quote what stands in the records; for the secure area only.
    """
    findings: list[Finding] = []
    parameters = read_parameters(params, findings)
    if data is not None and not data.is_dir():
        findings.append(Finding(MISSING_FILE, str(data), seen="the data folder"))
        data = None
    if parameters is None:
        return CheckReport(None, (), tuple(findings))
    geographies = {} if data is None else read_geographies(parameters.release, data, findings)
    runs = tuple(
        RunFacts(
            run,
            tuple(LevelFacts.of(level, parameters.release, parameters.catalogue) for level in run.levels),
            geographies.get(run.name),
        )
        for run in parameters.release.runs
    )
    judged = data is not None and check_records(parameters, geographies, data, findings, show_values=show_values)
    return CheckReport(parameters, runs, tuple(findings), judged)


def check_records(
    parameters: Parameters,
    geographies: Mapping[str, Geography],
    data: Path,
    findings: list[Finding],
    *,
    show_values: bool = False,
) -> bool:
    """Judge every record, where there are any and a sound geography to judge them by; whether that was so."""
    absent: list[Finding] = []
    path = locate(data, parameters.release.files.records, absent)
    if path is None:
        findings += [finding for finding in absent if finding.rule is not MISSING_FILE]
        return False
    findings += [finding for finding in judge_file(path, parameters.release.columns) if not finding.is_error]
    if len(geographies) < len(parameters.release.runs):
        return False
    from safetab.engines.duckdb_engine import DuckDbEngine

    # What the engine keeps while it reads is confidential: a folder of its own, mode 0700, in TMPDIR.
    with tempfile.TemporaryDirectory(prefix="safetab-check-") as folder, closing(DuckDbEngine(Path(folder))) as engine:
        try:
            open_runs(engine, str(path), parameters, geographies, show_values=show_values)
        except InputError as error:
            findings += error.findings
    return True


def read_geographies(release: Release, data: Path, findings: list[Finding]) -> dict[str, Geography]:
    """The geography of each run, as far as the geography file is sound."""
    levels = list({level.name: level for run in release.runs for level in run.geography_levels}.values())
    columns = release.columns
    table = read_blocks(data, release.files.geography, columns.block, levels, columns.widths, findings)
    if table is None:
        return {}
    geographies = {
        run.name: geography_of_run(table, run.name, run.only, columns.block, run.geography_levels, findings)
        for run in release.runs
    }
    return {name: geography for name, geography in geographies.items() if geography is not None}
