"""Where a tabulation keeps what nobody may see yet, and how its output appears: whole, in one step, or not at all.

In: the path of the output. Out: a private folder beside it while the tabulation lasts, and the finished output in its
place at the end. Promise: the folder has mode 0700 and is removed when the tabulation ends, however it ends; what a
killed tabulation left behind is removed by the next one to the same output.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from safetab.errors import Finding, UsageError
from safetab.files.durable import put_in_place
from safetab.files.seals import LEDGER_FILE as LEDGER_FILE
from safetab.pipeline.process import heed_interrupt, uninterrupted
from safetab.rules import output_rules

_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The private folder of one tabulation: `engine` for confidential data, `out` for what will be published."""

    folder: Path
    target: Path
    overwrite: bool
    #: Whether everybody may read the output, or its owner alone.
    for_everybody: bool
    #: The number that the folder `out` has on its disk, under whatever name.
    number_of_out: int

    @property
    def engine(self) -> Path:
        return self.folder / "engine"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def is_published(self) -> bool:
        """Whether the output is in its place."""
        return self.target.exists() and self.target.stat().st_ino == self.number_of_out

    def publish(self) -> None:
        """Put the finished output in its place, in one step, replacing what is there only if that was asked for."""
        heed_interrupt()
        _set_readers(self.out, for_everybody=self.for_everybody)
        try:
            put_in_place(self.out, self.target, aside=self.folder / "replaced" if self.overwrite else None)
        except FileExistsError:
            raise UsageError(Finding(output_rules.OUTPUT_EXISTS, str(self.target))) from None


@contextmanager
def workspace(target: Path, *, overwrite: bool, for_everybody: bool = True) -> Iterator[Workspace]:
    """A private folder beside the output, gone when the block ends."""
    refuse_output(target, overwrite=overwrite)
    parent = target.absolute().parent
    prefix = f".{target.name}.safetab-"
    if not _remove_abandoned(parent, prefix):
        raise UsageError(Finding(output_rules.OUTPUT_BUSY, str(target)))
    # The lock goes first at the end: Windows removes no folder with an open file in it.
    with private_folder(parent, prefix) as folder, FileLock(folder / _LOCK, mode=0o600):
        (folder / "engine").mkdir(mode=0o700)
        (folder / "out").mkdir(mode=0o700)
        number = (folder / "out").stat().st_ino
        yield Workspace(folder, target.absolute(), overwrite, for_everybody, number)


@contextmanager
def private_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder of mode 0700 that is gone when the block ends, however it ends."""
    made: list[Path] = []
    try:
        try:
            with uninterrupted():
                made.append(Path(tempfile.mkdtemp(prefix=prefix, dir=parent)))
            yield made[0]
        finally:
            _remove(made)
    finally:
        # Twice, because an interrupt may come just as the first removal is about to begin.
        _remove(made)


def _remove(folders: list[Path]) -> None:
    with uninterrupted():
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def refuse_output(target: Path, *, overwrite: bool) -> None:
    """Raise if the output cannot or may not be written there."""
    parent = target.absolute().parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise UsageError(Finding(output_rules.OUTPUT_PARENT, str(parent)))
    # A link would be replaced by a folder and what it points to kept; one that points nowhere would fail at the end.
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(Finding(output_rules.OUTPUT_IS_A_FILE, str(target)))
    if target.exists() and not overwrite:
        raise UsageError(Finding(output_rules.OUTPUT_EXISTS, str(target)))
    if target.exists() and any(target.iterdir()) and not (target / LEDGER_FILE).exists():
        raise UsageError(Finding(output_rules.OUTPUT_NOT_OURS, str(target)))


def _remove_abandoned(parent: Path, prefix: str) -> bool:
    """Remove what killed tabulations left, whose lock nobody holds; False if one that is alive has a folder."""
    nobody_else = True
    for folder in parent.glob(f"{glob.escape(prefix)}*"):
        if not (folder / _LOCK).exists():
            # Just being made, or just being removed, by another tabulation.
            continue
        try:
            with FileLock(folder / _LOCK, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
            # Where a file that is open cannot be removed, the lock is still there.
            shutil.rmtree(folder, ignore_errors=True)
        except Timeout:
            nobody_else = False
        except OSError:
            continue
    return nobody_else


def _set_readers(folder: Path, *, for_everybody: bool) -> None:
    """Let everybody read what will be published, or its owner alone; the folder around it is still private."""
    of_file, of_folder = (0o644, 0o755) if for_everybody else (0o600, 0o700)
    for path in (*folder.rglob("*"), folder):
        path.chmod(of_file if path.is_file() else of_folder)
