"""Properties of laws and samplers over parameters that hypothesis picks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from safetab.noise import DiscreteGaussian, Law, SeededSourceNotPrivate, TwoSidedGeometric, add_noise, draw
from safetab.noise.ball_arithmetic import ball, working_precision

numbers = st.builds(
    lambda mantissa, power: Fraction(mantissa) * Fraction(10) ** power, st.integers(1, 10**6), st.integers(-14, 3)
)
laws: st.SearchStrategy[Law] = st.one_of(
    numbers.map(TwoSidedGeometric), numbers.map(lambda number: DiscreteGaussian(number * number))
)
places = st.one_of(st.integers(-50, 50), st.integers(-(10**15), 10**15))


@given(laws, places)
@settings(deadline=None, max_examples=150)
def test_probability_is_the_step_of_the_cumulative(law: Law, k: int) -> None:
    with working_precision(400):
        step = law.cumulative(k, 300) - law.cumulative(k - 1, 300)
        assert step.overlaps(law.probability(k, 300))
        assert (law.cumulative(k, 300) + law.tail(k, 300)).overlaps(arb(1))
        assert law.cumulative(k, 300).overlaps(law.tail(-k - 1, 300))


@given(laws, places)
@settings(deadline=None, max_examples=100)
def test_more_bits_only_tighten(law: Law, k: int) -> None:
    for ask in (law.probability, law.tail, law.cumulative):
        coarse, fine = ask(k, 40), ask(k, 400)
        with working_precision(500):
            assert coarse.overlaps(fine)
            assert fine.rad() * 2**300 < coarse.mid()


@given(laws, st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6)))
@settings(deadline=None, max_examples=100)
def test_quantiles_bracket_their_chance(law: Law, chance: Fraction) -> None:
    t, m = law.quantile(chance), law.two_sided_quantile(chance)
    with working_precision(400):
        bound = ball(chance)
        assert law.cumulative(t - 1, 300) < bound < law.cumulative(t, 300)
        assert 1 - 2 * law.tail(m, 300) > bound
        assert m == 0 or 1 - 2 * law.tail(m - 1, 300) < bound


@given(
    laws,
    st.lists(st.integers(0, 9), max_size=5),
    st.integers(0, 2**32),
    st.sampled_from([np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]),
)
@settings(deadline=None, max_examples=200)
@example(TwoSidedGeometric(Fraction(1)), [], 0, np.int64)
@example(TwoSidedGeometric(Fraction(1)), [0], 0, np.int64)
def test_any_shape_and_type_gets_noise_of_its_own(
    law: Law, shape: list[int], seed: int, kind: type[np.integer]
) -> None:
    counts = np.arange(int(np.prod(shape))).astype(kind).reshape(shape)
    noisy = add_noise(counts, law, SeededSourceNotPrivate(seed))
    noise = draw(law, shape, SeededSourceNotPrivate(seed))
    assert noisy.shape == counts.shape
    assert (noisy == counts.astype(np.int64) + noise).all()


@given(st.integers(1, 4), st.data())
@settings(deadline=None, max_examples=200)
def test_views_with_any_strides_are_read_in_their_own_order(dimensions: int, data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(0, 7), min_size=dimensions, max_size=dimensions))
    order = data.draw(st.permutations(range(dimensions)))
    steps = data.draw(st.lists(st.sampled_from([1, 2, -1, -3]), min_size=dimensions, max_size=dimensions))
    counts = np.arange(int(np.prod(sizes))).reshape(sizes).transpose(order)[tuple(slice(None, None, s) for s in steps)]
    law = TwoSidedGeometric(Fraction(1, 3))
    noisy = add_noise(counts, law, SeededSourceNotPrivate(3))
    again = add_noise(np.ascontiguousarray(counts).reshape(counts.shape), law, SeededSourceNotPrivate(3))
    assert (noisy == again).all()
