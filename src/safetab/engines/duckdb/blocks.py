"""Blocks as integers: what records are joined by.

In: the relation `blocks`, whose columns b0, b1, ... name a block. Out: the relation `block_keys` (key, block_set), and
the SQL that gives a record the same key. Promise: two blocks have the same key exactly if every column is the same; a
record whose block has a value that no block has gets none. Joined by all columns at once, the 8 million blocks of a
nation take three times the memory and twice the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb


@dataclass(frozen=True, slots=True)
class BlockKeys:
    """The key of a block: its area, which all columns but the last name, and the value of the last one."""

    columns: int
    last_values: int

    @property
    def key(self) -> str:
        """SQL for the key, over what `joined` gives; null where a value is none of a block's."""
        return f"area * {self.last_values} + last_value"

    def joined(self, relation: str) -> str:
        """SQL for a relation with columns b0, b1, ..., each row with the parts of its key."""
        last = self.columns - 1
        same_area = " AND ".join(f"{relation}.b{number} = areas.a{number}" for number in range(last)) or "TRUE"
        return (
            f"{relation} LEFT JOIN areas ON {same_area} LEFT JOIN last_values ON {relation}.b{last} = last_values.value"
        )


def make_block_keys(connection: duckdb.DuckDBPyConnection, columns: int) -> BlockKeys:
    """Make `block_keys` from the relation `blocks`, and what its keys are made from."""
    names = [f"b{number}" for number in range(columns)]
    areas = ", ".join(f"b{number} AS a{number}" for number in range(columns - 1))
    distinct = f"SELECT DISTINCT {areas} FROM blocks" if areas else "SELECT NULL AS a0"
    connection.execute(f"CREATE TABLE areas AS SELECT row_number() OVER () - 1 AS area, * FROM ({distinct})")
    connection.execute(
        "CREATE TABLE last_values AS SELECT row_number() OVER () - 1 AS last_value, value "
        f"FROM (SELECT DISTINCT {names[-1]} AS value FROM blocks)"
    )
    row = connection.execute("SELECT count(*) FROM last_values").fetchone()
    keys = BlockKeys(columns, int(row[0]) if row else 0)
    connection.execute(f"CREATE TABLE block_keys AS SELECT {keys.key} AS key, block_set FROM {keys.joined('blocks')}")
    return keys
