"""Where the faults of records are, on Spark: asked only after the first pass has counted some.

In: the plan of the first pass and its views `blocks` and `code_list`. Out: findings. Promise: the same rules, columns,
counts and first lines or rows as on one machine, and only those numbers come to the driver.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from safetab.engines.faults import PART, ROW, FaultQueries, without_zeros
from safetab.engines.logical_plan import RecordQueries, identifier
from safetab.engines.spark.dialect import SparkDialect
from safetab.engines.spark.files import addresses, find_parts, name_of_part, with_places
from safetab.engines.spark.text import Lines
from safetab.errors import LINES_SHOWN, Finding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BLOCK_SET, _LIKE_BLOCK = '"safetab block set"', '"safetab like block"'

COUNTS = f"SELECT {PART}, fault, count(*) FROM faulty GROUP BY {PART}, fault"
FIRST_ROWS = (
    f"SELECT {PART}, fault, {ROW} FROM "
    f"(SELECT *, row_number() OVER (PARTITION BY {PART}, fault ORDER BY {ROW}) AS place FROM faulty) AS ranked "
    f"WHERE place <= {LINES_SHOWN} ORDER BY {ROW}"
)


def find_faults(session: SparkSession, plan: RecordQueries, dialect: SparkDialect) -> list[Finding]:
    """Every fault with its file, column, how many rows have it and the first of them."""
    parts = find_parts(session, plan.layout)
    if plan.layout.is_parquet:
        records = with_places(plan.layout, parts, session.read.parquet(*addresses(parts)))
    else:
        records = Lines(session, plan.layout, parts).records(plan.columns_read(), with_places=True)
    wanted = [PART, ROW, *map(identifier, plan.columns_read())]
    records.selectExpr(*wanted).createOrReplaceTempView("records")
    session.sql(_numbered(plan, dialect)).createOrReplaceTempView("numbered")
    queries = FaultQueries(plan, no_block=f"{_BLOCK_SET} IS NULL", like_block=f"{_LIKE_BLOCK} IS NOT NULL")
    session.sql(_faulty(queries, plan)).createOrReplaceTempView("faulty")
    counts = {(part, fault): count for part, fault, count in session.sql(COUNTS).collect()}
    rows: dict[tuple[str, int], list[int]] = defaultdict(list)
    for part, fault, row in session.sql(FIRST_ROWS).collect():
        rows[part, fault].append(row)
    names = {part: name_of_part(part, parts) for part, _ in counts}
    answer = [
        (name, *_of_part(part, len(queries.faults), counts, rows))
        for part, name in sorted(names.items(), key=lambda item: item[1])
    ]
    return queries.findings(answer, plan.layout.unit)


def _numbered(plan: RecordQueries, dialect: SparkDialect) -> str:
    """The records with their places, the positions of their codes, and the block set of their block if there is one.

    With other leading zeros a block may be known, too.
    """
    columns = plan.layout.columns.block
    blocks = ", ".join(f'b{i} AS "safetab block {i}"' for i in range(len(columns)))
    same = " AND ".join(f'"safetab block {i}" = {plan.text_of(name)}' for i, name in enumerate(columns))
    short = ", ".join(f'{without_zeros(f"b{i}")} AS "safetab short {i}"' for i in range(len(columns)))
    like = " AND ".join(f'"safetab short {i}" = {without_zeros(plan.text_of(name))}' for i, name in enumerate(columns))
    return (
        f"SELECT positioned.*, {_BLOCK_SET}, {_LIKE_BLOCK} FROM ({dialect.with_code_positions()}) AS positioned "
        f"LEFT JOIN (SELECT block_set AS {_BLOCK_SET}, {blocks} FROM blocks) AS known ON {same} "
        f"LEFT JOIN (SELECT DISTINCT 1 AS {_LIKE_BLOCK}, {short} FROM blocks) AS alike ON {like}"
    )


def _faulty(queries: FaultQueries, plan: RecordQueries) -> str:
    """A row for each fault of each record."""
    found = ", ".join(f"CASE WHEN {fault.condition} THEN {number} END" for number, fault in enumerate(queries.faults))
    return f"SELECT {PART}, {ROW}, explode(array_compact(array({found}))) AS fault FROM numbered{plan.where()}"


def _of_part(
    part: str, faults: int, counts: dict[tuple[str, int], int], rows: dict[tuple[str, int], list[int]]
) -> tuple[Any, ...]:
    """What was found in one part, after its name, in the shape that `FaultQueries.findings` reads."""
    found: list[Any] = []
    for fault in range(faults):
        places = [{"row": row, "value": None} for row in rows.get((part, fault), [])]
        found += [counts.get((part, fault), 0), places]
    return tuple(found)
