"""Geography: from blocks to cells to regions.

In: the geography file's columns as text. Out: for one run, every region of every geography level, and the blocks
folded into cells. Promise: two blocks are in one cell exactly when they lie in the same regions (or in none) at every
level, so counting people by cell loses nothing the release can publish. Regions come from here and never from the
records: a region without people is tabulated too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

#: The region index of a cell that lies in no region of a level.
NO_REGION = -1


@dataclass(frozen=True, slots=True)
class GeographyLevel:
    """How a block's columns name its region of one level.

    A region's id is the text of `columns` put end to end, or `region_id` for the one region that holds everything.
    A block has no region where a column has the value `absent` gives for it. `local` levels lie below the state: they
    tabulate the coarse-only iterations, not the detailed-only ones, and their counts may be suppressed.
    """

    name: str
    columns: tuple[str, ...]
    region_id: str = ""
    absent: Mapping[str, str] = field(default_factory=dict)
    local: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Geography:
    """The regions of one run and the cells its blocks fold into."""

    levels: tuple[GeographyLevel, ...]
    #: Region ids of each level, sorted.
    regions: tuple[tuple[str, ...], ...]
    #: One row a cell, one column a level: the index into that level's `regions`, or NO_REGION.
    cell_regions: npt.NDArray[np.int32]
    #: The columns that name a block, and the `cell` it is in.
    blocks: pa.Table
    #: What the column of the run's filter holds in the blocks of the file that the run does not take.
    left_out: tuple[str, ...] = ()

    @property
    def cells(self) -> int:
        return int(self.cell_regions.shape[0])

    def level_index(self, name: str) -> int:
        return [level.name for level in self.levels].index(name)


def fold(table: pa.Table, block_columns: Sequence[str], levels: Sequence[GeographyLevel]) -> Geography:
    """Fold a table of blocks, all columns text, into cells and regions."""
    encoded = [_regions_of(table, level) for level in levels]
    indices = [index for index, _ in encoded]
    cell_of_block, first_block = _distinct_rows(indices, [len(ids) for _, ids in encoded], table.num_rows)
    blocks = table.select(list(block_columns)).append_column("cell", pa.array(cell_of_block))
    cell_regions = np.empty((len(first_block), len(levels)), dtype=np.int32)
    for column, index in enumerate(indices):
        cell_regions[:, column] = index[first_block]
    return Geography(tuple(levels), tuple(ids for _, ids in encoded), cell_regions, blocks)


def _regions_of(table: pa.Table, level: GeographyLevel) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Each block's region index at one level, and the region ids it points into."""
    if not level.columns:
        return np.zeros(table.num_rows, dtype=np.int32), (level.region_id,)
    names = pc.binary_join_element_wise(*(table[column] for column in level.columns), "")
    for column, value in level.absent.items():
        names = pc.if_else(pc.equal(table[column], value), pa.scalar(None, pa.string()), names)
    encoded = pc.dictionary_encode(names).combine_chunks()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    index = encoded.indices.fill_null(NO_REGION).to_numpy()
    region = np.where(index >= 0, rank[index], NO_REGION).astype(np.int32) if len(order) else index.astype(np.int32)
    return region, tuple(encoded.dictionary.take(pa.array(order)).to_pylist())


def _distinct_rows(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int], rows: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Number the distinct rows of some index columns; returns each row's number and a first row of each number."""
    number = np.zeros(rows, dtype=np.int64)
    first = np.zeros(min(rows, 1), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        # Numbers and regions are both below 2^31, so the packed key cannot overflow.
        packed = number * (size + 1) + (column + 1)
        _, first, number = np.unique(packed, return_index=True, return_inverse=True)
    return number.astype(np.int32), first


def region_of_part(
    part_of_cell: npt.NDArray[np.int32], region_of_cell: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32] | None:
    """The region that each region of a finer level is a part of; None where regions are not made up of such parts."""
    inside = part_of_cell != NO_REGION
    if np.any(region_of_cell[~inside] != NO_REGION):
        return None
    regions = np.full(part_of_cell.max(initial=NO_REGION) + 1, NO_REGION, dtype=np.int32)
    regions[part_of_cell[inside]] = region_of_cell[inside]
    return regions if np.array_equal(regions[part_of_cell[inside]], region_of_cell[inside]) else None
