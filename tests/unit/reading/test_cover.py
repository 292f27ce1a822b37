"""Choosing rows, against every choice there is; overlap of groups, against every person there could be."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from math import inf
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab.population.iterations import Kind, Reach
from safetab.reading.cover import least_variance
from safetab.reading.groups import Group, is_inside, reason_of_overlap
from safetab.reading.regions import Node, RegionsOfRun


def country(tmp_path: Path) -> RegionsOfRun:
    """One nation, two states, four counties; a place in no state's whole."""
    file = tmp_path / "us.parquet"
    columns = {"USA": ["1"] * 5, "STATE": ["a", "a", "a", "b", "b"], "COUNTY": ["a1", "a2", "a2", "b1", "b2"]}
    pq.write_table(pa.table(columns | {"PLACE": ["p", "p", None, None, "q"]}), file)
    return RegionsOfRun("us", file)


def test_chains_of_nested_levels(tmp_path: Path) -> None:
    regions = country(tmp_path)
    assert regions.chain_above("COUNTY", ["USA", "STATE", "COUNTY", "PLACE"]) == ["COUNTY", "STATE", "USA"]
    assert regions.chain_above("PLACE", ["USA", "STATE", "COUNTY", "PLACE"]) == ["PLACE"]
    assert regions.chain_above("COUNTY", ["COUNTY", "USA"]) == ["COUNTY", "USA"]
    assert regions.covered([("STATE", 0), ("PLACE", 0)]).tolist() == [2, 2, 1, 0, 0]


def summed(regions: RegionsOfRun, signs: Mapping[Node, int]) -> npt.NDArray[np.int64]:
    """How often each block set is counted."""
    total = 0 * regions.covered([])
    for node, sign in signs.items():
        total = total + sign * regions.covered([node])
    return total


@pytest.mark.parametrize("seed", range(60))
def test_no_choice_has_less_variance(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    regions, chain = country(tmp_path), ["COUNTY", "STATE", "USA"]
    nodes = [(level, place) for level in chain for place in range(len(regions.ids(level)))]
    cost = {node: inf if rng.random() < 0.15 else float(rng.choice([1, 2, 3, 7, 20, 50])) for node in nodes}
    asked = sorted(rng.sample(range(4), rng.randint(1, 4)))
    wanted = regions.covered([("COUNTY", place) for place in asked])
    parents = regions.parents("COUNTY", "STATE")
    assert parents is not None
    states = {int(parents[place]) for place in asked}
    nodes = [node for node in nodes if node[0] != "COUNTY" or int(parents[node[1]]) in states]
    best = inf
    for signs in itertools.product((-1, 0, 1), repeat=len(nodes)):
        used = [(node, sign) for node, sign in zip(nodes, signs, strict=True) if sign]
        variance = sum(cost[node] for node, _ in used)
        if variance < best and np.array_equal(summed(regions, dict(used)), wanted):
            best = variance
    least = {level: min(cost[node] for node in nodes if node[0] == level) for level in chain}
    found, chosen = least_variance(
        regions, chain, np.array(asked), lambda level, at: np.array([cost[level, place] for place in at]), least
    )
    assert found == best
    if best < inf:
        assert np.array_equal(summed(regions, chosen), wanted)
        assert sum(cost[node] for node in chosen) == best


def group(kind: Kind, codes: str) -> Group:
    return Group(f"{kind.name}{codes}", "", kind, 2, Reach.COMMON, frozenset(codes))


def members(one: Group, most: int) -> set[tuple[frozenset[str], str]]:
    """Every person, as race codes and an ethnicity code, that is in a group."""
    races = [frozenset(codes) for n in range(1, most + 1) for codes in itertools.combinations("abc", n)]
    people = itertools.product(races, "xyz")
    if one.kind is Kind.ALONE:
        return {person for person in people if person[0] <= one.codes}
    if one.kind is Kind.COMBINATION:
        return {person for person in people if person[0] & one.codes}
    return {person for person in people if person[1] in one.codes}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_groups_overlap_if_anybody_can_be_in_both(most: int) -> None:
    groups = [group(kind, codes) for kind in (Kind.ALONE, Kind.COMBINATION) for codes in ("a", "b", "ab", "bc")]
    groups += [group(Kind.ETHNICITY, codes) for codes in ("x", "y", "xy")]
    for one, other in itertools.combinations(groups, 2):
        both = members(one, most) & members(other, most)
        assert bool(both) == (reason_of_overlap(one, other, most) is not None), (one, other)
        if is_inside(one, other):
            assert members(one, most) <= members(other, most)
    assert is_inside(groups[0], group(Kind.ALONE, "ab"))
    assert not is_inside(group(Kind.COMBINATION, "a"), group(Kind.ALONE, "a"))
