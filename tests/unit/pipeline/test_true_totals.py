"""The true totals of a level are the same however the engine cuts them into batches, and none gets lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from safetab.engines.protocol import Totals
from safetab.pipeline.tabulate_level import TrueTotals

REGIONS, ITERATIONS = 40, 7


def some_groups(seed: int) -> dict[tuple[int, int], int]:
    """A third of all groups has somebody; some regions have nobody at all, the last one among them."""
    draw = np.random.default_rng(seed)
    table = draw.integers(1, 2**40, (REGIONS, ITERATIONS)) * (draw.random((REGIONS, ITERATIONS)) < 1 / 3)
    table[draw.integers(0, REGIONS, 8)] = 0
    table[-1] = 0
    return {(int(region), int(number)): int(table[region, number]) for region, number in np.argwhere(table)}


def batches(groups: dict[tuple[int, int], int], edges: Sequence[int]) -> Iterator[Totals]:
    """The groups of the regions between edges, one batch each; some batches are empty."""
    for first, last in zip([0, *edges], [*edges, REGIONS], strict=True):
        keys = sorted(key for key in groups if first <= key[0] < last)
        region, iteration = np.array(keys, dtype=np.int64).reshape(-1, 2).T
        yield Totals(region, iteration, np.array([groups[key] for key in keys], dtype=np.int64))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [1, 3, 11, REGIONS])
def test_every_cut_gives_the_same_totals(seed: int, step: int) -> None:
    groups = some_groups(seed)
    edges = sorted(np.random.default_rng(seed + 100).integers(0, REGIONS + 1, 2 * seed).tolist())
    totals = TrueTotals(batches(groups, edges), ITERATIONS)
    for first in range(0, REGIONS, step):
        last = min(first + step, REGIONS)
        expected = [[groups.get((region, number), 0) for number in range(ITERATIONS)] for region in range(first, last)]
        assert totals.dense(first, last).tolist() == expected


def test_totals_of_many_regions_are_not_held_together() -> None:
    groups = some_groups(1)
    taken: list[int] = []

    def listening() -> Iterator[Totals]:
        for number, batch in enumerate(batches(groups, range(1, REGIONS))):
            taken.append(number)
            yield batch

    totals = TrueTotals(listening(), ITERATIONS)
    totals.dense(0, 10)
    assert max(taken) < 15, "only what is due, and the next region that has somebody"


@pytest.mark.parametrize(
    "regions", [[[3, 4], [1, 2]], [[1, 2], [2, 3]], [[1, 3, 2]]], ids=["a batch late", "a region twice", "within one"]
)
def test_totals_out_of_order_are_an_error(regions: list[list[int]]) -> None:
    """They would be left out of what was measured before."""
    given = (Totals(np.array(some), np.zeros(len(some), dtype=np.int64), np.ones(len(some), int)) for some in regions)
    totals = TrueTotals(iter(given), ITERATIONS)
    with pytest.raises(AssertionError, match="order of their regions"):
        list(map(totals.dense, range(REGIONS), range(1, REGIONS + 1)))
