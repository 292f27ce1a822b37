"""Age atoms as the look-up tables that the logical plan joins.

In: a `RecordLayout`. Out: the atom of each age, and the bin of each atom at each stat level. Promise: every age of the
release has one atom and no other age has any, so that an age without an atom is a fault.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from safetab.engines.protocol import RecordLayout


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
