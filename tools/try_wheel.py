"""Builds the wheel, installs it in clean environments away from the repository, and tries the commands there.

In: Python interpreters, by name or path. Out: one line for each, with figures. The promise: nothing of the repository
is on the path, and dependencies come from the package registry as a user's would.

    python -m tools.try_wheel python3.12 python3.13
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: A whole release, from nothing to a report.
COMMANDS = (
    ("synth", "trial", "--like", "tiny"),
    ("check", "trial/params", "trial/data"),
    ("tabulate", "trial/params", "trial/data", "out"),
    ("verify", "out", "--params", "trial/params"),
    ("view", "out"),
    ("report", "out", "report.html"),
)


def build_wheel(folder: Path) -> Path:
    """Build the wheel with the build backend of this environment."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def make_environment(python: str, folder: Path) -> Path:
    """A new virtual environment; returns its folder of programs."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def run_commands(programs: Path, folder: Path) -> dict[str, float]:
    """Run every command in a folder; returns the seconds of each."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    taken = {}
    for words in COMMANDS:
        start = time.monotonic()
        done = subprocess.run(
            [programs / "safetab", *words], cwd=folder, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"safetab {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        taken[words[0]] = time.monotonic() - start
    return taken


def try_python(python: str, wheel: Path, folder: Path) -> str:
    """Install the wheel for one Python and try it; returns a line of figures."""
    programs = make_environment(python, folder / "environment")
    start = time.monotonic()
    python_there = str(programs / "python")
    pip = [python_there, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    subprocess.run([*pip, f"{wheel}[report]"], check=True)
    installed = time.monotonic() - start
    ask = [python_there, "-c", "import platform, safetab; print(platform.python_version(), safetab.__version__)"]
    version, of_safetab = subprocess.run(ask, cwd=folder, check=True, capture_output=True, text=True).stdout.split()
    taken = run_commands(programs, folder)
    figures = ", ".join(f"{name} {seconds:.1f}" for name, seconds in taken.items())
    return f"Python {version}: safetab {of_safetab}; seconds: install {installed:.0f}, {figures}"


def main(pythons: Sequence[str]) -> int:
    """Try the wheel with each interpreter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build_wheel(folder / "dist")
        print(f"{wheel.name}, {wheel.stat().st_size:,} bytes")
        for number, python in enumerate(pythons or [sys.executable]):
            place = folder / str(number)
            place.mkdir()
            print(try_python(python, wheel, place), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
