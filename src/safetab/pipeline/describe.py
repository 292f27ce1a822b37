"""What readers must know besides the numbers: who is in a group, which regions contain which, how ages are cut.

In: the release, its iterations, the geography of a run. Out: entries of the data dictionary, and one small Parquet
table for each run. Everything here comes from public files. The promise: with these and the ledger, a reader can tell
which groups and regions overlap and which population groups were measured, without the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.files import arrow
from safetab.params.release import Release
from safetab.pipeline.publish import parquet_folder
from safetab.population.geography import NO_REGION, Geography
from safetab.population.iterations import Iteration

#: The folder of the block sets, beside those of T1 and T2.
GEOGRAPHY_TABLE = "geography"


def group_definitions(release: Release, iterations: Iterable[Iteration]) -> dict[str, object]:
    """What the data dictionary says of groups, sexes and ages."""
    return {
        "groups": {
            iteration.code: {
                "kind": iteration.kind.value,
                "iteration_level": iteration.level,
                "reach": iteration.reach.value if iteration.reach else None,
                "codes": sorted(iteration.members),
            }
            for iteration in iterations
        },
        "max_race_codes": release.max_race_codes,
        "detail": release.detail,
        "sexes": list(release.columns.sexes),
        "age_starts": {str(level): list(bins.starts) for level, bins in enumerate(release.age_bins, start=1)},
        "oldest_age": release.age_bins[0].oldest,
    }


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
