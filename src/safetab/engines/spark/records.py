"""The records of one run inside Spark, and what they answer.

In: a `RecordLayout`, the geography, the record files as Spark reads them. Out: what `protocol.Records` promises.
Promise: a record that breaks a rule stops the work before anything is counted. People are counted on the executors, in
one job for the totals of all levels and in one for their sex by age tables; the driver adds up what it gets for
regions, with the code that counts on one machine too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from safetab.engines import exchange
from safetab.engines.arrays.kinds import KindMembers, Kinds, members_of_kinds
from safetab.engines.arrays.limits import Limits
from safetab.engines.arrays.people import narrow
from safetab.engines.arrays.questions import ChosenCells, CountedTables, add_tables, positions, totals_of_regions
from safetab.engines.arrays.records import zones
from safetab.engines.arrays.shelf import Shelf
from safetab.engines.arrays.tables import Shape, SparseTable
from safetab.engines.faults import counted_faults
from safetab.engines.layout import RecordLayout
from safetab.engines.logical_plan import RecordQueries
from safetab.engines.protocol import CellQuestion, Cells, IntArray, Members, RegionOfBlockSet, Totals
from safetab.engines.spark.cell_plan import CellPlan, plan_cells
from safetab.engines.spark.people import PeopleQueries
from safetab.engines.spark.reading import SparkFiles
from safetab.engines.spark.tables import SparkTables
from safetab.errors import UNSPENT, InputError
from safetab.population.geography import Geography
from safetab.population.membership import CodeSets


class SparkRecords:
    """The records of one run, read, judged and ready to be counted."""

    def __init__(
        self, layout: RecordLayout, geography: Geography, tables: SparkTables, shelf: Shelf, limits: Limits
    ) -> None:
        self._layout, self._tables, self._shelf, self._limits = layout, tables, shelf, limits
        self._zone_of_block_set = zones(geography)
        self._counted: list[CountedTables] = []
        with tables.translate_errors(is_reading=True):
            tables.keep("blocks", exchange.blocks(geography))
            tables.keep("age_atoms", exchange.atom_of_age(layout))
            files = SparkFiles(tables, layout)
            queries = files.queries()
            self._sql = PeopleQueries(queries)
            tables.make("people", self._sql.people())
            tables.make("sets", self._sql.sets())
            kinds = tables.answer(self._sql.kinds())
            self._judge(kinds, files, queries)
        self._number(kinds)

    def _judge(self, kinds: pa.Table, files: SparkFiles, queries: RecordQueries) -> None:
        """Raise with what is wrong and where, if any record breaks a rule."""
        counted = kinds.group_by("faults").aggregate([("people", "sum")])
        faults = dict(zip(counted["faults"].to_pylist(), counted["people_sum"].to_pylist(), strict=True))
        if any(faults):
            # Should the second reading find none, there is at least the number that the first one counted.
            found = files.locate_faults(queries) or counted_faults(self._layout.name, faults)
            raise InputError(found, state=UNSPENT)

    def _number(self, kinds: pa.Table) -> None:
        """Number kinds and code sets once and for all: Spark, asked again, could list them in another order."""
        self._keys = {name: kinds[name].to_numpy() for name in self._sql.keys.names}
        self._block_sets_of_kind: IntArray = kinds["block_sets"].to_numpy()
        codes = self._sql.keys.unpacked(list(self._keys.values()))
        self._code_sets, code_set = np.unique(codes[:, :-1], axis=0, return_inverse=True)
        self._kinds = Kinds(code_set.ravel().astype(np.int32), codes[:, -1])

    def code_sets(self) -> CodeSets:
        """The distinct code sets."""
        return self._code_sets

    def totals(self, region_of_block_set: RegionOfBlockSet, members: Members) -> Iterator[Totals]:
        """True totals of every group that has anybody, in order of the regions."""
        numbers = members.numbers
        missing = _missing(members, self._counted)
        if len(missing):
            of_kinds = self._keep_kinds(members, missing)
            most = int(self._block_sets_of_kind @ np.diff(of_kinds.starts))
            self._counted.append(self._count(self._sql.totals(), missing, Shape(len(missing), 1), most))
        yield from totals_of_regions(self._counted, region_of_block_set, numbers, self._limits.table_entries)

    def cells(self, questions: Sequence[CellQuestion]) -> Iterator[Cells]:
        """The true sex by age cells of chosen groups, counted in one job for all levels."""
        if not questions:
            return
        plan = plan_cells(questions, self._zone_of_block_set)
        counted = [self._count_cells(plan)] if len(plan.iterations) else []
        for question, region_of_place in zip(questions, plan.region_of_place, strict=True):
            cells = ChosenCells(question.chosen, self._layout, self._limits.table_entries)
            add_tables(cells, counted, region_of_place, question.members.numbers[cells.iterations])
            yield cells.result()

    def _count_cells(self, plan: CellPlan) -> CountedTables:
        """Sex by age of all zones, and of chosen groups of regions that are not made up of zones."""
        self._keep_kinds(plan.members, plan.iterations)
        if plan.zones:
            self._tables.keep("zones", exchange.places([self._zone_of_block_set]))
        if plan.places:
            self._tables.keep("places", exchange.places(plan.places))
            self._tables.keep("groups", exchange.groups(plan.groups))
        shape = Shape(len(plan.iterations), self._sql.cells)
        most = (plan.zones * len(plan.iterations) + len(plan.groups)) * self._sql.cells
        sql = self._sql.cells_of_all_levels(has_zones=plan.zones > 0, has_groups=len(plan.places) > 0)
        return self._count(sql, plan.iterations, shape, most)

    def _keep_kinds(self, members: Members, numbers: IntArray) -> KindMembers:
        """Tell Spark which of some iterations each kind is in."""
        whole = members.whole or members
        of_kinds = members_of_kinds(whole, self._kinds).restricted(positions(whole.numbers, numbers))
        self._tables.keep("kinds", exchange.kinds(self._keys, of_kinds))
        return of_kinds

    def _count(self, sql: str, numbers: IntArray, shape: Shape, most: int) -> CountedTables:
        with self._tables.translate_errors(is_reading=False):
            tables = [_table(rows, shape, self._shelf) for rows in self._tables.batches(sql, most) if rows.num_rows]
        return CountedTables(numbers, tables)


def _known(counted: list[CountedTables]) -> IntArray:
    """The iterations that are counted already."""
    return np.concatenate([np.empty(0, dtype=np.int64), *(some.numbers for some in counted)])


def _missing(members: Members, counted: list[CountedTables]) -> IntArray:
    """The iterations of all levels that are still to be counted; none, if those of this level are not among them."""
    known = _known(counted)
    if np.isin(members.numbers, known).all():
        return np.empty(0, dtype=np.int64)
    return np.setdiff1d((members.whole or members).numbers, known)


def _table(rows: pa.Table, shape: Shape, shelf: Shelf) -> SparseTable:
    """Counts as they come from Spark."""
    place, iteration, people = (exchange.integers(rows, name) for name in ("place", "iteration", "people"))
    cell = exchange.integers(rows, "cell") if shape.cells > 1 else 0
    first, last = int(place.min()), int(place.max())
    entry = ((place - first) * shape.iterations + iteration) * shape.cells + cell
    return SparseTable(first, last, shape, shelf.keep([narrow(entry), narrow(people)]))
