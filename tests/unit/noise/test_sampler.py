"""Draws and noisy counts at the edges: sizes, shapes, types, and numbers near the end of 64 bits."""

from __future__ import annotations

import threading
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from safetab.errors import InputError
from safetab.noise import (
    DiscreteGaussian,
    Law,
    SeededSourceNotPrivate,
    SystemSource,
    TwoSidedGeometric,
    add_noise,
    draw,
)
from safetab.noise.inversion_tables import CHUNK, InversionTable
from safetab.noise.rejection import RejectionSampler
from safetab.noise.sampler import sampler_for
from tests.unit.noise.tape import Tape

NARROW = DiscreteGaussian(Fraction(1, 10**6))
USUAL = DiscreteGaussian(Fraction("31.45"))
WIDE = TwoSidedGeometric(Fraction(1, 10**6))
EVERY = [NARROW, USUAL, TwoSidedGeometric(Fraction("0.1")), WIDE, DiscreteGaussian(Fraction(10**12))]


@pytest.mark.parametrize("law", EVERY, ids=repr)
@pytest.mark.parametrize("shape", [0, 1, 7, CHUNK - 1, CHUNK, 2 * CHUNK + 3, (), (0,), (3, 0, 2), (2, 3, 4), [5, 1]])
def test_draws_have_the_shape_asked_for(law: Law, shape: Any) -> None:
    drawn = draw(law, shape, SystemSource())
    assert drawn.shape == np.empty(shape).shape
    assert drawn.dtype == np.int64


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        *((bad, ValueError) for bad in (-1, (2, -1))),
        *((bad, TypeError) for bad in (1.5, "3", (2, 1.0), None, True, (2, True))),
    ],
)
def test_a_shape_is_whole_numbers(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^a size in shape is .*: pass a whole number \(an int\), 0 or more"):
        draw(USUAL, bad, SystemSource())


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_noise_does_not_depend_on_counts_or_layout(law: Law) -> None:
    """The same bits give the same noise, whatever the counts, their type, their order in memory."""
    rows, columns = 23, 2 * CHUNK // 23 + 5
    counts = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    noise = draw(law, (rows, columns), SeededSourceNotPrivate(1))
    for given in (
        counts,
        counts.astype(np.int32),
        counts.astype(np.uint64),
        np.asfortranarray(counts),
        counts[:, ::-1],
    ):
        noisy = add_noise(given, law, SeededSourceNotPrivate(1))
        assert noisy.dtype == np.int64
        assert (noisy - given.astype(np.int64) == noise).all()


def test_counts_are_not_written_to() -> None:
    counts = np.zeros(100, np.int64)
    counts.flags.writeable = False
    add_noise(counts, USUAL, SystemSource())
    assert not counts.any()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_every_integer_type_keeps_its_extremes(kind: Any) -> None:
    """Narrow noise is 0 but for a chance of 2^-700000, so a wrapped count would show."""
    limits = np.iinfo(kind)
    counts = np.array([limits.min, 0, min(limits.max, 2**63 - 1)], kind)
    assert [int(value) for value in add_noise(counts, NARROW, SystemSource())] == [int(value) for value in counts]


@pytest.mark.parametrize("top", [2**31 - 1, 2**31, 2**32 - 1, 2**62 - 1, 2**62, -(2**31), -(2**62)])
def test_counts_near_powers_of_two_are_added_without_a_wrap(top: int) -> None:
    counts = np.full(50_000, top, np.int64)
    noisy = add_noise(counts, USUAL, SeededSourceNotPrivate(2))
    noise = draw(USUAL, 50_000, SeededSourceNotPrivate(2))
    assert [int(value) - top for value in noisy] == [int(value) for value in noise]
    assert len(set(noisy)) > 20


@pytest.mark.parametrize("edge", [2**63 - 1, -(2**63)])
def test_a_sum_beyond_64_bits_is_an_error(edge: int) -> None:
    with pytest.raises(InputError, match="NOISE-007"):
        add_noise(np.full(1000, edge, np.int64), USUAL, SystemSource())


@pytest.mark.parametrize(("count", "fits"), [(2**63 - 3, True), (2**63 - 2, False)])
def test_the_last_sum_that_fits(count: int, fits: bool) -> None:
    """The tape draws 2 exactly; the other count of the array could overflow and does not."""
    law = DiscreteGaussian(Fraction(1))
    word = sampler_for(law)._thresholds[sampler_for(law)._thresholds.searchsorted(2**63) + 2] - 1000  # type: ignore[attr-defined]
    counts = np.array([count], np.int64)
    tape = Tape.of((int(word), 64))
    if fits:
        assert int(add_noise(counts, law, tape)[0]) == 2**63 - 1
    else:
        with pytest.raises(InputError, match="NOISE-007"):
            add_noise(counts, law, tape)


def test_an_unsigned_count_above_int64_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^true_counts has a count above 2\^63 - 1") as caught:
        add_noise(np.array([2**63 + 12345], np.uint64), USUAL, SystemSource())
    assert "12345" not in str(caught.value)
    assert str(2**63 + 12345) not in str(caught.value)


@pytest.mark.parametrize(
    "bad", [np.zeros(3), np.zeros(3, bool), np.array(["1"]), np.array([1], object), [1, 2], 5, np.array([1 + 0j])]
)
def test_counts_are_whole_number_arrays(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"^true_counts is .*: pass a NumPy array of integers"):
        add_noise(bad, USUAL, SystemSource())


def test_error_messages_carry_no_count() -> None:
    with pytest.raises(InputError) as caught:
        add_noise(np.array([2**63 - 5] * 1000, np.int64), USUAL, SystemSource())
    assert str(2**63 - 5) not in str(caught.value)


def test_samplers_are_built_once_and_by_width() -> None:
    assert sampler_for(USUAL) is sampler_for(DiscreteGaussian(Fraction("31.450")))
    assert isinstance(sampler_for(DiscreteGaussian(Fraction(10**6))), InversionTable)
    assert isinstance(sampler_for(TwoSidedGeometric(Fraction(1, 2047))), InversionTable)
    assert isinstance(sampler_for(TwoSidedGeometric(Fraction(1, 2048))), RejectionSampler)
    assert isinstance(sampler_for(DiscreteGaussian(Fraction(2**21 - 1))), InversionTable)
    assert isinstance(sampler_for(DiscreteGaussian(Fraction(2**21))), RejectionSampler)


def test_threads_draw_side_by_side() -> None:
    source = SystemSource()
    drawn: list[np.ndarray[Any, np.dtype[np.int64]]] = []
    threads = [threading.Thread(target=lambda: drawn.append(draw(WIDE, 20_000, source))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = np.concatenate(drawn)
    assert everything.size == 80_000
    # Of 80,000 draws of scale 10^6 some coincide; streams in common would make a quarter of them do so.
    assert np.unique(everything).size > 75_000


@pytest.mark.long
def test_a_million_shapes() -> None:
    """Every shape of ten sides from 0 to 3; noise that is 0 shows that each count comes back in its place."""
    counts = np.arange(3**10)
    source = SystemSource()
    for shape in product(range(4), repeat=10):
        given = counts[: prod(shape)].reshape(shape)
        noisy = add_noise(given, NARROW, source)
        assert noisy.shape == shape
        assert (noisy == given).all()
