"""The quotation marks and line ends of a quoted text table, judged as bytes.

In: a path and its delimiter. Out: which lines continue the record of the line before, the first line with a quotation
mark that RFC 4180 has no place for, and whether the lines are alike. Promise: of a file without such a mark, a line is
a continuation exactly when the line end before it stands inside quotes; the file is read once, a piece at a time.

Bytes become bits, 64 in a word, so that a nation's records take seconds: every question here is one about a few kinds
of bytes and their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from safetab.files.compressed import open_bytes

#: Small enough that the bits of a piece stay in a processor's cache.
_CHUNK = 1 << 19
_MARK = b"\xef\xbb\xbf"
_QUOTE, _LF, _CR = (ord(letter) for letter in '"\n\r')

#: One bit for each byte of a piece, the first one lowest.
Bits = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class QuotedLines:
    """What the quotation marks of a file do to its lines."""

    #: The lines that continue a record, in order.
    continued: npt.NDArray[np.int64]
    #: The first line with a wrong quotation mark.
    wrong: int | None = None
    #: Whether all records end alike, no line between them is blank and no byte is NUL.
    is_uniform: bool = True


def quoted_lines(path: Path, delimiter: str) -> QuotedLines:
    """Find the lines that continue a record, up to the first wrong quotation mark."""
    scan = _Scan(ord(delimiter))
    with open_bytes(path) as file:
        for before, body, after in _with_neighbours(file):
            scan.read(before, body, after)
            if scan.wrong is not None:
                break
    return scan.result()


@dataclass(slots=True)
class _Scan:
    """What is known of a file up to some place in it."""

    delimiter: int
    wrong: int | None = None
    #: Every second mark closes. A doubled one closes and opens again at once, which comes to the same thing.
    is_inside: bool = False
    line: int = 1
    opened_on: int = 1
    offset: int = 0
    feeds: int = 0
    pairs: int = 0
    has_odd_bytes: bool = False
    first_blank: int | None = None
    last_content: int = -1
    continued: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def read(self, before: int, body: bytes, after: int) -> None:
        data = np.frombuffer(body, dtype=np.uint8)
        quote, feed, lone = _bits(data, _QUOTE), _bits(data, _LF), _bits(data, _CR)
        pair = lone & _following(feed, len(data), after == _LF)
        end = feed | (lone & ~pair)
        inside = _parity(quote, self.is_inside)
        around = quote | feed | lone | _bits(data, self.delimiter)
        edges = (self.delimiter, _LF, _CR, _QUOTE)
        wrong = quote & inside & ~_preceding(around, before in edges)
        wrong |= quote & ~inside & ~_following(around, len(data), after in edges)
        if wrong.any():
            self.wrong = self.line + _count_before(end, _first(wrong))
            return
        self._judge_lines(data, before, end & ~inside, feed & ~inside, pair & ~inside)
        if (continuing := end & inside).any():
            self.continued.append(self.line + 1 + np.searchsorted(_places(end), _places(continuing)))
        if quote.any():
            self.opened_on = self.line + _count_before(end, _last(quote))
            self.is_inside ^= bool(_count(quote) % 2)
        self.line += _count(end)
        self.offset += len(data)

    def _judge_lines(self, data: npt.NDArray[np.uint8], before: int, end: Bits, feed: Bits, pair: Bits) -> None:
        """Note what keeps the lines outside quotes from being alike."""
        self.feeds += _count(feed)
        self.pairs += _count(pair)
        # A return alone is no end of a record, and a NUL is no text.
        self.has_odd_bytes |= bool((end & ~feed).any()) or not data.all()
        blank = (feed | pair) & _preceding(feed, before == _LF and not self.is_inside)
        if self.first_blank is None and blank.any():
            self.first_blank = self.offset + _first(blank)
        content = _packed(np.ones(len(data), dtype=np.bool_)) & ~(end | pair)
        if content.any():
            self.last_content = self.offset + _last(content)

    def result(self) -> QuotedLines:
        wrong = self.opened_on if self.wrong is None and self.is_inside else self.wrong
        has_blank = self.first_blank is not None and self.first_blank < self.last_content
        is_uniform = not self.has_odd_bytes and not has_blank and self.pairs in (0, self.feeds)
        continued = np.concatenate([np.empty(0, dtype=np.int64), *self.continued])
        return QuotedLines(continued, wrong, is_uniform)


def _bits(data: npt.NDArray[np.uint8], byte: int) -> Bits:
    """Where a byte stands."""
    return _packed(data == byte)


def _packed(flags: npt.NDArray[np.bool_]) -> Bits:
    packed = np.packbits(flags, bitorder="little")
    words = np.zeros(-(-len(packed) // 8), dtype="<u8")
    words.view(np.uint8)[: len(packed)] = packed
    return words


def _places(bits: Bits) -> npt.NDArray[np.int64]:
    """The numbers of the bits that are set."""
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))


def _count(bits: Bits) -> int:
    return int(np.bitwise_count(bits).sum())


def _count_before(bits: Bits, place: int) -> int:
    below = np.uint64((1 << place % 64) - 1)
    return _count(bits[: place // 64]) + int(np.bitwise_count(bits[place // 64] & below))


def _first(bits: Bits) -> int:
    """The number of the first bit that is set; there is one."""
    word = int(np.flatnonzero(bits)[0])
    value = int(bits[word])
    return 64 * word + (value & -value).bit_length() - 1


def _last(bits: Bits) -> int:
    """The number of the last bit that is set; there is one."""
    word = int(np.flatnonzero(bits)[-1])
    return 64 * word + int(bits[word]).bit_length() - 1


def _preceding(bits: Bits, first: bool) -> Bits:
    """For each byte, the bit of the one before it; `first` is the bit before the piece."""
    moved = bits << np.uint64(1)
    moved[1:] |= bits[:-1] >> np.uint64(63)
    moved[0] |= np.uint64(first)
    return moved


def _following(bits: Bits, length: int, last: bool) -> Bits:
    """For each byte, the bit of the one after it; `last` is the bit after the piece."""
    moved = bits >> np.uint64(1)
    moved[:-1] |= bits[1:] << np.uint64(63)
    moved[-1] |= np.uint64(last) << np.uint64((length - 1) % 64)
    return moved


def _parity(bits: Bits, first: bool) -> Bits:
    """For each byte, whether an odd number of bits is set up to it, itself included; `first` is added to all."""
    parity = bits.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        parity ^= parity << np.uint64(shift)
    # The highest bit of a word says whether its own number is odd; the words after it take that over.
    odd = np.bitwise_xor.accumulate(np.concatenate([[np.uint64(first)], parity[:-1] >> np.uint64(63)]))
    flipped: Bits = parity ^ (np.uint64(0) - odd)
    return flipped


def _with_neighbours(file: BinaryIO) -> Iterator[tuple[int, bytes, int]]:
    """Pieces of a file, each with the byte before and the byte after it; around the file there are line ends."""
    before, body = _LF, file.read(_CHUNK).removeprefix(_MARK)
    while body:
        following = file.read(_CHUNK)
        yield before, body, following[0] if following else _LF
        before, body = body[-1], following
