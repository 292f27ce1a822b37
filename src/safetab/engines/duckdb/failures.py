"""What to say when DuckDB fails: its own words may quote a record, so they are replaced by ours."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from safetab.errors import UNSPENT, Finding, InputError, MachineError
from safetab.rules import machine_rules, record_rules

_LINE = re.compile(r"Line: (\d+)")
#: The system's words for a disk that takes no more; DuckDB has errors of many types around them.
_NO_ROOM = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
#: The words of DuckDB's Python package for an interrupt, in an error that is not of DuckDB's types.
_INTERRUPTED = ("Query interrupted", "INTERRUPT Error")


@contextmanager
def translate_errors(file: str, *, is_reading: bool = False) -> Iterator[None]:
    """Replace an error of DuckDB's by one of ours; while the records are first read a broken line is the user's."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, RuntimeError, OSError) as error:
        text = str(error)
        if isinstance(error, duckdb.InterruptException) or any(words in text for words in _INTERRUPTED):
            raise KeyboardInterrupt from None
        if isinstance(error, duckdb.OutOfMemoryException) or any(words in text for words in _NO_ROOM):
            raise MachineError(Finding(machine_rules.NO_ROOM, file)) from None
        if is_reading and isinstance(error, duckdb.InvalidInputException):
            line = _LINE.search(text)
            lines = (int(line[1]),) if line else ()
            raise InputError(Finding(record_rules.NOT_A_TABLE, file, lines=lines, count=1), state=UNSPENT) from None
        if isinstance(error, duckdb.Error | pa.ArrowException):
            raise MachineError(Finding(machine_rules.ENGINE_FAILED, file, seen=type(error).__name__)) from None
        raise
