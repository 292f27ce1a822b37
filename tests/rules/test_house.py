"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from safetab.errors import Rule
from tools.example_country import FOLDER, files
from tools.reference import pages, rule_modules

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "safetab").rglob("*.py"))
DRAWERS = {"utils", "util", "helpers", "common", "core", "base", "misc"}


def test_no_drawers() -> None:
    assert not [path for path in SOURCES if path.stem in DRAWERS or path.parent.name in DRAWERS]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_modules_say_what_they_are_and_stay_readable(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "a module begins with what it is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 80, f"{node.name} is too long to read without scrolling"


def test_engines_are_imported_in_their_own_module_alone() -> None:
    for path in SOURCES:
        if path.parent.name != "engines":
            assert not re.search(r"^\s*(import|from) (duckdb|pyspark)", path.read_text(), re.MULTILINE), path


def test_rule_codes_are_unique_and_end_well() -> None:
    rules = [rule for module in rule_modules() for rule in vars(module).values() if isinstance(rule, Rule)]
    codes = [rule.code for rule in rules]
    assert len(set(codes)) == len(codes)
    for rule in rules:
        assert re.fullmatch(r"[A-Z]+-[0-9]{3}", rule.code)
        assert not rule.text.endswith("."), rule.code
        assert rule.next_step.endswith((".", "...")), rule.code


@pytest.mark.parametrize("name", sorted(pages()))
def test_reference_pages_are_up_to_date(name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert committed == pages()[name], "run `make docs`"


def test_the_example_country_is_what_its_generator_writes() -> None:
    for name, text in files().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"run `python -m tools.example_country` ({name})"


def test_make_lists_every_target_with_a_word() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    assert phony
    described = set(re.findall(r"^([a-z][a-z-]*):.*## ", makefile, re.MULTILINE))
    assert described == set(phony[1].replace("\\", " ").split())
