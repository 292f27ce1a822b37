"""Texts in memory as numbers, which engines compare several times faster than text.

In: a table in memory and the layout of its records. Out: the same table, in which columns of codes and of blocks hold
numbers, and what texts these stand for. Promise: two records have the same number in a column exactly if they have
the same text there, and a null stays a null. Dictionaries are not copied, nor texts that are all of one width, unless
they are views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.engines.layout import RecordLayout
from safetab.engines.workers import side_by_side
from safetab.files import arrow
from safetab.files.schemas import is_text

#: The numbers that have as many bytes as a text.
_OF_WIDTH = {1: pa.uint8(), 2: pa.uint16(), 4: pa.uint32(), 8: pa.uint64()}


class Spelling(Protocol):
    """What the numbers of a column stand for."""

    def numbers(self, texts: pa.Array) -> pa.Array:
        """The numbers of some texts, of the type that the column has; null where no number of it can stand for one."""
        ...

    def texts(self, numbers: pa.Array) -> pa.Array:
        """The texts that some numbers stand for."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The numbers 0, 1, ... stand for the texts of a list, which has each once."""

    listed: pa.Array
    type: pa.DataType

    def numbers(self, texts: pa.Array) -> pa.Array:
        return pc.cast(pc.index_in(texts, value_set=pc.cast(self.listed, texts.type)), self.type)

    def texts(self, numbers: pa.Array) -> pa.Array:
        return pa.DictionaryArray.from_arrays(numbers, self.listed)


@dataclass(frozen=True, slots=True)
class SameWidth:
    """The bytes of a number are those of its text: all texts of the column have as many."""

    width: int

    def numbers(self, texts: pa.Array) -> pa.Array:
        fitting = pc.if_else(pc.equal(pc.binary_length(texts), self.width), texts, arrow.text(None))
        return pc.cast(fitting, pa.binary(self.width)).view(_OF_WIDTH[self.width])

    def texts(self, numbers: pa.Array) -> pa.Array:
        return pc.cast(numbers.view(pa.binary(self.width)), pa.string())


@dataclass(frozen=True, slots=True, eq=False)
class NumberedTable:
    """A table with numbers for the texts of some columns."""

    table: pa.Table
    spelling: Mapping[str, Spelling]

    def layout(self, layout: RecordLayout) -> RecordLayout:
        """The layout of the records with this table in place of theirs; what a run leaves out are numbers too."""
        left_out = layout.left_out
        if layout.only is not None and layout.only.column in self.spelling:
            numbers = self.spelling[layout.only.column].numbers(arrow.texts(left_out)).to_pylist()
            left_out = tuple(str(number) for number in numbers if number is not None)
        return replace(layout, table=self.table, left_out=left_out)


def with_numbers(layout: RecordLayout, table: pa.Table) -> NumberedTable:
    """The table of a layout with numbers for the texts of codes and of blocks."""
    columns = layout.columns
    # A column may say several things: age and sex are read as text.
    of_codes = {*columns.block, *columns.race_codes, columns.ethnicity} - {columns.age, columns.sex}
    names = [name for name in layout.columns_read if name in of_codes]
    spelling: dict[str, Spelling] = {}
    every_found = list(side_by_side(_numbered, [table[name] for name in names]))
    for name, found in zip(names, every_found, strict=True):
        if found is not None:
            spelling[name], numbers = found
            table = table.set_column(table.column_names.index(name), name, numbers)
    return NumberedTable(table, spelling)


def _numbered(column: pa.ChunkedArray) -> tuple[Spelling, pa.ChunkedArray] | None:
    """The numbers of a column, and what they stand for; None where it is no text, or its dictionary is no list."""
    is_view = pa.types.is_string_view(column.type)
    if (is_view or pa.types.is_string(column.type)) and (found := _of_same_width(column)):
        return found
    if is_view:
        column = pc.cast(column, pa.string())
    if is_text(column.type):
        column = pc.dictionary_encode(column)
    if not column.num_chunks or not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return None
    column = column.unify_dictionaries()
    listed, kind = column.chunk(0).dictionary, column.type.index_type
    if listed.null_count or len(pc.unique(listed)) < len(listed):
        return None
    return Listed(listed, kind), pa.chunked_array([piece.indices for piece in column.chunks], kind)


def _of_same_width(column: pa.ChunkedArray) -> tuple[Spelling, pa.ChunkedArray] | None:
    """The bytes of texts as numbers; None where the texts are not all there, of one width, and where numbers may lie.

    Texts that follow one another without a gap, each of so many bytes, are numbers in memory as they are. Those
    of views are copied from between their lengths.
    """
    pieces = [piece for piece in column.chunks if len(piece)]
    if not pieces or column.null_count:
        return None
    width = len(pieces[0][0].as_py().encode())
    if width not in _OF_WIDTH:
        return None
    bytes_of = _bytes_of_views if pa.types.is_string_view(column.type) else _bytes_of
    numbers = [bytes_of(piece, width) for piece in pieces]
    known = [piece for piece in numbers if piece is not None]
    return (SameWidth(width), pa.chunked_array(known)) if len(known) == len(numbers) else None


def _bytes_of_views(piece: pa.Array, width: int) -> pa.Array | None:
    # A view has 16 bytes: the length of its text, then the text where it has at most 12 bytes.
    layout = np.dtype(
        {"names": ["length", "text"], "formats": [np.int32, f"u{width}"], "offsets": [0, 4], "itemsize": 16}
    )
    views = np.frombuffer(piece.buffers()[1], layout, len(piece), layout.itemsize * piece.offset)
    return pa.array(np.ascontiguousarray(views["text"])) if (views["length"] == width).all() else None


def _bytes_of(piece: pa.Array, width: int) -> pa.Array | None:
    _, ends, content = piece.buffers()
    offsets = np.frombuffer(ends, np.int32, len(piece) + 1, 4 * piece.offset)
    start = int(offsets[0])
    if not (np.diff(offsets) == width).all() or (content.address + start) % width:
        return None
    return pa.Array.from_buffers(_OF_WIDTH[width], len(piece), [None, content.slice(start, width * len(piece))])
