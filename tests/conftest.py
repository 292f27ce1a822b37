"""What every test may use."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

CENSUS_2020 = Path(__file__).resolve().parents[2] / "shared" / "census-2020"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests marked long too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="a long test; make test-all runs it")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """After the dots: what the suites that trust rests on have tried."""
    from tests import trust_numbers

    passed = Counter(report.nodeid.split("::")[0] for report in terminalreporter.stats.get("passed", []))
    told = trust_numbers.lines(passed, long=bool(config.getoption("--long")))
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
