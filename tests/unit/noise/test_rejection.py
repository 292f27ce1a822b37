"""Rejection sampling is exact: every bit string, integer bounds against ball arithmetic, the ends of 64 bits."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

from safetab.noise import (
    DiscreteGaussian,
    Law,
    SeededSourceNotPrivate,
    SystemSource,
    TwoSidedGeometric,
    draw,
    lazy_uniform,
    rejection,
)
from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.inversion_tables import InversionTable
from safetab.noise.rejection import Folded, RejectionSampler
from safetab.noise.sampler import can_draw
from tests.unit.noise.bit_strings import SMALL, lies_between, masses, one_draw
from tests.unit.noise.tape import Tape


@pytest.mark.parametrize("law", SMALL, ids=repr)
def test_every_bit_string_of_a_folded_law(law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_uniform, "MORE_BITS", 1)
    sampler = InversionTable(Folded(law), 3, 7)
    decided, undecided = masses(lambda tape: one_draw(sampler, tape), 13)
    with working_precision(200):
        half = (1 + law.probability(0, 150)) / 2
        for k, mass in decided.items():
            assert k >= 0
            assert lies_between(law.probability(k, 150) / half, mass, mass + undecided)


@pytest.mark.parametrize(
    ("law", "places"),
    [
        (DiscreteGaussian(Fraction(20)), 2),
        (DiscreteGaussian(Fraction(9)), 1),
        (DiscreteGaussian(Fraction(1, 3)), 1),
        (TwoSidedGeometric(Fraction(1, 8)), 2),
        (TwoSidedGeometric(Fraction(1)), 1),
    ],
    ids=repr,
)
def test_every_bit_string_of_a_proposal(law: Law, places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proposal ends in k with probability weight(k) / (2 w * sum of weight(w j) over j >= 0), or is rejected."""
    monkeypatch.setattr(lazy_uniform, "MORE_BITS", 1)
    monkeypatch.setattr(rejection, "ACCEPT_BITS", 3)
    sampler = RejectionSampler(law, places, first_bits=2, word_bits=4)

    def run(tape: Tape) -> int | None:
        values, kept = sampler._propose(1, tape)
        return int(values[0]) if kept[0] else None

    decided, undecided = masses(run, 14)
    assert sum(decided.values()) + undecided == 1
    assert decided.pop(None) > 0
    assert undecided < Fraction(1, 12)
    assert len(decided) >= 4
    narrow = law.narrowed(2**places)
    with working_precision(200):
        most = narrow.probability(0, 150) / (1 + narrow.probability(0, 150)) / 2**places
        for k, mass in decided.items():
            assert k is not None
            weight = law.probability(k, 150) / law.probability(0, 150)
            assert lies_between(most * weight, mass, mass + undecided)


@pytest.mark.parametrize(
    "law",
    [
        *(DiscreteGaussian(Fraction(s)) for s in ("3000000", "123456789012.3", "1e19")),
        *(TwoSidedGeometric(Fraction(e)) for e in ("0.000003", "1e-12")),
    ],
    ids=repr,
)
def test_integer_bounds_and_ball_arithmetic_keep_the_same_proposals(law: Law) -> None:
    quick, slow = RejectionSampler(law), RejectionSampler(law)
    slow._last_stretch = -1  # sends every proposal to ball arithmetic
    rejected = 0
    for seed in range(3):
        mine, kept = quick._propose(4000, SeededSourceNotPrivate(seed))
        other, kept_too = slow._propose(4000, SeededSourceNotPrivate(seed))
        assert (kept == kept_too).all()
        assert (mine[kept] == other[kept]).all()
        rejected += int((~kept).sum())
    assert 0 < rejected < 400


@pytest.mark.parametrize("law", [DiscreteGaussian(Fraction(10**40)), TwoSidedGeometric(Fraction(1, 10**19))], ids=repr)
def test_a_law_too_wide_for_64_bits_is_an_error(law: Law) -> None:
    assert not can_draw(law)
    with pytest.raises(ValueError, match="too wide for 64-bit integers"):
        draw(law, 1, SystemSource())


@pytest.mark.parametrize("law", [DiscreteGaussian(Fraction(10**31)), TwoSidedGeometric(Fraction(1, 10**15))], ids=repr)
def test_the_widest_laws_are_drawn(law: Law) -> None:
    assert can_draw(law)
    drawn = draw(law, 500, SystemSource())
    spread = float(law.variance(60)) ** 0.5
    assert 0.5 * spread < float(np.abs(drawn).max()) < 40 * spread


def test_a_stretch_beyond_the_integer_bounds_is_settled_exactly() -> None:
    """A tape leads to a chance of 1.5 * 2^-640; the stretch is the quantile there and the place is the tape's."""
    law = DiscreteGaussian(Fraction(10**12))
    sampler = RejectionSampler(law)
    sampler._last_stretch = 5
    out = np.empty(1, np.int64)
    tape = Tape.of((2**704 - 3 * 2**63, 704), (2 * 5 + 1, sampler._places + 1), (0, 32))
    sampler.fill(out, tape)
    assert tape.read == len(tape.text)
    stretch, place = divmod(int(~out[0]), 2**sampler._places)
    assert place == 5
    folded = Folded(law.narrowed(2**sampler._places))
    with working_precision(900):
        left = ball(Fraction(3, 2**641))
        assert folded.tail(stretch, 800) < left < folded.tail(stretch - 1, 800)


@pytest.mark.parametrize("law", [DiscreteGaussian(Fraction(2**21)), TwoSidedGeometric(Fraction(1, 2048))], ids=repr)
def test_ball_arithmetic_settles_few_proposals(law: Law) -> None:
    """The narrowest of the wide laws, where it is needed most: fewer than one proposal in 10^4."""
    with mock.patch.object(RejectionSampler, "_settle", autospec=True, side_effect=RejectionSampler._settle) as settle:
        draw(law, 10**6, SystemSource())
    assert settle.call_count < 100
