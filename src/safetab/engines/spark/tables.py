"""Named tables inside Spark: cached, spread over the executors, encrypted wherever they reach a disk.

Promise: nothing but the counts that are asked for comes to the driver, so many rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from safetab.engines.spark.failures import translate_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows that come to the driver at a time; those of one place may come on top of that.
BATCH_ROWS = 2_000_000
#: Tables up to this many rows are sent whole to every executor; larger ones are joined where they are.
_SMALL_TABLE_ROWS = 1_000_000


class SparkTables:
    """The tables of one run, as views of a session that belongs to it. They are gone when they are closed."""

    def __init__(self, session: SparkSession, file: str) -> None:
        self.session, self._file = session, file
        self._cached: list[DataFrame] = []

    def keep(self, name: str, table: pa.Table) -> None:
        """Hand a table of the driver's over to Spark, in place of one of the same name."""
        frame = self.session.createDataFrame(table)
        if table.num_rows <= _SMALL_TABLE_ROWS:
            frame = frame.hint("broadcast")
        frame.createOrReplaceTempView(name)

    def make(self, name: str, sql: str) -> None:
        """Make a query a table that Spark keeps once it has computed it, in memory and then on encrypted disk."""
        self._cache(self.session.sql(sql)).createOrReplaceTempView(name)

    def answer(self, sql: str) -> pa.Table:
        """The rows of a query, all at once."""
        return self.session.sql(sql).toArrow()

    def batches(self, sql: str, most: int) -> Iterator[pa.Table]:
        """The rows of a query with a column `place`, of which there are at most so many, some places at a time."""
        if most <= BATCH_ROWS:
            yield self.answer(sql)
            return
        answer = self._cache(self.session.sql(sql))
        rows = answer.groupBy("place").count().toArrow().sort_by("place")
        # The last row of a place decides in which batch the whole place is.
        batch = (np.cumsum(rows["count"].to_numpy()) - 1) // BATCH_ROWS
        for number in np.unique(batch):
            first, last = rows["place"].to_numpy()[batch == number][[0, -1]]
            yield answer.where(f"place BETWEEN {first} AND {last}").toArrow()
        self._cached.pop().unpersist()

    def translate_errors(self, *, is_reading: bool) -> AbstractContextManager[None]:
        """Replace an error of Spark's, whose text may quote a record, by one of ours."""
        return translate_errors(self._file, is_reading=is_reading)

    def close(self) -> None:
        """Drop every cached table."""
        with translate_errors(self._file):
            while self._cached:
                self._cached.pop().unpersist()

    def _cache(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        self._cached.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self._cached[-1]
