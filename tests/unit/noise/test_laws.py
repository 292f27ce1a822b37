"""The laws against an independent computation (mpmath), against each other, and against the paper's numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb

from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.laws import DiscreteGaussian, Law, Mechanism, TwoSidedGeometric

DIGITS = 60
BITS = 160


def gaussian(text: str) -> DiscreteGaussian:
    return DiscreteGaussian(Fraction(text))


def geometric(text: str) -> TwoSidedGeometric:
    return TwoSidedGeometric(Fraction(text))


def plain(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def encloses(value: arb, expected: Any) -> bool:
    """Whether mpmath's value lies in the ball, give or take mpmath's own rounding."""
    middle, radius = (mpmath.mpf(int(man)) * mpmath.mpf(2) ** int(exp) for man, exp in _parts(value))
    return bool(abs(middle - expected) <= radius + abs(expected) * mpmath.mpf(10) ** (5 - mpmath.mp.dps))


def _parts(value: arb) -> list[tuple[Any, Any]]:
    return [part.man_exp() if part != 0 else (0, 0) for part in (value.mid(), value.rad())]


def reference_weights(law: Law, last: int) -> list[Any]:
    rate = plain(law.rate)
    return [mpmath.exp(-rate * k**law.power) for k in range(last + 1)]


NARROW_TO_MIDDLE = [
    *(gaussian(text) for text in ("0.000001", "0.02", "1/6", "0.1667", "1", "2.058", "31.45", "625", "5625")),
    *(geometric(text) for text in ("1000", "20", "2.5", "0.4280", "0.1", "0.01885")),
]


@pytest.mark.parametrize("law", NARROW_TO_MIDDLE, ids=repr)
def test_every_quantity_matches_plain_summation_in_mpmath(law: Law) -> None:
    with mpmath.workdps(DIGITS):
        last = int(mpmath.ceil(mpmath.root(300 / plain(law.rate), law.power))) + 2
        weights = reference_weights(law, last)
        total = weights[0] + 2 * mpmath.fsum(weights[1:])
        for k in {0, 1, last // 6, last // 5}:
            upper = mpmath.fsum(weights[k + 1 :])
            assert encloses(law.probability(k, BITS), weights[k] / total)
            assert encloses(law.probability(-k, BITS), weights[k] / total)
            assert encloses(law.tail(k, BITS), upper / total)
            assert encloses(law.cumulative(k, BITS), 1 - upper / total)
            assert encloses(law.cumulative(-k - 1, BITS), upper / total)
            assert encloses(law.tail(-k - 1, BITS), 1 - upper / total)
        assert encloses(law.variance(BITS), 2 * mpmath.fsum(k * k * w for k, w in enumerate(weights)) / total)


@pytest.mark.parametrize("sigma", [300, 1000, 10**6])
def test_a_wide_gaussian_matches_the_theta_function_and_block_sums(sigma: int) -> None:
    """tail(a) - tail(b) is a finite sum, whichever of the two methods made the tails."""
    law = DiscreteGaussian(Fraction(sigma**2))
    with mpmath.workdps(DIGITS):
        rate = plain(law.rate)
        if sigma <= 1000:  # mpmath's theta function goes no further
            assert encloses(law.probability(0, BITS), 1 / mpmath.jtheta(3, 0, mpmath.exp(-rate)))
        for start in (0, sigma, 5 * sigma, 30 * sigma):
            block = mpmath.fsum(mpmath.exp(-rate * k * k) for k in range(start + 1, start + 41))
            with working_precision(400):
                difference = law.tail(start, 400) - law.tail(start + 40, 400)
                assert encloses(difference / law.probability(0, 400), block)


@pytest.mark.parametrize("bits", [1, 53, 200, 1000])
@pytest.mark.parametrize(
    "law",
    [
        *(gaussian(text) for text in ("0.000001", "1", "5625", "1e12", "1e40")),
        *(geometric(text) for text in ("1e-12", "0.000001", "1", "1000")),
    ],
    ids=repr,
)
def test_accuracy_is_relative_and_as_asked_also_far_out(law: Law, bits: int) -> None:
    for k in (0, 1, 7, 10**6, 10**21, -1, -2, -(10**21)):
        for value in (law.probability(k, bits), law.tail(k, bits), law.cumulative(k, bits)):
            assert value.rel_accuracy_bits() >= bits
            assert value > 0
    assert law.variance(bits).rel_accuracy_bits() >= bits


@pytest.mark.parametrize(
    "law", [gaussian("0.000001"), gaussian("31.45"), geometric("0.1"), geometric("1000")], ids=repr
)
def test_upper_tails_are_the_tails(law: Law) -> None:
    tails = law.upper_tails(64, 128)
    with working_precision(300):
        slack = arb(2) ** -128
        for k in {0, len(tails) // 3, len(tails) - 1}:
            assert tails[k].overlaps(law.tail(k, 256))
            assert tails[k].rad() < slack
        assert tails[-1] < arb(2) ** -64
        assert all(value > arb(2) ** -65 for value in tails[:-1])


@pytest.mark.parametrize(("sigma_squared", "t"), [("625", 93), ("31.45", 21), ("2.058", 5)])
def test_zero_suppression_thresholds_of_the_specification(sigma_squared: str, t: int) -> None:
    assert gaussian(sigma_squared).quantile(Fraction("0.9999")) == t


@pytest.mark.parametrize(("moe", "percent"), [(6, "6.05"), (11, "5.6"), (50, "5.1")])
def test_what_the_geometric_corollary_leaves_outside(moe: int, percent: str) -> None:
    """epsilon = ln 20 / (MOE + 1), rounded to a rational from above and below: both give the printed figure."""
    with mpmath.workdps(30):
        near = Fraction(int(mpmath.log(20) / (moe + 1) * 10**25), 10**25)
    outside = [2 * float(TwoSidedGeometric(e).tail(moe, 60)) * 100 for e in (near, near + Fraction(1, 10**25))]
    digits = -int(Decimal(percent).as_tuple().exponent)
    assert [f"{value:.{digits}f}" for value in outside] == [percent, percent]


@pytest.mark.parametrize(("moe", "percent"), [(6, "3.3"), (11, "4.0"), (50, "4.8")])
def test_what_the_gaussian_corollary_leaves_outside(moe: int, percent: str) -> None:
    law = DiscreteGaussian(1 / (2 * Fraction("1.92") / moe**2))
    assert f"{2 * float(law.tail(moe, 60)) * 100:.1f}" == percent


@pytest.mark.parametrize(
    ("law", "confidence", "m"),
    [
        (geometric("0.4570"), "0.95", 6),
        (geometric("0.4568"), "0.95", 7),
        (DiscreteGaussian(1 / (2 * Fraction("0.04513"))), "0.95", 6),
        (DiscreteGaussian(1 / (2 * Fraction("0.04511"))), "0.95", 7),
        (gaussian("0.000001"), "0.95", 0),
    ],
)
def test_two_sided_quantiles_at_the_exact_calibration(law: Law, confidence: str, m: int) -> None:
    assert law.two_sided_quantile(Fraction(confidence)) == m


@pytest.mark.parametrize(
    "law", [gaussian("2.058"), gaussian("1000000000000"), geometric("0.1"), geometric("1000")], ids=repr
)
@pytest.mark.parametrize("p", ["1e-30", "0.001", "0.4999", "0.5", "0.5001", "0.9999", "1/3"])
def test_a_quantile_is_the_smallest_integer_that_reaches(law: Law, p: str) -> None:
    chance = Fraction(p)
    t = law.quantile(chance)
    with working_precision(300):
        assert law.cumulative(t, 256) > ball(chance)
        assert law.cumulative(t - 1, 256) < ball(chance)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        *((bad, ValueError) for bad in (0, -1, Fraction(-1, 3))),
        *((bad, TypeError) for bad in (0.5, "0.5", None, True, Decimal("0.5"), float("nan"))),
    ],
)
def test_parameters_are_exact_and_positive(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^sigma_squared is .*: pass an exact number above 0, as a Fraction"):
        DiscreteGaussian(bad)
    with pytest.raises(error, match=r"^epsilon is .*: pass an exact number above 0, as a Fraction"):
        TwoSidedGeometric(bad)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        *((bad, ValueError) for bad in (0, 1, Fraction(3, 2), Fraction(-1, 2))),
        *((bad, TypeError) for bad in (0.5, "0.5")),
    ],
)
def test_chances_are_exact_and_inside(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^p is .*: pass an exact number above 0 and below 1"):
        gaussian("1").quantile(bad)
    with pytest.raises(error, match=r"^confidence is .*: pass an exact number above 0 and below 1"):
        gaussian("1").two_sided_quantile(bad)


@pytest.mark.parametrize(("bad", "error"), [(0, ValueError), (-5, ValueError), (1.5, TypeError), (True, TypeError)])
def test_accuracy_is_a_positive_whole_number(bad: Any, error: type[Exception]) -> None:
    for ask in (gaussian("1").probability, gaussian("1").tail, geometric("1").cumulative, geometric("1").probability):
        with pytest.raises(error, match=r"^bits is .*: pass a whole number \(an int\), 1 or more"):
            ask(0, bad)
    for law in (gaussian("1"), geometric("1")):
        with pytest.raises(error, match=r"^bits is "):
            law.variance(bad)


def test_laws_are_frozen_values() -> None:
    assert DiscreteGaussian(Fraction(2)) == DiscreteGaussian(Fraction(4, 2))
    assert len({geometric("0.5"), geometric("1/2"), gaussian("0.5")}) == 2
    assert geometric("1").mechanism is Mechanism.GEOMETRIC
    assert gaussian("1").mechanism is Mechanism.DISCRETE_GAUSSIAN
    with pytest.raises(AttributeError):
        geometric("1").epsilon = Fraction(2)  # type: ignore[misc]


@pytest.mark.parametrize("law", [gaussian("12.5"), geometric("0.03")], ids=repr)
def test_a_narrowed_law_has_the_weights_of_every_nth_integer(law: Law) -> None:
    narrow = law.narrowed(4)
    with working_precision(200):
        ratio = law.probability(12, 150) / law.probability(0, 150)
        assert (narrow.probability(3, 150) / narrow.probability(0, 150)).overlaps(ratio)
