"""How wide text is on a screen, and how wide the screen is.

In: text, or a stream that people read. Out: numbers of columns. Promise: wide and combining letters are counted as they
are shown, and COLUMNS is heeded where it is set.
"""

from __future__ import annotations

import os
import unicodedata
from typing import TextIO

#: The width of a terminal that does not say it.
_UNKNOWN_WIDTH = 80


def display_width(text: str) -> int:
    """How many places text takes on a terminal: wide letters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def width_of(stream: TextIO) -> int | None:
    """The columns there are: as COLUMNS says, or the terminal; None in a pipe without COLUMNS."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or _UNKNOWN_WIDTH
    except (OSError, ValueError):
        return _UNKNOWN_WIDTH
