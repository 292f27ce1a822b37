"""Rows of T1 and T2, fetched by DuckDB where they are asked for.

In: the Parquet files of one run. Out: NumPy columns of the rows of some groups in some regions. The promise: a file is
read no further than a question needs, and nothing is read before the first question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from sys import maxsize
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from safetab.files import arrow

if TYPE_CHECKING:
    import duckdb

#: REGION_TYPE, REGION_ID and ITERATION_CODE of a row.
Key = tuple[str, str, str]
#: Up to so many values are written into a query, so that DuckDB can skip what no row group has.
_WRITTEN_OUT = 500


@dataclass(frozen=True, slots=True)
class Total:
    """A row of T1. The last four are None in a release that has no estimates."""

    count: int
    stat_level: int
    stage_1_count: int | None
    estimate: int | None
    low_95: int | None
    high_95: int | None


class RowsOfRun:
    """The tables of one run."""

    def __init__(self, t1: Path, t2: Path) -> None:
        self.files = {"t1": t1, "t2": t2}

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        return duckdb.connect(":memory:")

    @cached_property
    def has_estimates(self) -> bool:
        """Whether T1 has estimates and stage 1 counts."""
        return {"STAGE_1_COUNT", "LOW_95"} <= set(pq.read_schema(self.files["t1"]).names)

    def totals(self, keys: Iterable[Key]) -> dict[Key, Total]:
        """The rows of T1 with these keys; those that were not published are not in it."""
        found = self.table("t1", list(dict.fromkeys(keys)), self._total_columns)
        columns = [found[name].to_pylist() for name in ("REGION_TYPE", "REGION_ID", "ITERATION_CODE")]
        values = zip(*(found[name].to_pylist() for name in self._total_columns), strict=True)
        blank = () if self.has_estimates else (None,) * 4
        return {key: Total(*row, *blank) for key, row in zip(zip(*columns, strict=True), values, strict=True)}

    @property
    def _total_columns(self) -> list[str]:
        more = ["STAGE_1_COUNT", "ESTIMATE", "LOW_95", "HIGH_95"] if self.has_estimates else []
        return ["COUNT", "STAT_LEVEL", *more]

    def cells(self, keys: Iterable[Key], *, has_ages: bool) -> dict[Key, list[tuple[int, int, str, int]]]:
        """The cells of T2: first age, last age, sex, count; without the rows that sum over all ages.

        Where the release has no ages, cells are of all ages, which no range of ages includes.
        """
        where = "AGESTART <> '*'" if has_ages else "true"
        found = self.table("t2", list(dict.fromkeys(keys)), ["AGESTART", "AGEEND", "SEX", "COUNT"], where)
        cells: dict[Key, list[tuple[int, int, str, int]]] = {}
        for row in found.to_pylist():
            key = row["REGION_TYPE"], row["REGION_ID"], row["ITERATION_CODE"]
            first, last = (int(row["AGESTART"]), int(row["AGEEND"])) if has_ages else (0, maxsize)
            cells.setdefault(key, []).append((first, last, row["SEX"], row["COUNT"]))
        return cells

    def table(self, name: str, keys: Sequence[Key], columns: Sequence[str], where: str = "true") -> pa.Table:
        """Columns of a table for some keys, in no order."""
        names = ("REGION_TYPE", "REGION_ID", "ITERATION_CODE")
        asked = pa.table({column: arrow.texts([key[place] for key in keys]) for place, column in enumerate(names)})
        narrow, values = [where], []
        for column in asked.column_names:
            distinct = sorted(set(asked[column].to_pylist()))
            if 0 < len(distinct) <= _WRITTEN_OUT:
                narrow.append(f"{column} IN ({', '.join('?' * len(distinct))})")
                values += distinct
            elif distinct:
                narrow.append(f"{column} BETWEEN ? AND ?")
                values += [distinct[0], distinct[-1]]
        wanted = ", ".join(["REGION_TYPE", "REGION_ID", "ITERATION_CODE", *columns])
        rows = f"SELECT {wanted} FROM read_parquet(?) WHERE {' AND '.join(narrow)}"  # noqa: S608
        database = self._database
        database.register("asked", asked)
        try:
            query = f"SELECT {wanted} FROM ({rows}) SEMI JOIN asked USING (REGION_TYPE, REGION_ID, ITERATION_CODE)"  # noqa: S608
            return database.sql(query, params=[str(self.files[name]), *values]).to_arrow_table()
        finally:
            database.unregister("asked")

    def estimates(self, keys: pa.Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of many rows at once: the places in `keys` of those that there are, and their ESTIMATE, LOW_95, HIGH_95."""
        database, columns = self._database, ["ESTIMATE", "LOW_95", "HIGH_95"]
        database.register("asked", keys.append_column("PLACE", arrow.numbers(np.arange(keys.num_rows))))
        try:
            query = (
                f"SELECT PLACE, {', '.join(columns)} FROM read_parquet(?) "  # noqa: S608
                "JOIN asked USING (REGION_TYPE, REGION_ID, ITERATION_CODE)"
            )
            found = database.sql(query, params=[str(self.files["t1"])]).to_arrow_table()
        finally:
            database.unregister("asked")
        return arrow.values(found["PLACE"]), np.stack([arrow.values(found[column]) for column in columns])
