"""DuckDB with limits so small that every array is written to a file, every table is cut, and pieces hold few people."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from safetab.engines.arrays.limits import Limits
from safetab.engines.duckdb.engine import DuckDbEngine
from safetab.engines.protocol import Engine

TINY = Limits(
    people_of_piece=3, people_waiting=5, blocks_of_part=2, bytes_in_memory=0, table_entries=4, rows_at_a_time=2
)


class Cramped:
    """An engine that a caller could choose."""

    reads_addresses: ClassVar[bool] = False
    reads_memory: ClassVar[bool] = True

    def start(self, folder: Path) -> Engine:
        return DuckDbEngine(folder, TINY)
