"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from safetab.errors import Rule
from tools import example_office
from tools.example_country import FOLDER, files
from tools.reference import pages, rule_modules

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "safetab").rglob("*.py"))
DRAWERS = {"utils", "util", "helpers", "common", "core", "base", "misc"}


def test_no_drawers() -> None:
    assert not [path for path in SOURCES if path.stem in DRAWERS or path.parent.name in DRAWERS]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_modules_say_what_they_are_and_stay_readable(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module begins with what it is for"
    assert len(text.splitlines()) <= 300, "too long for one module"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is too long to read without scrolling"


@pytest.mark.parametrize(("package", "engine"), [("duckdb", "duckdb"), ("pyspark", "spark")])
def test_engines_are_imported_in_their_own_folder_alone(package: str, engine: str) -> None:
    """On first use too, which the import rules of `make check` see, and in a string of code they do not.

    DuckDB reads finished releases too.
    """
    reading = {ROOT / "src" / "safetab" / "reading"} if engine == "duckdb" else set()
    importing = {
        path for path in SOURCES if re.search(rf"^\s*(import|from) {package}\b", path.read_text(), re.MULTILINE)
    }
    assert importing
    assert {path.parent for path in importing} == {ROOT / "src" / "safetab" / "engines" / engine} | reading


def test_the_engines_have_files_of_the_same_names() -> None:
    engines = ROOT / "src" / "safetab" / "engines"
    of_duckdb, of_spark = ({path.name for path in (engines / name).glob("*.py")} for name in ("duckdb", "spark"))
    # Spark alone has a session to start, a Java to find, tables that it keeps and counts in planned jobs, and text to
    # cut, which Arrow does for DuckDB; DuckDB alone streams people to arrays.
    of_spark -= {"session.py", "java.py", "tables.py", "people.py", "records.py", "cell_plan.py", "text.py"}
    assert of_duckdb - {"blocks.py", "streaming.py"} == of_spark


def test_rule_codes_are_unique_and_end_well() -> None:
    rules = [rule for module in rule_modules() for rule in vars(module).values() if isinstance(rule, Rule)]
    codes = [rule.code for rule in rules]
    assert len(set(codes)) == len(codes)
    for rule in rules:
        assert re.fullmatch(r"[A-Z]+-[0-9]{3}", rule.code)
        assert not rule.text.endswith("."), rule.code
        assert rule.next_step.endswith((".", "...")), rule.code


def imported_modules(tree: ast.AST) -> set[str]:
    """The names of modules that a module imports, and of what it imports from them."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imports_a_test_module(tree: ast.AST) -> bool:
    return any(part.startswith("test_") for name in imported_modules(tree) for part in name.split("."))


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_of_tests_imports_a_test_module(path: Path) -> None:
    assert not imports_a_test_module(ast.parse(path.read_text())), "what tests share belongs in tests/worlds"


@pytest.mark.parametrize(
    "code",
    [
        "from tests.cli.test_a import b",
        "from tests.cli import test_a",
        "import tests.test_a as a",
        "from .test_a import b",
    ],
)
def test_the_rule_sees_every_import(code: str) -> None:
    assert imports_a_test_module(ast.parse(code))
    assert not imports_a_test_module(ast.parse("from tests.worlds import tiny"))


@pytest.mark.parametrize("name", sorted(pages()))
def test_reference_pages_are_up_to_date(name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert committed == pages()[name], "run `make docs`"


def test_the_example_country_is_what_its_generator_writes() -> None:
    for name, text in files().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"run `python -m tools.example_country` ({name})"


def test_the_files_of_the_example_office_are_what_their_generator_writes() -> None:
    for name, text in example_office.files().items():
        assert (example_office.FOLDER / name).read_bytes() == text.encode(), (
            f"run `python -m tools.example_office` ({name})"
        )


def test_make_lists_every_target_with_a_word() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    assert phony
    described = set(re.findall(r"^([a-z][a-z-]*):.*## ", makefile, re.MULTILINE))
    assert described == set(phony[1].replace("\\", " ").split())
