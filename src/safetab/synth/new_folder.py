"""A new folder that appears complete or not at all.

In: the path of a folder that does not exist yet. Out: an unfinished folder beside it. Promise: the folder gets its name
when the last byte is on the disk; if anything goes wrong before that, nothing is left behind.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetab.errors import Finding, MachineError, UsageError
from safetab.files.durable import put_in_place
from safetab.pipeline.process import interruptible
from safetab.pipeline.workspace import private_folder
from safetab.rules import synth_rules


def refuse_folder(folder: Path, needed: float) -> None:
    """Raise if a folder of about so many bytes cannot be made there, before anything is written."""
    if folder.exists() or folder.is_symlink():
        raise UsageError(Finding(synth_rules.EXISTS, str(folder)))
    if not folder.absolute().parent.is_dir():
        raise UsageError(Finding(synth_rules.NO_PARENT, str(folder.absolute().parent)))
    free = shutil.disk_usage(folder.absolute().parent).free
    if needed > free:
        seen = f"about {_gib(needed)} needed, {_gib(free)} free"
        raise MachineError(Finding(synth_rules.NO_SPACE, str(folder), seen=seen))


def _gib(count: float) -> str:
    return f"{count / 2**30:,.1f} GiB"


@contextmanager
def all_or_nothing(folder: Path) -> Iterator[Path]:
    """A folder beside `folder` that gets its name at the end, and is removed if the end is not reached."""
    target = folder.absolute()
    with interruptible(), private_folder(target.parent, f".{target.name}.") as unfinished:
        try:
            yield unfinished
            _open_to_all(unfinished)
            try:
                put_in_place(unfinished, target)
            except FileExistsError:
                raise UsageError(Finding(synth_rules.EXISTS, str(folder))) from None
        except OSError as error:
            # Arrow puts the text of the system's error in its message, but not always the number.
            if error.errno == errno.ENOSPC or "No space left" in str(error):
                raise MachineError(Finding(synth_rules.NO_SPACE, str(folder))) from error
            raise


def _open_to_all(folder: Path) -> None:
    """Give the finished folder the permissions of any new folder; a temporary folder is private."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


def bytes_in(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
