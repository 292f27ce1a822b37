"""The two ways to sum a tail of the discrete Gaussian, against each other."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from safetab.noise import theta_series
from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.laws import DiscreteGaussian


@pytest.mark.parametrize(("s", "start"), [("400", 1), ("5625", 60), ("5625", 900), ("40000", 2500)])
def test_euler_maclaurin_and_plain_summation_agree(s: str, start: int) -> None:
    with working_precision(400):
        one = theta_series._by_euler_maclaurin(Fraction(s), start, 300)
        other = theta_series._term_by_term(Fraction(s), start, 300)
        assert one is not None
        assert one.overlaps(other)
        assert one.rel_accuracy_bits() > 250
        assert other.rel_accuracy_bits() > 250


def test_euler_maclaurin_says_when_it_cannot() -> None:
    """A narrow law at great precision: the expansion diverges first, and plain summation takes over."""
    with working_precision(4000):
        assert theta_series._by_euler_maclaurin(Fraction(4), 1, 3000) is None
    assert DiscreteGaussian(Fraction("4")).tail(3, 3000).rel_accuracy_bits() >= 3000


@pytest.mark.parametrize("bits", [2, 10, 40])
@pytest.mark.parametrize("a", ["3", "3.7", "20"])
def test_a_short_theta_series_has_its_remainder(a: str, bits: int) -> None:
    """At a working precision far above the few terms that are summed, only the remainder can reach the true sum."""
    with working_precision(2000):
        for rough, fine in zip(
            theta_series._rapid_sums(ball(Fraction(a)), bits),
            theta_series._rapid_sums(ball(Fraction(a)), 1800),
            strict=True,
        ):
            assert fine.rel_accuracy_bits() > 1500 > rough.rel_accuracy_bits()
            assert rough.contains(fine)


@pytest.mark.parametrize("s", ["0.1", "2", "400"])
def test_tails_that_stop_early_have_their_remainder(s: str) -> None:
    exact, bits = Fraction(s), 6
    with working_precision(800):
        for start in (1, 5, 60):
            fine = theta_series._term_by_term(exact, start, 600)
            assert theta_series._term_by_term(exact, start, bits).contains(fine)
        if exact > 100:
            rough = theta_series._by_euler_maclaurin(exact, 30, bits)
            assert rough is not None
            assert rough.contains(theta_series._term_by_term(exact, 30, 600))
        tails = theta_series.tail_sums(exact, arb(2) ** -20, bits)
        assert len(tails) > 1
        for k, tail in enumerate(tails):
            assert tail.contains(theta_series.tail_sum(exact, k + 1, 600))
