"""Every record as a few integers inside Spark, and what is asked about them, in SQL.

In: the queries that read and judge records. Out: SQL for `people` (a row for each record: the keys of its kind, and its
position), `sets` (how many are alike in block set and kind), and for tables by place, iteration and cell. Promise: a
record is one row of `people`; its position is negative exactly if it breaks a rule, and says which.

A *kind* is a code set with an ethnicity code, a *cell* a sex with an age atom, a *place* a block set or some of them
together. People are not grouped by themselves, as nearly everybody would be a group: they are put together with others
of their place and kind, and these are put into iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from safetab.engines.layout import RecordLayout
from safetab.engines.logical_plan import RecordQueries
from safetab.engines.protocol import IntArray
from safetab.population.membership import CodeSets

#: Keys stay below 2^62, so that no sum on the way to one overflows.
_KEY_LIMIT = 1 << 62


class KindKeys:
    """The codes of a record as the digits of a few whole numbers: a digit is the index of a code, and 0 is no code."""

    def __init__(self, layout: RecordLayout) -> None:
        self.base, digits = len(layout.codes) + 1, 1
        while self.base ** (digits + 1) < _KEY_LIMIT:
            digits += 1
        columns = [*(f"i{number}" for number in range(len(layout.columns.race_codes))), "ethnicity"]
        self._columns = [columns[start : start + digits] for start in range(0, len(columns), digits)]

    @cached_property
    def names(self) -> list[str]:
        return [f"k{number}" for number in range(len(self._columns))]

    def sql(self) -> str:
        """The keys of a record that `RecordQueries.indexed` gives; of no meaning where its codes are faulty."""
        keys = [
            " + ".join(f"CAST({name} + 1 AS BIGINT) * {self.base**power}" for power, name in enumerate(reversed(some)))
            for some in self._columns
        ]
        return ", ".join(f"{key} AS {name}" for key, name in zip(keys, self.names, strict=True))

    def unpacked(self, keys: Sequence[IntArray]) -> CodeSets:
        """The indices of the codes, one kind a row; the last is that of the ethnicity code."""
        columns = [
            (values // self.base**power % self.base - 1).astype(np.int16)
            for some, values in zip(self._columns, keys, strict=True)
            for power in reversed(range(len(some)))
        ]
        return np.stack(columns, axis=1)


class PeopleQueries:
    """The SQL over one run's people."""

    def __init__(self, queries: RecordQueries) -> None:
        self._queries, layout = queries, queries.layout
        self.keys = KindKeys(layout)
        self.atoms = len(layout.age_atoms)
        self.cells = len(layout.columns.sexes) * self.atoms
        self._listed = ", ".join(self.keys.names)

    def people(self) -> str:
        """A record's position counts the cells of all block sets before its own; a faulty one has minus its faults."""
        joined = " AND ".join(
            f"indexed.b{number} = blocks.b{number}" for number in range(len(self._queries.layout.columns.block))
        )
        position = f"CAST(block_set AS BIGINT) * {self.cells} + sex * {self.atoms} + atom"
        return (
            f"SELECT {self._listed}, CASE WHEN faults = 0 THEN {position} ELSE -faults END AS position "
            f"FROM (SELECT block_set, sex, atom, {self.keys.sql()}, {self._queries.faults()} AS faults "
            f"FROM ({self._queries.indexed()}) AS indexed LEFT JOIN blocks ON {joined} "
            "LEFT JOIN age_atoms ON indexed.age = age_atoms.age) AS judged"
        )

    def sets(self) -> str:
        """How many people of each block set are of each kind; of faulty ones the faults come in place of the block."""
        return (
            f"SELECT block_set, {self._listed}, count(*) AS n FROM (SELECT {self._listed}, "
            f"CAST(CASE WHEN position < 0 THEN position ELSE position DIV {self.cells} END AS INT) AS block_set "
            f"FROM people) AS placed GROUP BY block_set, {self._listed}"
        )

    def kinds(self) -> str:
        """Every kind with its faults: how many people, in how many block sets."""
        return (
            f"SELECT {self._listed}, faults, sum(n) AS people, count(*) AS block_sets "
            f"FROM (SELECT {self._listed}, -least(block_set, 0) AS faults, n FROM sets) AS sorted "
            f"GROUP BY {self._listed}, faults"
        )

    def totals(self) -> str:
        """People by block set and iteration; `kinds` has the iterations that are counted."""
        return (
            "SELECT place, iteration, sum(n) AS people FROM "
            "(SELECT block_set AS place, n, explode(iterations) AS iteration "
            f"FROM sets JOIN kinds USING ({self._listed})) AS members GROUP BY place, iteration"
        )

    def cells_of_all_levels(self, *, has_zones: bool, has_groups: bool) -> str:
        """People by place, iteration and cell: of all zones, and of the groups that `groups` has."""
        return " UNION ALL ".join([self._cells_of_zones()] * has_zones + [self._cells_of_groups()] * has_groups)

    def _cells_of_zones(self) -> str:
        """People who are alike are put together first, because a kind is in several iterations."""
        alike = f"place, {self._listed}, cell"
        return (
            "SELECT place, iteration, cell, sum(n) AS people FROM "
            "(SELECT place, cell, n, explode(iterations) AS iteration FROM "
            f"(SELECT {alike}, count(*) AS n FROM {self._placed('zones')} GROUP BY {alike}) AS alike "
            f"JOIN kinds USING ({self._listed})) AS members GROUP BY place, iteration, cell"
        )

    def _cells_of_groups(self) -> str:
        """Few people are in one of these groups: they are looked for one by one."""
        return (
            "SELECT place, iteration, cell, count(*) AS people FROM "
            f"(SELECT place, cell, explode(iterations) AS iteration FROM {self._placed('places')} "
            f"JOIN kinds USING ({self._listed})) AS members JOIN groups USING (place, iteration) "
            "GROUP BY place, iteration, cell"
        )

    def _placed(self, places: str) -> str:
        """People in places; somebody who is in places of several levels is listed for each."""
        return (
            f"(SELECT {self._listed}, position DIV {self.cells} AS block_set, position % {self.cells} AS cell "
            f"FROM people) AS placed JOIN {places} USING (block_set)"
        )
