"""Monte-Carlo coverage of margins of error, drawn by plain samplers that share nothing with the code under test."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from safetab.accounting.accuracy.calibration import level_budget
from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.accuracy.noisy_sums import NoisySum
from safetab.accounting.events import LevelEvents, Stage
from safetab.noise.laws import Law, Mechanism
from tests.oracle import laws as oracle

DRAWS = 20_000
#: Standard errors either way: over all the checks of this file a false alarm has a chance below 1e-4.
WIDTH = 5.0


def draw(mechanism: Mechanism, budget: float, shape: tuple[int, int], seed: int) -> npt.NDArray[np.int64]:
    """Draws by inversion of plainly summed weights."""
    spread = math.sqrt(2) / budget if mechanism is Mechanism.GEOMETRIC else math.sqrt(1 / (2 * budget))
    last = int(spread * (25 if mechanism is Mechanism.GEOMETRIC else 9)) + 5
    geometric = mechanism is Mechanism.GEOMETRIC
    pmf = oracle.geometric_pmf(budget, last) if geometric else oracle.gaussian_pmf(1 / (2 * budget), last)
    uniform = np.random.default_rng(seed).random(shape)
    return np.searchsorted(np.cumsum(pmf), uniform) - last


def holds(sums: npt.NDArray[np.int64], law: Law, n_cells: int) -> Iterator[tuple[bool, str]]:
    """The exact margin keeps 95 % and one less does not; the shares drawn agree with both."""
    moe = moe_95_of_sum(law, n_cells)
    for m in (moe, moe - 1):
        exact = float(NoisySum(law, n_cells).within(m, 64)) if m >= 0 else 0.0
        yield (exact >= 0.95) == (m == moe), f"the exact chance at {m} is {exact}"
        share = float((np.abs(sums) <= m).mean())
        error = math.sqrt(max(exact * (1 - exact), 1e-9) / len(sums))
        yield abs(share - exact) <= WIDTH * error, f"{share} drawn within {m}, {exact} exact, {n_cells} cells"


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("target", [6, 11, 50])
@pytest.mark.parametrize("stage", Stage)
def test_every_statistic_of_the_papers_levels_keeps_its_margin(mechanism: Mechanism, target: int, stage: Stage) -> None:
    budget = level_budget(mechanism, target, 9, Fraction(1, 10))
    event = LevelEvents("", mechanism, budget, 9, Fraction(1, 10)).event(stage)
    most = 46 if stage is Stage.STAGE_2 else 1
    cells = draw(mechanism, float(event.budget), (DRAWS, most), seed=1000 * target + list(Stage).index(stage))
    for n_cells in (1, 4, 8, 9, 18, 23, 46) if most > 1 else (1,):
        for is_so, words in holds(cells[:, :n_cells].sum(axis=1), event.law, n_cells):
            assert is_so, words


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("budget", ["0.45", "2"])
def test_draws_in_integers_keep_the_margin_too(mechanism: Mechanism, budget: str) -> None:
    """The rejection sampler of Canonne, Kamath and Steinke, in integers from coin to count."""
    exact = Fraction(budget)
    rng = random.Random(20200401)
    if mechanism is Mechanism.GEOMETRIC:
        draws = [oracle.draw_geometric(exact, rng) for _ in range(3000)]
    else:
        draws = [oracle.draw_gaussian(1 / (2 * exact), rng) for _ in range(3000)]
    event = LevelEvents("", mechanism, exact, 1, Fraction(1, 10)).event(Stage.TOTAL_ONLY)
    for is_so, words in holds(np.array(draws), event.law, 1):
        assert is_so, words
