"""The geography file: which blocks there are, and the columns that place each of them in its regions.

In: the geography table, a file or a table in memory. Out: one `Geography` per run. Promise: blocks are distinct, every
value has its column's width, and each run has the blocks its record filter asks for and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.errors import Finding
from safetab.files import arrow
from safetab.files.delimited import NOTHING_TOLD, ToldForm
from safetab.files.memory import MemoryTable, read_as_text
from safetab.files.parquet import read_table
from safetab.files.text import TextTable, at_rows, empty_values
from safetab.population.geography import NO_REGION, Geography, GeographyLevel, fold, regions_of
from safetab.rules import geography_rules
from safetab.rules.labels import is_label


@dataclass(frozen=True, slots=True)
class BlockFilter:
    """The part of the country a run covers: blocks whose `column` has one of `values`; all blocks when None."""

    column: str
    values: tuple[str, ...]


def geography_columns(block_columns: Sequence[str], levels: Sequence[GeographyLevel]) -> list[str]:
    """The columns of a geography table that are read."""
    regions = [column for level in levels for column in level.columns]
    names = [level.name_column for level in levels if level.name_column]
    return list(dict.fromkeys([*block_columns, *regions, *names]))


def read_block_table(
    source: Path | MemoryTable,
    block_columns: Sequence[str],
    levels: Sequence[GeographyLevel],
    widths: Mapping[str, int],
    findings: list[Finding],
    told: ToldForm = NOTHING_TOLD,
) -> TextTable | None:
    """Read and judge the geography table: the columns that name blocks and regions, and the names of regions."""
    needed = list(dict.fromkeys([*block_columns, *(column for level in levels for column in level.columns)]))
    wanted = geography_columns(block_columns, levels)
    may_be_null = set(wanted) - set(needed)
    if isinstance(source, MemoryTable):
        table = read_as_text(source, wanted, widths, findings, may_be_null)
    else:
        table = read_table(source, wanted, widths, findings, told, may_be_null)
    if table is None:
        return None
    encoded = {name: pc.dictionary_encode(table.columns[name]).combine_chunks() for name in needed}
    unwritable = _not_labels(table, encoded)
    repeated = [] if unwritable else _repeated_blocks(table, [encoded[name] for name in block_columns])
    found = [*empty_values(table, needed), *_wrong_widths(table, widths), *unwritable, *repeated]
    found += [finding for level in levels if level.name_column for finding in _two_names(table, level)]
    findings.extend(found)
    return None if found else table


def geography_of_run(
    table: TextTable,
    run: str,
    only: BlockFilter | None,
    block_columns: Sequence[str],
    levels: Sequence[GeographyLevel],
    findings: list[Finding],
) -> Geography | None:
    """The regions and block sets of one run's blocks."""
    blocks = table.columns
    left_out: tuple[str, ...] = ()
    if only is not None:
        left_out = tuple(sorted(set(pc.unique(blocks[only.column]).to_pylist()) - set(only.values)))
        is_inside = pc.is_in(blocks[only.column], value_set=arrow.texts(only.values))
        blocks = arrow.rows_where(blocks, arrow.values(is_inside))
        present = set(pc.unique(blocks[only.column]).to_pylist())
        unused = [value for value in only.values if value not in present]
        if blocks.num_rows and unused:
            key = f"run {run}, {only.column}"
            findings.append(Finding(geography_rules.VALUE_WITHOUT_BLOCKS, table.file, key=key, seen=_first(unused)))
    if not blocks.num_rows:
        findings.append(Finding(geography_rules.RUN_WITHOUT_BLOCKS, table.file, key=f"run {run}"))
        return None
    geography = replace(fold(blocks, block_columns, levels), left_out=left_out)
    for level, regions in zip(levels, geography.regions, strict=True):
        if not regions:
            findings.append(Finding(geography_rules.LEVEL_WITHOUT_REGIONS, table.file, key=f"run {run}, {level.name}"))
    return geography


def in_no_run(file: str, filters: Sequence[BlockFilter | None], geographies: Sequence[Geography]) -> list[Finding]:
    """A warning of the blocks that no run takes. Runs that choose by several columns are left to who wrote them."""
    columns = {"" if only is None else only.column for only in filters}
    if len(columns) != 1 or "" in columns or len(geographies) < len(filters):
        return []
    values = set.intersection(*(set(geography.left_out) for geography in geographies))
    if not values:
        return []
    return [Finding(geography_rules.VALUE_IN_NO_RUN, file, key=columns.pop(), seen=_first(sorted(values)))]


def _first(values: Sequence[str]) -> str:
    return ", ".join(values[:5]) + (", ..." if len(values) > 5 else "")


def _wrong_widths(table: TextTable, widths: Mapping[str, int]) -> list[Finding]:
    found: list[Finding] = []
    for name in table.columns.column_names:
        if name in widths:
            lengths = arrow.values(pc.utf8_length(table.columns[name]))
            rows = np.flatnonzero((lengths != widths[name]) & (lengths != 0))
            if len(rows):
                found.append(
                    at_rows(geography_rules.WRONG_WIDTH, table, rows, key=name, seen=f"not {widths[name]} wide")
                )
    return found


def _not_labels(table: TextTable, encoded: Mapping[str, pa.DictionaryArray]) -> list[Finding]:
    """Values that a text table cannot have; a column has few distinct ones, and each is looked at once."""
    found: list[Finding] = []
    for name, column in encoded.items():
        wrong = [number for number, value in enumerate(column.dictionary.to_pylist()) if not is_label(value)]
        if wrong:
            rows = np.flatnonzero(np.isin(arrow.values(column.indices), wrong))
            found.append(at_rows(geography_rules.LABEL, table, rows, key=name))
    return found


def _repeated_blocks(table: TextTable, columns: Sequence[pa.DictionaryArray]) -> list[Finding]:
    """Blocks that an earlier line has too.

    Each block is one integer, made from the numbers of its values: to join and compare the texts of a nation's blocks
    takes several times as long.
    """
    keys, kinds = np.zeros(table.columns.num_rows, dtype=np.int64), 1
    for column in columns:
        if kinds * len(column.dictionary) >= 1 << 62:
            distinct, keys = np.unique(keys, return_inverse=True)
            kinds = len(distinct)
        keys = keys * len(column.dictionary) + arrow.values(column.indices)
        kinds *= len(column.dictionary)
    ordered = np.sort(keys)
    if not np.any(ordered[1:] == ordered[:-1]):
        return []
    order = np.argsort(keys, kind="stable")
    is_repeated = keys[order[1:]] == keys[order[:-1]]
    return [at_rows(geography_rules.REPEATED_BLOCK, table, np.sort(order[1:][is_repeated]))]


def _two_names(table: TextTable, level: GeographyLevel) -> list[Finding]:
    """Blocks that give their region another name than an earlier block did; a block may give none."""
    region_of_block, ids = regions_of(table.columns, level)
    encoded = pc.dictionary_encode(table.columns[level.name_column]).combine_chunks()
    names, spelled = arrow.values(encoded.indices), np.array(encoded.dictionary.to_pylist())
    named = np.flatnonzero((spelled[names] != "") & (region_of_block != NO_REGION))
    first_name = np.full(len(ids), -1, dtype=np.int64)
    # Backwards, so that the first block of a region is the last to write.
    first_name[region_of_block[named[::-1]]] = names[named[::-1]]
    rows = named[names[named] != first_name[region_of_block[named]]]
    return [at_rows(geography_rules.TWO_NAMES, table, rows, key=level.name_column)] if len(rows) else []
