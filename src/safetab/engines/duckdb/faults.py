"""Where the faults of records are, in DuckDB: asked only after the first reading has counted some.

In: the queries of the first reading. Out: findings with file, column, how many and the first lines or rows.
"""

from __future__ import annotations

from collections.abc import Collection

import duckdb

from safetab.engines.duckdb.files import records_with_places, with_lines
from safetab.engines.faults import FaultQueries
from safetab.engines.logical_plan import RecordQueries
from safetab.errors import Finding, Rule


def find_faults(
    connection: duckdb.DuckDBPyConnection, queries: RecordQueries, broken: Collection[Rule]
) -> list[Finding]:
    """Every fault with its file, column, how many rows have it and the first of them; `broken` are the rules to ask."""
    # One thread: the numbers of lines follow from their order.
    connection.execute("SET preserve_insertion_order = true")
    connection.execute("SET threads = 1")
    columns = [row[0] for row in connection.execute("DESCRIBE raw").fetchall()]
    connection.execute(f"CREATE VIEW numbered AS {records_with_places(queries.layout, columns)}")
    faults = FaultQueries(queries, broken)
    # A table of their own: in one query every fault would be judged again for each figure about it.
    connection.execute(f"CREATE TEMP TABLE faulty AS {faults.faulty()}")
    found = faults.findings(connection.execute(faults.located("faulty")).fetchall(), queries.layout.unit)
    connection.execute("DROP TABLE faulty")
    return with_lines(queries.layout, found)
