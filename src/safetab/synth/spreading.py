"""Spreading people over areas in whole numbers, so that both the areas and the communities come out exactly.

In: how dense each community is in each area, the persons of each area and of each community. Out: whole numbers.
Promise: rows and columns have exactly the sums asked for, and small communities live where chance puts them.
"""

from __future__ import annotations

import numpy as np

from safetab.synth.dealing import Indices
from safetab.synth.draws import Floats, Stream


def spread(density: Floats, rows: Indices, columns: Indices, stream: Stream, rounds: int = 6) -> Indices:
    """Persons of each area (row) and community (column); both sums are equal."""
    if len(rows) == 1 or not len(columns):
        return np.tile(columns, (len(rows), 1))
    table = _whole(_raked(density, rows, columns, rounds), columns, stream)
    _mend_rows(table, rows - table.sum(axis=1))
    return table


def _raked(density: Floats, rows: Indices, columns: Indices, rounds: int) -> Floats:
    """Scale rows and columns in turn; in the end the columns are exact."""
    of_row, of_column = np.ones(len(rows)), np.ones(len(columns))
    for _ in range(rounds):
        # Only the factors change, which saves passes over the table.
        of_row = rows / np.maximum(density @ of_column, 1e-300)
        of_column = columns / np.maximum(of_row @ density, 1e-300)
    scaled: Floats = density * of_row[:, None] * of_column
    return scaled


def _whole(table: Floats, columns: Indices, stream: Stream) -> Indices:
    """Round the running sums of each column, each with an offset of its own."""
    edges = np.cumsum(table, axis=0)
    edges += stream.uniforms(table.shape[1])
    counts = np.minimum(np.floor(edges).astype(np.int64), columns)
    counts[-1] = columns
    counts[1:] -= counts[:-1].copy()
    return counts


def _mend_rows(table: Indices, missing: Indices) -> None:
    """Move persons of the largest community between rows until each row has its sum; the columns stay as they are."""
    filler = int(np.argmax(table.sum(axis=0)))
    table[:, filler] += missing
    for row in np.flatnonzero(table[:, filler] < 0).tolist():
        while table[row, filler] < 0:
            # This row has too many others: the most of them go where the largest community is largest.
            own = table[row].copy()
            own[filler] = -1
            other = int(np.argmax(own))
            target = int(np.argmax(table[:, filler]))
            moved = min(int(own[other]), -int(table[row, filler]), int(table[target, filler]))
            table[row, other] -= moved
            table[target, other] += moved
            table[row, filler] += moved
            table[target, filler] -= moved
