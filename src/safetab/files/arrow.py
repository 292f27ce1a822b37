"""Arrow columns out of numbers and texts, and numbers out of Arrow columns.

In: NumPy arrays, texts, single values; columns of numbers. Out: Arrow columns and scalars; NumPy arrays. Promise: the
same as `pyarrow.array`, `pyarrow.scalar` and `to_numpy` give, and pandas is not imported. Where pandas is installed,
these three import all of it, to see whether a value is one of its own: half a second of every command.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

#: The largest number of bytes that the offsets of a column of text can count.
_MOST_BYTES = (1 << 31) - 1
#: Pieces of a table that cost less than a copy of it.
_MOST_PLACES = 1_000


def numbers(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """A column of numbers, which are not copied, or of truth values; null where `missing` says so."""
    memory = _bits(values) if values.dtype == np.bool_ else np.ascontiguousarray(values)
    buffers = [None if missing is None else _validity(~missing), pa.py_buffer(memory)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def known_numbers(values: Sequence[float | None], dtype: npt.DTypeLike) -> pa.Array:
    """A column of a few numbers; null where there is None."""
    filled = [0 if value is None else value for value in values]
    return numbers(np.array(filled, dtype=dtype), np.array([value is None for value in values], dtype=np.bool_))


def texts(values: Sequence[str | None]) -> pa.Array:
    """A column of text; null where there is None."""
    encoded = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] > _MOST_BYTES:
        raise OverflowError("more text than one column of Arrow can have")
    known = np.array([value is not None for value in values], dtype=np.bool_)
    buffers = [_validity(known), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def number(value: int, dtype: npt.DTypeLike) -> pa.Scalar:
    """One number of the type of the column that it goes with."""
    return numbers(np.array([value], dtype=dtype))[0]


def text(value: str | None) -> pa.Scalar:
    """One text, or the null among texts."""
    return texts([value])[0]


def rows_where(table: pa.Table, is_wanted: npt.NDArray[np.bool_]) -> pa.Table:
    """Some rows of a table in their order; not copied where they lie together in a few places."""
    edges = np.flatnonzero(np.diff(is_wanted, prepend=False, append=False)).tolist()
    if len(edges) > 2 * _MOST_PLACES:
        return table.filter(numbers(is_wanted))
    slices = [table.slice(start, end - start) for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return pa.concat_tables([table.slice(0, 0), *slices])


def give_back() -> None:
    """Give memory back to the machine that Arrow no longer needs: it keeps what it has for tables to come."""
    pa.default_memory_pool().release_unused()


def values(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers of a column without nulls; not copied where they lie in one piece."""
    if column.null_count:
        raise ValueError("a column with nulls has no value in some rows")
    pieces = [_values(piece) for piece in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])]
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, column.type.to_pandas_dtype()), *pieces])


def _values(piece: pa.Array) -> npt.NDArray[Any]:
    """The numbers of one piece, which may begin in the middle of its memory."""
    dtype = np.dtype(piece.type.to_pandas_dtype())
    _, memory = piece.buffers()
    if not len(piece):
        return np.empty(0, dtype)
    if dtype == np.bool_:
        bits = np.unpackbits(np.frombuffer(memory, np.uint8), bitorder="little")
        return bits[piece.offset : piece.offset + len(piece)].astype(np.bool_)
    return np.frombuffer(memory, dtype, len(piece), piece.offset * dtype.itemsize)


def _validity(is_known: npt.NDArray[np.bool_]) -> pa.Buffer | None:
    """Which values are there, as bits; None where all are."""
    return None if is_known.all() else pa.py_buffer(_bits(is_known))


def _bits(values: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    return np.packbits(values, bitorder="little")
