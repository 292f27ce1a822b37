"""The geography file: which blocks there are, and the columns that place each of them in its regions.

In: the data folder's geography table. Out: one `Geography` per run. Promise: blocks are distinct, every value has its
column's width, and each run has the blocks its record filter asks for and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.errors import Finding
from safetab.files.parquet import locate, read_table
from safetab.files.text import TextTable, at_rows, empty_values
from safetab.population import rules
from safetab.population.geography import Geography, GeographyLevel, fold


@dataclass(frozen=True, slots=True)
class BlockFilter:
    """The part of the country a run covers: blocks whose `column` has one of `values`; all blocks when None."""

    column: str
    values: tuple[str, ...]


def read_blocks(
    folder: Path,
    name: str,
    block_columns: Sequence[str],
    levels: Sequence[GeographyLevel],
    widths: Mapping[str, int],
    findings: list[Finding],
) -> TextTable | None:
    """Read and judge the geography table: the columns that name blocks and those that name regions."""
    wanted = list(dict.fromkeys([*block_columns, *(column for level in levels for column in level.columns)]))
    path = locate(folder, name, findings)
    table = None if path is None else read_table(path, wanted, widths, findings)
    if table is None:
        return None
    faults = [*empty_values(table, wanted), *_wrong_widths(table, widths), *_repeated_blocks(table, block_columns)]
    findings.extend(faults)
    return None if faults else table


def geography_of_run(
    table: TextTable,
    run: str,
    only: BlockFilter | None,
    block_columns: Sequence[str],
    levels: Sequence[GeographyLevel],
    findings: list[Finding],
) -> Geography | None:
    """The regions and cells of one run's blocks."""
    blocks = table.columns
    left_out: tuple[str, ...] = ()
    if only is not None:
        values = pa.array(only.values, pa.string())
        left_out = tuple(sorted(set(pc.unique(blocks[only.column]).to_pylist()) - set(only.values)))
        blocks = blocks.filter(pc.is_in(blocks[only.column], value_set=values))
        present = set(pc.unique(blocks[only.column]).to_pylist())
        unused = [value for value in only.values if value not in present]
        if blocks.num_rows and unused:
            shown = ", ".join(unused[:5]) + (", ..." if len(unused) > 5 else "")
            findings.append(
                Finding(rules.VALUE_WITHOUT_BLOCKS, table.file, key=f"run {run}, {only.column}", seen=shown)
            )
    if not blocks.num_rows:
        findings.append(Finding(rules.RUN_WITHOUT_BLOCKS, table.file, key=f"run {run}"))
        return None
    geography = replace(fold(blocks, block_columns, levels), left_out=left_out)
    for level, regions in zip(levels, geography.regions, strict=True):
        if not regions:
            findings.append(Finding(rules.LEVEL_WITHOUT_REGIONS, table.file, key=f"run {run}, {level.name}"))
    return geography


def _wrong_widths(table: TextTable, widths: Mapping[str, int]) -> list[Finding]:
    found: list[Finding] = []
    for name in table.columns.column_names:
        if name in widths:
            lengths = pc.utf8_length(table.columns[name]).to_numpy()
            rows = np.flatnonzero((lengths != widths[name]) & (lengths != 0))
            if len(rows):
                found.append(at_rows(rules.WRONG_WIDTH, table, rows, key=name, seen=f"not {widths[name]} wide"))
    return found


def _repeated_blocks(table: TextTable, block_columns: Sequence[str]) -> list[Finding]:
    # A separator that no value can hold keeps ("1", "23") apart from ("12", "3").
    keys = pc.binary_join_element_wise(*(table.columns[name] for name in block_columns), "|")
    codes = pc.dictionary_encode(keys).combine_chunks().indices.to_numpy()
    if not len(codes) or codes.max() + 1 == len(codes):
        return []
    # Arrow numbers values as they first appear: a row that repeats does not raise the running maximum.
    running = np.maximum.accumulate(codes)
    repeated = np.flatnonzero(np.concatenate([[False], running[1:] == running[:-1]]))
    return [at_rows(rules.REPEATED_BLOCK, table, repeated)]
