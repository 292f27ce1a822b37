"""Geography: from blocks to block sets to regions.

In: the geography file's columns as text. Out: for one run, every region of every geography level, and the blocks
folded into block sets. Promise: two blocks are in one block set exactly when they lie in the same regions (or in none)
at every level, so counting people by block set loses nothing the release can publish. Regions come from here and never
from the records: a region without people is tabulated too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from safetab.files import arrow
from safetab.rules.labels import one_line

#: The region index of a block set that lies in no region of a level.
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
    #: The column with the names of the regions; without one they have ids alone.
    name_column: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Geography:
    """The regions of one run and the block sets its blocks fold into."""

    levels: tuple[GeographyLevel, ...]
    #: Region ids of each level, sorted.
    regions: tuple[tuple[str, ...], ...]
    #: One row for each block set, one column for each level: the index into that level's `regions`, or NO_REGION.
    block_set_regions: npt.NDArray[np.int32]
    #: The columns that name a block, one row for each block.
    blocks: pa.Table
    #: The block set of each block. No column of `blocks`, whose names are the release's to choose.
    block_set_of_block: npt.NDArray[np.int32]
    #: What the column of the run's filter holds in the blocks of the file that the run does not take.
    left_out: tuple[str, ...] = ()
    #: The names of each level's regions, by id; a region without a name is not in it.
    names: tuple[Mapping[str, str], ...] = ()

    @property
    def block_sets(self) -> int:
        return int(self.block_set_regions.shape[0])

    def level_index(self, name: str) -> int:
        return [level.name for level in self.levels].index(name)

    def without_blocks(self) -> Geography:
        """The same regions and block sets. Blocks take most of the memory, and only reading records needs them."""
        return replace(
            self, blocks=pa.Table.from_batches([], self.blocks.schema), block_set_of_block=np.empty(0, dtype=np.int32)
        )


def fold(table: pa.Table, block_columns: Sequence[str], levels: Sequence[GeographyLevel]) -> Geography:
    """Fold a table of blocks, all columns text, into block sets and regions."""
    encoded = [regions_of(table, level) for level in levels]
    indices = [index for index, _ in encoded]
    block_set_of_block, some_block = _distinct_rows(indices, [len(ids) for _, ids in encoded], table.num_rows)
    block_set_regions = np.empty((len(some_block), len(levels)), dtype=np.int32)
    for column, index in enumerate(indices):
        block_set_regions[:, column] = index[some_block]
    names = tuple(_names_of(table, level, index, ids) for level, (index, ids) in zip(levels, encoded, strict=True))
    return Geography(
        levels=tuple(levels),
        regions=tuple(ids for _, ids in encoded),
        block_set_regions=block_set_regions,
        blocks=table.select(list(block_columns)),
        block_set_of_block=block_set_of_block,
        names=names,
    )


def _names_of(
    table: pa.Table, level: GeographyLevel, region_of_block: npt.NDArray[np.int32], ids: Sequence[str]
) -> dict[str, str]:
    """The name of each region that has one: the first that a block of it gives."""
    if not level.name_column:
        return {}
    # A nation has millions of blocks and few regions: only the first block of each pair is looked at.
    encoded = pc.dictionary_encode(table[level.name_column]).combine_chunks()
    name_of_block, spelled = arrow.values(encoded.indices), encoded.dictionary.to_pylist()
    _, first = np.unique(region_of_block.astype(np.int64) * len(spelled) + name_of_block, return_index=True)
    names: dict[str, str] = {}
    for block in np.sort(first):
        region, name = region_of_block[block], one_line(spelled[name_of_block[block]])
        if region != NO_REGION and name:
            names.setdefault(ids[region], name)
    return names


def regions_of(table: pa.Table, level: GeographyLevel) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Each block's region index at one level, and the region ids it points into."""
    if not level.columns:
        return np.zeros(table.num_rows, dtype=np.int32), (level.region_id,)
    names = pc.binary_join_element_wise(*(table[column] for column in level.columns), arrow.text(""))
    for column, value in level.absent.items():
        names = pc.if_else(pc.equal(table[column], arrow.text(value)), arrow.text(None), names)
    encoded = pc.dictionary_encode(names).combine_chunks()
    order = arrow.values(pc.array_sort_indices(encoded.dictionary))
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    # A block that lies in no region points at the last place.
    rank[-1] = NO_REGION
    index = arrow.values(pc.fill_null(encoded.indices, arrow.number(NO_REGION, np.int32)))
    return rank[index], tuple(encoded.dictionary.take(arrow.numbers(order)).to_pylist())


def _distinct_rows(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int], rows: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Number the distinct rows of some index columns in their order; each row's number, and some row of each number.

    A nation has millions of blocks and far fewer block sets: only distinct rows are sorted.
    """
    number, distinct = np.zeros(rows, dtype=np.int32), min(rows, 1)
    for column, size in zip(columns, sizes, strict=True):
        # Numbers and regions are both below 2^31, so the packed key cannot overflow.
        packed = number * np.int64(size + 1)
        packed += column
        packed += 1
        encoded = pc.dictionary_encode(arrow.numbers(packed))
        order = np.argsort(arrow.values(encoded.dictionary))
        distinct = len(order)
        rank = np.empty(distinct, dtype=np.int32)
        rank[order] = np.arange(distinct, dtype=np.int32)
        number = rank[arrow.values(encoded.indices)]
    some_row = np.zeros(distinct, dtype=np.int32)
    some_row[number] = np.arange(rows, dtype=np.int32)
    return number, some_row


def region_of_finer(
    finer_of_block_set: npt.NDArray[np.int32], region_of_block_set: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32] | None:
    """The region that each region of a finer level lies in; None where the regions are not made up of finer ones."""
    inside = finer_of_block_set != NO_REGION
    if np.any(region_of_block_set[~inside] != NO_REGION):
        return None
    regions = np.full(finer_of_block_set.max(initial=NO_REGION) + 1, NO_REGION, dtype=np.int32)
    regions[finer_of_block_set[inside]] = region_of_block_set[inside]
    return regions if np.array_equal(regions[finer_of_block_set[inside]], region_of_block_set[inside]) else None
