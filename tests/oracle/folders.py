"""A folder of part files as pandas reads it.

`pandas.read_parquet` of a folder is the one call of Arrow below, with these arguments, so pandas itself is not needed.
Numbers get the zeros back that they lose on the way through a number or the name of a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq


def people_of(folder: Path, widths: Mapping[str, int]) -> list[dict[str, str | None]]:
    """Each person as text, column by column; None where there is no value."""
    table = pq.read_table(folder, columns=list(widths), partitioning="hive")
    return [{name: _text(row[name], width) for name, width in widths.items()} for row in table.to_pylist()]


def _text(value: object, width: int) -> str | None:
    if value is None:
        return None
    if isinstance(value, float):
        assert value == int(value)
        value = int(value)
    text = str(value)
    return text.zfill(width) if text.isdecimal() else text
