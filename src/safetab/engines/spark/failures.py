"""What to say when Spark fails: its own words may quote a record, so they are replaced by ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from safetab.errors import UNSPENT, Finding, InputError, MachineError, Rule, SafetabError
from safetab.rules import machine_rules
from safetab.rules.file_rules import MISSING_FILE, NO_ROWS, NOT_PARQUET

#: Spark's names for faults that are the user's to mend.
_INPUT_FAULTS: tuple[tuple[str, Rule, str], ...] = (
    ("PATH_NOT_FOUND", MISSING_FILE, "nothing there"),
    ("UNABLE_TO_INFER_SCHEMA", NO_ROWS, "a folder without Parquet files"),
    ("CANNOT_READ_FILE_FOOTER", NOT_PARQUET, ""),
    ("FAILED_READ_FILE", NOT_PARQUET, ""),
    ("CANNOT_MERGE_SCHEMA", NOT_PARQUET, ""),
)
_OUT_OF_ROOM = ("OutOfMemoryError", "No space left on device", "Disk quota exceeded", "maxResultSize")


@contextmanager
def translate_errors(file: str, *, is_reading: bool = False) -> Iterator[None]:
    """Replace an error of Spark's, whose text may quote a record, by one of ours.

    While the records are first read a broken file is the user's to mend; later it is the machine that failed.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with _quiet_loggers():
            yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise _translated(error, file, is_reading=is_reading) from None


@contextmanager
def _quiet_loggers() -> Iterator[None]:
    """Keep PySpark from writing its errors, whole, to standard error before anybody can catch them."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled


def _translated(error: Exception, file: str, *, is_reading: bool) -> SafetabError:
    text = str(error)
    if any(sign in text for sign in _OUT_OF_ROOM):
        return MachineError(Finding(machine_rules.NO_ROOM, file))
    for sign, rule, seen in _INPUT_FAULTS:
        if is_reading and sign in text:
            return InputError(Finding(rule, file, seen=seen), state=UNSPENT)
    return MachineError(Finding(machine_rules.ENGINE_FAILED, file, seen=type(error).__name__))
