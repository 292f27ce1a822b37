"""How much each test tries: `quick` in `make test`, `long` in `make test-all` (pytest's `--long`).

One test serves both; what differs is how many cases it is given. conftest.py chooses before any test module is
imported, so that a size may stand in a decorator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import hypothesis
import pytest

Test = TypeVar("Test", bound=Callable[..., Any])

_chosen = {"is_long": False}


def choose(*, is_long: bool) -> None:
    """Called once, when pytest starts.

    The quick profile tries the same examples on every machine, so that a change is green or red because of the change.
    The long one tries others each time, and that is where new defects are found.
    """
    _chosen["is_long"] = is_long
    hypothesis.settings.register_profile("quick", derandomize=True)
    hypothesis.settings.load_profile("default" if is_long else "quick")


def size(*, quick: int, long: int) -> int:
    """So many in this profile."""
    return long if _chosen["is_long"] else quick


def examples(what: str, *, quick: int, long: int) -> Callable[[Test], Test]:
    """Give a hypothesis test so many examples in this profile, and count them as trials of a kind.

    Worlds are large and slow to make, which is not a mistake in the test.
    """
    number = size(quick=quick, long=long)
    slow = hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large
    settings = hypothesis.settings(max_examples=number, deadline=None, suppress_health_check=slow)
    return lambda test: settings(tries(what, number)(test))


def tries(what: str, number: int = 1) -> pytest.MarkDecorator:
    """Say what a test tries and how often; the end of the report adds it up over the tests that passed."""
    return pytest.mark.tries(what, number)
