"""An audit from outside: run the program many times on two neighbours and bound from below what its output tells.

Nothing of the program is opened. An event that the guarantee allows to be e^epsilon times likelier on one side is
counted on both; Clopper-Pearson bounds turn the counts into an epsilon that the program certainly spends, up to a
stated chance of error. A right program is never caught beyond its claim; one with half the noise is, and how surely
is computed here too, from the laws of the noise.
"""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

import safetab
from safetab.accounting.events import CountEvent, LevelEvents, Stage
from tests import profile
from tests.statistical.exact_world import PEOPLE, write_people, write_world
from tests.worlds.census import read_t1, read_t2

#: The chance that a right program is accused, in each audit.
FALSE_ALARM = 1e-7
EPSILON = "2"
GAMMA = "0.5"
#: The count of one side reaches all three, that of the other none.
THRESHOLDS = (PEOPLE + 1,) * 3
#: Runs with one person more, and without. The event is rare without, so its chance there takes more runs to bound.
LIKELY_RUNS, UNLIKELY_RUNS = 300, 900
#: The greatest chance that a program with half the noise goes unnoticed, of either kind of group.
MISSED = 1e-6


def at_least(seen: int, runs: int) -> float:
    """Clopper and Pearson's lower bound on the chance of an event."""
    return float(beta.ppf(FALSE_ALARM / 2, seen, runs - seen + 1)) if seen else 0.0


def at_most(seen: int, runs: int) -> float:
    """Their upper bound."""
    return float(beta.ppf(1 - FALSE_ALARM / 2, seen + 1, runs - seen)) if seen < runs else 1.0


def certain_epsilon(likely: int, likely_runs: int, unlikely: int, unlikely_runs: int) -> float:
    """The least epsilon that explains an event seen so often in so many runs on either side."""
    low = at_least(likely, likely_runs)
    return math.log(low / at_most(unlikely, unlikely_runs)) if low > 0 else -math.inf


def chance_of_a_miss(kind: str, factor: float) -> float:
    """The chance that a program whose counts spend `factor` times their budgets is not accused."""
    claimed = float(Fraction(EPSILON))
    share = 1.0 if kind == "total only" else float(Fraction(GAMMA))
    # Geometric noise is above 0 with chance 1 / (1 + e^b); the event asks that of one count, or of two.
    above = 1 / (1 + math.exp(factor * claimed * share))
    counts = 1 if kind == "total only" else 2
    lows = np.array([at_least(seen, LIKELY_RUNS) for seen in range(LIKELY_RUNS + 1)])
    highs = np.array([at_most(seen, UNLIKELY_RUNS) for seen in range(UNLIKELY_RUNS + 1)])
    is_missed = lows[None, :] <= math.exp(claimed) * highs[:, None]
    unlikely = binom.pmf(np.arange(UNLIKELY_RUNS + 1), UNLIKELY_RUNS, above**counts)
    likely = binom.pmf(np.arange(LIKELY_RUNS + 1), LIKELY_RUNS, (1 - above) ** counts)
    return float(unlikely @ is_missed @ likely)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: the audit is about noise, and a disk would take most of its time."""
    memory = "/dev/shm"  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


def event_of(folder: Path, kind: str) -> bool:
    """The event that tells the most: noise that points towards one person more, in every stage."""
    out = folder / "out"
    if kind == "total only":
        return read_t1(out / "t1" / "us.csv")["1", "USA", "2000"] > PEOPLE
    cells = read_t2(out / "t2" / "us.csv")
    # A table that is there at all needs a stage 1 count above that of the smaller side.
    return cells.get(("1", "USA", "2000", "30", "34", "1"), -math.inf) > PEOPLE


def audit(folder: Path, kind: str) -> float:
    """Tabulate either neighbour many times, by the front door, and return the epsilon that is certain."""
    write_world(folder, [kind], "puredp", budget=EPSILON, gamma=GAMMA, thresholds=THRESHOLDS)

    def seen(people: int, runs: int) -> int:
        write_people(folder, 1, people)
        happened = 0
        for _ in range(runs):
            safetab.tabulate(folder / "params", folder / "data", folder / "out", overwrite=True)
            happened += event_of(folder, kind)
        return happened

    likely = seen(PEOPLE + 1, LIKELY_RUNS)
    return certain_epsilon(likely, LIKELY_RUNS, seen(PEOPLE, UNLIKELY_RUNS), UNLIKELY_RUNS)


def halve_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    original = LevelEvents.event

    def event(self: LevelEvents, stage: Stage) -> CountEvent:
        found = original(self, stage)
        return dataclasses.replace(found, budget=found.budget * 2)

    monkeypatch.setattr(LevelEvents, "event", event)


KINDS = ["total only", "two stage"]
AUDITED = profile.tries(
    f"audits from outside of {LIKELY_RUNS + UNLIKELY_RUNS:,} runs, a false alarm in each with chance {FALSE_ALARM:g}, "
    f"half the noise missed with {MISSED:g} at most"
)


@pytest.mark.long
@AUDITED
@pytest.mark.parametrize("kind", KINDS)
def test_the_program_spends_no_more_than_it_says(kind: str, folder: Path) -> None:
    found = audit(folder, kind)
    print(f"{kind}: certainly spent {found:.2f} of {EPSILON}")
    assert found <= float(Fraction(EPSILON))
    assert found > 0, "the audit sees nothing, so its silence means nothing"


@pytest.mark.long
@AUDITED
@pytest.mark.parametrize("kind", KINDS)
def test_half_the_noise_is_caught(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halve_the_noise(monkeypatch)
    found = audit(folder, kind)
    print(f"{kind}, half the noise: certainly spent {found:.2f} where {EPSILON} is claimed")
    assert found > float(Fraction(EPSILON))


@pytest.mark.parametrize("kind", KINDS)
def test_the_runs_are_enough_to_catch_half_the_noise(kind: str) -> None:
    assert chance_of_a_miss(kind, 2) < MISSED
    # And a right program is left alone, more surely than promised.
    assert 1 - chance_of_a_miss(kind, 1) < FALSE_ALARM


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    # No success in n runs: the upper bound u has (1 - u)^n = FALSE_ALARM / 2.
    upper = 1 - (FALSE_ALARM / 2) ** (1 / 50)
    lower = (FALSE_ALARM / 2) ** (1 / 40)
    assert math.isclose(certain_epsilon(40, 40, 0, 50), math.log(lower / upper))
    assert certain_epsilon(0, 40, 0, 50) == -math.inf
