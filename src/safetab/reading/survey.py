"""Figures over a whole release: how much detail, how wide intervals are, what contradicts what, the largest groups.

In: an opened release. Out: plain rows of figures, counted by DuckDB while it streams the Parquet files. The promise:
every figure is a count or a row of OUT itself, and nothing that grows with OUT is held beyond what a figure needs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from safetab.errors import Finding, InputError
from safetab.population.geography import NO_REGION
from safetab.reading.groups import Group, is_inside
from safetab.reading.opened import Opened
from safetab.reading.regions import Indices, RegionsOfRun
from safetab.rules import reading_rules

if TYPE_CHECKING:
    import duckdb

#: Where classes of size begin: groups with an ESTIMATE of 0 to 9, 10 to 29, 30 to 99 and so on.
SIZE_STARTS = (0, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
_LEVEL = "RUN, REGION_TYPE, ITERATION_LEVEL"
_BATCH = 100_000


class Detail(NamedTuple):
    """Published totals of one level with one kind of detail."""

    run: str
    geography: str
    iteration_level: int
    is_total_only: bool
    stat_level: int
    rows: int
    negative: int
    without_margin: int


class Margins(NamedTuple):
    """How wide the intervals of one level are, for totals of one class of size."""

    run: str
    geography: str
    iteration_level: int
    least_size: int
    rows: int
    #: Half of HIGH_95 - LOW_95 that half of the rows do not exceed, and the same divided by ESTIMATE (at least 1).
    median_half_width: float
    median_relative: float
    #: A tenth and nine tenths of the rows do not exceed these.
    low_relative: float
    high_relative: float


class TotalRow(NamedTuple):
    """A row of T1."""

    run: str
    geography: str
    region: str
    code: str
    iteration_level: int
    stat_level: int
    noisy_count: int
    estimate: int
    low_95: int
    high_95: int


class Contradictions(NamedTuple):
    """Pairs of published totals of which the first cannot be larger, and how many are."""

    what: str
    pairs: int
    in_count: int
    in_estimate: int
    more_detail: int


class Survey:
    """A release, surveyed as a whole; to be closed."""

    def __init__(self, release: Opened) -> None:
        import duckdb

        self._release = release
        if not all(release.rows_of_run(run).has_estimates for run in release.runs):
            raise InputError(Finding(reading_rules.OLD_RELEASE, str(release.folder)), "")
        self._spill = tempfile.TemporaryDirectory(prefix="safetab-survey-")
        self._database: duckdb.DuckDBPyConnection = duckdb.connect(
            ":memory:", config={"temp_directory": self._spill.name}
        )
        groups = list(release.groups.values())
        table = pa.table(
            {
                "ITERATION_CODE": pa.array([group.code for group in groups], pa.string()),
                "ITERATION_LEVEL": pa.array([group.iteration_level for group in groups], pa.int32()),
                "IS_TOTAL_ONLY": pa.array([group.is_total_only for group in groups], pa.bool_()),
            }
        )
        self._database.register("groups_of_release", table)
        levels = [(level.run, level.geography, level.iteration_level) for level in release.levels]
        names = ("RUN", "REGION_TYPE", "ITERATION_LEVEL")
        columns = {name: pa.array([level[place] for level in levels]) for place, name in enumerate(names)}
        self._database.register("levels", pa.table(columns | {"PLACE": pa.array(range(len(levels)))}))
        for name in ("t1", "t2"):
            parts = [self._part(run, release.rows_of_run(run).files[name]) for run in release.runs]
            self._database.execute(f"CREATE VIEW {name} AS {' UNION ALL '.join(parts)}")
        self._database.execute(
            "CREATE VIEW totals AS SELECT * FROM t1 JOIN groups_of_release USING (ITERATION_CODE) "
            "JOIN levels USING (RUN, REGION_TYPE, ITERATION_LEVEL)"
        )

    def __enter__(self) -> Survey:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
        self._spill.cleanup()

    @staticmethod
    def _part(run: str, file: Path) -> str:
        return f"SELECT {_text(run)} AS RUN, * FROM read_parquet({_text(str(file))})"  # noqa: S608

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._database.sql(query).fetchall()

    @cached_property
    def detail(self) -> list[Detail]:
        """How many totals of each level were published with which detail."""
        return [
            Detail(*row)
            for row in self._rows(
                f'SELECT {_LEVEL}, IS_TOTAL_ONLY, STAT_LEVEL, count(*), count(*) FILTER ("COUNT" < 0), '  # noqa: S608
                f"count(*) FILTER (MOE_95 IS NULL) FROM totals GROUP BY PLACE, {_LEVEL}, IS_TOTAL_ONLY, STAT_LEVEL "
                "ORDER BY PLACE, IS_TOTAL_ONLY DESC, STAT_LEVEL"
            )
        ]

    def negative_cells(self) -> tuple[int, int]:
        """How many rows of T2 there are, and how many have a negative COUNT."""
        ((rows, negative),) = self._rows('SELECT count(*), count(*) FILTER ("COUNT" < 0) FROM t2')
        return int(rows), int(negative)

    def margins(self) -> list[Margins]:
        """How wide the intervals of T1 are, by level and class of size."""
        classes = " ".join(f"WHEN ESTIMATE >= {start} THEN {start}" for start in reversed(SIZE_STARTS))
        query = f"""
            WITH sized AS (
                SELECT PLACE, {_LEVEL}, CASE {classes} END AS SIZE, (HIGH_95 - LOW_95) / 2 AS HALF,
                    HALF / greatest(ESTIMATE, 1) AS RELATIVE
                FROM totals)
            SELECT {_LEVEL}, SIZE, count(*), quantile_disc(HALF, 0.5), quantile_disc(RELATIVE, [0.5, 0.1, 0.9])
            FROM sized GROUP BY PLACE, {_LEVEL}, SIZE ORDER BY PLACE, SIZE"""  # noqa: S608
        return [Margins(*row[:-1], *row[-1]) for row in self._rows(query)]

    def widest(self, most: int) -> list[TotalRow]:
        """The totals with the widest intervals."""
        return self._in_order("HIGH_95 - LOW_95 DESC, ESTIMATE DESC", most)

    def narrowest(self, most: int) -> list[TotalRow]:
        """The totals with the narrowest intervals; of equal ones the largest."""
        return self._in_order("HIGH_95 - LOW_95, ESTIMATE DESC", most)

    def _in_order(self, order: str, most: int) -> list[TotalRow]:
        query = f"SELECT {_TOTAL} FROM totals ORDER BY {order}, {_KEY} LIMIT {most}"  # noqa: S608
        return [TotalRow(*row) for row in self._rows(query)]

    def largest(self, most: int) -> list[TotalRow]:
        """The largest totals of each level, level by level."""
        query = f"""
            SELECT {_TOTAL} FROM totals
            QUALIFY row_number() OVER (PARTITION BY PLACE ORDER BY ESTIMATE DESC, {_KEY}) <= {most}
            ORDER BY PLACE, ESTIMATE DESC, {_KEY}"""  # noqa: S608
        return [TotalRow(*row) for row in self._rows(query)]

    def every(self) -> Iterator[TotalRow]:
        """Every total, level by level, the largest first."""
        query = f"SELECT {_TOTAL} FROM totals ORDER BY PLACE, ESTIMATE DESC, {_KEY}"  # noqa: S608
        found = self._database.execute(query)
        while rows := found.fetchmany(_BATCH):
            yield from (TotalRow(*row) for row in rows)

    def alone_above_combination(self) -> Contradictions:
        """Groups alone that are larger than the group in combination, which includes them, in the same region."""
        pairs = _alone_and_combination(self._release.groups.values())
        inner, outer = (pa.array([pair[side] for pair in pairs], pa.string()) for side in (0, 1))
        self._database.register("pairs", pa.table({"INNER_CODE": inner, "OUTER_CODE": outer}))
        return self._compared(
            "alone above alone or in combination",
            'SELECT RUN, REGION_TYPE AS TYPE, REGION_ID AS ID, OUTER_CODE AS CODE, "COUNT", ESTIMATE, STAT_LEVEL '
            "FROM t1 JOIN pairs ON ITERATION_CODE = INNER_CODE",
        )

    def finer_above_coarser(self) -> list[Contradictions]:
        """Regions that are larger than the region that contains them, for the same group."""
        found = []
        for run in self._release.runs:
            regions = self._release.regions_of_run(run)
            tabulated = list(dict.fromkeys(level.geography for level in self._release.levels if level.run == run))
            for finer in reversed(tabulated):
                around = _smallest_around(regions, finer, tabulated)
                if around is None:
                    continue
                coarser, place = around
                ids = pa.array(regions.ids(coarser))
                inside = pa.table({"ID": pa.array(regions.ids(finer)), "OUTER_ID": ids.take(pa.array(place))})
                self._database.register("inside", inside)
                name = f"{finer} above {coarser}" + ("" if len(self._release.runs) == 1 else f" in run {run}")
                found.append(
                    self._compared(
                        name,
                        f"SELECT RUN, {_text(coarser)} AS TYPE, OUTER_ID AS ID, ITERATION_CODE AS CODE, "  # noqa: S608
                        f'"COUNT", ESTIMATE, STAT_LEVEL FROM t1 JOIN inside ON REGION_ID = inside.ID '
                        f"WHERE RUN = {_text(run)} AND REGION_TYPE = {_text(finer)}",
                    )
                )
        return found

    def _compared(self, what: str, inner: str) -> Contradictions:
        """Compare rows with the row that includes each of them: RUN, TYPE, ID and CODE of `inner`."""
        # Materialized: joined the other way round, each coarse row would meet all regions inside it.
        query = f"""
            WITH a AS MATERIALIZED ({inner})
            SELECT count(*), count(*) FILTER (a."COUNT" > b."COUNT"), count(*) FILTER (a.ESTIMATE > b.ESTIMATE),
                count(*) FILTER (a.STAT_LEVEL > b.STAT_LEVEL)
            FROM a JOIN t1 b ON b.RUN = a.RUN AND b.REGION_TYPE = TYPE AND b.REGION_ID = a.ID
                AND b.ITERATION_CODE = CODE"""  # noqa: S608
        ((pairs, in_count, in_estimate, more_detail),) = self._rows(query)
        return Contradictions(what, pairs, in_count, in_estimate, more_detail)


_KEY = "RUN, REGION_TYPE, REGION_ID, ITERATION_CODE"
_TOTAL = f'{_KEY}, ITERATION_LEVEL, STAT_LEVEL, "COUNT", ESTIMATE, LOW_95, HIGH_95'


def _text(value: str) -> str:
    """A piece of text as SQL."""
    return "'" + value.replace("'", "''") + "'"


def _alone_and_combination(groups: Iterable[Group]) -> list[tuple[str, str]]:
    """Groups of one iteration level of which the second includes everybody in the first."""
    by_code: dict[tuple[int, str], list[Group]] = {}
    for group in groups:
        for code in group.codes:
            by_code.setdefault((group.iteration_level, code), []).append(group)
    return [
        (inner.code, outer.code)
        for inner in groups
        if inner.codes
        for outer in by_code[inner.iteration_level, min(inner.codes)]
        if inner.kind is not outer.kind and is_inside(inner, outer)
    ]


def _smallest_around(regions: RegionsOfRun, finer: str, tabulated: Sequence[str]) -> tuple[str, Indices] | None:
    """The level with the most regions of those that contain each finer one whole, and which contains which."""
    found = None
    for coarser in tabulated:
        place = None if coarser == finer else _containing(regions, finer, coarser)
        # Of two levels with the same regions the one that is listed first counts as the coarser one.
        is_same = place is not None and _containing(regions, coarser, finer) is not None
        if place is None or (is_same and tabulated.index(coarser) > tabulated.index(finer)):
            continue
        if found is None or len(regions.ids(coarser)) > len(regions.ids(found[0])):
            found = coarser, place
    return found


def _containing(regions: RegionsOfRun, finer: str, coarser: str) -> Indices | None:
    """The region that contains each finer one whole; None if one has none."""
    of_finer, of_coarser = regions.region_of_block_set(finer), regions.region_of_block_set(coarser)
    is_in = of_finer != NO_REGION
    place = np.full(len(regions.ids(finer)), NO_REGION, dtype=np.int32)
    place[of_finer[is_in]] = of_coarser[is_in]
    is_whole = (place != NO_REGION).all() and np.array_equal(place[of_finer[is_in]], of_coarser[is_in])
    return place if is_whole else None
