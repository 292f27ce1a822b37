"""Randomness that protects people is drawn in one module alone; invented people are drawn in another.

The second cannot reach a release: `make check` forbids every layer below the command line to import `safetab.synth`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "safetab"
ALLOWED = {SOURCE / "noise" / "source.py", SOURCE / "synth" / "draws.py"}
MODULES = {"random", "secrets", "numpy.random", "uuid"}
NAMES = {"urandom", "getrandom", "default_rng", "RandomState", "SystemRandom", "token_bytes"}


def offences(code: str) -> list[str]:
    """Every import of a random module and every name that draws randomness."""
    found: list[str] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _is_random(alias.name)]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found += [
                f"{module}.{a.name}" for a in node.names if _is_random(module) or _is_random(f"{module}.{a.name}")
            ]
            found += [a.name for a in node.names if a.name in NAMES]
        elif isinstance(node, ast.Attribute) and (
            node.attr in NAMES or (node.attr == "random" and isinstance(node.value, ast.Name))
        ):
            found.append(node.attr)
    return found


def _is_random(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in MODULES)


def test_nothing_but_the_source_draws_randomness() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert set(files) >= ALLOWED
    assert {
        str(file): found for file in files if file not in ALLOWED and (found := offences(file.read_text("utf-8")))
    } == {}


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "import secrets as s",
        "import numpy.random",
        "from numpy import random",
        "from random import choice",
        "from numpy.random import default_rng",
        "import numpy as np\nnp.random.normal()",
        "import os\nos.urandom(4)",
        "from os import urandom",
        "import uuid",
    ],
)
def test_the_rule_sees_every_way_in(code: str) -> None:
    assert offences(code)


def test_the_rule_is_not_jumpy() -> None:
    assert offences("from safetab.noise import draw\nimport numpy as np\nnp.zeros(3)") == []
