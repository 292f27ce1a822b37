"""Sums that are no wider than their parts: what trimming costs, by enumeration of all noisy counts.

Intervals come from the oracle's laws by their definition: a total has the interval from T - q to T + q, cut off at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from safetab.estimates.no_wider import OF_TRIMMING, Interval, added, is_near_nobody, no_wider
from tests.oracle import reading as oracle
from tests.profile import size

#: Two or three totals of a sum, each a mechanism and its parameter.
SUMS: dict[str, list[tuple[str, float]]] = {
    "gaussian": [("gaussian", 31.0)] * 2,
    "narrow gaussian": [("gaussian", 4.0)] * 2,
    "unequal gaussian": [("gaussian", 31.0), ("gaussian", 5.0)],
    "geometric": [("geometric", 0.45)] * 2,
    "wide geometric": [("geometric", 0.15)] * 2,
    "unequal geometric": [("geometric", 0.45), ("geometric", 2.0)],
    "three gaussian": [("gaussian", 3.0)] * 3,
    "three geometric": [("geometric", 0.9)] * 3,
}
#: Standard deviations of the noise at which the true counts are.
PLACES = (0.0, 0.4, 1.0, 2.5, 6.0, 0.2, 0.7, 1.5, 2.0, 4.0, 9.0)[: size(quick=5, long=11)]
#: One minus the confidence.
ERRORS = (0.05, 0.01, 0.1)[: size(quick=1, long=3)]


def spread(law: dict[int, float]) -> float:
    return float(sum(k * k * chance for k, chance in law.items()) ** 0.5)


def laws_of(parts: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
    """Noise as far as it has a chance of 1e-8."""
    laws = [
        oracle.noise(mechanism, parameter, 130 if mechanism == "geometric" else 60) for mechanism, parameter in parts
    ]
    return [{k: chance for k, chance in law.items() if chance > 1e-8} for law in laws]


def cut_off(t: int, q: int) -> Interval:
    return Interval(max(t - q, 0), max(t + q, 0))


class Enumerated:
    """The intervals of all values of some totals, before and after trimming."""

    def __init__(self, laws: Sequence[dict[int, float]], most: int, error: float) -> None:
        self.laws = laws
        self.first = [min(law) for law in laws]
        shape = [max(law) - min(law) + 1 + most for law in laws]
        quantiles = [oracle.exceeded(law, error / 2) for law in laws]
        of_sum = oracle.exceeded(oracle.added(laws), error * (1 - OF_TRIMMING) / 2)
        self.ends = np.empty((2, 2, *shape))
        self.is_wider = False
        for place in np.ndindex(*shape):
            t = [first + at for first, at in zip(self.first, place, strict=True)]
            parts = added([cut_off(one, q) for one, q in zip(t, quantiles, strict=True)])
            before = cut_off(sum(t), of_sum)
            after = no_wider(before, parts)
            self.is_wider |= after.width > parts.width
            self.ends[(slice(None), slice(None), *place)] = (before, after)

    def errors(self, truths: Sequence[int]) -> tuple[float, float]:
        """The chance that the interval is wrong, without and with trimming."""
        here = tuple(slice(n, n + len(law)) for n, law in zip(truths, self.laws, strict=True))
        chances = np.ones(())
        for law in self.laws:
            chances = np.multiply.outer(chances, [law[k] for k in sorted(law)])
        ends = self.ends[(slice(None), slice(None), *here)]
        wrong = (ends[:, 0] > sum(truths)) | (ends[:, 1] < sum(truths))
        return float((chances * wrong[0]).sum()), float((chances * wrong[1]).sum())


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("error", ERRORS)
def test_trimmed_sums_hold_for_all_true_counts(name: str, error: float) -> None:
    laws = laws_of(SUMS[name])
    truths = [sorted({round(place * spread(law)) for place in PLACES}) for law in laws]
    enumerated = Enumerated(laws, max(max(one) for one in truths), error)
    assert not enumerated.is_wider
    lost = []
    for counts in product(*truths):
        before, after = enumerated.errors(counts)
        assert after <= error + 1e-6, counts
        lost.append(after - before)
    assert min(lost) >= -1e-12
    if error == 0.05 and not name.startswith("three"):
        assert max(lost) > 0


@pytest.mark.parametrize("mechanism", [("gaussian", 7.0), ("geometric", 0.6)], ids=lambda one: one[0])
@pytest.mark.parametrize("wider", [1.0, 1.9])
def test_a_larger_region_instead_of_its_two_parts(mechanism: tuple[str, float], wider: float) -> None:
    """Its noise is independent of theirs; its variance is up to that of their sum."""
    name, parameter = mechanism
    part = laws_of([mechanism])[0]
    (whole,) = laws_of([(name, parameter * wider if name == "gaussian" else parameter / wider**0.5)])
    q_part, q_whole = oracle.exceeded(part, 0.025), oracle.exceeded(whole, 0.025 * (1 - OF_TRIMMING))
    ks = sorted(part)
    for truths in product(sorted({round(place * spread(part)) for place in PLACES}), repeat=2):
        pairs: dict[Interval, float] = {}
        for one, other in product(ks, ks):
            both = added([cut_off(truths[0] + one, q_part), cut_off(truths[1] + other, q_part)])
            pairs[both] = pairs.get(both, 0.0) + part[one] * part[other]
        wrong = 0.0
        for k, chance in whole.items():
            found = cut_off(sum(truths) + k, q_whole)
            for both, of_both in pairs.items():
                low, high = no_wider(found, both)
                wrong += chance * of_both * (not low <= sum(truths) <= high)
        assert wrong <= 0.05


def test_added_intervals_of_three_empty_groups_do_not_hold() -> None:
    """So nothing that stays inside them does: only their width can be kept."""
    law = laws_of([("gaussian", 31.0)])[0]
    q = oracle.exceeded(law, 0.025)
    each = oracle.reached(law, q + 1)
    assert 1 - (1 - each) ** 3 > 0.05
    # A sum by its law holds, and is not wider when it is trimmed: nothing is below 0 then.
    assert no_wider(cut_off(12, 19), added([cut_off(12, 11), cut_off(0, 11), cut_off(0, 11)])) == (0, 31)


def test_what_is_left_is_inside_and_at_the_side_of_the_parts() -> None:
    found = Interval(10, 30)
    assert no_wider(found, Interval(0, 20)) == found
    assert no_wider(found, Interval(14, 24)) == (14, 24)
    assert no_wider(found, Interval(25, 35)) == (20, 30)
    assert no_wider(found, Interval(0, 10)) == (10, 20)
    assert is_near_nobody(Interval(5, 10))
    assert not is_near_nobody(Interval(50, 60))
