"""docs/benchmarks.md, a section for each benchmark, written by the benchmark itself as measured."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import safetab
from safetab.engines.memory import usable_memory
from safetab.engines.workers import usable_cores

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
#: The sections in the order of the page, and the command that writes each.
SECTIONS = {
    "A nation": "make bench-nation",
    "A billion": "make bench-billion",
    "One state": "make bench",
    "Estimates": "make bench-estimates",
    "Evaluation": "make bench-evaluate",
    "Spark beside DuckDB": "make bench-spark",
    "Own files": "make bench-own-files",
    "Noise": "make bench-noise",
    "Synthetic people": "make bench-synth",
    "Membership": "make bench-membership",
    "Planning": "make bench-planning",
    "Reading a release": "make bench-reading",
}
HEAD = """# Benchmarks

*For people who ask how fast it is.*

Each section is written by the command it names, as measured. The machine is shared with other work, so compare figures
of one run with each other, not with those of another run.
"""


class Section:
    """What a benchmark prints, kept for its section of the page."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._load = os.getloadavg()[0]
        self._lines: list[str] = []

    def tell(self, line: str = "") -> None:
        print(line, flush=True)
        self._lines.append(line)

    def save(self, text: str = "") -> None:
        """Replace this section of the page by `text` and the lines told."""
        told = ["```text", *self._lines, "```"] if self._lines else []
        parts = [f"## {self.title}", self._machine(), text.strip(), "\n".join(told)]
        sections = sections_of(PAGE.read_text("utf-8") if PAGE.exists() else "")
        sections[self.title] = "\n\n".join(part for part in parts if part)
        ordered = [sections[title] for title in SECTIONS if title in sections]
        PAGE.write_text("\n\n".join([HEAD.strip(), *ordered]) + "\n", encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}: {self.title}")

    def _machine(self) -> str:
        cores, memory = usable_cores(), usable_memory() / 2**30
        return (
            f"`{SECTIONS[self.title]}`, {datetime.now(UTC):%Y-%m-%d}: {cores} cores, {memory:.0f} GiB of memory, "
            f"{platform.system()}, Python {platform.python_version()}, DuckDB {version('duckdb')},\n"
            f"NumPy {version('numpy')}, PyArrow {version('pyarrow')}, SafeTab {safetab.__version__}; "
            f"load average {self._load:.1f} at the start."
        )


def sections_of(page: str) -> dict[str, str]:
    """The sections of the page by title."""
    found = [part.strip() for part in re.split(r"^(?=## )", page, flags=re.MULTILINE) if part.startswith("## ")]
    return {part.splitlines()[0].removeprefix("## "): part for part in found}
