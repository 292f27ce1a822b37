"""Writing T1 and T2: pipe-separated text as the Bureau has it, and Parquet with the precision of each number.

In: rows in the order of their keys. Out: files in the output folder. Everything here is noisy, and so public.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from safetab.pipeline.assemble import ALL_AGES, KeyOrder, Rows
from safetab.pipeline.precision import Precision
from safetab.population.ages import AgeBins
from safetab.population.iterations import Iteration

NOT_PRIVATE_MARK = "NOT-PRIVATE"
_ROWS_AT_A_TIME = 1_000_000
_KEYS = [("REGION_ID", pa.string()), ("REGION_TYPE", pa.string()), ("ITERATION_CODE", pa.string())]
_CELL = [("AGESTART", pa.string()), ("AGEEND", pa.string()), ("SEX", pa.string())]
_COUNT = [("COUNT", pa.int64())]
_PRECISION = [("STAT_LEVEL", pa.int8()), ("NOISE", pa.string()), ("VARIANCE", pa.float64()), ("MOE_95", pa.int64())]

#: What each column means, for data-dictionary.json.
MEANING = {
    "REGION_ID": "The region's id; unique within its type.",
    "REGION_TYPE": "The geography level of the region.",
    "ITERATION_CODE": "The characteristic iteration, as in the iteration files.",
    "AGESTART": "First age of the age bin, in years; * in rows that sum over all ages.",
    "AGEEND": "Last age of the age bin, inclusive; * in rows that sum over all ages.",
    "SEX": "Sex, as in the records.",
    "COUNT": "Noisy number of people.",
    "STAT_LEVEL": "Detail chosen for the group from its first noisy total: 0 total only, 1 to 3 ever finer age bins.",
    "NOISE": "The kind of noise in COUNT: discrete_gaussian, geometric, or none (not private).",
    "VARIANCE": "Variance of the noise in COUNT, before negative counts are set to 0 where the release asks for that.",
    "MOE_95": "95 % margin of error: |COUNT - true number| is at most this with a chance of at least 95 %.",
}


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The words that row numbers stand for."""

    order: KeyOrder
    age_bins: tuple[AgeBins, ...]
    sexes: tuple[str, ...]
    noise: str
    precisions: Sequence[Precision]


def file_stem(run: str, *, is_private: bool) -> str:
    """The name of a run's files; one that is not private says so."""
    return run if is_private else f"{run}.{NOT_PRIVATE_MARK}"


def write_rows(rows: Rows, labels: Labels, folder: Path, stem: str) -> None:
    """Write one table of one run as text and as Parquet."""
    folder.mkdir(exist_ok=True)
    published = pa.schema([*_KEYS, *(_CELL if rows.age is not None else []), *_COUNT])
    full = pa.schema([*published, *(pa.field(name, kind) for name, kind in _PRECISION)])
    options = pa_csv.WriteOptions(delimiter="|", quoting_style="none", include_header=False)
    with (folder / f"{stem}.csv").open("wb") as text:
        text.write(("|".join(published.names) + "\n").encode())
        with (
            pq.ParquetWriter(folder / f"{stem}.parquet", full, compression="zstd") as parquet,
            pa_csv.CSVWriter(text, published, write_options=options) as csv,
        ):
            for table in _tables(rows, labels, full):
                parquet.write_table(table)
                csv.write_table(table.select(published.names))


def _tables(rows: Rows, labels: Labels, schema: pa.Schema) -> Iterator[pa.Table]:
    region_ids, region_types = pa.array(labels.order.region_ids), pa.array(labels.order.region_types)
    codes = pa.array(labels.order.iteration_codes)
    variance = np.array([precision.variance for precision in labels.precisions])
    moe = np.array([precision.moe_95 for precision in labels.precisions], dtype=np.int64)
    for first in range(0, len(rows), _ROWS_AT_A_TIME):
        part = slice(first, first + _ROWS_AT_A_TIME)
        region, iteration = np.divmod(rows.key[part], len(codes))
        columns: dict[str, object] = {
            "REGION_ID": region_ids.take(pa.array(region)),
            "REGION_TYPE": region_types.take(pa.array(region)),
            "ITERATION_CODE": codes.take(pa.array(iteration)),
            "COUNT": rows.count[part],
            "STAT_LEVEL": rows.stat_level[part],
            "NOISE": pa.repeat(labels.noise, len(region)),
            "VARIANCE": variance[rows.precision[part]],
            "MOE_95": moe[rows.precision[part]],
        }
        if rows.age is not None and rows.sex is not None:
            starts, ends, number = _age_labels(labels.age_bins)
            cell = pa.array(number[rows.stat_level[part], rows.age[part]])
            columns |= {"AGESTART": starts.take(cell), "AGEEND": ends.take(cell)}
            columns["SEX"] = pa.array(labels.sexes).take(pa.array(rows.sex[part]))
        yield pa.table([columns[name] for name in schema.names], schema=schema)


def _age_labels(age_bins: tuple[AgeBins, ...]) -> tuple[pa.Array, pa.Array, np.ndarray]:
    """Labels of every age bin of every stat level, and the number of each (stat level, age bin) among them."""
    starts, ends = ["*"], ["*"]
    widest = max(len(bins) for bins in age_bins)
    # A column more than there are bins: ALL_AGES indexes the last one.
    number = np.zeros((len(age_bins) + 1, widest + 1), dtype=np.int64)
    for stat_level, bins in enumerate(age_bins, start=1):
        for age, (start, end) in enumerate(bins.labels):
            number[stat_level, age] = len(starts)
            starts.append(str(start))
            ends.append(str(end))
        number[stat_level, ALL_AGES] = 0
    return pa.array(starts), pa.array(ends), number


def data_dictionary(iterations: Iterable[Iteration]) -> dict[str, object]:
    """What the tables, their columns and the iteration codes are, for people and programs that read the release."""
    tables = {
        "t1": ("Total population of each population group.", [*_KEYS, *_COUNT, *_PRECISION]),
        "t2": ("Sex by age of each population group at stat level 1 to 3.", [*_KEYS, *_CELL, *_COUNT, *_PRECISION]),
    }
    described: dict[str, object] = {
        name: {
            "description": text,
            "columns": [
                {
                    "name": column,
                    "type": str(kind),
                    "meaning": MEANING[column],
                    "in_text_file": (column, kind) not in _PRECISION,
                }
                for column, kind in columns
            ],
        }
        for name, (text, columns) in tables.items()
    }
    return described | {"iterations": {iteration.code: iteration.name for iteration in iterations}}
