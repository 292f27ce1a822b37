"""Samplers against their laws, in ten million draws each; against two other samplers; and against wrong ones.

False alarms: `VERDICTS` verdicts are passed, each with a chance of at most LIMIT = 10^-10 to fail a right sampler, so
the whole suite fails one with a chance below 10^-7. The limit asked for is 10^-6; the factor ten and more between them
covers what the chi-square law misses of the true tail at cells of a thousand draws. The draws are real: they come from
the operating system's entropy and differ from run to run. On samplers made wrong on purpose every judge that can see
the fault gives a verdict below 10^-20, so that a wrong one does not slip through by luck either.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from safetab.noise import DiscreteGaussian, Law, SystemSource, TwoSidedGeometric, draw
from tests import profile
from tests.oracle.rejection import Rejection
from tests.statistical import judges
from tests.statistical.judges import LIMIT, cells_of

DRAWS = 10**7

LAWS: list[Law] = [
    *(DiscreteGaussian(Fraction(text)) for text in ("0.5", "2.058", "31.45", "625", "5625", "1000000", "1e12")),
    *(TwoSidedGeometric(Fraction(text)) for text in ("2", "0.4280", "0.1", "0.01885", "0.00001")),
]
#: The same, all wide ones marked long; and with one wide law left to every run.
NARROW_FIRST = [pytest.param(law, marks=pytest.mark.long) if law.rate < Fraction(1, 20_000) else law for law in LAWS]
ONE_WIDE = [
    law if law == DiscreteGaussian(Fraction(10**12)) else other for law, other in zip(LAWS, NARROW_FIRST, strict=True)
]
#: Laws at which the slower samplers can be asked; their scales are whole floats, which OpenDP takes exactly.
SHARED: list[Law] = [
    DiscreteGaussian(Fraction(1)),
    DiscreteGaussian(Fraction(9)),
    DiscreteGaussian(Fraction(75**2)),
    TwoSidedGeometric(Fraction(1)),
    TwoSidedGeometric(Fraction(1, 8)),
    TwoSidedGeometric(Fraction(1, 64)),
]
PER_LAW = 3 + 2 * len(judges.LEVELS) + len(judges.LAGS)
PER_PAIR = 3
#: All verdicts a full run passes, `--long` included; two samplers are compared with ours.
VERDICTS = len(LAWS) * PER_LAW + 2 * len(SHARED) * PER_PAIR


def scaled(law: Law, factor: Fraction) -> Law:
    """The same law with its scale multiplied."""
    if isinstance(law, DiscreteGaussian):
        return DiscreteGaussian(law.sigma_squared * factor**2)
    assert isinstance(law, TwoSidedGeometric)
    return TwoSidedGeometric(law.epsilon / factor)


def test_the_whole_suite_raises_a_false_alarm_less_than_once_in_a_million_runs() -> None:
    assert VERDICTS * LIMIT < 1e-7


@pytest.mark.parametrize("law", ONE_WIDE, ids=repr)
def test_ten_million_draws_pass_every_judge(law: Law) -> None:
    verdicts = judges.all_verdicts(law, draw(law, DRAWS, SystemSource()))
    assert len(verdicts) <= PER_LAW
    assert {name: p for name, p in verdicts.items() if p < LIMIT} == {}


#: What a sampler made wrong on purpose gets from every judge that can see the fault.
DAMNING = 1e-20


@pytest.mark.parametrize("law", NARROW_FIRST, ids=repr)
@pytest.mark.parametrize("factor", [Fraction(99, 100), Fraction(101, 100)], ids=["1% narrow", "1% wide"])
def test_a_scale_off_by_one_percent_fails_every_judge_of_scale(law: Law, factor: Fraction) -> None:
    draws = draw(scaled(law, factor), DRAWS, SystemSource())
    verdicts = judges.scale_verdicts(law, draws)
    assert {name: p for name, p in verdicts.items() if p >= DAMNING} == {}


def test_lopsided_draws_fail_symmetry() -> None:
    law = LAWS[2]
    draws = draw(law, DRAWS, SystemSource())
    draws[::100] = np.abs(draws[::100])
    assert judges.symmetry(cells_of(law).counts(draws)) < DAMNING


@pytest.mark.parametrize("lag", judges.LAGS)
def test_draws_that_repeat_fail_independence(lag: int) -> None:
    """One draw in a hundred is that of `lag` places before."""
    law = LAWS[2]
    draws = draw(law, DRAWS, SystemSource())
    draws[lag::100] = draws[:-lag:100][: draws[lag::100].size]
    cells = cells_of(law)
    assert judges.independence(cells, cells.of(draws), lag) < DAMNING


def rejection_draws(law: Law, count: int) -> judges.Array:
    sampler = Rejection(Random(20200401))
    if isinstance(law, DiscreteGaussian):
        return np.array([sampler.gaussian(law.sigma_squared) for _ in range(count)])
    assert isinstance(law, TwoSidedGeometric)
    return np.array([sampler.laplace(law.epsilon) for _ in range(count)])


def opendp_draws(law: Law, count: int) -> judges.Array:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if isinstance(law, DiscreteGaussian):
        scale = float(law.sigma_squared) ** 0.5
        assert Fraction(scale) ** 2 == law.sigma_squared
        return np.array(dp.m.make_gaussian(domain, dp.l2_distance(T=int), scale=scale)([0] * count))
    assert isinstance(law, TwoSidedGeometric)
    scale = float(1 / law.epsilon)
    assert Fraction(scale) == 1 / law.epsilon
    return np.array(dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=scale)([0] * count))


SECOND = {"rejection": (rejection_draws, 20_000), "opendp": (opendp_draws, 60_000)}
#: How often so many draws.
TIMES = profile.size(quick=1, long=10)


@pytest.mark.parametrize("law", SHARED, ids=repr)
@pytest.mark.parametrize("name", SECOND)
def test_a_second_sampler_agrees(law: Law, name: str) -> None:
    """The second sampler agrees with the law, with ours, and so does its symmetry."""
    sampler, count = SECOND[name]
    theirs = sampler(law, count * TIMES)
    cells = cells_of(law, 20, 0.01)
    counts = cells.counts(theirs)
    assert judges.chi_square(cells, counts) >= LIMIT
    assert judges.symmetry(counts) >= LIMIT
    assert judges.two_samples(cells, theirs, draw(law, 10**6, SystemSource())) >= LIMIT


def test_the_comparison_of_two_samplers_sees_a_scale_off_by_five_percent() -> None:
    law = DiscreteGaussian(Fraction(9))
    theirs = opendp_draws(law, 60_000)
    wrong = draw(scaled(law, Fraction(105, 100)), 10**6, SystemSource())
    assert judges.two_samples(cells_of(law, 20, 0.01), theirs, wrong) < DAMNING
