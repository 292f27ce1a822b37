"""Files whose content cannot be made sense of, by name.

In: the name of a file, and code that reads it. Out: an `UnreadableError` in place of what that code raises. The
promise: a forged file is named itself and is never taken for a failure of the machine. Hashes that fit prove nothing
about content.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

#: What wrong content raises in code that reads it.
_OF_CONTENT = (
    pa.ArrowException,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    RecursionError,
)


class UnreadableError(Exception):
    """A file cannot be read as a file of a release."""

    def __init__(self, file: str, seen: str) -> None:
        super().__init__(file, seen)
        self.file, self.seen = file, seen


@contextmanager
def content_of(file: str) -> Iterator[None]:
    """Whatever fails here is the content of this file, unless the operating system or a file inside says otherwise."""
    try:
        yield
    except _OF_CONTENT as error:
        raise UnreadableError(file, type(error).__name__) from error
    except OSError as error:
        # PyArrow reports wrong content so too, but without a number of the operating system.
        if error.errno is not None:
            raise
        raise UnreadableError(file, type(error).__name__) from error
