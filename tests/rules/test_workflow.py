"""The workflow of the repository's host: it runs the same commands as `.ci/run`, on every system and Python named."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_windows_runs_every_check_without_make() -> None:
    target = MAKEFILE.split("\ncheck: ")[1].split("\n\n")[0]
    checks = re.findall(r"\$\(BIN\)/(.+)", target)
    assert len(checks) >= 4
    assert [check for check in checks if f".venv/Scripts/{check}\n" not in WORKFLOW] == []
    assert ".venv/Scripts/python -m pytest -q" in WORKFLOW


def test_every_system_and_python_is_named_and_that_it_was_not_run() -> None:
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in WORKFLOW
    assert 'python: ["3.11", "3.12", "3.13", "3.14"]' in WORKFLOW
    assert "run: .ci/run" in WORKFLOW
    assert WORKFLOW.startswith("# Written, and never run where this project is developed")


def test_types_are_judged_alike_on_every_system() -> None:
    """What one system has and another lacks is behind a question that mypy cannot ask of all of them at once."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["platform"] == "linux"
