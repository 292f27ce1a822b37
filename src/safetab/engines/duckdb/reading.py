"""The records as DuckDB reads them: text or Parquet on this machine, or a table in memory.

In: a `RecordLayout` and the geography. Out: everybody in the run, folded into pieces. Promise: a record that breaks a
rule stops the work before anything is counted; every record is in the pieces once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import duckdb
import numpy as np

from safetab.engines import exchange
from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.people import Packing, PeopleFolder, parts_of_block_sets
from safetab.engines.arrays.records import FoldedPeople
from safetab.engines.arrays.shelf import Shelf
from safetab.engines.compact import NumberedTable
from safetab.engines.duckdb.blocks import make_block_keys
from safetab.engines.duckdb.dialect import DuckDbDialect
from safetab.engines.duckdb.faults import find_faults
from safetab.engines.duckdb.files import records
from safetab.engines.duckdb.streaming import PeopleStream, changed
from safetab.engines.faults import broken_rules, counted_faults
from safetab.engines.layout import RecordLayout
from safetab.engines.logical_plan import RecordQueries, quoted
from safetab.engines.protocol import IntArray, OnRead
from safetab.errors import UNSPENT, InputError
from safetab.population.geography import Geography

#: The bits of no rule: a record without a fault whose kind was not there before.
_OF_NO_KIND = 0


def read_records(
    connection: duckdb.DuckDBPyConnection,
    layout: RecordLayout,
    geography: Geography,
    shelf: Shelf,
    limits: Limits,
    on_read: OnRead,
    numbered: NumberedTable | None = None,
) -> FoldedPeople:
    """Read, judge and fold the records of one run; the files have been judged before.

    `numbered` are the same records with numbers for texts, where they are in memory.
    """
    # The records are the longest of all tables, and of a stream DuckDB does not know it: it would hash people, which
    # took four times the time and all the memory, in place of the blocks and kinds that they are joined with.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    connection.register("blocks", exchange.blocks(geography, numbered))
    connection.register("age_atoms", exchange.atom_of_age(layout))
    connection.execute(f"CREATE TYPE code AS ENUM ({', '.join(map(quoted, layout.codes))})")
    queries = make_raw(connection, layout, numbered)
    stream = PeopleStream(connection, queries, make_block_keys(connection, len(layout.columns.block)), numbered)
    kinds, code_sets = stream.number_kinds()
    packing = Packing(geography.block_sets, len(kinds), len(layout.columns.sexes) * len(layout.age_atoms))
    blocks = np.bincount(geography.block_set_of_block, minlength=geography.block_sets)
    folder = PeopleFolder(packing, parts_of_block_sets(blocks, limits.blocks_of_part), shelf, limits)
    faults: Counter[int] = Counter()
    pieces = folder.pieces(_sound(stream.people(packing, on_read), faults))
    if any(faults):
        # Should another reading find none, there is at least the number that this one counted.
        if numbered is not None:
            # The places of faults are looked for in the texts.
            connection.register("blocks", exchange.blocks(geography))
            queries = make_raw(connection, layout)
        found = find_faults(connection, queries, broken_rules(faults))
        raise InputError(found or counted_faults(layout.name, faults), state=UNSPENT)
    if faults[_OF_NO_KIND]:
        raise changed(layout.name)
    return FoldedPeople(packing, pieces, kinds, code_sets)


def _sound(people: Iterable[IntArray], faults: Counter[int]) -> Iterator[IntArray]:
    """Batches of people, up to the first record that breaks a rule; from there on faults are only counted."""
    for packed in people:
        if packed.min(initial=0) < 0:
            found, count = np.unique(-1 - packed[packed < 0], return_counts=True)
            faults.update(dict(zip(found.tolist(), count.tolist(), strict=True)))
        if not faults:
            yield packed


def make_raw(
    connection: duckdb.DuckDBPyConnection, layout: RecordLayout, numbered: NumberedTable | None = None
) -> RecordQueries:
    """Make `raw` a view of the records, and return the queries over it."""
    if numbered is not None:
        layout = numbered.layout(layout)
    connection.execute(f"CREATE OR REPLACE VIEW raw AS {records(connection, layout)}")
    types = {row[0]: row[1] for row in connection.execute("DESCRIBE raw").fetchall()}
    if numbered is not None:
        # Numbers for texts are compared with each other as texts are, and are none that get leading zeros.
        types |= dict.fromkeys(numbered.spelling, "VARCHAR")
    return RecordQueries(layout, DuckDbDialect(types))
