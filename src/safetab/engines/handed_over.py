"""The tables that the logical plan joins to the records, as the driver hands them to an engine, and the way back.

In: geography, membership, age bins, groups chosen for tables. Out: Arrow tables of small integers, columns named as in
the plan. Promise: every age of the release has one atom and no other age has any, so that an age without an atom is a
fault; places that lie in no region are not listed, so that joining drops them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from safetab.engines.protocol import Cells, ChosenGroups, IntArray, Members, RecordLayout, Totals
from safetab.population.geography import NO_REGION, Geography


def blocks(geography: Geography) -> pa.Table:
    """The cell of each block; the columns that name a block are b0, b1, ..."""
    table = geography.blocks
    return table.rename_columns([*(f"b{number}" for number in range(table.num_columns - 1)), "cell"])


def atom_of_age(layout: RecordLayout) -> pa.Table:
    """The age atom of each age."""
    atom = layout.age_atoms.bin_of_age()
    return pa.table({"age": np.arange(len(atom), dtype=np.int16), "atom": atom})


def bin_of_atom(layout: RecordLayout) -> pa.Table:
    """The age bin that each age atom falls in, for each stat level that has a table."""
    first_ages = np.array(layout.age_atoms.starts)
    levels = range(1, len(layout.age_bins) + 1)
    return pa.table(
        {
            "stat_level": np.repeat(np.array(levels, dtype=np.int8), len(first_ages)),
            "atom": np.tile(np.arange(len(first_ages), dtype=np.int16), len(levels)),
            "age_bin": np.concatenate([bins.bin_of_age()[first_ages] for bins in layout.age_bins]),
        }
    )


def regions(place: str, region: npt.NDArray[np.int32]) -> pa.Table:
    """The region of each place, a cell or a part, that lies in one."""
    inside = np.flatnonzero(region != NO_REGION).astype(np.int32)
    return pa.table({place: inside, "region": region[inside]})


def memberships(members: Members) -> dict[str, pa.Table]:
    """The iterations of each code set and of each ethnicity."""
    listed = (("race_members", "set_id", members.race), ("ethnicity_members", "ethnicity", members.ethnicity))
    return {
        name: pa.table({key: pairs.row.astype(np.int32), "iteration": pairs.iteration}) for name, key, pairs in listed
    }


def chosen_groups(chosen: ChosenGroups) -> pa.Table:
    """The groups that get a sex by age table, numbered."""
    return pa.table(
        {
            "group_id": np.arange(len(chosen.region), dtype=np.int32),
            "region": chosen.region.astype(np.int32),
            "iteration": chosen.iteration.astype(np.int16),
            "stat_level": chosen.stat_level.astype(np.int8),
        }
    )


def totals(batch: pa.RecordBatch) -> Totals:
    """True totals as they come from an engine."""
    return Totals(*(_integers(batch, name) for name in ("region", "iteration", "true_count")))


def cells(batch: pa.RecordBatch) -> Cells:
    """True cells as they come from an engine."""
    return Cells(*(_integers(batch, name) for name in ("group_id", "sex", "age_bin", "true_count")))


def _integers(batch: pa.RecordBatch, name: str) -> IntArray:
    return batch.column(name).cast(pa.int64()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
