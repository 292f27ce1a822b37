"""Which rows give the total of a group in some regions with the least variance.

In: the regions that are asked for, and what each row would add to the variance. Out: regions with +1 or -1. The
promise: summed with these signs, regions make up exactly the regions asked for. Of all such sums over a chain of nested
geography levels, in which a region is used at most once and one that was not asked for, nor has any that was, counts by
its own row, none has less variance; save where more than 400 of those would make up for a row that is missing.

A tree is walked from the finest level up. For every region the least cost is known of making its leaves right when the
regions above it supply nothing, and when they supply 1: either by its own row (+1 or -1) or by those below it. What is
chosen depends on stat levels and on what was published, never on a count: given those, the noise is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt

from safetab.reading.regions import Node, RegionsOfRun

#: What the rows of some regions add to the variance; infinite where there is none.
Costs = Callable[[str, npt.NDArray[np.int64]], npt.NDArray[np.float64]]
#: The least that a row of a level can add.
Least = Mapping[str, float]
#: Branches with more regions that were not asked for are not looked at to find a total that is missing.
_MOST_OTHERS = 400


@dataclass
class _Tier:
    """The regions of one geography level that are looked at, and the least costs of each."""

    level: str
    places: npt.NDArray[np.int64]
    own: npt.NDArray[np.float64]
    #: The least cost below, where nothing is supplied from above, and where 1 is.
    below: npt.NDArray[np.float64]

    @property
    def best(self) -> npt.NDArray[np.float64]:
        """With its own row or without: a column each for 0 and 1 supplied."""
        return np.minimum(self.below, self.own[:, None] + self.below[:, ::-1])


def least_variance(
    regions: RegionsOfRun, chain: Sequence[str], asked: npt.NDArray[np.int64], costs: Costs, least: Least
) -> tuple[float, dict[Node, int]]:
    """The variance and the signs of the rows; `asked` are places of regions of the first level of the chain."""
    asked = np.unique(asked)
    tiers = [_leaves(chain[0], asked, np.empty(0, dtype=np.int64), asked, costs)]
    touched = asked
    for finer, level in pairwise(chain):
        parents = regions.parents(finer, level)
        assert parents is not None  # noqa: S101
        above = np.unique(parents[touched]).astype(np.int64)
        own = costs(level, above)
        _add_others(tiers, parents, above, own, touched, costs, least[finer])
        tiers.append(_tier_above(tiers[-1], level, parents, above, own))
        touched = above
    return _best_of(tiers, regions)


def _leaves(
    level: str,
    asked: npt.NDArray[np.int64],
    others: npt.NDArray[np.int64],
    ours: npt.NDArray[np.int64],
    costs: Costs,
) -> _Tier:
    """Regions without a tier below: one that is asked for needs 1 from its own row or from above."""
    places = np.concatenate([asked, others])
    below = np.where(np.isin(places, ours)[:, None], [inf, 0.0], [0.0, inf])
    return _Tier(level, places, costs(level, places), below)


def _add_others(
    tiers: list[_Tier],
    parents: npt.NDArray[np.int32],
    above: npt.NDArray[np.int64],
    own: npt.NDArray[np.float64],
    touched: npt.NDArray[np.int64],
    costs: Costs,
    least_here: float,
) -> None:
    """Look at the other regions of those above where taking them away could pay, there or further up."""
    tier = tiers[-1]
    number = np.searchsorted(above, parents[tier.places])
    without = np.bincount(number, weights=tier.best[:, 0], minlength=len(above))
    with_one = np.bincount(number, weights=tier.best[:, 1], minlength=len(above))
    others = np.bincount(parents, minlength=int(above.max()) + 1)[above] - np.bincount(number, minlength=len(above))
    cheapest = with_one + np.where(others > 0, others * least_here if least_here < inf else inf, inf)
    pays = cheapest < own + without
    pays &= np.isfinite(own + without) | (others <= _MOST_OTHERS)
    if not pays.any():
        return
    wanted = np.flatnonzero(np.isin(parents, above[pays]))
    wanted = np.setdiff1d(wanted, touched)
    more = _leaves(tier.level, np.empty(0, dtype=np.int64), wanted, np.empty(0, dtype=np.int64), costs)
    tiers[-1] = _Tier(
        tier.level,
        np.concatenate([tier.places, more.places]),
        np.concatenate([tier.own, more.own]),
        np.concatenate([tier.below, more.below]),
    )


def _tier_above(
    tier: _Tier,
    level: str,
    parents: npt.NDArray[np.int32],
    above: npt.NDArray[np.int64],
    own: npt.NDArray[np.float64],
) -> _Tier:
    number = np.searchsorted(above, parents[tier.places])
    best = tier.best
    sides = [np.bincount(number, weights=best[:, side], minlength=len(above)) for side in (0, 1)]
    below = np.stack(sides, axis=1).astype(np.float64)
    # Where some region below was not looked at, 1 from above cannot be made right.
    looked_at = np.bincount(number, minlength=len(above))
    every = np.bincount(parents, minlength=int(above.max()) + 1)[above]
    below[looked_at < every, 1] = inf
    return _Tier(level, above, own, below)


def _best_of(tiers: Sequence[_Tier], regions: RegionsOfRun) -> tuple[float, dict[Node, int]]:
    """Walk down from the top: nothing is supplied to its regions."""
    signs: dict[Node, int] = {}
    supplied: dict[int, int] = {int(place): 0 for place in tiers[-1].places}
    total = float(tiers[-1].best[:, 0].sum())
    for tier, finer in zip(reversed(tiers), [*reversed(tiers[:-1]), None], strict=True):
        passed_on: dict[int, int] = {}
        for row, place in enumerate(tier.places.tolist()):
            side = supplied.get(place, 0)
            is_used = tier.own[row] + tier.below[row, 1 - side] < tier.below[row, side]
            if is_used:
                signs[tier.level, place] = 1 if side == 0 else -1
            passed_on[place] = 1 - side if is_used else side
        if finer is not None:
            parents = regions.parents(finer.level, tier.level)
            assert parents is not None  # noqa: S101
            supplied = {place: passed_on[int(parents[place])] for place in finer.places.tolist()}
    return total, signs
