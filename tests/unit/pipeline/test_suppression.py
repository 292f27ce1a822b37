"""The threshold of suppression: an empty group is left out with the chosen probability, and hardly more often."""

from __future__ import annotations

from fractions import Fraction

import pytest

from safetab.accounting.events import LevelEvents, Stage
from safetab.noise.laws import DiscreteGaussian, Mechanism
from safetab.pipeline.assemble import PostProcessing
from tests.oracle.laws import gaussian_pmf, geometric_pmf


@pytest.mark.parametrize("chance", ["0.3", "0.5", "0.9", "0.99", "0.9999"])
@pytest.mark.parametrize("mechanism", Mechanism)
def test_an_empty_group_is_suppressed_with_the_chosen_probability(mechanism: Mechanism, chance: str) -> None:
    """Only large totals are kept, so one tail of the noise counts: the least t with P[noise <= t] >= the chance."""
    event = LevelEvents("(COUNTY, 2)", mechanism, Fraction("0.9"), 9, Fraction("0.1")).event(Stage.STAGE_2)
    last = 400
    if isinstance(event.law, DiscreteGaussian):
        noise = gaussian_pmf(float(event.law.sigma_squared), last)
    else:
        noise = geometric_pmf(float(event.law.rate), last)
    found = PostProcessing(Fraction(chance), allow_negative_counts=True, has_noise=True).threshold(event)
    at_most = noise[: last + found + 1].sum()
    assert at_most - noise[last + found] < float(chance) <= at_most


def test_without_noise_only_empty_groups_are_suppressed() -> None:
    event = LevelEvents("", Mechanism.GEOMETRIC, Fraction(1), 1, Fraction("0.1")).event(Stage.STAGE_2)
    assert PostProcessing(Fraction("0.99"), allow_negative_counts=True, has_noise=False).threshold(event) == 0
