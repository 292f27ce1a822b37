"""A source of bits that a test writes itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from safetab.noise.source import BitSource, Words


class TapeEndsError(Exception):
    """More bits were asked for than the tape holds."""


class Tape(BitSource):
    """The bits of a text of 0s and 1s, first to last; each word takes the next `width` of them."""

    is_private: ClassVar[bool] = False

    def __init__(self, text: str) -> None:
        self.text, self.read = text, 0

    @classmethod
    def of(cls, *words: tuple[int, int]) -> Tape:
        """A tape of (value, width) words."""
        return cls("".join(format(value, f"0{width}b") for value, width in words))

    def bits(self, count: int, width: int) -> Words:
        if self.read + count * width > len(self.text):
            raise TapeEndsError
        starts = range(self.read, self.read + count * width, width)
        self.read += count * width
        return np.array([int(self.text[start : start + width], 2) for start in starts], np.uint64)
