"""The records as Spark reads them: text or Parquet, at a local path or at any address that Spark reads.

In: a `RecordLayout`. Out: the relation `raw`, the queries over it in Spark's spelling, and, where records are broken,
the places of their faults. Promise: a part that lacks a column and a file that cannot be read are faults, never people
left out.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa

from safetab.engines.layout import RecordLayout
from safetab.engines.logical_plan import RecordQueries, identifier
from safetab.engines.spark.dialect import FLOATS, INTEGERS, SparkDialect
from safetab.engines.spark.faults import find_faults
from safetab.engines.spark.files import addresses, find_parts, with_places
from safetab.engines.spark.tables import SparkTables
from safetab.engines.spark.text import Lines
from safetab.errors import UNSPENT, Finding, InputError
from safetab.files.parts import Part, partition_columns
from safetab.files.schemas import Column, PartSchema, columns_in_folders, schema_findings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Rows that a task should have at the most, more or less.
_TASK_ROWS = 1_000_000
#: Part files whose schemas are read at a time.
_READERS = 8


class SparkFiles:
    """The record files of one run."""

    def __init__(self, tables: SparkTables, layout: RecordLayout) -> None:
        self._tables, self._session, self._layout = tables, tables.session, layout

    def queries(self) -> RecordQueries:
        """Make `raw` a view of the records and return the queries over it."""
        codes = {
            "safetab code": pa.array(self._layout.codes, pa.string()),
            "safetab position": pa.array(range(len(self._layout.codes)), pa.int16()),
        }
        self._tables.keep("code_list", pa.table(codes))
        records, rows = read_records(self._session, self._layout, list(self._layout.columns_read))
        # With Spark's 200 from step to step a shuffle has 40,000 blocks, and opening them takes longer than counting.
        # No step has more rows than there are records.
        partitions = max(self._session.sparkContext.defaultParallelism, -(-rows // _TASK_ROWS))
        self._session.conf.set("spark.sql.shuffle.partitions", partitions)
        records.createOrReplaceTempView("records")
        self._dialect = SparkDialect(dict(records.dtypes))
        queries = RecordQueries(self._layout, self._dialect)
        # Only once the codes are spelled out does the dialect know which texts are codes.
        queries.codes()
        self._session.sql(self._dialect.with_code_positions()).createOrReplaceTempView("raw")
        return queries

    def locate_faults(self, queries: RecordQueries) -> list[Finding]:
        """A second reading that finds the columns and the first rows of every fault."""
        return find_faults(self._session, queries, self._dialect)


def read_records(session: SparkSession, layout: RecordLayout, columns: list[str]) -> tuple[DataFrame, int]:
    """The records with the columns wanted, as they are, and how many they are at the most.

    Raises where a file is no table of such records.
    """
    parts = find_parts(session, layout)
    if layout.is_parquet:
        inside = session.read.parquet(*addresses(parts))
        _judge_schemas(session, layout, columns, inside, parts)
        rows = inside.count()
        # Spark would make up the place of every record, which nobody has asked for.
        found = with_places(layout, parts, inside) if partition_columns(parts, columns) else inside
    else:
        lines = Lines(session, layout, parts)
        rows = lines.refuse_broken()
        found = lines.records(columns)
    return found.selectExpr(*map(identifier, columns)), rows


def _judge_schemas(
    session: SparkSession, layout: RecordLayout, columns: list[str], whole: DataFrame, parts: list[Part]
) -> None:
    """Raise unless every part has the wanted columns, inside or in the names of its folders.

    Spark takes the columns of one part for those of all, and reads a column that a part lacks as empty.
    """
    if len(parts) == 1:
        schemas = [_part_schema(parts[0], whole.schema)]
    else:
        with ThreadPoolExecutor(_READERS) as pool:
            schemas = list(pool.map(lambda part: _schema_of_part(session, part), parts))
    findings = schema_findings(layout.name, schemas, columns)
    if findings:
        raise InputError(findings, state=UNSPENT)


def _schema_of_part(session: SparkSession, part: Part) -> PartSchema:
    return _part_schema(part, session.read.parquet(*addresses([part])).schema)


def _part_schema(part: Part, schema: StructType) -> PartSchema:
    types = {field.name: field.dataType.simpleString() for field in schema}
    inside = [Column(name, kind, kind == "string" or kind in INTEGERS | FLOATS) for name, kind in types.items()]
    return PartSchema(part.name, (*inside, *columns_in_folders(part)))
