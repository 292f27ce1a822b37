"""Whole numbers: cards that are dealt, and people who are spread, add up exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.synth.dealing import EMPTY, deal, replace_repeats, swap_apart, tilt_for, weights_of, whole
from safetab.synth.draws import Stream
from safetab.synth.people import STRIDES
from safetab.synth.spreading import spread

seeds = st.integers(0, 10_000)


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=8), st.lists(st.integers(1, 60), min_size=1, max_size=12), seeds
)
def test_rows_and_columns_come_out(some_rows: list[int], some_columns: list[int], seed: int) -> None:
    columns = np.array(some_columns)
    # The rows share the persons of the columns, some have none.
    shares = np.array(some_rows, dtype=float) + (sum(some_rows) == 0)
    rows = np.diff(np.floor(np.cumsum(shares) / shares.sum() * columns.sum() + 0.5), prepend=0).astype(np.int64)
    stream = Stream(seed, "test")
    density = np.maximum(rows, 1e-9)[:, None] * stream.lognormals(2.0, len(rows), len(columns))
    table = spread(density, rows, columns, stream)
    assert (table >= 0).all()
    assert table.sum(axis=1).tolist() == rows.tolist()
    assert table.sum(axis=0).tolist() == columns.tolist()


def test_people_go_where_they_are_dense() -> None:
    density = np.array([[9.0, 1.0], [1.0, 9.0]])
    table = spread(density * 1000, np.array([1000, 1000]), np.array([1000, 1000]), Stream(1, "test"))
    assert table.tolist() == [
        [pytest.approx(900, abs=2), pytest.approx(100, abs=2)],
        [pytest.approx(100, abs=2), pytest.approx(900, abs=2)],
    ]


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=50), seeds)
def test_rounded_sizes_add_up(sizes: list[float], seed: int) -> None:
    found = whole(np.array(sizes), Stream(seed, "test"))
    assert abs(found.sum() - sum(sizes)) < 1.001
    assert (np.abs(found - np.array(sizes)) < 1.001).all()


@given(st.integers(0, 10**7), st.floats(-0.9, 1.5))
def test_weights_add_up(persons: int, tilt: float) -> None:
    weights = weights_of(min(persons, 10**6), tilt, 0.05)
    assert weights.sum() == min(persons, 10**6)
    assert (np.diff(weights) <= 0).all()
    assert weights.max(initial=1) <= max(1, 0.05 * persons)


def test_there_are_as_many_weights_as_asked_for() -> None:
    tilt = tilt_for([1_000_000, 50_000], 20_000, 0.05)
    assert sum(len(weights_of(some, tilt, 0.05)) for some in (1_000_000, 50_000)) == pytest.approx(20_000, rel=0.1)


@given(st.lists(st.integers(0, 500), min_size=3, max_size=20), st.integers(1, 9), seeds)
def test_a_deck_is_used_up_and_never_overdrawn(cards: list[int], weight: int, seed: int) -> None:
    deck = np.array(cards)
    places = int((deck // weight).sum())
    before = deck.copy()
    dealt = deal(deck, deck // weight, places, weight, Stream(seed, "test"))
    assert (dealt != EMPTY).all()
    used = np.bincount(dealt, minlength=len(deck))
    assert (before - weight * used == deck).all()
    assert (deck >= 0).all()


@given(st.integers(3, 12), st.integers(2, 200), seeds)
def test_no_set_has_two_cards_of_a_kind(kinds: int, sets: int, seed: int) -> None:
    stream = Stream(seed, "test")
    cards = (stream.uniforms(sets, 3) ** 2 * 2 * kinds).astype(np.int64)
    kind, deck = np.arange(2 * kinds) // 2, np.full(2 * kinds, 5)
    before = np.bincount(cards.ravel(), minlength=2 * kinds) + deck
    swap_apart(cards, kind, stream)
    replace_repeats(cards, kind, deck, 1, stream)
    for row in cards.tolist():
        mine = [kind[card] for card in row if card != EMPTY]
        assert len(set(mine)) == len(mine)
    assert (np.bincount(cards[cards != EMPTY], minlength=2 * kinds) + deck == before).all(), "no card is lost"


def test_strides_are_prime() -> None:
    small = np.arange(3, 1 << 16, 2, dtype=np.uint64)
    for stride in STRIDES:
        assert stride % 2
        assert (stride % small > 0).all()
