"""Arrays that are kept for later: in memory up to a limit, beyond that in files.

In: arrays, and a folder that nobody else can read. Out: the same arrays, as often as they are asked for. Promise: what
comes back equals what was kept; what is held in memory stays below the limit; files lie in the folder and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Some arrays, in memory or in files."""

    arrays: tuple[Array | Path, ...]
    types: tuple[np.dtype[Any], ...]

    def load(self) -> list[Array]:
        """The arrays. Those from files are read, not mapped: mapped pages would count as memory of this process."""
        return [
            np.fromfile(array, dtype) if isinstance(array, Path) else array
            for array, dtype in zip(self.arrays, self.types, strict=True)
        ]


class Shelf:
    """Keeps arrays under `folder` once `limit` bytes are in memory."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder, self._limit = folder, limit
        self._bytes, self._files = 0, 0
        self._lock = Lock()

    def keep(self, arrays: Sequence[Array]) -> Kept:
        """Keep some arrays that belong together. Threads may keep some at the same time."""
        size = sum(array.nbytes for array in arrays)
        types = tuple(array.dtype for array in arrays)
        with self._lock:
            has_room = self._bytes + size <= self._limit
            if has_room:
                self._bytes += size
            first, self._files = self._files, self._files + len(arrays)
        if has_room:
            return Kept(tuple(arrays), types)
        return Kept(tuple(self._write(array, first + number) for number, array in enumerate(arrays)), types)

    def _write(self, array: Array, number: int) -> Path:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._folder / f"{number}.array"
        path.write_bytes(np.ascontiguousarray(array).data)
        return path
