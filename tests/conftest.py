"""What every test may use."""

from __future__ import annotations

import gc
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import profile, trust_numbers
from tests.steady_entropy import SteadyEntropy
from tools.site import build

#: Where single tests take longest: they start first, so that no process is left alone with them at the end.
SLOW_FOLDERS = ("browser", "contract", "property", "cli", "statistical", "site")
CENSUS_2020 = Path(__file__).resolve().parents[2] / "shared" / "census-2020"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, built once for all tests of a process. Building it fails where Sphinx warns."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    assert build(folder) == []
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the long profile: more cases, and the tests marked long")


def pytest_configure(config: pytest.Config) -> None:
    # What commands print into a pipe depends on it, and some shells set it.
    os.environ.pop("COLUMNS", None)
    profile.choose(is_long=bool(config.getoption("--long")))
    if not config.getoption("--long"):
        os.urandom = SteadyEntropy()
        # Thousands of small releases need not survive a power cut. Tests of what is on the disk have a stand-in of
        # their own, and commands in processes of their own wait for it.
        os.fsync = _no_wait


def _no_wait(fd: Any) -> None:
    """Stands in for `os.fsync`."""


def pytest_collection_finish() -> None:
    """What was imported and collected stays until the end; without this, garbage is looked for in it all the time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """At the end everything is collected again: DuckDB complains of what is left of it when Python ends."""
    gc.unfreeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    _start_entropy(_name(item))


def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> None:
    """What several tests share is the same, whichever of them asks first."""
    if fixturedef.scope != "function":
        _start_entropy(f"{fixturedef.baseid} {fixturedef.argname}")


def pytest_runtest_call(item: pytest.Item) -> None:
    _start_entropy(f"{_name(item)}, called")


def _name(item: pytest.Item) -> str:
    """The name of a test, however many processes there are: with several it ends in the group of the test."""
    return item.nodeid.removesuffix(f"@{_group(item)}")


def _start_entropy(name: str) -> None:
    if isinstance(os.urandom, SteadyEntropy):
        os.urandom.start(name)


def _group(item: pytest.Item) -> str:
    """With which others a test runs on one process: those of its mark, or those that share what was prepared.

    That are the tests of a file, and those of a folder with a conftest of its own.
    """
    named = {str(mark.args[0]) for mark in item.iter_markers("xdist_group")}
    return "_".join(sorted(named)) or (str(item.path.parent) if _has_conftest(item.path.parent) else item.location[0])


@cache
def _has_conftest(folder: Path) -> bool:
    return (folder / "conftest.py").exists()


def _turn(item: pytest.Item) -> tuple[bool, int]:
    """When a test comes: first the large groups, which are those of a mark or a folder, then the slow folders."""
    return _group(item).endswith(".py"), _turn_of_folder(item.path.parent)


@cache
def _turn_of_folder(folder: Path) -> int:
    first, *_ = (*folder.relative_to(Path(__file__).parent).parts, "")
    return SLOW_FOLDERS.index(first) if first in SLOW_FOLDERS else len(SLOW_FOLDERS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="a long test; make test-all runs it")
    items.sort(key=_turn)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
        trust_numbers.note(item)
        if "long" in item.keywords and not config.getoption("--long"):
            item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """After the dots: what the suites that trust rests on have tried."""
    told = trust_numbers.lines(terminalreporter.stats.get("passed", []))
    if told:
        terminalreporter.section("what trust rests on")
        for line in told:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def census_2020() -> Path:
    """The Bureau's production parameter files, read in place."""
    if not CENSUS_2020.is_dir():
        pytest.skip("the Bureau's production files are not in ../shared/census-2020")
    return CENSUS_2020
