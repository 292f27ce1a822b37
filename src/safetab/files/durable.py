"""Writing files whole and durably: what appears under its name is complete, and is still there after a power cut.

In: finished files and folders, lines for a log, values for JSON. Out: the same on disk. Promise: a folder takes its
name in one step, after every byte of it has been written to the disk; an appended line is on the disk when the call
returns. `write_json` alone does not wait for the disk: it writes into folders that `put_in_place` finishes.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
import time
from pathlib import Path
from typing import IO

#: renameat2's flag and the "current folder" that its paths are relative to.
_RENAME_EXCHANGE, _AT_FDCWD = 2, -100


def put_in_place(finished: Path, target: Path, *, aside: Path | None = None) -> None:
    """Give a finished folder the name `target`, in one step.

    If something has that name already, FileExistsError is raised, and both folders stay as they are. With `aside`, a
    folder of that name is replaced instead: it is left at `finished`, or at `aside` where the operating system cannot
    exchange two folders. Both must be on the disk of `target`. Everything in it gets one time, because the times of
    files show how long the work between them took.
    """
    set_one_time(finished)
    sync_tree(finished)
    if not target.exists():
        _move(finished, target)
    elif aside is None:
        raise _taken(target)
    elif not exchange(finished, target):
        # For a moment nothing has the name, but never half of a folder.
        target.rename(aside)
        finished.rename(target)
    sync(target.absolute().parent)


def exchange(one: Path, other: Path) -> bool:
    """Swap the names of two folders in one step; False if the operating system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    done: int = swap(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return done == 0


def set_one_time(folder: Path) -> None:
    """Give a folder, and every file and folder in it, the same time, in whole seconds."""
    now = int(time.time())
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (now, now))


def sync_tree(folder: Path) -> None:
    """Wait until a folder, and every file and folder in it, is on the disk."""
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    if os.name == "nt" and path.is_dir():
        # Windows cannot be asked to wait for a folder.
        return
    # Windows waits for files only that may be written.
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_line(file: IO[str], line: str) -> None:
    """Add a line at the end of an open file and wait until it is on the disk; if that fails, none of it is there."""
    before = file.seek(0, os.SEEK_END)
    try:
        _write_through(file, (line + "\n").encode())
    except OSError:
        os.ftruncate(file.fileno(), before)
        raise


def _write_through(file: IO[str], rest: bytes) -> None:
    """Write past the buffers of a file: they would keep what a full disk has not taken, and write it later."""
    while rest:
        rest = rest[os.write(file.fileno(), rest) :]
    os.fsync(file.fileno())


def json_text(content: object) -> str:
    """JSON that people can read: indented, letters of every language as they are, and a line end at the end."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_json(path: Path, content: object) -> None:
    """Write a value as JSON text."""
    path.write_text(json_text(content), encoding="utf-8")


def _move(finished: Path, target: Path) -> None:
    try:
        finished.rename(target)
    except OSError:
        # Somebody has taken the name since we looked; the system never replaces a folder with files in it.
        if target.exists():
            raise _taken(target) from None
        raise


def _taken(target: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
