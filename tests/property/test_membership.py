"""Array membership against the one-person oracle, and stability against trying everybody, on random worlds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from safetab.params.load import load
from safetab.population.iterations import Iteration, IterationCatalogue, Kind, Reach
from safetab.population.membership import membership
from safetab.population.stability import stability
from tests import profile
from tests.oracle.membership import Group, groups_of_person, most_groups_of_anybody

_KIND = {"True": Kind.ALONE, "False": Kind.COMBINATION, "": Kind.ETHNICITY}
_FLAGS = {
    Reach.COMMON: ("False", "False"),
    Reach.DETAILED_ONLY: ("True", "False"),
    Reach.COARSE_ONLY: ("False", "True"),
}


def iteration_of(group: Group) -> Iteration:
    reach = next((reach for reach, flags in _FLAGS.items() if flags == (group.detailed_only, group.coarse_only)), None)
    return Iteration(group.code, group.code, group.level, _KIND[group.alone], reach, group.members)


@dataclass(frozen=True)
class World:
    codes: tuple[str, ...]
    groups: tuple[Group, ...]
    people: tuple[tuple[tuple[str, ...], str], ...]

    @property
    def catalogue(self) -> IterationCatalogue:
        return IterationCatalogue(self.codes, tuple(iteration_of(group) for group in self.groups))


@st.composite
def worlds(draw: st.DrawFn, most_codes: int = 9, disjoint: bool = False) -> World:
    codes = tuple(f"{number:04d}" for number in range(1, draw(st.integers(1, most_codes)) + 1))
    groups: list[Group] = []
    taken: dict[tuple[int, str, bool], set[str]] = {}
    for number in range(draw(st.integers(0, 12))):
        level = draw(st.sampled_from([0, 1, 1, 1, 2]))
        flags = ("Null", "Null") if level == 0 else _FLAGS[draw(st.sampled_from(list(Reach)))]
        group = Group(
            f"G{number:02d}",
            level,
            draw(st.sampled_from(["True", "False", "False", ""])),
            *flags,
            draw(st.frozensets(st.sampled_from(codes), min_size=1)),
        )
        if disjoint:
            places = [
                (level, group.alone, local) for local in (False, True) if iteration_of(group).is_tabulated(local=local)
            ]
            free = group.members - set().union(*(taken.get(place, set()) for place in places))
            if not free:
                continue
            group = Group(group.code, level, group.alone, *flags, frozenset(free))
            for place in places:
                taken.setdefault(place, set()).update(free)
        groups.append(group)
    person = st.tuples(st.lists(st.sampled_from(codes), min_size=1, max_size=8).map(tuple), st.sampled_from(codes))
    return World(codes, tuple(groups), tuple(draw(st.lists(person, min_size=1, max_size=6))))


def array_groups(world: World, level: int, local: bool) -> list[set[str]]:
    """The iterations of each person of a world, by the array code."""
    function = membership(world.catalogue, level, local=local)
    sets = function.code_sets([race for race, _ in world.people], width=8)
    ethnicities = np.array([world.codes.index(code) for _, code in world.people], dtype=np.int16)
    result: list[set[str]] = [set() for _ in world.people]
    for pairs in (function.of_race_codes(sets), function.of_ethnicity_codes(ethnicities)):
        for row, number in zip(pairs.row, pairs.iteration, strict=True):
            code = function.iterations[number].code
            assert code not in result[row], "a person is in an iteration once"
            result[row].add(code)
    return result


EIGHT_IN_ONE = World(
    tuple(f"{n:04d}" for n in range(1, 9)),
    (
        Group("A", 1, "True", "False", "False", frozenset(f"{n:04d}" for n in range(1, 9))),
        Group("B", 1, "False", "False", "False", frozenset(f"{n:04d}" for n in range(1, 9))),
    ),
    ((tuple(f"{n:04d}" for n in range(1, 9)), "0001"),),
)


# Of the worlds drawn here 1 in 13 shows a group that takes people with a code outside it, and 1 in 4 one that counts
# a person once a code: 200 miss the first with chance 1e-7.
@profile.examples("random worlds for membership", quick=200, long=3000)
@given(worlds(), st.sampled_from([1, 2]), st.booleans())
@example(EIGHT_IN_ONE, 1, False)
def test_arrays_agree_with_one_person_at_a_time(world: World, level: int, local: bool) -> None:
    expected = [groups_of_person(race, ethnicity, world.groups, level, local) for race, ethnicity in world.people]
    assert array_groups(world, level, local) == expected


# A stability without the ethnicity group, by the Bureau's formula or for one code less is too small in 1 world of 9 or
# more, and not attained in 1 of 11 or more: 150 miss it with chance 1e-6.
@profile.examples("random worlds for stability", quick=150, long=1500)
@given(worlds(most_codes=6), st.sampled_from([1, 2]), st.booleans(), st.integers(1, 8))
def test_nobody_is_in_more_groups_than_the_stability(world: World, level: int, local: bool, most: int) -> None:
    bound = stability(world.catalogue.tabulated(level, local=local), most)
    assert most_groups_of_anybody(world.codes, world.groups, level, local, most) <= bound


@profile.examples("random worlds for stability", quick=150, long=1500)
@given(worlds(most_codes=6, disjoint=True), st.sampled_from([1, 2]), st.booleans(), st.integers(1, 8))
def test_somebody_attains_the_stability_where_no_code_has_two_groups(
    world: World, level: int, local: bool, most: int
) -> None:
    bound = stability(world.catalogue.tabulated(level, local=local), most)
    assert most_groups_of_anybody(world.codes, world.groups, level, local, most) == bound


def test_an_alone_group_over_eight_combination_groups_has_ten() -> None:
    codes = tuple(f"{n:04d}" for n in range(1, 9))
    groups = [Group(f"C{code}", 1, "False", "False", "False", frozenset([code])) for code in codes]
    groups += [
        Group("A", 1, "True", "False", "False", frozenset(codes)),
        Group("E", 1, "", "False", "False", frozenset(codes)),
    ]
    assert stability([iteration_of(group) for group in groups], 8) == 10
    assert len(groups_of_person(codes, "0001", groups, 1, False)) == 10


def test_no_iterations_no_groups() -> None:
    assert stability([], 8) == 0


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("level", [1, 2])
def test_production_stability_is_nine_and_somebody_attains_it(census_2020: Path, level: int, local: bool) -> None:
    parameters = load(census_2020)
    tabulated = parameters.catalogue.tabulated(level, local=local)
    assert stability(tabulated, 8) == 9
    combination = [it for it in tabulated if it.kind is Kind.COMBINATION][:8]
    ethnicity = next(it for it in tabulated if it.kind is Kind.ETHNICITY)
    person = [min(it.members) for it in combination]
    groups = [
        Group(it.code, it.level, next(k for k, v in _KIND.items() if v is it.kind), *_FLAGS[it.reach], it.members)
        for it in tabulated
        if it.reach is not None
    ]
    assert len(groups_of_person(person, min(ethnicity.members), groups, level, local)) == 9
