"""Windows in a nutshell: without the modules, signals and calls that POSIX alone has, everything imports and works.

No Windows runs here. What is made absent is what Windows lacks; paths and the locks of Windows are not tried.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "safetab").rglob("*.py"))
#: The modules of the standard library that Windows does not have.
POSIX = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "spwd", "syslog", "termios", "tty")

#: Imports every module, then makes and releases the tiny country, with a registry, and reads it.
PROGRAM = f"""
import importlib, os, pkgutil, signal, sys
# What Python itself needs to start and to import is there on this system.
import subprocess, tempfile, shutil
for name in {POSIX!r}:
    if name != "posix":
        sys.modules[name] = None
del signal.SIGHUP, os.sysconf, os.sched_getaffinity
import safetab
names = [module.name for module in pkgutil.walk_packages(safetab.__path__, "safetab.")]
for name in names:
    if name != "safetab.__main__":
        importlib.import_module(name)
assert len(names) > 200, len(names)
from safetab.cli.main import main
for words in (
    ["synth", "tiny", "--like", "tiny"],
    ["check", "tiny/params", "tiny/data"],
    ["tabulate", "tiny/params", "tiny/data", "out", "--registry", "registry"],
    ["tabulate", "tiny/params", "tiny/data", "out", "--registry", "registry", "--overwrite", "--spend-again"],
    ["verify", "out"],
    ["view", "out"],
):
    assert main(words) == 0, words
"""


def test_the_tiny_country_without_posix(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "registry").read_text().splitlines()) == 3
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_no_module_imports_what_posix_alone_has(path: Path) -> None:
    """At its head, where there is no way around it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {name.split(".")[0] for name in names} & set(POSIX)
