"""Expected sizes of groups: a public table, such as an earlier census, a synthetic country or a finished release.

In: a text file with ITERATION_CODE, COUNT and, where it has more than the nation, REGION_TYPE and REGION_ID; sizes of a
nation by iteration; or the published rows of a release. Out: for each level of a plan the sizes of its groups. The
promise: no record is read, nothing is guessed: a group without a size is in no figure, and what the plan has no group
for is counted as left out. Sizes are public input: whoever uses them says where they are from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.errors import Finding, InputError
from safetab.files.text import TextTable, read_header, read_text
from safetab.params.load import Parameters
from safetab.params.plan import PlannedLevel
from safetab.planning.noise_arrays import Integers
from safetab.population.size_table import CODE, COUNT, SizeRules, finding_of_value, size_findings
from safetab.rules import planning_rules

_TYPE, _REGION, _ESTIMATE = "REGION_TYPE", "REGION_ID", "ESTIMATE"
_RULES = SizeRules(planning_rules.SIZE_COUNT, planning_rules.SIZE_CODE, planning_rules.SIZE_TWICE)


@dataclass(frozen=True, slots=True, eq=False)
class LevelSizes:
    """The sizes of some groups of one level: parallel arrays, one entry for each group.

    `iteration` counts the iterations of the planned level, and `region` the ids in `regions`.
    """

    regions: tuple[str, ...] = field(repr=False)
    region: Integers = field(repr=False)
    iteration: Integers = field(repr=False)
    size: Integers = field(repr=False)

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The sizes of groups by the run and the name of their level; `source` says where they are from.

    `left_out` counts the rows that no group of the plan has.
    """

    source: str
    of_level: Mapping[tuple[str, str], LevelSizes] = field(repr=False)
    left_out: int

    def of(self, run: str, level: str) -> LevelSizes | None:
        """The sizes of a level; None where none is known."""
        return self.of_level.get((run, level))


def national_sizes(parameters: Parameters, counts: Mapping[str, int], source: str) -> Sizes:
    """The sizes of a nation's groups by iteration code, for the geography level that is one region."""
    table = pa.table({CODE: list(counts), COUNT: pa.array(list(counts.values()), pa.int64())})
    name = _nation(parameters)
    if name is None:
        raise InputError(Finding(planning_rules.NO_NATION, parameters.file))
    return _matched(parameters, _in_region(table, *name), source)


def read_sizes(path: Path, parameters: Parameters) -> Sizes:
    """The sizes of a user's table; raises with everything that is wrong with it."""
    findings: list[Finding] = []
    header = read_header(path, findings) or ""
    has_regions = _TYPE in header or _REGION in header
    wanted = (CODE, COUNT, *((_TYPE, _REGION) if has_regions else ()))
    table = None if findings else read_text(path, wanted, findings)
    if table is not None:
        findings += _judged(table, parameters, has_regions=has_regions)
    if table is None or findings:
        raise InputError(findings, state="No data was read.")
    rows = table.columns.set_column(
        table.columns.schema.get_field_index(COUNT), COUNT, pc.cast(table.columns[COUNT], pa.int64())
    )
    nation = _nation(parameters)
    if not has_regions and nation is not None:
        rows = _in_region(rows, *nation)
    return _matched(parameters, rows, path.name)


def published_sizes(parameters: Parameters, rows_of_run: Mapping[str, pa.Table], source: str) -> Sizes:
    """The sizes that a finished release published, by the name of the run: ESTIMATE where it has one, else COUNT."""
    found: dict[tuple[str, str], LevelSizes] = {}
    left_out = 0
    for run, rows in rows_of_run.items():
        number = rows[_ESTIMATE] if _ESTIMATE in rows.column_names else rows[COUNT]
        keyed = rows.select([_TYPE, _REGION, CODE]).append_column(COUNT, pc.max_element_wise(number, 0))
        sizes = _matched(parameters, keyed, source, run)
        found |= sizes.of_level
        left_out += sizes.left_out
    return Sizes(source, found, left_out)


def _nation(parameters: Parameters) -> tuple[str, str] | None:
    """The geography level that is one region, and the id of that; the first that the release has."""
    levels = (level.geography for run in parameters.release.runs for level in run.levels)
    return next(((each.name, each.region_id) for each in levels if not each.columns), None)


def _in_region(rows: pa.Table, name: str, region: str) -> pa.Table:
    for column, value in ((_TYPE, name), (_REGION, region)):
        rows = rows.append_column(column, pa.repeat(value, rows.num_rows))
    return rows


def _matched(parameters: Parameters, rows: pa.Table, source: str, only: str | None = None) -> Sizes:
    """The rows of each level of the plan, or of the levels of one run."""
    codes, types = _encoded(rows, CODE), _encoded(rows, _TYPE)
    counts = rows[COUNT].to_numpy().astype(np.int64)
    is_used = np.zeros(len(counts), dtype=np.bool_)
    found: dict[tuple[str, str], LevelSizes] = {}
    for run in parameters.plan.runs:
        if only not in (None, run.name):
            continue
        for planned in run.measured:
            number = _numbers(planned, codes.dictionary)[codes.indices.to_numpy()]
            is_type = types.dictionary.index(planned.level.geography.name).as_py()
            here = np.flatnonzero((number >= 0) & (types.indices.to_numpy() == is_type))
            if not here.size:
                continue
            is_used[here] = True
            regions = _encoded(rows.select([_REGION]).take(pa.array(here)), _REGION)
            found[run.name, planned.name] = LevelSizes(
                tuple(regions.dictionary.to_pylist()),
                regions.indices.to_numpy().astype(np.int64),
                number[here],
                counts[here],
            )
    return Sizes(source, found, int(len(counts) - is_used.sum()))


def _encoded(rows: pa.Table, column: str) -> pa.DictionaryArray:
    return pc.dictionary_encode(rows[column].cast(pa.string())).combine_chunks()


def _numbers(planned: PlannedLevel, codes: pa.Array) -> Integers:
    """Which iteration of the level each code is; -1 where it is none."""
    number = {iteration.code: n for n, iteration in enumerate(planned.iterations)}
    return np.array([number.get(code, -1) for code in codes.to_pylist()], dtype=np.int64)


def _judged(table: TextTable, parameters: Parameters, *, has_regions: bool) -> list[Finding]:
    if not has_regions:
        found = size_findings(table, parameters.catalogue, _RULES)
        return found if _nation(parameters) else [*found, Finding(planning_rules.NO_NATION, table.file)]
    found = size_findings(table, parameters.catalogue, _RULES, (_TYPE, _REGION))
    types = {level.geography.name for run in parameters.release.runs for level in run.levels}
    unknown = [row for row, name in enumerate(table.column(_TYPE)) if name not in types]
    return [*found, finding_of_value(planning_rules.SIZE_REGION, table, unknown, _TYPE)] if unknown else found
