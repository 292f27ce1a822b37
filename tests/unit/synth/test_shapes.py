"""Dividing a country among its states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.synth.shapes import SHAPES, STATES, apportion, plan_states


@given(st.integers(0, 10**9), st.lists(st.floats(0.001, 1e6), min_size=1, max_size=40))
def test_shares_add_up(total: int, weights: list[float]) -> None:
    shares = apportion(total, weights)
    assert shares.sum() == total
    exact = total * np.array(weights) / sum(weights)
    assert (abs(shares - exact) <= 1 + 1e-6 * exact).all()


@given(st.integers(0, 1000), st.integers(0, 5), st.lists(st.floats(0, 10), min_size=1, max_size=40))
def test_no_share_is_smaller_than_allowed(total: int, least: int, weights: list[float]) -> None:
    shares = apportion(total, weights, least=least)
    assert shares.min() >= least
    assert shares.sum() == max(total, least * len(weights))


def test_the_states_are_those_of_2020() -> None:
    assert len(STATES) == 51
    assert sum(counties for _, counties in STATES.values()) == 3_143
    assert sum(thousands for thousands, _ in STATES.values()) == pytest.approx(331_449, abs=30)


def test_the_nation_is_divided_without_remainder() -> None:
    plans = plan_states(SHAPES["nation"], SHAPES["nation"].states, puerto_rico=True)
    home = [plan for plan in plans if not plan.is_puerto_rico]
    assert sum(plan.persons for plan in plans) == SHAPES["nation"].persons
    assert sum(plan.persons for plan in home) == 331_449_000
    assert sum(plan.areas.counties for plan in home) == 3_143
    assert sum(plan.areas.tracts for plan in home) == 84_400
    assert sum(plan.areas.places for plan in home) == 32_000
    assert sum(plan.areas.blocks for plan in home) == 8_100_000
    assert sum(plan.aiannh for plan in home) == 860
    # The counties of each state are the real ones.
    assert {plan.code: plan.areas.counties for plan in home} == {code: real for code, (_, real) in STATES.items()}
