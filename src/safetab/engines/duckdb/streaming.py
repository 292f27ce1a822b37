"""People as they stream out of DuckDB: packed integers, judged on the way.

In: the relations `raw`, `block_keys` and `age_atoms`. Out: the kinds of people among the records, then every record
as one integer, and what is wrong with it. Promise: each record comes once, or the work ends with an error; the rules
about codes are tried once for each kind of people, the others for each record; nothing is grouped by person, so memory
holds kinds and blocks alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa

from safetab.engines.arrays.kinds import Kinds
from safetab.engines.arrays.people import Packing
from safetab.engines.compact import NumberedTable
from safetab.engines.duckdb.blocks import BlockKeys
from safetab.engines.logical_plan import RecordQueries, identifier
from safetab.engines.protocol import IntArray, OnRead, unheard
from safetab.errors import UNSPENT, Finding, MachineError
from safetab.files import arrow
from safetab.population.membership import CodeSets
from safetab.rules import machine_rules

#: Records that come out of DuckDB at a time.
BATCH_ROWS = 50_000
#: One number for the codes of a record: joined by all columns, kinds take several times the memory.
_KEY = "hash({})"
#: How much of the time of reading goes by while kinds are numbered.
_SHARE_OF_KINDS = 0.3
#: Which of the rules are about block, age and sex, and which about codes.
_OF_RECORD, _OF_CODES = slice(0, 3), slice(3, None)
_CHANGED = "the records were changed while they were read"


class PeopleStream:
    """The records of one run."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        queries: RecordQueries,
        blocks: BlockKeys,
        numbered: NumberedTable | None = None,
    ) -> None:
        self._connection, self._queries, self._blocks, self._numbered = connection, queries, blocks, numbered
        columns = queries.layout.columns
        self._columns = list(dict.fromkeys([*columns.race_codes, *([columns.ethnicity] if columns.ethnicity else [])]))

    def number_kinds(self) -> tuple[Kinds, CodeSets]:
        """Number the kinds of people, the most frequent first, so that the tables of most people are small.

        Codes are compared as they are in the files: looking them up in the code list is left for distinct ones.
        """
        queries, columns = self._queries, list(map(identifier, self._columns))
        # Longer than the name of any column of the records, so it is none of them.
        count = "n" * (1 + max(map(len, columns)))
        self._connection.execute(
            f"CREATE TABLE alike AS SELECT {', '.join(columns)}, count(*) AS {count} FROM raw{queries.where()} "
            "GROUP BY ALL"
        )
        relation, compared = self._spelled(count)
        codes = [f"{name} AS c{number}" for number, name in enumerate(compared)]
        key = _KEY.format(", ".join(f"c{number}" for number in range(len(columns))))
        indices = ", ".join(f"i{number}" for number in range(len(queries.layout.columns.race_codes)))
        self._connection.execute(
            "CREATE TABLE kinds AS SELECT *, "
            "CAST(row_number() OVER (ORDER BY n DESC) - 1 AS INTEGER) AS kind, "
            f"CAST(dense_rank() OVER (ORDER BY {indices}) - 1 AS INTEGER) AS code_set, "
            f"CAST({queries.faults(_OF_CODES)} AS SMALLINT) AS code_faults, {key} AS key "
            f"FROM (SELECT {', '.join([*codes, *queries.codes()])}, {count} AS n FROM {relation})"
        )
        self._connection.execute("DROP TABLE alike")
        table = self._connection.sql(f"SELECT code_set, ethnicity, {indices} FROM kinds ORDER BY kind").to_arrow_table()
        kinds = Kinds(_column(table, "code_set").astype(np.int32), _column(table, "ethnicity").astype(np.int16))
        _, first = np.unique(kinds.code_set, return_index=True)
        found = [_column(table, name)[first].astype(np.int16) for name in indices.split(", ")]
        return kinds, np.stack(found, axis=1)

    def _spelled(self, count: str) -> tuple[str, list[str]]:
        """The relation `alike` with texts, and what is compared in its columns: numbers, where these are for texts."""
        names, numbered = list(map(identifier, self._columns)), self._numbered
        if numbered is None:
            return "alike", names
        found = self._connection.sql("FROM alike").to_arrow_table()
        for place, name in enumerate(self._columns):
            if name in numbered.spelling:
                # No column of the records has so long a name.
                names[place], numbers = f"{count}{place}", found[name].combine_chunks()
                found = found.append_column(names[place], numbers)
                found = found.set_column(place, name, numbered.spelling[name].texts(numbers))
        self._connection.register("spelled", found)
        return "spelled", names

    def people(self, packing: Packing, on_read: OnRead = unheard) -> Iterator[IntArray]:
        """Every record as one integer; reads the files a second time.

        A record that breaks rules is negative: less than -1 by the bits of these rules. A record of a kind that was not
        there when the kinds were numbered is -1. Raises when there are more or fewer records than there were then.
        """
        on_read(_SHARE_OF_KINDS)
        ((records,),) = self._connection.execute("SELECT CAST(COALESCE(sum(n), 0) AS BIGINT) FROM kinds").fetchall()
        read = 0
        reader: pa.RecordBatchReader = self._connection.sql(self._packed(packing)).to_arrow_reader(BATCH_ROWS)
        try:
            for batch in reader:
                yield arrow.values(batch.column("packed"))
                read += batch.num_rows
                on_read(_SHARE_OF_KINDS + (1 - _SHARE_OF_KINDS) * min(read / max(records, 1), 1))
        finally:
            reader.close()
        if read != records:
            raise changed(self._queries.layout.name)

    def _packed(self, packing: Packing) -> str:
        queries, atoms = self._queries, len(self._queries.layout.age_atoms)
        key = _KEY.format(", ".join(map(identifier, self._columns)))
        codes = ", ".join(f"{identifier(name)} AS c{number}" for number, name in enumerate(self._columns))
        return (
            f"WITH people AS (SELECT {', '.join(queries.block_sex_and_age())}, {key} AS key, {codes} "
            f"FROM raw{queries.where()}), "
            "judged AS (SELECT block_set, kind, sex, atom, "
            f"COALESCE(code_faults, 0) + {queries.faults(_OF_RECORD)} AS faults "
            f"FROM {self._blocks.joined('people')} LEFT JOIN block_keys ON {self._blocks.key} = block_keys.key "
            f"LEFT JOIN age_atoms ON people.age = age_atoms.age LEFT JOIN kinds ON {self._same_kind()}) "
            "SELECT CASE WHEN faults > 0 THEN CAST(-1 - faults AS BIGINT) ELSE COALESCE("
            f"CAST(block_set AS BIGINT) * {packing.block_set_unit} + CAST(kind AS BIGINT) * {packing.kind_unit} "
            f"+ sex * {atoms} + atom, -1) END AS packed FROM judged"
        )

    def _same_kind(self) -> str:
        """Whether a record is of a kind: one number tells kinds apart, unless two of them have the same."""
        ((alike,),) = self._connection.execute("SELECT count(*) - count(DISTINCT key) FROM kinds").fetchall()
        same = [f"people.c{number} IS NOT DISTINCT FROM kinds.c{number}" for number in range(len(self._columns))]
        return " AND ".join(["people.key = kinds.key", *(same if alike else [])])


def changed(file: str) -> MachineError:
    """What is said where the second reading finds other records than the first."""
    return MachineError(Finding(machine_rules.ENGINE_FAILED, file, seen=_CHANGED), state=UNSPENT)


def _column(table: pa.Table, name: str) -> IntArray:
    return arrow.values(table[name])
