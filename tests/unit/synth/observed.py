"""What a synthetic country turned out to be: its records in arrays, and the figures that are compared with targets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

RACE = [f"QRACE{number}" for number in range(1, 9)]


@dataclass(frozen=True, eq=False)
class Observed:
    """The records of a country in Parquet."""

    records: pa.Table
    blocks: pa.Table
    names: dict[str, str]

    @classmethod
    def of(cls, folder: Path) -> Observed:
        lines = (folder / "params" / "race-and-ethnicity-codes.txt").read_text(encoding="utf-8").splitlines()[1:]
        names = {code: name for code, name in (line.split("|") for line in lines)}
        return cls(_read(folder / "data" / "person-records.parquet"), _read(folder / "data" / "GRF-C.parquet"), names)

    def codes(self) -> npt.NDArray[np.int64]:
        """The race codes of each person as numbers, a row each; 0 where there is none."""
        columns = [np.where(column == "Null", "0", column).astype(np.int64) for column in map(self.text, RACE)]
        return np.stack(columns, axis=1)

    def text(self, name: str) -> npt.NDArray[np.str_]:
        return np.array(self.records[name].cast(pa.string()).to_pylist())

    def ages(self) -> npt.NDArray[np.int64]:
        ages: npt.NDArray[np.int64] = self.records["QAGE"].to_numpy().astype(np.int64)
        return ages

    def block_names(self) -> npt.NDArray[np.str_]:
        """State, county and tract of each person."""
        parts = [self.text(name) for name in ("TABBLKST", "TABBLKCOU", "TABTRACTCE")]
        return np.char.add(np.char.add(parts[0], parts[1]), parts[2])


def _read(folder: Path) -> pa.Table:
    return pa.concat_tables(
        [
            pa.table({name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
                      for name, column in zip(table.column_names, table.columns, strict=True)})
            for table in (pq.read_table(part) for part in sorted(folder.iterdir()))
        ]
    )  # fmt: skip
