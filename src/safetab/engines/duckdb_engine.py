"""The engine for one machine: DuckDB, out of core where the records do not fit into memory.

In: text or Parquet records. Out: true counts. Promise: confidential temporary data lie in the one folder handed in,
and an error of DuckDB's, which may quote a record, is replaced by one of ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from safetab.engines import handed_over, queries, rules
from safetab.engines.fault_queries import FaultQueries, counted_faults
from safetab.engines.protocol import Cells, ChosenGroups, Members, RecordLayout, Totals
from safetab.engines.queries import RecordQueries, quoted
from safetab.errors import UNSPENT, Finding, InputError, MachineError
from safetab.files.parquet import part_files
from safetab.files.rules import MISSING_COLUMN, NO_ROWS, NOT_PARQUET
from safetab.population.geography import Geography, region_of_part
from safetab.population.membership import CodeSets

_BATCH_ROWS = 1_000_000
_LINE = re.compile(r"Line: (\d+)")


class DuckDbEngine:
    """Counts with DuckDB, keeping everything confidential under `folder`."""

    name = "duckdb"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = 0
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(folder),
            # What does not fit is spilled to the folder; half is left to the noisy tables and to the machine.
            "memory_limit": f"{_physical_memory() // 2 >> 20} MiB",
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
        with _ours_for_theirs("the engine's own file"):
            self._connection = duckdb.connect(str(folder / "records.duckdb"), config=settings)

    def open(self, layout: RecordLayout, geography: Geography) -> DuckDbRecords:
        """Read and judge the records of one run, in a schema of its own."""
        schema = f"run_{self._runs}"
        self._runs += 1
        with _ours_for_theirs(layout.name):
            cursor = self._connection.cursor()
            cursor.execute(f"CREATE SCHEMA {schema}")
            cursor.execute(f"USE {schema}")
        return DuckDbRecords(cursor, layout, geography)

    def close(self) -> None:
        """Close the database and remove its files."""
        self._connection.close()
        for leftover in self._folder.glob("records.duckdb*"):
            leftover.unlink(missing_ok=True)


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class DuckDbRecords:
    """The records of one run as a narrow DuckDB table."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, layout: RecordLayout, geography: Geography) -> None:
        self._connection, self._layout = connection, layout
        with _ours_for_theirs(layout.name):
            self._read(geography)

    @property
    def persons(self) -> int:
        return self._persons

    def _run(self, sql: str) -> duckdb.DuckDBPyConnection:
        return self._connection.execute(sql)

    def _read(self, geography: Geography) -> None:
        dialect = _Dialect(self._raw_types())
        plan = RecordQueries(self._layout, dialect)
        missing = [column for column in plan.columns_read() if column not in dialect.types]
        if missing:
            raise InputError([Finding(MISSING_COLUMN, self._layout.name, key=column) for column in missing])
        self._run(f"CREATE TYPE code AS ENUM ({', '.join(map(quoted, self._layout.codes))})")
        self._keep("blocks", handed_over.blocks(geography))
        self._keep("age_atoms", handed_over.atom_of_age(self._layout))
        self._run(f"CREATE TABLE coded AS {plan.coded()}")
        self._judge(plan, dict(self._run(queries.FAULT_COUNTS).fetchall()))
        self._run(f"CREATE TABLE code_sets AS {queries.code_sets(plan.key_names)}")
        self._run(f"CREATE TABLE race_people AS {queries.race_people(plan.key_names)}")
        self._run(f"CREATE TABLE ethnicity_people AS {queries.ETHNICITY_PEOPLE}")
        self._run("DROP TABLE coded")
        self._keep("bin_of_atom", handed_over.bin_of_atom(self._layout))
        self._plan = plan
        self._region_of_cell: npt.NDArray[np.int32] | None = None
        self._members: Members | None = None

    def _raw_types(self) -> dict[str, str]:
        """Make `raw` a view of the records and return the type of each of its columns."""
        path = Path(self._layout.path)
        if self._layout.is_parquet:
            parts = part_files(path)
            if not parts:
                raise InputError(Finding(NO_ROWS, self._layout.name, seen="a folder without .parquet files"))
            listed = ", ".join(quoted(str(part)) for part in parts)
            source = f"read_parquet([{listed}], hive_partitioning = false)"
        else:
            source = f"read_csv({quoted(str(path))}, {_csv_options(path, self._layout.columns_read)})"
        try:
            self._run(f"CREATE VIEW raw AS SELECT * FROM {source}")
        except duckdb.Error as error:
            if self._layout.is_parquet and not isinstance(error, duckdb.OutOfMemoryException):
                raise InputError(Finding(NOT_PARQUET, self._layout.name)) from None
            raise
        return {row[0]: row[1] for row in self._run("DESCRIBE raw").fetchall()}

    def _judge(self, plan: RecordQueries, counts: dict[int, int]) -> None:
        """Raise with what is wrong and where, if any record breaks a rule."""
        if not counts:
            raise InputError(Finding(rules.NO_RECORDS, self._layout.name), state=UNSPENT)
        if any(counts):
            raise InputError(self._located(plan, counts), state=UNSPENT)
        self._persons = sum(counts.values())

    def _located(self, plan: RecordQueries, counts: dict[int, int]) -> list[Finding]:
        """A second pass, in the order of the files, that finds the columns and the first rows of every fault."""
        # One thread: the numbers of lines follow from their order.
        self._run("SET preserve_insertion_order = true")
        self._run("SET threads = 1")
        self._run(f"CREATE VIEW numbered AS {self._numbered()}")
        located = FaultQueries(plan)
        found = located.findings(self._run(located.located()).fetchall(), self._unit)
        return found or counted_faults(self._layout.name, counts)

    @property
    def _unit(self) -> str:
        return "row" if self._layout.is_parquet else "line"

    def _numbered(self) -> str:
        if not self._layout.is_parquet:
            # The header is line 1.
            name = quoted(self._layout.name)
            return f"SELECT {name} AS part_of_row, row_number() OVER () + 1 AS row_in_part, * FROM raw"
        listed = ", ".join(quoted(str(part)) for part in part_files(Path(self._layout.path)))
        return (
            "SELECT parse_filename(filename) AS part_of_row, file_row_number + 1 AS row_in_part, * FROM "
            f"read_parquet([{listed}], hive_partitioning = false, filename = true, file_row_number = true)"
        )

    def code_sets(self) -> CodeSets:
        """The distinct code sets in the order of their numbers."""
        listed = ", ".join(self._plan.key_names)
        with _ours_for_theirs(self._layout.name):
            keys = self._run(f"SELECT {listed} FROM code_sets ORDER BY set_id").fetchnumpy()
        return self._plan.unpacked([keys[name] for name in self._plan.key_names])

    def totals(self, region_of_cell: npt.NDArray[np.int32], members: Members) -> Iterator[Totals]:
        """True totals of every group that has anybody."""
        self._settle(region_of_cell)
        self._keep_members(members)
        for batch in self._batches(queries.TOTALS):
            yield handed_over.totals(batch)

    def cells(self, region_of_cell: npt.NDArray[np.int32], members: Members, chosen: ChosenGroups) -> Iterator[Cells]:
        """True sex by age cells of the chosen groups."""
        self._settle(region_of_cell)
        self._keep_members(members)
        self._keep("chosen", handed_over.chosen_groups(chosen))
        for batch in self._batches(queries.CELLS):
            yield handed_over.cells(batch)

    def _settle(self, region_of_cell: npt.NDArray[np.int32]) -> None:
        """Fold the people into the regions of a geography level; the level's other questions find them folded."""
        if self._region_of_cell is not None and np.array_equal(self._region_of_cell, region_of_cell):
            return
        parts = None if self._region_of_cell is None else region_of_part(self._region_of_cell, region_of_cell)
        if parts is None:
            self._keep("region_of_cell", handed_over.regions("cell", region_of_cell))
            race, ethnicity = queries.REGION_RACE, queries.REGION_ETHNICITY
        else:
            self._keep("region_of_part", handed_over.regions("part", parts))
            race, ethnicity = queries.COARSER_RACE, queries.COARSER_ETHNICITY
        with _ours_for_theirs(self._layout.name):
            self._run(f"CREATE OR REPLACE TABLE region_race AS {race}")
            self._run(f"CREATE OR REPLACE TABLE region_ethnicity AS {ethnicity}")
        self._region_of_cell = region_of_cell.copy()

    def _keep_members(self, members: Members) -> None:
        """Hand over who is in what; levels with the same iterations share it, and it is large."""
        if members is not self._members:
            for name, table in handed_over.memberships(members).items():
                self._keep(name, table)
            self._members = members

    def _keep(self, name: str, table: pa.Table) -> None:
        with _ours_for_theirs(self._layout.name):
            self._connection.register("handed_over", table)
            self._run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM handed_over")
            self._connection.unregister("handed_over")

    def _batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        with _ours_for_theirs(self._layout.name):
            reader: pa.RecordBatchReader = self._connection.sql(sql).to_arrow_reader(_BATCH_ROWS)
            yield from reader


class _Dialect:
    """DuckDB's spelling."""

    def __init__(self, types: dict[str, str]) -> None:
        self.types = types

    def code_index(self, text: str) -> str:
        return f"CAST(enum_code(TRY_CAST({text} AS code)) AS SMALLINT)"

    def whole_number(self, text: str) -> str:
        return f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,4}}') THEN CAST({text} AS SMALLINT) END"

    def is_integer(self, column: str) -> bool:
        return "INT" in self.types[column].upper()


def _csv_options(path: Path, columns_read: Collection[str]) -> str:
    """Options that read the file as it is: every column text, no quoting, no guessing.

    Columns that nobody reads get names of ours, because theirs may be empty, stand twice, or differ from another
    name in capitals alone, which DuckDB would not tell apart.
    """
    with path.open("rb") as file:
        header = file.readline(1 << 20).decode("utf-8-sig", errors="replace").strip("\r\n").split("|")
    header = [name if name in columns_read else f"unread {number}" for number, name in enumerate(header)]
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in header)
    not_null = ", ".join(quoted(name) for name in header)
    return (
        "delim = '|', header = true, quote = '', escape = '', auto_detect = false, strict_mode = true, "
        f"null_padding = false, columns = {{{columns}}}, force_not_null = [{not_null}]"
    )


@contextmanager
def _ours_for_theirs(file: str) -> Iterator[None]:
    """Replace an error of DuckDB's, whose text may quote a record, by one of ours."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MachineError(Finding(rules.ENGINE_MEMORY, file)) from None
    except duckdb.InvalidInputException as error:
        line = _LINE.search(str(error))
        raise InputError(
            Finding(rules.NOT_A_TABLE, file, lines=(int(line[1]),) if line else (), count=1),
            state=UNSPENT,
        ) from None
    except duckdb.Error as error:
        raise MachineError(Finding(rules.ENGINE_FAILED, file, seen=type(error).__name__)) from None
