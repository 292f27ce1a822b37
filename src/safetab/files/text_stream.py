"""Large delimited text as a stream of Arrow batches, which an engine reads as often as it likes.

In: a path, its form and the names of the columns wanted. Out: an object with Arrow's stream interface
(`__arrow_c_stream__`). Promise: rows come in the order of the file, every column as text; a line with too few or too
many fields ends the stream with an error, never with people left out. Lines are judged before, in `lines.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from safetab.files.compressed import open_bytes
from safetab.files.delimited import QUOTE, TextForm

#: Large enough for speed; several pieces are in memory at a time.
_BLOCK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class TextStream:
    """Some columns of a text file."""

    path: Path
    form: TextForm
    columns: Sequence[str]

    def reader(self) -> pa.RecordBatchReader:
        """The rows, from the first one on."""
        try:
            return pa_csv.open_csv(
                self.path,
                read_options=pa_csv.ReadOptions(block_size=_BLOCK_BYTES),
                parse_options=pa_csv.ParseOptions(
                    delimiter=self.form.delimiter,
                    quote_char=QUOTE if self.form.is_quoted else False,
                    newlines_in_values=self.form.is_quoted,
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types={name: pa.string() for name in self.columns},
                    include_columns=list(self.columns),
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            if self._has_lines():
                raise
            # To Arrow a header without a line end is no table.
            schema = pa.schema([(name, pa.string()) for name in self.columns])
            return pa.RecordBatchReader.from_batches(schema, [])

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.reader().__arrow_c_stream__(requested_schema)

    def _has_lines(self) -> bool:
        with open_bytes(self.path) as file:
            return file.readline().endswith(b"\n")
