"""Tables on their way to an engine, which joins them to the records, and counts on their way back.

In: geography, age bins, the iterations of each kind, groups chosen for tables. Out: Arrow tables of small integers.
Promise: every age of the release has one atom and no other age has any, so that an age without an atom is a fault;
block sets that lie in no place and kinds that are in no iteration are not listed, so that joining drops them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from safetab.engines.arrays.kinds import KindMembers
from safetab.engines.compact import NumberedTable
from safetab.engines.layout import RecordLayout
from safetab.engines.protocol import IntArray
from safetab.files import arrow
from safetab.population.geography import NO_REGION, Geography


def blocks(geography: Geography, records: NumberedTable | None = None) -> pa.Table:
    """The block set of each block; the columns that name a block are b0, b1, ...

    Where the records have numbers for texts, so have the blocks.
    """
    table = geography.blocks
    for place, name in enumerate(table.column_names if records is not None else ()):
        if records is not None and name in records.spelling:
            numbers = [records.spelling[name].numbers(piece) for piece in table[name].chunks]
            table = table.set_column(place, name, pa.chunked_array(numbers, records.table.schema.field(name).type))
    numbered = table.rename_columns([f"b{number}" for number in range(table.num_columns)])
    return numbered.append_column("block_set", arrow.numbers(geography.block_set_of_block))


def atom_of_age(layout: RecordLayout) -> pa.Table:
    """The age atom of each age."""
    atom = layout.age_atoms.bin_of_age()
    return pa.table({"age": arrow.numbers(np.arange(len(atom), dtype=np.int16)), "atom": arrow.numbers(atom)})


def places(of_levels: Sequence[npt.NDArray[np.int32]]) -> pa.Table:
    """The place of each block set that lies in one, for one level or several; no two levels have a place in common."""
    inside = [np.flatnonzero(place_of_block_set != NO_REGION) for place_of_block_set in of_levels]
    place = [place_of_block_set[some] for place_of_block_set, some in zip(of_levels, inside, strict=True)]
    block_set = np.concatenate(inside).astype(np.int32)
    return pa.table({"block_set": arrow.numbers(block_set), "place": arrow.numbers(np.concatenate(place))})


def kinds(keys: Mapping[str, IntArray], members: KindMembers) -> pa.Table:
    """The key of each kind that is in any iteration, and the list of its iterations."""
    is_counted = np.diff(members.starts) > 0
    starts = np.append(members.starts[:-1][is_counted], members.starts[-1])
    lists = pa.ListArray.from_arrays(starts.astype(np.int32), members.iteration.astype(np.int16))
    return pa.table({name: values[is_counted] for name, values in keys.items()} | {"iterations": lists})


def groups(pairs: IntArray) -> pa.Table:
    """Some pairs of a place and an iteration, a row a pair."""
    return pa.table({"place": pairs[:, 0].astype(np.int32), "iteration": pairs[:, 1].astype(np.int16)})


def integers(table: pa.Table, name: str) -> IntArray:
    """A column of whole numbers as it comes from an engine."""
    return table[name].cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]
