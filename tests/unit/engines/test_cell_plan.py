"""What Spark is asked to count holds the people of every chosen group, each once, and serves no other region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.engines.protocol import CellQuestion, ChosenGroups, Members
from safetab.engines.spark.cell_plan import CellPlan, plan_cells
from safetab.population.membership import Pairs
from tests import profile

NUMBERS = (7, 3, 5)
NOBODY = Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int16))
MEMBERS = Members(NOBODY, NOBODY, np.array(NUMBERS))


@dataclass(frozen=True)
class Asked:
    """Regions of block sets, and groups as region and iteration."""

    regions: tuple[int, ...]
    groups: tuple[tuple[int, int], ...]

    def question(self, members: Members = MEMBERS) -> CellQuestion:
        region, iteration = np.array(self.groups, dtype=np.int64).reshape(-1, 2).T
        chosen = ChosenGroups(region, iteration, np.ones(len(self.groups), dtype=np.int64))
        return CellQuestion(np.array(self.regions, dtype=np.int32), members, chosen)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Asked]]:
    """The zone of each block set, and questions about levels that nest or cross; two may be of one geography."""
    block_sets = draw(st.integers(1, 8))
    zones = draw(st.tuples(*[st.integers(0, 2)] * block_sets))
    of_zone = draw(st.tuples(*[st.integers(-1, 1)] * 3))
    coarse = tuple(of_zone[zone] for zone in zones)
    crossing = draw(st.lists(st.tuples(*[st.integers(-1, 3)] * block_sets), min_size=1, max_size=2))
    asked = []
    for regions in draw(st.lists(st.sampled_from([coarse, *crossing]), min_size=1, max_size=5)):
        groups = [(region, iteration) for region in sorted(set(regions) - {-1}) for iteration in range(len(NUMBERS))]
        chosen = draw(st.lists(st.sampled_from(groups), unique=True)) if groups else []
        asked.append(Asked(regions, tuple(chosen)))
    return zones, asked


def counted_of(plan: CellPlan, zones: Sequence[int], number: int, region: int, iteration: int) -> Counter[int]:
    """The block sets whose people the job counts for a group of a question: of zones everybody, else of groups."""
    listed = {(place, int(plan.iterations[position])) for place, position in plan.groups.tolist()}
    found: Counter[int] = Counter()
    for block_set, zone in enumerate(zones):
        if zone < plan.zones and plan.region_of_place[number][zone] == region:
            found[block_set] += NUMBERS[iteration] in plan.iterations
        for places in plan.places:
            place = int(places[block_set])
            if place >= 0 and plan.region_of_place[number][place] == region:
                found[block_set] += (place, NUMBERS[iteration]) in listed
    return +found


@profile.examples("plans of Spark's job for tables", quick=100, long=2_000)
@given(worlds())
def test_the_people_of_every_chosen_group_are_counted_once(world: tuple[tuple[int, ...], list[Asked]]) -> None:
    zones, asked = world
    plan = plan_cells([some.question() for some in asked], np.array(zones, dtype=np.int32))
    for number, some in enumerate(asked):
        for region, iteration in some.groups:
            of_region = Counter(place for place, other in enumerate(some.regions) if other == region)
            assert counted_of(plan, zones, number, region, iteration) == of_region


def test_only_what_is_asked_for_is_counted() -> None:
    zones = np.array([0, 0, 1, 1], dtype=np.int32)
    fine = Asked((0, 1, 1, 2), ((1, 0), (1, 2)))
    plan = plan_cells([fine.question(), Asked((0, 0, 1, 1), ()).question()], zones)
    assert plan.zones == 0, "no group of a coarse level was chosen"
    assert plan.iterations.tolist() == [5, 7]
    # Places 0 and 1 are the zones; region 1 is the only one with a chosen group.
    assert [places.tolist() for places in plan.places] == [[-1, 3, 3, -1]]
    assert plan.groups.tolist() == [[3, 0], [3, 1]]
    coarse = Asked((0, 0, 1, 1), ((1, 1),)).question()
    assert plan_cells([coarse], zones).places == []
    assert plan_cells([coarse, Asked((0, 1, 1, 2), ()).question()], zones).places == [], "no group of a fine level"


def test_two_levels_of_one_geography_share_their_places() -> None:
    crossing = (0, 1, 0, 1)
    asked = [Asked(crossing, ((0, 0),)), Asked((1, 0, 0, 1), ((0, 0),)), Asked(crossing, ((1, 1), (0, 0)))]
    plan = plan_cells([some.question() for some in asked], np.array([0, 0, 1, 1], dtype=np.int32))
    assert len(plan.places) == 2
    assert len(plan.groups) == 3, "each group once"


def test_questions_with_other_membership_are_refused() -> None:
    other = Members(NOBODY, NOBODY, np.array(NUMBERS))
    some = Asked((0,), ((0, 0),))
    with pytest.raises(AssertionError, match="one membership"):
        plan_cells([some.question(), some.question(other)], np.zeros(1, dtype=np.int32))
