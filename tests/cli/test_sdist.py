"""The sdist: it has every file that a clone has."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tools.try_wheel import ROOT


def test_the_sdist_has_every_file_of_the_repository(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the list of files comes from git, and this is no clone")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.split("/", 1)[1] for name in archive.getnames()}
    listing = ["git", "ls-files", "-z", "--cached"]
    kept = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    there = {name for name in kept if name and (ROOT / name).is_file()}
    assert len(there) > 500
    assert there - packed == set()
