"""Which characters a label may have: words that go into text tables, file names, messages and queries.

In: a text. Out: whether it may be used. Promise: a label that passes can be written between `|` without quoting, and
read back as it is by any program that reads lines.
"""

from __future__ import annotations

import unicodedata

#: Control characters, line and paragraph separators, halves of characters.
_UNSEEN = {"Cc", "Zl", "Zp", "Cs"}
#: What a text table without quoting has no way to write.
_STRUCTURE = {"|", '"'}
#: Bytes of a file name: what file systems take, with room for an ending.
_LONGEST_FILE_NAME = 200


def has_control_characters(text: str) -> bool:
    """Whether a text has line ends or other control characters."""
    # Printable text, which is nearly all of it, is settled by one call.
    return not text.isprintable() and any(unicodedata.category(letter) in _UNSEEN for letter in text)


def is_label(text: str) -> bool:
    """Whether a text can stand in a published text table."""
    return not _STRUCTURE & set(text) and not has_control_characters(text)


def one_line(text: str) -> str:
    """A name as people read it: line breaks, which quoted text may have, and other control characters are spaces."""
    if not has_control_characters(text):
        return text
    return " ".join("".join(" " if has_control_characters(letter) else letter for letter in text).split())


def is_file_name(text: str) -> bool:
    """Whether a text names a file in a folder, and not another folder."""
    is_plain = text not in {"", ".", ".."} and not {"/", "\\"} & set(text) and not has_control_characters(text)
    return is_plain and len(text.encode()) <= _LONGEST_FILE_NAME
