"""What readers must know of regions besides the numbers: which of them contain which.

In: the geography of a run, which is public. Out: one small Parquet table for each run. Promise: with it a reader can
tell which regions overlap, without the geography file.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.files import arrow
from safetab.pipeline.publish import parquet_folder
from safetab.population.geography import NO_REGION, Geography

#: The folder of the block sets, beside those of T1 and T2.
GEOGRAPHY_TABLE = "geography"


def write_geography(geography: Geography, out: Path, stem: str) -> None:
    """Write the block sets of a run: a row for each, a column for each geography level with the region's id.

    Two regions overlap exactly where a row has both, and a region contains another where it is in all its rows.
    """
    columns = {}
    for number, (level, ids) in enumerate(zip(geography.levels, geography.regions, strict=True)):
        index = geography.block_set_regions[:, number]
        columns[level.name] = arrow.texts(ids).take(arrow.numbers(index, index == NO_REGION))
    # Block sets are numbered in the order of their regions: rows say nothing about the order of the geography file.
    file = parquet_folder(out, GEOGRAPHY_TABLE) / f"{stem}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), file, compression="zstd")
