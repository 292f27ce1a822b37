"""Chances in floats against certified balls, at every width of a law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from safetab.accounting.accuracy.noisy_sums import NoisySum
from safetab.estimates.noise_tails import NoiseTail, reach, tails_of_sum
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric


def geometric(text: str) -> Law:
    return TwoSidedGeometric(Fraction(text))


def gaussian(text: str) -> Law:
    return DiscreteGaussian(Fraction(text))


NARROW = [*map(geometric, ("0.05", "1", "30")), *map(gaussian, ("0.01", "0.5", "31.4", "5625"))]
WIDE = [geometric("1e-7"), gaussian("1e12"), gaussian("1e20")]


@pytest.mark.parametrize("law", NARROW + WIDE, ids=repr)
def test_one_count_is_right_far_out_too(law: Law) -> None:
    tail = NoiseTail(law, 300)
    far = law.quantile(1 - Fraction(1, 2**280))
    k = np.array([-far, -far // 7, -1, 0, 1, 2, far // 9 + 1, far // 2 + 1, max(far, 1)])
    exact = np.array([float(law.tail(int(value) - 1, 64)) for value in k])
    assert tail(k) == pytest.approx(exact, rel=1e-12, abs=2.0**-300)
    masses = tail.between(k[:-1], k[1:])
    assert (masses >= 0).all()
    assert masses.sum() == pytest.approx(1.0, abs=1e-12)
    # On the left as precise as on the right, where nothing cancels.
    assert tail.between(1 - k[1:], 1 - k[:-1]) == pytest.approx(masses, rel=1e-9, abs=2.0**-290)


@pytest.mark.parametrize("law", [*NARROW, *WIDE, geometric("1e-4"), gaussian("4")], ids=repr)
@pytest.mark.parametrize("n_cells", [2, 18, 46])
@pytest.mark.parametrize("parts", [3, 100])
def test_sums_are_right_to_their_bound(law: Law, n_cells: int, parts: int) -> None:
    """In units of about a third and a hundredth of a standard deviation, at both sides."""
    whole = NoisySum(law, n_cells)
    spread = float(whole.variance(60)) ** 0.5
    unit = max(1, int(spread / parts))
    far = reach(law, n_cells, 60) // unit + 2
    tails = tails_of_sum(law, n_cells, unit, far)
    assert len(tails) == 2 * far + 1
    for k in sorted({1, 2, *(int(spread * y / unit) + 1 for y in (0.3, 1, 2, 3.5, 6))} & set(range(1, far + 1))):
        above = float((1 - whole.within(k * unit - 1, 80)) / 2)
        not_below = 1 - float((1 - whole.within(k * unit, 80)) / 2)
        assert tails[far + k] == pytest.approx(above, abs=1e-10)
        assert tails[far - k] == pytest.approx(not_below, abs=1e-10)


@pytest.mark.parametrize("law", NARROW, ids=repr)
@pytest.mark.parametrize("n_cells", [1, 3, 46])
def test_noise_is_hardly_ever_beyond_its_reach(law: Law, n_cells: int) -> None:
    far = reach(law, n_cells, 36)
    beyond = NoisySum(law, n_cells)
    assert float((1 - beyond.within(far - 1, 120)) / 2) <= 2.0**-36
    assert n_cells > 3 or far <= 1.5 * beyond.two_sided_quantile(1 - Fraction(1, 2**36)) + 2
