"""Laws of sums, what is left out, ratios and p-values, against code that does everything by its definition."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from safetab.estimates.left_out import Suppressible, gamma_quantile, most_left_out
from safetab.estimates.linear import Pieces, Weighted, chance_of_noise, interval, ratio, whole
from safetab.estimates.publication import Publication
from safetab.estimates.settled import RowKind, settle
from safetab.estimates.sum_laws import BoundedSum, ExactSum, Part, laid_out, law_of_sum
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric
from safetab.reading.questions import holm
from tests.oracle import reading as oracle

LAWS: dict[str, tuple[Law, dict[int, float]]] = {
    "gaussian": (DiscreteGaussian(Fraction(3)), oracle.noise("gaussian", 3.0, 20)),
    "geometric": (TwoSidedGeometric(Fraction(1)), oracle.noise("geometric", 1.0, 40)),
}


def rows(law: Law, *counts: int) -> Pieces:
    kind = RowKind(Publication.total_only(law))
    return Pieces.of_rows(kind, settle(kind, None, np.array(counts), 1e-5), None)


@pytest.mark.parametrize("name", LAWS)
def test_sums_of_weighted_noise(name: str) -> None:
    law, plain = LAWS[name]
    found = law_of_sum({Part(law, 2): 2, Part(law, 3): 1, Part(law, 1, floor=0): 1})
    by_hand = oracle.added(
        [oracle.times(plain, 2), oracle.times(plain, 2), oracle.times(plain, 3), oracle.positive_part(plain)]
    )
    assert isinstance(found, ExactSum)
    for x in (-9, -1, 0, 1, 5, 17):
        assert found.tail(x) == pytest.approx(oracle.reached(by_hand, x), abs=1e-9)
    for chance in (0.4, 0.025, 1e-4):
        assert found.exceeded(chance) == oracle.exceeded(by_hand, chance)


@pytest.mark.parametrize("name", LAWS)
def test_chernoff_is_never_below(name: str) -> None:
    law, _ = LAWS[name]
    parts = {Part(law, 2): 3, Part(law, 1, floor=0): 2}
    exact, bound = law_of_sum(parts), BoundedSum(parts)
    for x in (1, 5, 12, 30):
        assert bound.tail(x) >= exact.tail(x)
    for chance in (0.3, 0.025, 1e-6):
        assert bound.exceeded(chance) >= exact.exceeded(chance)


def test_sums_that_are_too_wide_are_bounded() -> None:
    wide = law_of_sum({Part(DiscreteGaussian(Fraction(10**12)), 12): 5})
    assert isinstance(wide, BoundedSum)
    assert wide.exceeded(0.025) == pytest.approx(12e6 * 5**0.5 * (2 * np.log(40)) ** 0.5, rel=1e-3)


def test_real_weights_move_sums_up_and_hardly_so() -> None:
    law = law_of_sum({Part(DiscreteGaussian(Fraction(9)), 1): 1})
    assert isinstance(law, ExactSum)
    moved = laid_out([(1.0, law), (0.37, law)])
    by_hand = oracle.noise("gaussian", 9.0, 35)
    pairs = [(k + 0.37 * j, p * q) for k, p in by_hand.items() for j, q in by_hand.items()]
    for x in (0.5, 2.3, 6.1):
        exact = sum(chance for value, chance in pairs if value >= x)
        assert exact - 1e-9 <= moved.tail(x) <= exact + 0.02


def test_an_interval_of_a_sum_is_the_quantile_of_its_noise() -> None:
    law, plain = LAWS["gaussian"]
    found = whole(interval([Weighted(1, rows(law, 10, 20)), Weighted(-1, rows(law, 7))], 0.9))
    q = oracle.exceeded(oracle.added([plain] * 3), 0.05)
    assert (found.low, found.high) == (23 - q, 23 + q)


def test_a_row_on_both_sides_cancels_and_twice_counts_twice() -> None:
    law, plain = LAWS["gaussian"]
    found = whole(interval([Weighted(2, rows(law, 10))], 0.95))
    q = oracle.exceeded(oracle.times(plain, 2), 0.025)
    assert (found.low, found.high) == (20 - q, 20 + q)


@pytest.mark.parametrize("name", LAWS)
def test_fieller_is_the_inverted_test(name: str) -> None:
    law, plain = LAWS[name]
    found = ratio([(1, 0, rows(law, 30)), (0, 1, rows(law, 20))], 0.95)
    grid = [0.8 + number / 200 for number in range(400)]
    low, high = oracle.ratio_ends(30, 20, plain, plain, 0.05, grid)
    assert found.low <= low + 1e-9
    assert found.high >= high - 1e-9
    # Values are moved up by less than a 400th of a standard deviation: hardly wider.
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.06)


def test_a_ratio_by_what_may_be_0_has_no_bound() -> None:
    law, _ = LAWS["gaussian"]
    assert ratio([(1, 0, rows(law, 30)), (0, 1, rows(law, 1))], 0.95).high == np.inf


def test_what_one_total_left_out_may_hold() -> None:
    law, plain = LAWS["gaussian"]
    found = most_left_out({Suppressible(law, 5): 1}, 1, 0.01)
    exact = oracle.most_of_one(plain, 5, 0.01)
    assert exact <= found <= exact + 2


def test_many_left_out_hold_less_than_each_by_itself() -> None:
    law, _ = LAWS["gaussian"]
    one = most_left_out({Suppressible(law, 5): 1}, 1, 0.01 / 50)
    assert most_left_out({Suppressible(law, 5): 50}, 50, 0.01) < 0.8 * 50 * one


def test_the_quantile_of_gamma() -> None:
    """Gamma(1) is exponential; of Gamma(2), P[> x] = (1 + x) exp(-x)."""
    assert gamma_quantile(1, 0.05) == pytest.approx(-np.log(0.05))
    x = gamma_quantile(2, 0.05)
    assert (1 + x) * np.exp(-x) == pytest.approx(0.05)


def test_what_is_missing_widens_the_side_it_is_on() -> None:
    law, _ = LAWS["gaussian"]
    there, missing = rows(law, 50), Pieces.left_out(Suppressible(law, 5))
    without = interval([Weighted(1, there)], 0.95)
    more = interval([Weighted(1, there + missing)], 0.95)
    less = interval([Weighted(1, there), Weighted(-1, missing)], 0.95)
    assert more.high > without.high + 5
    assert more.low > without.low - 2
    assert less.low < without.low - 5


def test_p_values_are_tails_on_both_sides() -> None:
    law, plain = LAWS["geometric"]
    terms = [Weighted(1, rows(law, 9)), Weighted(-1, rows(law, 4))]
    expected = 2 * oracle.reached(oracle.added([plain, plain]), 5)
    assert chance_of_noise(terms) == pytest.approx(expected, abs=1e-8)
    assert chance_of_noise([Weighted(1, rows(law, 4)), Weighted(-1, rows(law, 9))]) == pytest.approx(expected, abs=1e-8)
    assert chance_of_noise([Weighted(1, rows(law, 0))]) == 1


@pytest.mark.parametrize("name", LAWS)
def test_no_gap_is_impossible_by_noise_alone(name: str) -> None:
    """A probability of at most 0 would be a claim that noise has an end; without noise it is true."""
    law, _ = LAWS[name]
    assert 0 < chance_of_noise([Weighted(1, rows(law, 10**6))]) < 1e-10
    assert chance_of_noise([Weighted(1, Pieces.exactly(3))]) == 0


def test_holm_rejects_what_the_plain_method_rejects() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        chances = (rng.random(5) ** 3).tolist()
        for alpha in (0.01, 0.05, 0.2):
            assert [p <= alpha for p in holm(chances)] == oracle.holm(chances, alpha)


def test_pieces_are_added_part_by_part() -> None:
    law, _ = LAWS["gaussian"]
    total = rows(law, 1, 2) + rows(law, 3) + Pieces.exactly(4)
    assert (total.rows, total.low, total.value) == (4, 120, 120)
    assert total.noise == Counter({Part(law, 12): 3})
