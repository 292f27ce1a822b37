"""Writing T1 and T2: pipe-separated text, and Parquet with the precision and the estimate of each number.

In: rows in the order of their keys. Out: files in the output folder, text in `t1/` and `t2/`, Parquet in `parquet/t1/`
and `parquet/t2/`. Everything here is noisy, and so public. Promise: text has the columns of the Parquet files, or
exactly those of the Bureau; a folder of Parquet has nothing else in it, so any program reads it as one table of all
runs. What each column promises is said in `columns.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from safetab.files import arrow
from safetab.params.release import TextColumns
from safetab.pipeline.assemble import ALL_AGES, NO_STAGE_1, KeyOrder, Rows
from safetab.pipeline.columns import ALL_COLUMNS, text_columns
from safetab.pipeline.precision import Precision
from safetab.population.ages import AgeBins

DICTIONARY_FILE = "data-dictionary.json"
NOT_PRIVATE_MARK = "NOT-PRIVATE"
#: The folder of the Parquet tables; text and Parquet in one folder would be no table to anybody.
_PARQUET = "parquet"
_ROWS_AT_A_TIME = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The words that row numbers stand for."""

    order: KeyOrder
    age_bins: tuple[AgeBins, ...]
    sexes: tuple[str, ...]
    noise: str
    precisions: Sequence[Precision]
    text_columns: TextColumns


def file_stem(run: str, *, is_private: bool) -> str:
    """The name of a run's files; one that is not private says so."""
    return run if is_private else f"{run}.{NOT_PRIVATE_MARK}"


def parquet_folder(out: Path, name: str) -> Path:
    """Where a release has a table as Parquet, one file for each run."""
    return out / _PARQUET / name


def tables_of_runs(
    out: Path, name: str, *, columns: list[str] | None = None, filters: Any = None
) -> dict[str, pa.Table]:
    """A table of a finished release, by the name of a run's files; columns and filters are pyarrow's."""
    parts = sorted(parquet_folder(out, name).glob("*.parquet"))
    if filters is not None:
        return {part.stem: pq.read_table(part, columns=columns, filters=filters) for part in parts}
    # read_table imports all of Arrow's datasets, and these import pandas where it is installed.
    return {part.stem: _whole(part, columns) for part in parts}


def _whole(part: Path, columns: list[str] | None) -> pa.Table:
    with pq.ParquetFile(part) as file:
        return file.read(columns=columns)


def read_rows(out: Path, name: str) -> pa.Table:
    """A table of a finished release, all runs; with the names of regions where the release has any."""
    rows = pa.concat_tables(tables_of_runs(out, name).values())
    names = read_dictionary(out)["regions"]
    if not names:
        return rows
    # No label has a bar. There are far fewer regions than rows.
    keys = pc.binary_join_element_wise(rows["REGION_TYPE"], rows["REGION_ID"], arrow.text("|"))
    encoded = pc.dictionary_encode(keys.combine_chunks())
    pairs = (key.split("|") for key in encoded.dictionary.to_pylist())
    named = arrow.texts([names.get(kind, {}).get(region) for kind, region in pairs])
    return rows.add_column(1, "REGION_NAME", named.take(encoded.indices))


def read_dictionary(out: Path) -> dict[str, Any]:
    """The data dictionary of a finished release. One written before regions had names has none."""
    found: dict[str, Any] = json.loads((out / DICTIONARY_FILE).read_text(encoding="utf-8"))
    return {"regions": {}} | found


def write_rows(rows: Rows, labels: Labels, out: Path, name: str, stem: str) -> None:
    """Write one table of one run as text and as Parquet."""
    text_file, parquet_file = out / name / f"{stem}.csv", parquet_folder(out, name) / f"{stem}.parquet"
    for file in (text_file, parquet_file):
        file.parent.mkdir(parents=True, exist_ok=True)
    published, full = text_columns(name, labels.text_columns), ALL_COLUMNS[name]
    options = pa_csv.WriteOptions(delimiter="|", quoting_style="none", include_header=False)
    with text_file.open("wb") as text:
        text.write(("|".join(published.names) + "\n").encode())
        with (
            pq.ParquetWriter(parquet_file, full, compression="zstd") as parquet,
            pa_csv.CSVWriter(text, published, write_options=options) as csv,
        ):
            for table in _tables(rows, labels, full):
                parquet.write_table(table)
                csv.write_table(table.select(published.names))


def _tables(rows: Rows, labels: Labels, schema: pa.Schema) -> Iterator[pa.Table]:
    region_ids, region_types = arrow.texts(labels.order.region_ids), arrow.texts(labels.order.region_types)
    codes = arrow.texts(labels.order.iteration_codes)
    variance = arrow.known_numbers([precision.variance for precision in labels.precisions], np.float64)
    moe = arrow.known_numbers([precision.moe_95 for precision in labels.precisions], np.int64)
    for first in range(0, len(rows), _ROWS_AT_A_TIME):
        part = slice(first, first + _ROWS_AT_A_TIME)
        region, iteration = np.divmod(rows.key[part], len(codes))
        precision = arrow.numbers(rows.precision[part])
        columns: dict[str, object] = {
            "REGION_ID": region_ids.take(arrow.numbers(region)),
            "REGION_TYPE": region_types.take(arrow.numbers(region)),
            "ITERATION_CODE": codes.take(arrow.numbers(iteration)),
            "COUNT": arrow.numbers(rows.count[part]),
            "STAT_LEVEL": arrow.numbers(rows.stat_level[part]),
            "NOISE": pa.repeat(arrow.text(labels.noise), len(region)),
            "VARIANCE": variance.take(precision),
            "MOE_95": moe.take(precision),
            "ESTIMATE": arrow.numbers(rows.estimates.estimate[part]),
            "LOW_95": arrow.numbers(rows.estimates.low_95[part]),
            "HIGH_95": arrow.numbers(rows.estimates.high_95[part]),
        }
        if rows.stage_1_count is not None:
            stage_1 = rows.stage_1_count[part]
            columns["STAGE_1_COUNT"] = arrow.numbers(stage_1, stage_1 == NO_STAGE_1)
        if rows.age is not None and rows.sex is not None:
            starts, ends, number = _age_labels(labels.age_bins)
            cell = arrow.numbers(number[rows.stat_level[part], rows.age[part]])
            columns |= {"AGESTART": starts.take(cell), "AGEEND": ends.take(cell)}
            columns["SEX"] = arrow.texts(labels.sexes).take(arrow.numbers(rows.sex[part]))
        yield pa.table([columns[name] for name in schema.names], schema=schema)


def _age_labels(age_bins: tuple[AgeBins, ...]) -> tuple[pa.Array, pa.Array, np.ndarray]:
    """Labels of every age bin of every stat level, and the number of each (stat level, age bin) among them."""
    starts, ends = ["*"], ["*"]
    widest = max(len(bins) for bins in age_bins)
    # A column more than there are bins: ALL_AGES indexes the last one.
    number = np.zeros((len(age_bins) + 1, widest + 1), dtype=np.int64)
    for stat_level, bins in enumerate(age_bins, start=1):
        # A release without ages has one bin of everybody; its label is the first one.
        for age, (start, end) in enumerate(bins.labels if bins.has_ages else ()):
            number[stat_level, age] = len(starts)
            starts.append(str(start))
            ends.append(str(end))
        number[stat_level, ALL_AGES] = 0
    return arrow.texts(starts), arrow.texts(ends), number
