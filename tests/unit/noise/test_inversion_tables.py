"""Inversion tables are exact, without statistics: every bit string, independent thresholds, draws on a threshold."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from safetab.noise import lazy_uniform
from safetab.noise.inversion_tables import InversionTable, Symmetric
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric
from safetab.noise.source import SeededSourceNotPrivate
from tests.unit.noise.bit_strings import SMALL, lies_between, masses, one_draw
from tests.unit.noise.tape import Tape

TABLED = [
    DiscreteGaussian(Fraction(1)),
    DiscreteGaussian(Fraction("31.45")),
    DiscreteGaussian(Fraction(5625)),
    TwoSidedGeometric(Fraction("0.4280")),
    TwoSidedGeometric(Fraction(1, 53)),
]


@pytest.mark.parametrize("law", SMALL, ids=repr)
@pytest.mark.parametrize("first_bits", [2, 3, 4])
def test_every_bit_string_of_a_tiny_table(law: Law, first_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """First look-up of 2 to 4 bits, words of 7, then ball arithmetic one bit at a time, down to 14 bits."""
    monkeypatch.setattr(lazy_uniform, "MORE_BITS", 1)
    sampler = InversionTable(Symmetric(law), first_bits, 7)
    decided, undecided = masses(lambda tape: one_draw(sampler, tape), 14)
    assert sum(decided.values()) + undecided == 1
    # Each threshold leaves one string of the full depth open; out in the tails there are some more thresholds.
    assert undecided <= Fraction(2 * len(decided) + 2, 2**14)
    for k, mass in decided.items():
        assert lies_between(law.probability(k, 100), mass, mass + undecided)
    outside = range(min(decided) - 3, min(decided)), range(max(decided) + 1, max(decided) + 4)
    for k in (*outside[0], *outside[1]):
        assert lies_between(law.probability(k, 100), Fraction(0), undecided)


def reference_cumulatives(law: Law) -> tuple[int, list[mpmath.mpf]]:
    """P[X <= k] for all k of a range that holds all but 2^-70, by plain summation in mpmath."""
    rate = mpmath.mpf(law.rate.numerator) / law.rate.denominator
    last = int((300 / rate) ** (mpmath.mpf(1) / law.power)) + 1
    weights = [mpmath.exp(-rate * abs(k) ** law.power) for k in range(-last, last + 1)]
    total = mpmath.fsum(weights)
    running, sums = mpmath.mpf(0), []
    for weight in weights:
        running += weight
        sums.append(running / total)
    return -last, sums


@pytest.mark.parametrize("law", TABLED, ids=repr)
def test_thresholds_agree_with_mpmath(law: Law) -> None:
    lowest, thresholds = Symmetric(law).thresholds(64)
    with mpmath.workdps(90):
        start, sums = reference_cumulatives(law)
        expected = [int(mpmath.floor(value * 2**64)) for value in sums[lowest - start :][: len(thresholds)]]
    assert thresholds == expected
    assert thresholds[0] == 0
    assert thresholds[-1] == 2**64 - 1
    assert thresholds == sorted(thresholds)


@pytest.mark.parametrize("law", TABLED, ids=repr)
def test_a_draw_forced_onto_a_threshold_is_right_on_both_sides(law: Law) -> None:
    """64 bits equal to a threshold; the next bits put the number just below or just above P[X <= k]."""
    sampler = InversionTable(Symmetric(law))
    with mpmath.workdps(150):
        start, sums = reference_cumulatives(law)
        ks = sorted({-7, -2, -1, 0, 1, 3, law.quantile(Fraction("0.001")), law.quantile(Fraction(10**15 - 1, 10**15))})
        for k in ks:
            near = int(mpmath.floor(sums[k - start] * 2**128))
            for number, expected in ((near - 1, k), (near + 1, k + 1)):
                tape = Tape.of((number, 128))
                assert one_draw(sampler, tape) == expected
                assert tape.read == 128
            # All 128 bits equal: 64 more decide, again on both sides.
            nearer = int(mpmath.floor(sums[k - start] * 2**192))
            for number, expected in ((nearer - 1, k), (nearer + 1, k + 1)):
                tape = Tape.of((number, 192))
                assert one_draw(sampler, tape) == expected
                assert tape.read == 192


@pytest.mark.parametrize("law", TABLED, ids=repr)
def test_bits_that_decide_early_are_not_followed_by_more(law: Law) -> None:
    sampler = InversionTable(Symmetric(law))
    read = []
    for first in range(0, 2**16, 97):
        tape = Tape.of((first, 16), (0x5A5A5A5A5A5A, 48))
        one_draw(sampler, tape)
        read.append(tape.read)
    assert set(read) <= {16, 64}
    assert (sampler._table == sampler._undecided).mean() < 0.02


@pytest.mark.parametrize("law", [*TABLED, DiscreteGaussian(Fraction(10**6))], ids=repr)
def test_counting_on_and_searching_find_the_same_place(law: Law) -> None:
    sampler = InversionTable(Symmetric(law))
    near = sampler._thresholds
    words = np.concatenate([near, near[near > 0] - np.uint64(1), near[near < 2**64 - 1] + np.uint64(1)])
    words = np.concatenate([words, SeededSourceNotPrivate(11).bits(100_000, 64)])
    places = sampler._count_below(words >> np.uint64(48), words)
    assert (places == np.searchsorted(near, words, side="left")).all()


def test_all_zeros_and_all_ones_reach_far_into_the_tails() -> None:
    """The support has no end: 319 equal bits lead to the quantile of 1.5 * 2^-320, found by ball arithmetic."""
    for law in (DiscreteGaussian(Fraction(9)), TwoSidedGeometric(Fraction(1, 2))):
        sampler = InversionTable(Symmetric(law))
        deep = law.quantile(Fraction(3, 2**321))
        assert one_draw(sampler, Tape.of((3 * 2**63, 384))) == deep
        assert one_draw(sampler, Tape.of((2**384 - 3 * 2**63, 384))) == -deep


def test_a_very_narrow_law_is_decided_by_its_first_deviating_bit() -> None:
    """P[X = 0] is 1 - 2^-1441 or so: no 64-bit table sees anything else, ball arithmetic does."""
    law = DiscreteGaussian(Fraction(1, 2000))
    sampler = InversionTable(Symmetric(law))
    assert one_draw(sampler, Tape.of((1, 16))) == 0
    assert one_draw(sampler, Tape.of((0, 64), (1, 64))) == 0
    assert one_draw(sampler, Tape.of((1, 64 * 23))) == -1
    assert one_draw(sampler, Tape.of((2 ** (64 * 23) - 2, 64 * 23))) == 1
