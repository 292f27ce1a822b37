"""Where the faults of records are, on Spark: asked only after the first pass has counted some.

In: the plan of the first pass and its views `blocks` and `code_list`. Out: findings. Promise: the same rules, columns,
counts and first lines or rows as on one machine, and only those numbers come to the driver.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from safetab.engines.fault_queries import FaultQueries
from safetab.engines.queries import RecordQueries
from safetab.engines.spark_records_file import PART, ROW, SparkDialect, name_of_part, read_with_places
from safetab.errors import LINES_SHOWN, Finding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CELL = '"safetab cell"'

COUNTS = f"SELECT {PART}, fault, count(*) FROM faulty GROUP BY {PART}, fault"
FIRST_ROWS = (
    f"SELECT {PART}, fault, {ROW} FROM "
    f"(SELECT *, row_number() OVER (PARTITION BY {PART}, fault ORDER BY {ROW}) AS place FROM faulty) AS ranked "
    f"WHERE place <= {LINES_SHOWN} ORDER BY {ROW}"
)


def find_faults(session: SparkSession, plan: RecordQueries, dialect: SparkDialect) -> list[Finding]:
    """Every fault with its file, column, how many rows have it and the first of them."""
    read_with_places(session, plan.layout, plan.columns_read()).createOrReplaceTempView("records")
    session.sql(_numbered(plan, dialect)).createOrReplaceTempView("numbered")
    queries = FaultQueries(plan, no_block=f"{_CELL} IS NULL")
    session.sql(_faulty(queries, plan)).createOrReplaceTempView("faulty")
    counts = {(part, fault): count for part, fault, count in session.sql(COUNTS).collect()}
    rows: dict[tuple[str, int], list[int]] = defaultdict(list)
    for part, fault, row in session.sql(FIRST_ROWS).collect():
        rows[part, fault].append(row)
    answer = [_of_part(part, len(queries.faults), counts, rows) for part in sorted({part for part, _ in counts})]
    return queries.findings(answer, "row" if plan.layout.is_parquet else "line")


def _numbered(plan: RecordQueries, dialect: SparkDialect) -> str:
    """The records with their places, the positions of their codes, and the cell of their block where it has one."""
    columns = plan.layout.columns.block
    blocks = ", ".join(f'b{i} AS "safetab block {i}"' for i in range(len(columns)))
    same = " AND ".join(f'"safetab block {i}" = {plan.text_of(name)}' for i, name in enumerate(columns))
    return (
        f"SELECT positioned.*, {_CELL} FROM ({dialect.with_code_positions()}) AS positioned "
        f"LEFT JOIN (SELECT cell AS {_CELL}, {blocks} FROM blocks) AS known ON {same}"
    )


def _faulty(queries: FaultQueries, plan: RecordQueries) -> str:
    """A row for each fault of each record."""
    found = ", ".join(f"CASE WHEN {fault.condition} THEN {number} END" for number, fault in enumerate(queries.faults))
    return f"SELECT {PART}, {ROW}, explode(array_compact(array({found}))) AS fault FROM numbered{plan.where()}"


def _of_part(
    part: str, faults: int, counts: dict[tuple[str, int], int], rows: dict[tuple[str, int], list[int]]
) -> tuple[Any, ...]:
    """What was found in one part, in the shape that `FaultQueries.findings` reads."""
    found: list[Any] = [name_of_part(part)]
    for fault in range(faults):
        places = [{"row": row, "value": None} for row in rows.get((part, fault), [])]
        found += [counts.get((part, fault), 0), places]
    return tuple(found)
