"""Where a run keeps what nobody may see yet, and how its output appears: whole, in one step, or not at all.

In: the path the output is to have. Out: a private folder beside it while the run lasts, and the finished output in
its place at the end. Promise: the folder has mode 0700 and is removed when the run ends, however it ends; what a
killed run left behind is removed by the next run to the same output.
"""

from __future__ import annotations

import ctypes
import fcntl
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from safetab.errors import Finding, UsageError
from safetab.pipeline import rules

LEDGER_FILE = "ledger.json"
_LOCK = "lock"
#: renameat2's flag and the "current folder" that its paths are relative to.
_RENAME_EXCHANGE, _AT_FDCWD = 2, -100


@dataclass(frozen=True, slots=True)
class Workspace:
    """The private folder of one run: `engine` for confidential data, `out` for what will be published."""

    folder: Path
    target: Path
    overwrite: bool

    @property
    def engine(self) -> Path:
        return self.folder / "engine"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def publish(self) -> None:
        """Put the finished output in its place, in one step, replacing what is there only if that was asked for."""
        _make_durable(self.out)
        self.out.chmod(0o755)
        if not self.target.exists():
            self._move_in()
        elif not self.overwrite:
            raise self._taken()
        elif not _exchange(self.out, self.target):
            # No exchange on this system: for a moment there is no output, but never half of one.
            self.target.rename(self.folder / "replaced")
            self.out.rename(self.target)
        _sync_folder(self.target.parent)

    def _move_in(self) -> None:
        try:
            self.out.rename(self.target)
        except OSError:
            # Another run has put its output there since we looked; a folder with files in it is never replaced.
            if self.target.exists():
                raise self._taken() from None
            raise

    def _taken(self) -> UsageError:
        state = "Noise was drawn and nothing was published; a registry counts this run."
        return UsageError(Finding(rules.OUTPUT_EXISTS, str(self.target)), state=state)


@contextmanager
def workspace(target: Path, *, overwrite: bool) -> Iterator[Workspace]:
    """A private folder beside the output, gone when the block ends."""
    refuse_output(target, overwrite=overwrite)
    parent = target.absolute().parent
    prefix = f".{target.name}.safetab-"
    if not _remove_abandoned(parent, prefix):
        raise UsageError(Finding(rules.OUTPUT_BUSY, str(target)))
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    lock = (folder / _LOCK).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = Workspace(folder, target.absolute(), overwrite)
        made.engine.mkdir(mode=0o700)
        made.out.mkdir(mode=0o700)
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def refuse_output(target: Path, *, overwrite: bool) -> None:
    """Raise if the output cannot or may not be written there."""
    parent = target.absolute().parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise UsageError(Finding(rules.OUTPUT_PARENT, str(parent)))
    # A link would be replaced by a folder and what it points to kept; one that points nowhere would fail at the end.
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(Finding(rules.OUTPUT_IS_A_FILE, str(target)))
    if target.exists() and not overwrite:
        raise UsageError(Finding(rules.OUTPUT_EXISTS, str(target)))
    if target.exists() and any(target.iterdir()) and not (target / LEDGER_FILE).exists():
        raise UsageError(Finding(rules.OUTPUT_NOT_OURS, str(target)))


def _remove_abandoned(parent: Path, prefix: str) -> bool:
    """Remove folders of runs that were killed, whose lock nobody holds; False if a run that is alive has one."""
    nobody_else = True
    for folder in parent.glob(f"{glob.escape(prefix)}*"):
        try:
            with (folder / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            nobody_else = False
        except OSError:
            # Just being made, or just being removed, by another run.
            continue
    return nobody_else


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, where the operating system can."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    done: int = swap(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return done == 0


def _make_durable(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            with path.open("rb") as file:
                os.fsync(file.fileno())
        else:
            path.chmod(0o755)
            _sync_folder(path)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
