"""An audit from outside: run the program many times on two neighbours and bound from below what its output tells.

Nothing of the program is opened. An event that the guarantee allows to be e^epsilon times likelier on one side is
counted on both; Clopper-Pearson bounds turn the counts into an epsilon that the program certainly spends, up to a
stated chance of error. A right program is never caught beyond its claim; one with half the noise is.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.stats import beta

import safetab
from safetab.accounting.events import CountEvent, LevelPlan, Stage
from tests.census_world import read_t1, read_t2
from tests.statistical.exact_world import PEOPLE, write_people, write_world

#: The chance that a right program is accused, in each audit.
FALSE_ALARM = 1e-7
EPSILON = "2"
GAMMA = "0.5"
#: The count of one side reaches all three, that of the other none.
THRESHOLDS = (PEOPLE + 1,) * 3
TRIALS = 450


def certain_epsilon(likely: int, unlikely: int, trials: int) -> float:
    """The least epsilon that explains an event seen so often in so many trials on either side."""
    low = float(beta.ppf(FALSE_ALARM / 2, likely, trials - likely + 1)) if likely else 0.0
    high = float(beta.ppf(1 - FALSE_ALARM / 2, unlikely + 1, trials - unlikely)) if unlikely < trials else 1.0
    return math.log(low / high) if low > 0 else -math.inf


def event_of(folder: Path, kind: str) -> bool:
    """The event that tells the most: noise that points towards one person more, in every stage."""
    out = folder / "out"
    if kind == "total only":
        return read_t1(out / "t1" / "us.csv")["1", "USA", "2000"] > PEOPLE
    cells = read_t2(out / "t2" / "us.csv")
    # A table that is there at all needs a stage 1 count above that of the smaller side.
    return cells.get(("1", "USA", "2000", "30", "34", "1"), -math.inf) > PEOPLE


def audit(folder: Path, kind: str, trials: int) -> float:
    """Tabulate either neighbour so many times, by the front door, and return the epsilon that is certain."""
    write_world(folder, [kind], "puredp", budget=EPSILON, gamma=GAMMA, thresholds=THRESHOLDS)
    seen: list[int] = []
    for people in (PEOPLE, PEOPLE + 1):
        write_people(folder, 1, people)
        happened = 0
        for _ in range(trials):
            safetab.tabulate(folder / "params", folder / "data", folder / "out", overwrite=True)
            happened += event_of(folder, kind)
        seen.append(happened)
    return certain_epsilon(seen[1], seen[0], trials)


def halve_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    original = LevelPlan.event

    def event(self: LevelPlan, stage: Stage) -> CountEvent:
        found = original(self, stage)
        return dataclasses.replace(found, budget=found.budget * 2)

    monkeypatch.setattr(LevelPlan, "event", event)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["total only", "two stage"])
def test_the_program_spends_no_more_than_it_says(kind: str, tmp_path: Path) -> None:
    found = audit(tmp_path, kind, TRIALS)
    assert found <= float(Fraction(EPSILON))
    assert found > 0, "the audit sees nothing, so its silence means nothing"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["total only", "two stage"])
def test_half_the_noise_is_caught(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halve_the_noise(monkeypatch)
    assert audit(tmp_path, kind, TRIALS) > float(Fraction(EPSILON))


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    # No success in n trials: the upper bound u has (1 - u)^n = FALSE_ALARM / 2.
    upper = 1 - (FALSE_ALARM / 2) ** (1 / 50)
    lower = (FALSE_ALARM / 2) ** (1 / 50)
    assert math.isclose(certain_epsilon(50, 0, 50), math.log(lower / upper))
    assert certain_epsilon(0, 0, 50) == -math.inf
