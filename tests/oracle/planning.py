"""What a plan gives a group of a known size, by trying every noise. Imports none of SafeTab.

Noise laws are arrays of chances of -last..last. A group has a stage 1 count and, at stat level 0, a total; both noises
are drawn apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.estimates import Oracle, Row
from tests.oracle.laws import Floats


def noises(law: Floats) -> list[tuple[int, float]]:
    """Every noise with its chance."""
    last = len(law) // 2
    return [(k, float(chance)) for k, chance in zip(range(-last, last + 1), law, strict=True)]


@dataclass(frozen=True)
class Detail:
    """The chance of each stat level, and of a row in T1."""

    stat_levels: list[float]
    published: float


def detail(stage_1: Floats, total: Floats, size: int, thresholds: Sequence[int], dropped: int | None) -> Detail:
    """A group of two stages; `dropped` is the largest total that is left out, None where none is."""
    stat_levels = [0.0] * (len(thresholds) + 1)
    for noise, chance in noises(stage_1):
        stat_levels[sum(size + noise >= threshold for threshold in thresholds)] += chance
    kept = math.fsum(chance for noise, chance in noises(total) if dropped is None or size + noise > dropped)
    return Detail(stat_levels, stat_levels[0] * kept + math.fsum(stat_levels[1:]))


def estimate_within(stage_1: Floats, sum_of_cells: Floats, a: int, b: int, m: int) -> float:
    """The chance that the least whole number of at least (aX + bS) / (a + b) is within m of the truth."""
    inside = 0.0
    for x, chance_x in noises(stage_1):
        for s, chance_s in noises(sum_of_cells):
            if abs(math.ceil((a * x + b * s) / (a + b))) <= m:
                inside += chance_x * chance_s
    return inside


def half_width(row: Row, oracle: Oracle, size: int) -> float:
    """Half of HIGH_95 - LOW_95, on average over all pairs of noisy counts that are published."""
    values, chances = row.law_of_t(size)
    total = followed = 0.0
    for t, chance in zip(values.tolist(), chances.tolist(), strict=True):
        ends = oracle.estimate(t) if chance > 1e-9 else None
        if ends is not None:
            total += chance * (ends[2] - ends[1]) / 2
            followed += chance
    assert followed > 0.999, "try more true counts"
    return total / followed


def best_true_positive(law: Floats, false_positive: float) -> float:
    """The best test of "one more" against "one fewer" from one noisy count: the likeliest outputs first.

    The output that would raise more false alarms than allowed is used with a part of its chance.
    """
    without = dict(noises(law))
    with_person = {noise + 1: chance for noise, chance in without.items()}
    outputs = without.keys() | with_person.keys()
    order = sorted(
        outputs, key=lambda k: -math.inf if without.get(k, 0.0) == 0 else -with_person.get(k, 0.0) / without[k]
    )
    left, found = false_positive, 0.0
    for k in order:
        if without.get(k, 0.0) <= left:
            left -= without.get(k, 0.0)
            found += with_person.get(k, 0.0)
        else:
            found += with_person.get(k, 0.0) * left / without[k]
            break
    return min(found, 1.0)
