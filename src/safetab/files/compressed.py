"""Text files as bytes, compressed or not.

In: a path. Out: its bytes as a stream. Promise: a file that ends in `.gz` or `.zst` is read as what it holds; one that
is damaged or incomplete raises `OSError` instead of ending early.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from safetab.errors import Finding
from safetab.rules import file_rules

#: The ends of names, and what they stand for.
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
#: The ends of names of compressed files that nothing here reads.
_UNREAD = (".bz2", ".xz", ".zip")
#: How compressed files begin: gzip, Zstandard and xz.
_SIGNATURES = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00")
#: How a bzip2 file begins, where `.` is any byte. A header may begin with its first three bytes.
_BZIP2 = re.compile(rb"BZh.1AY&SY", re.DOTALL)


def compression_of(path: Path) -> str | None:
    """How a file is compressed, to judge by its name."""
    return COMPRESSIONS.get(path.suffix)


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed where its name says so."""
    compression = compression_of(path)
    if compression is None:
        return path.open("rb")
    # Arrow reads both kinds, in several members too, and checks that the end is there.
    stream = pa.CompressedInputStream(pa.OSFile(str(path), "rb"), compression)
    return cast(BinaryIO, io.BufferedReader(stream, 1 << 20))


def looks_compressed(beginning: bytes) -> bool:
    """Whether a file begins as compressed ones do."""
    return beginning.startswith(_SIGNATURES) or _BZIP2.match(beginning) is not None


def not_there(path: Path, name: str, seen: str = "") -> Finding:
    """What to say of a file that does not exist, but perhaps does in a compressed form that is not read."""
    for end in _UNREAD:
        if path.with_name(path.name + end).exists():
            return Finding(file_rules.DAMAGED_COMPRESSION, name + end)
    return Finding(file_rules.MISSING_FILE, name, seen=seen)


def reading_failed(path: Path) -> Finding:
    """What to say of a file that exists and cannot be read."""
    try:
        with path.open("rb"):
            pass
    except OSError:
        return Finding(file_rules.UNREADABLE, path.name)
    return Finding(file_rules.DAMAGED_COMPRESSION if compression_of(path) else file_rules.UNREADABLE, path.name)
