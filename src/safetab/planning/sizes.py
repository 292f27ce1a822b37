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
from safetab.files.text import TextTable, at_rows, read_header, read_text
from safetab.params.load import Parameters
from safetab.params.plan import PlannedLevel
from safetab.planning.noise_arrays import Integers
from safetab.rules import planning_rules

_CODE, _COUNT, _TYPE, _REGION, _ESTIMATE = "ITERATION_CODE", "COUNT", "REGION_TYPE", "REGION_ID", "ESTIMATE"
_MOST_DIGITS = 11


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
    table = pa.table({_CODE: list(counts), _COUNT: pa.array(list(counts.values()), pa.int64())})
    name = _nation(parameters)
    if name is None:
        raise InputError(Finding(planning_rules.NO_NATION, parameters.file))
    return _matched(parameters, _in_region(table, *name), source)


def read_sizes(path: Path, parameters: Parameters) -> Sizes:
    """The sizes of a user's table; raises with everything that is wrong with it."""
    findings: list[Finding] = []
    header = read_header(path, findings) or ""
    has_regions = _TYPE in header or _REGION in header
    wanted = (_CODE, _COUNT, *((_TYPE, _REGION) if has_regions else ()))
    table = None if findings else read_text(path, wanted, findings)
    if table is not None:
        findings += _faults(table, parameters, has_regions=has_regions)
    if table is None or findings:
        raise InputError(findings, state="No data was read.")
    rows = table.columns.set_column(
        table.columns.schema.get_field_index(_COUNT), _COUNT, pc.cast(table.columns[_COUNT], pa.int64())
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
        number = rows[_ESTIMATE] if _ESTIMATE in rows.column_names else rows[_COUNT]
        keyed = rows.select([_TYPE, _REGION, _CODE]).append_column(_COUNT, pc.max_element_wise(number, 0))
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
    codes, types = _encoded(rows, _CODE), _encoded(rows, _TYPE)
    counts = rows[_COUNT].to_numpy().astype(np.int64)
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


def _faults(table: TextTable, parameters: Parameters, *, has_regions: bool) -> list[Finding]:
    codes, counts = table.column(_CODE), table.column(_COUNT)
    known = {iteration.code for iteration in parameters.catalogue.iterations}
    keys = list(zip(*(table.column(name) for name in (_TYPE, _REGION)), codes, strict=True)) if has_regions else codes
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    wrong = {
        (planning_rules.SIZE_COUNT, _COUNT): [n for n, count in enumerate(counts) if not _is_count(count)],
        (planning_rules.SIZE_CODE, _CODE): [n for n, code in enumerate(codes) if code not in known],
        (planning_rules.SIZE_TWICE, _CODE): [n for n, key in enumerate(keys) if first[key] != n],
    }
    if has_regions:
        types = {level.geography.name for run in parameters.release.runs for level in run.levels}
        unknown = [n for n, name in enumerate(table.column(_TYPE)) if name not in types]
        wrong[planning_rules.SIZE_REGION, _TYPE] = unknown
    found = [
        at_rows(rule, table, rows, key=key, seen=repr(table.column(key)[rows[0]]))
        for (rule, key), rows in wrong.items()
        if rows
    ]
    if not has_regions and _nation(parameters) is None:
        found.append(Finding(planning_rules.NO_NATION, table.file))
    return found


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
