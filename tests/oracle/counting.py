"""True counts of regions, person by person, in the plainest words. Imports nothing from safetab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """A person, once everything is a number; `kind` says which iterations the person is in."""

    block_set: int
    kind: int
    sex: int
    age: int


def totals(
    people: Sequence[Counted], iterations_of_kind: Mapping[int, set[int]], region_of_block_set: Sequence[int]
) -> dict[tuple[int, int], int]:
    """How many people of each iteration live in each region; -1 is no region."""
    found: Counter[tuple[int, int]] = Counter()
    for person in people:
        region = region_of_block_set[person.block_set]
        for iteration in iterations_of_kind[person.kind]:
            if region != -1:
                found[region, iteration] += 1
    return dict(found)


def cells(
    people: Sequence[Counted],
    iterations_of_kind: Mapping[int, set[int]],
    region_of_block_set: Sequence[int],
    chosen: Sequence[tuple[int, int, int]],
    starts_of_stat_level: Mapping[int, Sequence[int]],
) -> dict[tuple[int, int, int], int]:
    """How many people of each chosen group (region, iteration, stat level) have each sex and fall in each age bin."""
    found: Counter[tuple[int, int, int]] = Counter()
    for number, (region, iteration, stat_level) in enumerate(chosen):
        for person in people:
            if region_of_block_set[person.block_set] == region and iteration in iterations_of_kind[person.kind]:
                age_bin = sum(1 for start in starts_of_stat_level[stat_level] if start <= person.age) - 1
                found[number, person.sex, age_bin] += 1
    return dict(found)
