"""What the suites that trust rests on have tried: cases, runs, chances of a false alarm.

In: the marks `tries` of the tests that passed, which say what a test tries and how often. Out: a line for each kind of
trial, for the end of the report. A test that was skipped or failed adds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from tools.mutants.catalogue import MUTANTS

_PROPERTY = "tries"


def note(item: pytest.Item) -> None:
    """Send along with a test's report what its marks say it tries."""
    for mark in item.iter_markers("tries"):
        what, number = mark.args
        item.user_properties.append((_PROPERTY, (what, number)))


def lines(passed: Iterable[pytest.TestReport]) -> list[str]:
    """One line for each kind of trial that any passed test made."""
    tried: Counter[str] = Counter()
    for report in passed:
        trials: list[Any] = [value for name, value in report.user_properties if name == _PROPERTY]
        for what, number in trials if report.when == "call" else []:
            tried[what] += number
    if not tried:
        return []
    return [
        *(f"{number:6,}  {what}" for what, number in sorted(tried.items())),
        f"{len(MUTANTS):6,}  mutants, run by `make mutants`",
    ]
