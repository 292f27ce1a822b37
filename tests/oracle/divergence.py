"""How far apart the outputs of two neighbours are, outcome by outcome, in mpmath. Imports nothing from safetab.

A group's outcomes are listed with their chance under either set of records. Cells that both sets fill alike have the
same noise on both sides whatever else happens, so they cancel from every ratio and are left out; what remains is the
stage 1 count and the one count of stage 2 that differs. Groups draw their noise
independently, so divergences of several groups add; a test multiplies two of them out to show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import mpmath

mpmath.mp.dps = 60
Real = Any  # mpmath's number, which has no types
Outcome = tuple[Real, Real]
#: Outcomes with weights below exp(-this) are left out, after the shift below.
_FAR = 110
#: The largest order. A divergence of order alpha is decided alpha steps beyond the count, where Gaussian outcomes
#: are rare; windows reach as much further.
LARGEST_ALPHA = 64


@dataclass(frozen=True)
class Noise:
    """Weights exp(-rate * |k|^power): power 1 is the two-sided geometric law, 2 the discrete Gaussian."""

    rate: Fraction
    power: int


@dataclass(frozen=True)
class TotalOnlyGroup:
    """One noisy count; the true ones of either set of records."""

    noise: Noise
    before: int
    after: int


@dataclass(frozen=True)
class TwoStageGroup:
    """A stage 1 count, and for each stat level 0..3 the count of stage 2 that differs, before and after."""

    stage_1: Noise
    before: int
    after: int
    stage_2: Noise
    differing: tuple[tuple[int, int], ...]


@lru_cache(maxsize=64)
def window(noise: Noise) -> dict[int, Real]:
    """The chance of every value that matters."""
    rate = mpmath.mpf(noise.rate.numerator) / noise.rate.denominator
    weights = {0: mpmath.mpf(1)}
    beyond = LARGEST_ALPHA + 1 if noise.power == 2 else 0
    k = 1
    while noise.rate * max(k - beyond, 0) ** noise.power < _FAR:
        weights[k] = weights[-k] = mpmath.exp(-rate * k**noise.power)
        k += 1
    total = mpmath.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def count_outcomes(noise: Noise, before: int, after: int) -> list[Outcome]:
    """The chances of each noisy count, under either true count; a value in one window only does not matter."""
    chances = window(noise)
    values = {before + k for k in chances} & {after + k for k in chances}
    return [(chances[value - before], chances[value - after]) for value in sorted(values)]


def published(group: TotalOnlyGroup | TwoStageGroup) -> list[list[Outcome]]:
    """What a reader of the tables sees of a group: independent parts, whose divergences add.

    The stage 1 count is published, and the stat level follows from it. Whichever stat level that is, stage 2 differs in
    one count by one, so that it is the same part for all.
    """
    if isinstance(group, TotalOnlyGroup):
        return [count_outcomes(group.noise, group.before, group.after)]
    differences = {after - before for before, after in group.differing}
    assert len(differences) == 1
    before, after = group.differing[0]
    return [
        count_outcomes(group.stage_1, group.before, group.after),
        count_outcomes(group.stage_2, before, after),
    ]


def epsilon(outcomes: Sequence[Outcome]) -> Real:
    """The largest log-ratio of any outcome, in either direction."""
    return max(abs(mpmath.log(p / q)) for p, q in outcomes)


def renyi(outcomes: Sequence[Outcome], alpha: Real) -> Real:
    """The Renyi divergence of order alpha, the larger of the two directions."""
    alpha = mpmath.mpf(alpha)
    forth = mpmath.fsum(p * (p / q) ** (alpha - 1) for p, q in outcomes)
    back = mpmath.fsum(q * (q / p) ** (alpha - 1) for p, q in outcomes)
    return mpmath.log(max(forth, back)) / (alpha - 1)


def multiplied_out(one: Sequence[Outcome], other: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of two independent groups together."""
    return [(a[0] * b[0], a[1] * b[1]) for a, b in product(one, other)]
