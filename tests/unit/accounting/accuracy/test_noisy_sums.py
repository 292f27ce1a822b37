"""Sums of noisy cells against plain convolution, and at scales no convolution reaches."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from safetab.accounting.accuracy import noisy_sums
from safetab.accounting.accuracy.margins import moe_95_of_sum, moe_of_sum, variance_of_sum
from safetab.accounting.accuracy.noisy_sums import NoisySum
from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric
from tests.oracle import laws as oracle

CONFIDENCE = Fraction(95, 100)


def geometric(text: str) -> TwoSidedGeometric:
    return TwoSidedGeometric(Fraction(text))


def gaussian(text: str) -> DiscreteGaussian:
    return DiscreteGaussian(Fraction(text))


def plain_sum(law: Law, n_cells: int) -> Any:
    last = int(12 * float(law.variance(60)) ** 0.5 * (4 if isinstance(law, TwoSidedGeometric) else 1)) + 12
    if isinstance(law, TwoSidedGeometric):
        return oracle.convolved(oracle.geometric_pmf(float(law.epsilon), last), n_cells)
    assert isinstance(law, DiscreteGaussian)
    return oracle.convolved(oracle.gaussian_pmf(float(law.sigma_squared), last), n_cells)


@pytest.mark.parametrize(
    "law",
    [*map(geometric, ("0.1", "0.457", "3", "20")), *map(gaussian, ("0.02", "0.16", "0.17", "2.1", "8.4", "625"))],
    ids=repr,
)
@pytest.mark.parametrize("n_cells", [1, 2, 3, 8, 18, 46, 120])
def test_the_chance_of_staying_within_m_is_that_of_plain_convolution(law: Law, n_cells: int) -> None:
    plain = plain_sum(law, n_cells)
    middle = moe_95_of_sum(law, n_cells)
    for m in {0, 1, middle // 2, middle, 2 * middle + 1}:
        value = NoisySum(law, n_cells).within(m, 64)
        assert value.rad() < arb(2) ** -50
        assert float(value) == pytest.approx(oracle.within(plain, m), abs=1e-11)
    assert oracle.within(plain, middle) >= 0.95 - 1e-11
    assert middle == 0 or oracle.within(plain, middle - 1) < 0.95 + 1e-11


@pytest.mark.parametrize("law", [geometric("0.457"), gaussian("8.4"), gaussian("0.1")], ids=repr)
@pytest.mark.parametrize("n_cells", [2, 18, 120])
def test_more_bits_give_a_smaller_ball_around_the_same_number(law: Law, n_cells: int) -> None:
    coarse, fine = (NoisySum(law, n_cells).within(7, bits) for bits in (40, 400))
    with working_precision(500):
        assert coarse.overlaps(fine)
        assert fine.rad() < arb(2) ** -390


@pytest.mark.parametrize("law", [geometric("1e-12"), gaussian("1e14"), gaussian("1e40"), geometric("1e-40")], ids=repr)
@pytest.mark.parametrize("n_cells", [2, 46, 402, 201_000])
def test_a_quantile_at_any_scale_is_the_smallest_that_reaches(law: Law, n_cells: int) -> None:
    m = moe_95_of_sum(law, n_cells)
    with working_precision(400):
        assert NoisySum(law, n_cells).within(m, 300) > ball(CONFIDENCE)
        assert NoisySum(law, n_cells).within(m - 1, 300) < ball(CONFIDENCE)


@pytest.mark.parametrize("epsilon", ["1e-15", "0.01", "1", "40"])
def test_many_cells_by_fourier_are_those_of_partial_fractions(epsilon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law, n_cells = geometric(epsilon), 130
    m = moe_95_of_sum(law, n_cells)
    by_fourier = [NoisySum(law, n_cells).within(k, 80) for k in (0, m // 2, m, 2 * m)]
    monkeypatch.setattr(noisy_sums, "_MANY_CELLS", n_cells + 1)
    by_fractions = [NoisySum(law, n_cells).within(k, 80) for k in (0, m // 2, m, 2 * m)]
    for one, other in zip(by_fourier, by_fractions, strict=True):
        assert one.overlaps(other)
        assert one.rad() < arb(2) ** -70


def test_one_cell_is_the_law_itself() -> None:
    for law in (geometric("0.457"), gaussian("8.4")):
        assert moe_95_of_sum(law, 1) == law.two_sided_quantile(CONFIDENCE)
        assert variance_of_sum(law, 1) == float(law.variance(80))


@pytest.mark.parametrize("law", [geometric("1e6"), gaussian("1e-6")], ids=repr)
def test_noise_that_is_almost_none_has_margin_0(law: Law) -> None:
    assert moe_95_of_sum(law, 46) == 0
    assert 0 <= variance_of_sum(law, 46) < 1e-100


def test_margins_grow_with_cells_and_confidence() -> None:
    for law in (geometric("0.457"), gaussian("8.4")):
        margins = [moe_95_of_sum(law, n) for n in (1, 2, 4, 8, 18, 46)]
        assert margins == sorted(margins)
        wider = [moe_of_sum(law, 8, Fraction(text)) for text in ("0.5", "0.9", "0.95", "0.99", "0.999999")]
        assert wider == sorted(set(wider))


@pytest.mark.parametrize(
    ("bad", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError), ("8", TypeError)]
)
def test_cells_are_counted_in_whole_numbers(bad: Any, error: type[Exception]) -> None:
    # Answers are remembered, and to Python True and 2.0 are equal to 1 and 2: they must not find those answers.
    assert moe_95_of_sum(gaussian("1"), 1) <= moe_95_of_sum(gaussian("1"), 2)
    for ask in (moe_95_of_sum, variance_of_sum):
        with pytest.raises(error, match=r"^n_cells is .*: pass a whole number \(an int\), 1 or more"):
            ask(gaussian("1"), bad)
