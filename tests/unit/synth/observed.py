"""The records and blocks of a synthetic country as arrays of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Numbers = npt.NDArray[np.int64]
_PLACES = (("TABBLKST", 2), ("TABBLKCOU", 3), ("TABTRACTCE", 6), ("TABBLK", 4))


def numbers(column: pa.ChunkedArray) -> Numbers:
    """A column of digits as numbers; text that is not digits, such as Null, becomes 0."""
    if not pa.types.is_dictionary(column.type):
        plain: Numbers = column.to_numpy().astype(np.int64)
        return plain
    found = [np.empty(0, dtype=np.int64)]
    for chunk in column.chunks:
        values = [int(text) if text.isdigit() else 0 for text in chunk.dictionary.to_pylist()]
        found.append(np.array(values, dtype=np.int64)[chunk.indices.to_numpy()])
    return np.concatenate(found)


def place_numbers(table: pa.Table, columns: int = 4) -> Numbers:
    """State, county, tract and block, or the first so many of them, as one number."""
    key = np.zeros(table.num_rows, dtype=np.int64)
    for name, width in _PLACES[:columns]:
        key = key * 10**width + numbers(table[name])
    return key


@dataclass(frozen=True, eq=False)
class Observed:
    """A country in Parquet, one table for each part file."""

    records: tuple[pa.Table, ...]
    blocks: tuple[pa.Table, ...]
    code_of: dict[str, int]

    @classmethod
    def of(cls, folder: Path, *, puerto_rico: bool = True) -> Observed:
        lines = (folder / "params" / "race-and-ethnicity-codes.txt").read_text(encoding="utf-8").splitlines()[1:]
        names = [line.split("|") for line in lines]
        records, blocks = (
            tuple(
                pq.read_table(part)
                for part in sorted((folder / "data" / f"{stem}.parquet").iterdir())
                if puerto_rico or part.stem != "state-72"
            )
            for stem in ("person-records", "GRF-C")
        )
        return cls(records, blocks, {name: int(code) for code, name in names})

    def column(self, name: str) -> Numbers:
        return np.concatenate([numbers(part[name]) for part in self.records])

    def block_column(self, name: str) -> Numbers:
        return np.concatenate([numbers(part[name]) for part in self.blocks])

    def codes(self) -> Numbers:
        """The race codes of each person, a row each; 0 where there is none."""
        return np.stack([self.column(f"QRACE{number}") for number in range(1, 9)], axis=1)

    def places(self, columns: int) -> Numbers:
        return np.concatenate([place_numbers(part, columns) for part in self.records])

    def block_places(self) -> Numbers:
        return np.concatenate([place_numbers(part) for part in self.blocks])
