"""Sizes of the groups of a synthetic country, against plain counting with loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from safetab.params.load import Parameters
from safetab.population.iterations import Kind
from safetab.synth.communities import Communities
from safetab.synth.country_plan import CountryPlan
from safetab.synth.shapes import SHAPES
from studies.synthetic_nation import ETHNICITY, RACE, TOTAL_ONLY, NationSizes, planned_country, sizes_of_plan
from tests.unit.synth.true_totals import origin_totals, race_totals, sets_of_pool

Town = tuple[Parameters, CountryPlan, NationSizes]


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with planned_country(SHAPES["town"], 2020) as (parameters, plan):
        yield parameters, plan, sizes_of_plan(parameters, plan)


def counted(sizes: NationSizes, level: str, kind: str) -> Counter[int]:
    histogram = sizes.of[level, kind]
    return Counter(dict(zip(histogram.size.tolist(), histogram.groups.tolist(), strict=True)))


def test_groups_of_the_nation_are_counted_to_the_person(town: Town) -> None:
    parameters, plan, sizes = town
    planned = next(level for level in parameters.plan.runs[0].measured if level.name == "(USA, 2)")
    race, origins = (
        [it for it in planned.iterations if (it.kind is Kind.ETHNICITY) == is_origin] for is_origin in (0, 1)
    )
    totals = race_totals(sets_of_pool(plan.communities), race) + origin_totals(plan.communities, origins)
    expected: dict[str, Counter[int]] = defaultdict(Counter)
    for it in planned.iterations:
        only = planned.is_total_only(it)
        kind = TOTAL_ONLY if only else ETHNICITY if it.kind is Kind.ETHNICITY else RACE
        expected[kind][totals[it.code]] += 1
    for kind, numbers in expected.items():
        assert counted(sizes, "(USA, 2)", kind) == numbers, kind


def test_groups_of_tracts_have_the_average_of_their_strands(town: Town) -> None:
    parameters, plan, sizes = town
    planned = next(level for level in parameters.plan.runs[0].measured if level.name == "(TRACT, 2)")
    shares = shares_of_strands(plan.communities, parameters)
    state = next(state for state in plan.states if not state.is_puerto_rico)
    people = persons_of_tracts(plan, state.code)
    race = [it for it in planned.iterations if it.kind is not Kind.ETHNICITY]
    expected: Counter[int] = Counter()
    for of_community in people.values():
        of_iteration: dict[str, float] = defaultdict(float)
        for community, persons in of_community.items():
            for code, share in shares[int(plan.communities.strand[community])].items():
                of_iteration[code] += persons * share
        expected.update(round(of_iteration[it.code]) for it in race)
    found = counted(sizes, "(TRACT, 2)", RACE)
    # What lies half-way between two whole numbers may be rounded either way: one group of 25,000 here.
    assert (found - expected).total() + (expected - found).total() <= 4
    assert len(people) == state.areas.tracts


def shares_of_strands(communities: Communities, parameters: Parameters) -> dict[int, dict[str, float]]:
    """For each strand the share of its persons in each local race iteration."""
    iterations = [it for it in parameters.catalogue.tabulated(2, local=True) if it.kind is not Kind.ETHNICITY]
    strands, sets = communities.pool.strands, list(sets_of_pool(communities))
    edges = [*strands.first.tolist(), len(sets)]
    return {
        number: {
            code: persons / max(1, int(strands.persons[number]))
            for code, persons in race_totals(sets[first:end], iterations).items()
        }
        for number, (first, end) in enumerate(pairwise(edges))
    }


def persons_of_tracts(plan: CountryPlan, code: str) -> dict[int, Counter[int]]:
    """The persons of each community in each tract, cell by cell."""
    land = plan.lay_out(next(state for state in plan.states if state.code == code))
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for some in plan.settler(land).settle():
        tract_of = {int(n): int(land.tract[some.low + block]) for block, n in enumerate(some.of_block)}
        left, neighbourhood = some.persons.tolist(), 0
        for community, persons in zip(some.community.tolist(), some.count.tolist(), strict=True):
            while left[neighbourhood] == 0:
                neighbourhood += 1
            left[neighbourhood] -= persons
            found[tract_of[neighbourhood]][community] += persons
    return found


def test_every_group_of_the_domain_is_counted_once(town: Town) -> None:
    parameters, plan, sizes = town
    areas = next(state for state in plan.states if not state.is_puerto_rico).areas
    regions = {"USA": 1, "STATE": 1, "COUNTY": areas.counties, "TRACT": areas.tracts, "PLACE": areas.places}
    for planned in parameters.plan.runs[0].measured:
        many = regions.get(planned.level.geography.name)
        if many is not None:
            found = sum(part.total for (level, _), part in sizes.of.items() if level == planned.name)
            assert found == many * len(planned.iterations), planned.name


def test_sizes_are_kept_in_a_file(town: Town, tmp_path: Path) -> None:
    *_, sizes = town
    sizes.save(tmp_path / "sizes.npz")
    again = NationSizes.open(tmp_path / "sizes.npz", 2020)
    assert again.of.keys() == sizes.of.keys()
    for level, kind in sizes.of:
        assert counted(again, level, kind) == counted(sizes, level, kind)
