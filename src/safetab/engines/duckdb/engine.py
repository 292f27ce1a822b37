"""The engine for one machine: DuckDB, out of core where the records do not fit into memory.

In: text or Parquet records. Out: true counts. Promise: confidential temporary data are in the one folder handed in.
DuckDB reads and judges the records; arrays count them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.records import ArrayRecords
from safetab.engines.arrays.shelf import Shelf
from safetab.engines.compact import NumberedTable, with_numbers
from safetab.engines.duckdb.failures import translate_errors
from safetab.engines.duckdb.reading import read_records
from safetab.engines.layout import RecordLayout
from safetab.engines.memory import usable_memory
from safetab.engines.protocol import OnRead, unheard
from safetab.population.geography import Geography

_LIMITS = Limits()


class DuckDbEngine:
    """Counts with DuckDB, keeping everything confidential under `folder`."""

    name = "duckdb"

    def __init__(self, folder: Path, limits: Limits = _LIMITS) -> None:
        self._folder, self._limits = folder, limits
        self._opened = 0
        self._numbered: tuple[pa.Table, NumberedTable] | None = None
        self._settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(folder),
            # What does not fit is spilled to the folder; half is left to the noisy tables and to the machine.
            "memory_limit": f"{usable_memory() // 2 >> 20} MiB",
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }

    def open(self, layout: RecordLayout, geography: Geography, on_read: OnRead = unheard) -> ArrayRecords:
        """Read and judge the records of one run, in a database of its own that is gone when they are folded."""
        name, numbered = f"run_{self._opened}", self._with_numbers(layout)
        self._opened += 1
        shelf = Shelf(self._folder / name, self._limits.bytes_in_memory)
        with self.database(name) as connection, translate_errors(layout.name, is_reading=True):
            # DuckDB reads on while people are folded.
            connection.execute("SET streaming_buffer_size = '64MiB'")
            people = read_records(connection, layout, geography, shelf, self._limits, on_read, numbered)
        return ArrayRecords(layout, geography, people, shelf, self._limits)

    @contextmanager
    def database(self, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """A database in the folder while the block lasts: closed, it gives back memory that counting has a use for."""
        file = self._folder / f"{name}.duckdb"
        with translate_errors("the engine's own file"):
            connection = duckdb.connect(str(file), config=self._settings)
        try:
            connection.execute("PRAGMA disable_checkpoint_on_shutdown")
            yield connection
        finally:
            connection.close()
            for leftover in self._folder.glob(f"{file.name}*"):
                leftover.unlink(missing_ok=True)

    def _with_numbers(self, layout: RecordLayout) -> NumberedTable | None:
        """Records in memory with numbers for texts; every run has the same table, so it is done once."""
        if not isinstance(layout.table, pa.Table):
            return None
        if self._numbered is None or self._numbered[0] is not layout.table:
            self._numbered = layout.table, with_numbers(layout, layout.table)
        return self._numbered[1]

    def close(self) -> None:
        """Remove what was kept."""
        self._numbered = None
        for number in range(self._opened):
            shutil.rmtree(self._folder / f"run_{number}", ignore_errors=True)
