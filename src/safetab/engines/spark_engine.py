"""The engine for a cluster: Spark counts where the records are, and only counts come to the driver.

In: records that Spark can read. Out: true counts, in batches of a bounded size. Promises: no Python runs on an
executor; temporary data are Spark's own cached blocks, shuffle files and spills, in Spark's local directories; and
nobody is counted twice or left out when a task is retried, repeated on suspicion of slowness, or lost with its machine.

Why the last holds: every count is the value of a deterministic query over files that do not change. Spark takes one
attempt of each task, whichever finishes first, and computes anew what was lost; we write nothing from tasks and use no
accumulators, the two ways in which an attempt too many could leave a mark. The numbers of the code sets, the one thing
that later queries refer to, are fixed on the driver before they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from safetab.engines import handed_over, queries, rules
from safetab.engines.fault_queries import counted_faults
from safetab.engines.protocol import Cells, ChosenGroups, Members, RecordLayout, Totals
from safetab.engines.queries import RecordQueries
from safetab.engines.spark_faults import find_faults
from safetab.engines.spark_records_file import SparkDialect, read_records
from safetab.engines.spark_session import open_session, ours_for_theirs
from safetab.errors import UNSPENT, Finding, InputError
from safetab.population.geography import Geography
from safetab.population.membership import CodeSets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows that come to the driver at a time.
_BATCH_ROWS = 1_000_000
#: Rows that a task should have at the most, more or less.
_TASK_ROWS = 1_000_000
#: Tables up to this many rows are sent whole to every executor; larger ones are joined where they are.
_SMALL_TABLE_ROWS = 1_000_000
#: What the queries rely on, in a session of their own, so that the user's keeps its settings.
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    # A code or a column's name may have a dollar and braces.
    "spark.sql.variable.substitute": "false",
    # The other readers know nothing of a row's file.
    "spark.sql.sources.useV1SourceList": "parquet,text",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.caseSensitive": "true",
    # A file that cannot be read stops the run: nobody is left out in silence.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}


class SparkEngine:
    """Counts with Spark, in a session of its own kept under `folder`, or in one that the user has."""

    name = "spark"

    def __init__(self, folder: Path, *, master: str | None = None, session: SparkSession | None = None) -> None:
        self._session = open_session(folder, master, session)
        self._opened: list[SparkRecords] = []

    def open(self, layout: RecordLayout, geography: Geography) -> SparkRecords:
        """Read and judge the records of one run, in a session of their own."""
        records = SparkRecords(layout)
        self._opened.append(records)
        with ours_for_theirs(layout.name, is_reading=True):
            self._session.quieten()
            records.read(self._session.session, geography)
        return records

    def close(self) -> None:
        """Let go of everything that Spark holds of the records."""
        for records in self._opened:
            records.release()
        self._session.stop()


class SparkRecords:
    """The records of one run as cached tables of small integers, spread over the executors."""

    def __init__(self, layout: RecordLayout) -> None:
        self._layout = layout
        self._cached: list[DataFrame] = []
        self._region_of_cell: npt.NDArray[np.int32] | None = None
        self._of_level: list[DataFrame] = []
        self._members: Members | None = None

    @property
    def persons(self) -> int:
        return self._persons

    def read(self, session: SparkSession, geography: Geography) -> None:
        """Fold the records into `race_people` and `ethnicity_people`; raise if any record breaks a rule."""
        self._session = session.newSession()
        for key, value in _SETTINGS.items():
            self._session.conf.set(key, value)
        self._keep("blocks", handed_over.blocks(geography))
        codes = {
            "safetab code": pa.array(self._layout.codes, pa.string()),
            "safetab position": pa.array(range(len(self._layout.codes)), pa.int16()),
        }
        self._keep("code_list", pa.table(codes))
        self._keep("age_atoms", handed_over.atom_of_age(self._layout))
        self._keep("bin_of_atom", handed_over.bin_of_atom(self._layout))
        coded = self._coded()
        self._judge(dict(map(tuple, self._session.sql(queries.FAULT_COUNTS).collect())))
        self._fix_code_sets()
        # Counting fills the caches, so that `coded`, from which they are made, can go.
        self._cache("race_people", queries.race_people(self._plan.key_names)).count()
        self._cache("ethnicity_people", queries.ETHNICITY_PEOPLE).count()
        self._release(coded)

    def _coded(self) -> DataFrame:
        columns = RecordQueries(self._layout, SparkDialect({})).columns_read()
        records, rows = read_records(self._session, self._layout, columns)
        # With Spark's 200 from step to step a shuffle has 40,000 blocks, and opening them takes longer than counting.
        # No step has more rows than there are records.
        partitions = max(self._session.sparkContext.defaultParallelism, -(-rows // _TASK_ROWS))
        self._session.conf.set("spark.sql.shuffle.partitions", partitions)
        records.createOrReplaceTempView("records")
        self._dialect = SparkDialect(dict(records.dtypes))
        self._plan = RecordQueries(self._layout, self._dialect)
        coded = self._plan.coded()
        # Only the finished plan knows which texts are codes, so `raw` comes after it.
        self._session.sql(self._dialect.with_code_positions()).createOrReplaceTempView("raw")
        return self._cache("coded", coded)

    def _judge(self, counts: dict[int, int]) -> None:
        """Raise with what is wrong and where, if any record breaks a rule."""
        if not counts:
            raise InputError(Finding(rules.NO_RECORDS, self._layout.name), state=UNSPENT)
        if any(counts):
            raise InputError(self._located(counts), state=UNSPENT)
        self._persons = sum(counts.values())

    def _located(self, counts: dict[int, int]) -> list[Finding]:
        """The faults with their places; should the second pass find none, at least how many the first one counted."""
        found = find_faults(self._session, self._plan, self._dialect)
        return found or counted_faults(self._layout.name, counts)

    def _fix_code_sets(self) -> None:
        """Number the code sets once and for all: a table computed anew could not number them otherwise."""
        batches = list(self._batches(queries.code_sets(self._plan.key_names), ("set_id",), None))
        names = ["set_id", *self._plan.key_names]
        table = pa.Table.from_batches(batches).select(names).sort_by("set_id")
        self._keys = [table[name].to_numpy() for name in self._plan.key_names]
        self._keep("code_sets", table)

    def code_sets(self) -> CodeSets:
        """The distinct code sets in the order of their numbers."""
        return self._plan.unpacked(self._keys)

    def totals(self, region_of_cell: npt.NDArray[np.int32], members: Members) -> Iterator[Totals]:
        """True totals of every group that has anybody."""
        with ours_for_theirs(self._layout.name):
            self._settle(region_of_cell)
            self._keep_members(members)
            groups = (int(region_of_cell.max(initial=-1)) + 1) * _width(members)
            for batch in self._batches(queries.TOTALS, ("region", "iteration"), groups):
                yield handed_over.totals(batch)

    def cells(self, region_of_cell: npt.NDArray[np.int32], members: Members, chosen: ChosenGroups) -> Iterator[Cells]:
        """True sex by age cells of the chosen groups."""
        with ours_for_theirs(self._layout.name):
            self._settle(region_of_cell)
            self._keep_members(members)
            self._keep("chosen", handed_over.chosen_groups(chosen))
            most_bins = max(len(bins) for bins in self._layout.age_bins)
            most = len(chosen.region) * len(self._layout.columns.sexes) * most_bins
            for batch in self._batches(queries.CELLS, ("group_id", "sex", "age_bin"), most):
                yield handed_over.cells(batch)

    def release(self) -> None:
        """Drop every cached table."""
        for table in list(self._cached):
            self._release(table)

    def _settle(self, region_of_cell: npt.NDArray[np.int32]) -> None:
        """Fold the people into the regions of a geography level; the level's other questions find them folded."""
        if self._region_of_cell is not None and np.array_equal(self._region_of_cell, region_of_cell):
            return
        while self._of_level:
            self._release(self._of_level.pop())
        self._keep("region_of_cell", handed_over.regions("cell", region_of_cell))
        self._of_level.append(self._cache("region_race", queries.REGION_RACE))
        self._of_level.append(self._cache("region_ethnicity", queries.REGION_ETHNICITY))
        self._region_of_cell = region_of_cell.copy()

    def _keep_members(self, members: Members) -> None:
        """Hand over who is in what; levels with the same iterations share it, and it is large."""
        if members is not self._members:
            for name, table in handed_over.memberships(members).items():
                self._keep(name, table)
            self._members = members

    def _keep(self, name: str, table: pa.Table) -> None:
        """Hand a table of the driver's over to Spark."""
        frame = self._session.createDataFrame(table)
        if table.num_rows <= _SMALL_TABLE_ROWS:
            frame = frame.hint("broadcast")
        frame.createOrReplaceTempView(name)

    def _cache(self, name: str, sql: str) -> DataFrame:
        """Make a query a table that Spark keeps, in memory and then on its encrypted local disk."""
        from pyspark import StorageLevel

        table = self._session.sql(sql).persist(StorageLevel.MEMORY_AND_DISK)
        table.createOrReplaceTempView(name)
        self._cached.append(table)
        return table

    def _release(self, table: DataFrame) -> None:
        self._cached.remove(table)
        with ours_for_theirs(self._layout.name):
            table.unpersist()

    def _batches(self, sql: str, key: tuple[str, ...], most: int | None) -> Iterator[pa.RecordBatch]:
        """The rows of a query, so many at a time; `most` is how many there can be, where that is known.

        What may be too much at once is kept by Spark and comes in slices, cut by a hash of the rows' key.
        """
        from pyspark import StorageLevel

        result = self._session.sql(sql)
        if most is not None and most <= _BATCH_ROWS:
            yield from result.toArrow().to_batches()
            return
        result = result.persist(StorageLevel.MEMORY_AND_DISK)
        self._cached.append(result)
        slices = max(1, -(-result.count() // _BATCH_ROWS))
        for number in range(slices):
            part = result.where(f"pmod(xxhash64({', '.join(key)}), {slices}) = {number}")
            yield from part.toArrow().to_batches()
        self._release(result)


def _width(members: Members) -> int:
    """One more than the largest iteration anybody can be in."""
    return 1 + max(int(pairs.iteration.max(initial=-1)) for pairs in (members.race, members.ethnicity))
