"""The columns of T1 and T2: names, types, and what each of them promises, given what.

In: which columns a release has in its text files, its iterations and regions. Out: the schemas of the files and the
content of data-dictionary.json. Promise: what is written has exactly these columns in this order, and every one of them
is explained to the reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from safetab.params.release import TextColumns
from safetab.population.iterations import Iteration

_TYPES = {
    "REGION_ID": pa.string(),
    "REGION_TYPE": pa.string(),
    "ITERATION_CODE": pa.string(),
    "AGESTART": pa.string(),
    "AGEEND": pa.string(),
    "SEX": pa.string(),
    "COUNT": pa.int64(),
    "STAT_LEVEL": pa.int8(),
    "NOISE": pa.string(),
    "VARIANCE": pa.float64(),
    "MOE_95": pa.int64(),
    "ESTIMATE": pa.int64(),
    "LOW_95": pa.int64(),
    "HIGH_95": pa.int64(),
    "STAGE_1_COUNT": pa.int64(),
}
_OF_T1_ALONE = {"STAGE_1_COUNT"}
_OF_T2_ALONE = {"AGESTART", "AGEEND", "SEX"}

#: All columns: those of the Parquet files.
ALL_COLUMNS = {
    "t1": pa.schema([(name, kind) for name, kind in _TYPES.items() if name not in _OF_T2_ALONE]),
    "t2": pa.schema([(name, kind) for name, kind in _TYPES.items() if name not in _OF_T1_ALONE]),
}

_INTERVAL = (
    "In T1 this is so for every true number, given that the group has this STAT_LEVEL and, where small totals are "
    "suppressed, that it was not; in T2 given the STAT_LEVEL. A whole number of at least 0; without noise it is COUNT."
)

#: What each column means, for data-dictionary.json.
MEANING = {
    "REGION_ID": "The region's id; unique within its type.",
    "REGION_TYPE": "The geography level of the region.",
    "ITERATION_CODE": "The characteristic iteration, as in the iteration files.",
    "AGESTART": "First age of the age bin, in years; * in rows that sum over all ages, and in a release without ages.",
    "AGEEND": "Last age of the age bin, inclusive; * where AGESTART is *.",
    "SEX": "Sex, as in the records; * in a release without sex.",
    "COUNT": "Noisy number of people: one noisy count, or the sum of the noisy cells of a sex by age table. T1 and T2 "
    "agree in it. It promises what VARIANCE and MOE_95 say, and nothing where these are empty.",
    "STAT_LEVEL": "Detail chosen from the first noisy total: 0 a total; 1, 2, 3 coarse, medium, fine age bins, or as "
    "many of these as the release has.",
    "NOISE": "The kind of noise in COUNT: discrete_gaussian, geometric, or none (not private).",
    "VARIANCE": "Variance of the noise in COUNT, given the STAT_LEVEL. Empty where MOE_95 is empty, and in every row "
    "of a release that sets negative counts to 0.",
    "MOE_95": "95 % margin of error: |COUNT - true number| is at most this with a probability of at least 95 %, given "
    "the STAT_LEVEL. Empty where no margin is true: in a release that suppresses small totals, in totals of local "
    "groups at stat level 0; in a release that sets negative counts to 0, in sums of several counts.",
    "ESTIMATE": "The best single number: in T1 from all noisy counts of the group, STAGE_1_COUNT included; in T2 from "
    "the noisy counts that COUNT is made of. It is too low as often as too high, as nearly as whole numbers of at "
    "least 0 allow, given the STAT_LEVEL and that the row was not suppressed. Estimates of parts do not add up to that "
    "of the whole.",
    "LOW_95": "The true number is from LOW_95 to HIGH_95 with a probability of at least 95 %. " + _INTERVAL,
    "HIGH_95": "The upper end of the interval; see LOW_95. " + _INTERVAL,
    "STAGE_1_COUNT": "The first noisy total, which chose the STAT_LEVEL; with it anybody can repeat the estimates. By "
    "itself it promises nothing, because the row has this STAT_LEVEL only where it lies between two thresholds. "
    "Empty for groups that get a total only, which have no stage 1.",
}


def text_columns(name: str, columns: TextColumns) -> pa.Schema:
    """The columns of a table's text files."""
    schema = ALL_COLUMNS[name]
    # The Bureau's files end with COUNT.
    return schema if columns is TextColumns.ALL else pa.schema(list(schema)[: schema.get_field_index("COUNT") + 1])


def data_dictionary(
    columns: TextColumns,
    iterations: Iterable[Iteration],
    regions: Mapping[str, Mapping[str, str]] | None = None,
    detail: str = "sex by age",
) -> dict[str, object]:
    """What the tables, their columns, the iteration codes and the ids of regions are, for readers of the release.

    `regions` has the names of the regions of each type, by id; `detail` is what T2 is by, nothing if no group has a
    table.
    """
    descriptions = {"t1": "Total population of each population group.", "t2": _about_t2(detail)}
    described: dict[str, object] = {
        name: {
            "description": descriptions[name],
            "columns": [
                {
                    "name": field.name,
                    "type": str(field.type),
                    "meaning": MEANING[field.name],
                    "in_text_file": field in text_columns(name, columns),
                }
                for field in schema
            ],
        }
        for name, schema in ALL_COLUMNS.items()
    }
    names = {iteration.code: iteration.name for iteration in iterations}
    return described | {"iterations": names, "regions": regions or {}}


def _about_t2(detail: str) -> str:
    if not detail:
        return "No rows: the release has neither sex nor age, so every population group has a total in T1 and no more."
    return f"{detail.capitalize()} of each population group at stat level 1 or higher."
