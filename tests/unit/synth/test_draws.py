"""Random streams: each is fixed by its name and follows its law."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy import stats

import safetab.synth
from safetab.synth.draws import Stream, outcome_table

MANY = 200_000


def test_a_stream_depends_on_its_seed_and_name_alone() -> None:
    first = Stream(1, "people", "04").words(50)
    Stream(1, "people", "06").words(1_000)
    assert np.array_equal(first, Stream(1, "people", "04").words(50))
    for other in (
        Stream(2, "people", "04"),
        Stream(1, "people", "06"),
        Stream(1, "people04"),
        Stream(1, "04", "people"),
    ):
        assert not np.array_equal(first, other.words(50))


def test_the_stream_of_a_seed_never_changes() -> None:
    # Countries made with an older version must come out the same.
    assert Stream(2020, "people", "04").words(2).tolist() == [10487305767631216500, 8704338696517988398]


def test_uniforms_and_normals_follow_their_laws() -> None:
    stream = Stream(3, "laws")
    assert stats.kstest(stream.uniforms(MANY), "uniform").pvalue > 1e-3
    assert stats.kstest(stream.normals(MANY), "norm").pvalue > 1e-3


def test_picks_follow_the_probabilities() -> None:
    drawn = np.bincount(Stream(4, "picks").picks(np.cumsum([1.0, 0.0, 3.0, 6.0]), MANY), minlength=4)
    assert drawn[1] == 0
    assert stats.chisquare(drawn[[0, 2, 3]], np.array([0.1, 0.3, 0.6]) * MANY).pvalue > 1e-3


def test_randomness_is_drawn_in_one_module() -> None:
    folder = Path(safetab.synth.__file__).parent
    users = [
        path.name for path in folder.rglob("*.py") if re.search(r"np\.random|import (random|secrets)", path.read_text())
    ]
    assert users == ["draws.py"]


def test_a_table_of_outcomes_has_the_probabilities() -> None:
    table = outcome_table([1.0, 0.0, 3.0, 6.0], 1000)
    assert np.bincount(table, minlength=4).tolist() == [100, 0, 300, 600]
    assert (np.diff(table) >= 0).all()
