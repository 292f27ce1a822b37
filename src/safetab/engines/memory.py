"""How much memory this process may use: what the machine has, or less where a control group allows less.

In: the files in which Linux says so. Out: a number of bytes. Promise: never more than the least limit of any control
group around this process, of version 1 or 2; a container that is given more than it may use is killed.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

#: The names under which version 2 and version 1 keep a limit. `max` in a file stands for none.
_LIMITS_2: tuple[str, ...] = ("memory.max", "memory.high")
_LIMITS_1: tuple[str, ...] = ("memory.limit_in_bytes",)
#: Where nobody says how much memory there is, as much as a small machine has.
_UNKNOWN = 4 << 30


def usable_memory(root: Path = Path("/")) -> int:
    """The memory of the machine, or the least limit of the control groups that this process is in."""
    return min([_memory_of_machine(), *_limits(root)])


def _memory_of_machine() -> int:
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    # Windows says it in kibibytes, and takes a number of 64 bits by its address.
    found = ctypes.c_ulonglong(0)
    try:
        is_known = ctypes.CDLL("kernel32").GetPhysicallyInstalledSystemMemory(ctypes.byref(found))
    except (OSError, AttributeError):
        is_known = False
    return found.value * 1024 if is_known else _UNKNOWN


def _limits(root: Path) -> Iterator[int]:
    for file in _limit_files(root):
        try:
            text = file.read_text().strip()
        except OSError:
            # The root group has no limit; and in a container the path may be one that only its host has.
            continue
        if text.isdecimal() and int(text) > 0:
            yield int(text)


def _limit_files(root: Path) -> Iterator[Path]:
    """Where a limit may stand: in the group of this process and in every group around it."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    mounted = root / "sys/fs/cgroup"
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        if not controllers:
            # Beside version 1, version 2 is mounted one folder further down.
            places, names = (mounted, mounted / "unified"), _LIMITS_2
        elif "memory" in controllers.split(","):
            places, names = (mounted / "memory", mounted / controllers), _LIMITS_1
        else:
            continue
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):
            yield from (place / folder / name for place in places for name in names)
