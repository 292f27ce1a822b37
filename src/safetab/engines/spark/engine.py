"""The engine for a cluster: Spark counts where the records are, and only counts come to the driver.

In: records that Spark can read. Out: true counts, in batches of a bounded size. Promises: no Python runs on an
executor; temporary data are Spark's own cached blocks, shuffle files and spills, in Spark's local directories; and
nobody is counted twice or left out when a task is retried, repeated on suspicion of slowness, or lost with its machine.

Why the last holds: every count is the value of a deterministic query over files that do not change. Spark takes one
attempt of each task, whichever finishes first, and computes anew what was lost; we write nothing from tasks and use no
accumulators, the two ways in which an attempt too many could leave a mark. The numbers of the kinds of people are fixed
on the driver, and queries refer to kinds by their codes.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.shelf import Shelf
from safetab.engines.layout import RecordLayout
from safetab.engines.protocol import OnRead, unheard
from safetab.engines.spark.failures import translate_errors
from safetab.engines.spark.records import SparkRecords
from safetab.engines.spark.session import open_session
from safetab.engines.spark.tables import SparkTables
from safetab.population.geography import Geography

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    # SafeTab reads the names of folders itself; to it 01 is not 1.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # People are a few whole numbers each; looking for shorter forms took as long as reading the files.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # A file that cannot be read stops the tabulation: nobody is left out in silence.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}


#: A share of the driver's memory that leaves most of it to the noise.
_LIMITS = Limits(bytes_in_memory=100 << 20)


class SparkEngine:
    """Counts with Spark, in a session of its own kept under `folder`, or in one that the user has."""

    name = "spark"

    def __init__(self, folder: Path, *, master: str | None = None, session: SparkSession | None = None) -> None:
        self._folder = folder
        self._session = open_session(folder, master, session)
        self._opened: list[SparkTables] = []

    def open(
        self,
        layout: RecordLayout,
        geography: Geography,
        on_read: OnRead = unheard,  # noqa: ARG002
    ) -> SparkRecords:
        """Read and judge the records of one run, in a session of their own. Spark does not say how far it is."""
        with translate_errors(layout.name, is_reading=True):
            self._session.quieten()
            session = self._session.session.newSession()
            for key, value in _SETTINGS.items():
                session.conf.set(key, value)
            tables = SparkTables(session, layout.name)
            shelf = Shelf(self._shelf_folder(len(self._opened)), _LIMITS.bytes_in_memory)
            self._opened.append(tables)
            return SparkRecords(layout, geography, tables, shelf, _LIMITS)

    def close(self) -> None:
        """Let go of everything that Spark holds of the records."""
        for number, tables in enumerate(self._opened):
            tables.close()
            shutil.rmtree(self._shelf_folder(number), ignore_errors=True)
        self._session.stop()

    def _shelf_folder(self, number: int) -> Path:
        """Where counts are that the driver does not keep in memory."""
        return self._folder / f"counts_{number}"
