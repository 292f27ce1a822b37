"""Every count that passes the gate gets noise of its own: empty or not, first or last, in either stage.

Seeded, so that what is asserted of chances holds always or never.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import safetab
from safetab.accounting.events import CountEvent, Stage
from safetab.noise.inversion_tables import CHUNK
from safetab.noise.laws import Mechanism
from safetab.noise.source import SeededSourceNotPrivate
from safetab.pipeline.measure import Counts, Gate
from tests.replay_gates import Tape, recording
from tests.worlds import by_hand, tiny

#: More than two of the pieces that noise is drawn in.
COUNTS = 2 * CHUNK + 20_000


def event(mechanism: Mechanism, budget: Fraction = Fraction(1, 50)) -> CountEvent:
    return CountEvent("(USA, 1)", Stage.STAGE_1, mechanism, budget, 3)


def noise_of(true: Counts, measured: CountEvent, seed: int = 4) -> Counts:
    return Gate(SeededSourceNotPrivate(seed)).measure(true, measured) - true


@pytest.mark.parametrize("mechanism", Mechanism)
def test_no_two_counts_share_a_draw(mechanism: Mechanism) -> None:
    noise = noise_of(np.zeros(COUNTS, dtype=np.int64), event(mechanism))
    # Two independent draws agree with chance below 0.1 here; so do draws at any distance from each other.
    for lag in (1, 2, 3, 7, 100, 1 << 12, CHUNK, COUNTS // 2):
        assert (noise[lag:] == noise[:-lag]).mean() < 0.1, lag
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize("mechanism", Mechanism)
def test_noise_does_not_look_at_the_counts(mechanism: Mechanism) -> None:
    measured = event(mechanism)
    counts = np.arange(COUNTS, dtype=np.int64) % 3
    noise = noise_of(counts, measured)
    assert (noise == noise_of(np.zeros_like(counts), measured)).all()
    spread = float(measured.law.variance(53)) ** 0.5
    for count in range(3):
        assert abs(noise[counts == count].std() / spread - 1) < 0.05, "counts of 0 get as much noise as others"


def test_the_gate_writes_down_what_it_measured() -> None:
    gate = Gate(SeededSourceNotPrivate(1))
    measured = event(Mechanism.GEOMETRIC)
    gate.measure(np.zeros((3, 4), dtype=np.int64), measured)
    gate.measure(np.zeros(5, dtype=np.int64), measured)
    assert gate.counts_of_event == {measured: 17}


def test_the_stages_of_a_release_draw_apart(tmp_path: Path) -> None:
    """Half the budget for stage 1 and thresholds out of reach: both stages measure the same counts with one law."""
    by_hand.write(tmp_path)
    config = tiny.config() | {"privacy_budget_p_stage_1_fraction": 0.5}
    config["thresholds_p"] = {key: [10**6] * 3 for key in config["thresholds_p"]}
    (tmp_path / "params" / "config.json").write_text(json.dumps(config))
    tape = Tape()
    safetab.tabulate(
        tmp_path / "params",
        tmp_path / "data",
        tmp_path / "out",
        source=SeededSourceNotPrivate(9),
        gate=recording(tape),
        not_private=True,
    )
    compared = 0
    for run in tape.runs:
        seen: list[Counts] = []
        for measured in run:
            noise = (measured.noisy - measured.true).ravel()
            assert not any(len(noise) > 3 and np.array_equal(noise, earlier[: len(noise)]) for earlier in seen)
            seen.append(noise)
        of_stage = {
            stage: {m.event.level: m.true.ravel() for m in run if m.event.stage is stage}
            for stage in (Stage.STAGE_1, Stage.STAGE_2)
        }
        for level, counts in of_stage[Stage.STAGE_1].items():
            assert np.array_equal(counts, of_stage[Stage.STAGE_2][level]), "both stages count the same people"
            compared += 1
    assert compared == 20
