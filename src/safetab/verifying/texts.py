"""The text files against the Parquet files, row by row, in pieces of bounded size.

In: the two files of one table. Out: findings. The promise: every column of the text file has the same values in the
same order as the Parquet file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from safetab.errors import Finding
from safetab.rules import seal_rules

_ROWS_AT_A_TIME = 1 << 18


def check_text(text: Path, parquet: Path, columns: list[str], name: str) -> Iterator[Finding]:
    """Compare a text file, which has some of the columns, with the Parquet file."""
    with text.open("rb") as file:
        if file.readline() != ("|".join(columns) + "\n").encode():
            yield Finding(seal_rules.DICTIONARY, name, lines=(1,), count=1)
            return
    schema = pq.read_schema(parquet)
    options = pa_csv.ConvertOptions(
        column_types={column: schema.field(column).type for column in columns},
        null_values=[""],
        strings_can_be_null=False,
    )
    parse = pa_csv.ParseOptions(delimiter="|", quote_char=False)
    with (
        pa_csv.open_csv(text, parse_options=parse, convert_options=options) as lines,
        pq.ParquetFile(parquet) as tables,
    ):
        # An empty file has no piece to begin with, which early versions of PyArrow do not expect.
        pieces = tables.iter_batches(_ROWS_AT_A_TIME, columns=columns) if tables.num_row_groups else iter(())
        yield from _compare(lines, pieces, name)


def _compare(lines: Iterator[pa.RecordBatch], tables: Iterator[pa.RecordBatch], name: str) -> Iterator[Finding]:
    place, waiting = 0, pa.table({})
    for batch in lines:
        found = pa.Table.from_batches([batch])
        while waiting.num_rows < found.num_rows:
            following = next(tables, None)
            if following is None:
                break
            more = pa.Table.from_batches([following])
            waiting = more if not waiting.num_columns else pa.concat_tables([waiting, more])
        expected, waiting = waiting.slice(0, found.num_rows), waiting.slice(found.num_rows)
        if not found.equals(expected.cast(found.schema) if expected.num_columns else expected):
            first = place + _first_difference(found, expected)
            # The header is line 1.
            yield Finding(seal_rules.TEXT_DIFFERS, name, lines=(first + 2,), count=1)
            return
        place += found.num_rows
    if waiting.num_rows or next(tables, None) is not None:
        yield Finding(seal_rules.TEXT_DIFFERS, name, seen=f"{place:,} rows, and the Parquet file has more")


def _first_difference(found: pa.Table, expected: pa.Table) -> int:
    """The first row in which two tables differ."""
    both = zip(found.to_pylist(), expected.to_pylist(), strict=False)
    return next((number for number, (one, other) in enumerate(both) if one != other), expected.num_rows)
