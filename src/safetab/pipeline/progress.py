"""How far a tabulation has come, for whoever watches.

In: the population groups and the blocks of each run, and what is done. Out: shares of the whole work for a `Watcher`.
Promise: everything said here is public, with one exception that says so, `Watcher.read`. The work is weighed by numbers
of blocks and of groups, which are in public files; how many records there are, and how large their files, is not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from safetab.errors import Finding
from safetab.pipeline.groups import GroupDomain

#: What a block costs, in population groups: its line in the geography file, its people when they are read, and when
#: they are counted for the totals and for the tables of one level. `make bench` says how near the time left comes.
_GEOGRAPHY_OF_BLOCK, _READING_OF_BLOCK, _TOTALS_OF_BLOCK, _TABLES_OF_BLOCK = 20, 150, 2, 4


class Watcher(Protocol):
    """Receives the progress of a tabulation."""

    def note(self, text: str) -> None:
        """Something happened."""
        ...

    def warn(self, findings: Sequence[Finding]) -> None:
        """Something is odd, and no reason to stop."""
        ...

    def advance(self, done: int, planned: int, what: str) -> None:
        """So much of the planned work is done; `what` comes next."""
        ...

    def read(self, share: float) -> None:
        """This share of the whole work is done, while records are read.

        It comes as often as there are batches of records, so it is for the eyes of the operator, who has the files. It
        must not be logged.
        """
        ...


class Unwatched:
    """The watcher of a tabulation that nobody watches."""

    def note(self, text: str) -> None:
        """Nobody listens."""

    def warn(self, findings: Sequence[Finding]) -> None:
        """Nobody listens."""

    def advance(self, done: int, planned: int, what: str) -> None:
        """Nobody listens."""

    def read(self, share: float) -> None:
        """Nobody listens."""


@dataclass(frozen=True, slots=True)
class RunWork:
    """The work of one run, in population groups."""

    blocks: int
    groups: int
    levels: int
    levels_with_tables: int

    @property
    def geography(self) -> int:
        return self.blocks * _GEOGRAPHY_OF_BLOCK

    @property
    def reading(self) -> int:
        return self.blocks * _READING_OF_BLOCK

    def totals(self, groups: int) -> int:
        """Counting people for the totals of one level and measuring its groups."""
        return groups + self.blocks * _TOTALS_OF_BLOCK

    @property
    def tables(self) -> int:
        """Counting people for the tables of one level and measuring these."""
        return self.blocks * _TABLES_OF_BLOCK

    @property
    def planned(self) -> int:
        counting = self.groups + self.levels * self.totals(0) + self.levels_with_tables * self.tables
        return self.geography + self.reading + counting


class WholeWork:
    """Adds up what is done of all runs."""

    def __init__(self, watcher: Watcher, runs: Mapping[str, RunWork]) -> None:
        self.watcher, self._runs = watcher, runs
        self.planned = sum(work.planned for work in runs.values())
        # The geography of every run has been read before its groups can be counted.
        self.done = sum(work.geography for work in runs.values())

    def reading(self, run: str, share: float) -> None:
        """This share of the records of a run is read."""
        self.watcher.read((self.done + share * self._runs[run].reading) / self.planned)

    def was_read(self, run: str) -> None:
        """All records of a run are read."""
        self.done += self._runs[run].reading

    def of_run(self, run: str) -> Progress:
        return Progress(self, self._runs[run])


class Progress:
    """The levels of one run."""

    def __init__(self, whole: WholeWork, work: RunWork) -> None:
        self._whole, self._work = whole, work

    def begin_totals(self, domain: GroupDomain) -> None:
        self._advance(0, f"totals of {domain.planned.name}")

    def end_totals(self, domain: GroupDomain) -> None:
        self._advance(self._work.totals(domain.groups))

    def begin_tables(self) -> None:
        """The tables of all levels come next; some engines count them together."""
        self._advance(0, "the tables of all levels")

    def end_tables(self) -> None:
        """The tables of one level more are done."""
        self._advance(self._work.tables)

    def _advance(self, work: int, what: str = "") -> None:
        self._whole.done += work
        self._whole.watcher.advance(self._whole.done, self._whole.planned, what)
