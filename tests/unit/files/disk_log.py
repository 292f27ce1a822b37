"""What the disk was asked to keep: every call of `os.fsync`, in order, with what could be seen at that moment."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


class DiskLog:
    """Stands in for `os.fsync`; may fail at one call, as a full or broken disk does."""

    def __init__(self, look: Callable[[], object] = lambda: None, fail_at: int | None = None) -> None:
        self.synced: list[int] = []
        #: What `look` returned at each call.
        self.seen: list[object] = []
        self._look = look
        self._fail_at = fail_at

    def __call__(self, descriptor: int) -> None:
        if len(self.synced) == self._fail_at:
            raise OSError(28, os.strerror(28))
        self.synced.append(os.fstat(descriptor).st_ino)
        self.seen.append(self._look())

    def install(self, monkeypatch: pytest.MonkeyPatch) -> DiskLog:
        monkeypatch.setattr(os, "fsync", self)
        return self


def number(path: Path) -> int:
    """What a log calls a file or folder, whatever its name is at the time."""
    return path.stat().st_ino


def contents(folder: Path) -> dict[str, str] | None:
    """Every file of a folder with its text; None where there is no folder."""
    if not folder.exists():
        return None
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
