"""Which engine counts: a value that a caller chooses, with everything that engine needs to start.

In: "duckdb", "spark", `DuckDb()` or `Spark(master=..., session=...)`. Out: a running engine that keeps what is
confidential in the folder it is given. Promise: an engine's packages are imported when it starts, not before.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from safetab.engines.protocol import Engine


class EngineChoice(Protocol):
    """An engine that was chosen and does not run yet."""

    #: Whether it can read records at an address such as s3a://bucket/records.
    reads_addresses: ClassVar[bool]
    #: Whether it can read records in the memory of this process.
    reads_memory: ClassVar[bool]

    def start(self, folder: Path) -> Engine:
        """Start the engine; everything confidential that it keeps on this machine is in `folder`."""
        ...


@dataclass(frozen=True, slots=True)
class DuckDb:
    """Count on this machine, out of core where the records do not fit into memory."""

    reads_addresses: ClassVar[bool] = False
    reads_memory: ClassVar[bool] = True

    def start(self, folder: Path) -> Engine:
        from safetab.engines.duckdb.engine import DuckDbEngine

        return DuckDbEngine(folder)


@dataclass(frozen=True, slots=True)
class Spark:
    """Count with Spark: in `session`, which stays open, or in a session of our own on `master`.

    Without either, the session that is active in this process is used, and where there is none one is started as Spark
    is configured, by default on this machine.
    """

    #: The address of the cluster.
    master: str | None = None
    #: A session of the caller's.
    session: Any = None
    reads_addresses: ClassVar[bool] = True
    reads_memory: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.master is not None and not isinstance(self.master, str):
            raise TypeError(
                f'master is of type {type(self.master).__name__}: pass an address as text, such as "local[2]".'
            )
        if self.session is not None and not hasattr(self.session, "newSession"):
            raise TypeError(f"session is of type {type(self.session).__name__}: pass a SparkSession.")
        if self.master is not None and self.session is not None:
            raise ValueError("a session has a master already: pass master or session, not both.")

    def start(self, folder: Path) -> Engine:
        from safetab.engines.spark.engine import SparkEngine

        return SparkEngine(folder, master=self.master, session=self.session)


_BY_NAME: dict[str, type[DuckDb] | type[Spark]] = {"duckdb": DuckDb, "spark": Spark}


def chosen_engine(engine: str | EngineChoice) -> EngineChoice:
    """The engine that a caller means; raises where it is none."""
    if isinstance(engine, str):
        if engine not in _BY_NAME:
            raise ValueError(f'engine is {engine!r}: it must be "duckdb", "spark" or Spark(master=..., session=...).')
        return _BY_NAME[engine]()
    if not callable(getattr(engine, "start", None)):
        raise TypeError(
            f"engine is of type {type(engine).__name__}: "
            'it must be "duckdb", "spark" or Spark(master=..., session=...).'
        )
    return engine
