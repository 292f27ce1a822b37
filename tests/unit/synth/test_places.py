"""Groups are concentrated as real ones are: tribes at home, new immigrants in cities, neighbours alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.published_pairs import (
    PUBLISHED,
    PUBLISHED_QUANTILES,
    QUANTILES,
    STATE_TOTALS,
    groups_per_county,
    planned_state_totals,
)
from safetab.params.load import Parameters, load
from safetab.population.iterations import Kind
from safetab.synth.country_plan import CountryPlan, plan_country
from safetab.synth.shapes import SHAPES, plan_states

FEWER = SHAPES["nation"].with_persons(SHAPES["nation"].persons // 30)


@pytest.fixture(scope="module")
def bureau(census_2020: Path) -> Parameters:
    return load(census_2020)


@pytest.fixture(scope="module")
def plan(bureau: Parameters) -> CountryPlan:
    return plan_country(bureau, plan_states(FEWER, FEWER.states, puerto_rico=True), seed=2020)


def people_of(plan: CountryPlan, bureau: Parameters, name: str) -> int:
    """The number of a race group by its name in combination, or of an origin."""
    if name in plan.communities.origins.names:
        return len(plan.communities.groups.group_iterations) + plan.communities.origins.names.index(name)
    iteration = next(
        it for it in bureau.catalogue.iterations if it.kind is Kind.COMBINATION and it.name.startswith(name)
    )
    return int(plan.communities.groups.group[plan.communities.race_codes.index(min(iteration.members))])


@pytest.mark.parametrize(
    ("name", "states", "least"),
    [
        ("Navajo Nation", {"04", "35", "49"}, 0.35),
        ("Lumbee", {"37"}, 0.3),
        ("cuban", {"12"}, 0.3),
        ("Somali", {"27", "39", "53"}, 0.2),
    ],
)
def test_peoples_live_in_their_home_states(
    plan: CountryPlan, bureau: Parameters, name: str, states: set[str], least: float
) -> None:
    mine = plan.communities.people == people_of(plan, bureau, name)
    inside = {
        plan_of.code: int(plan.counts[plan_of.code][mine].sum()) for plan_of in plan.states if plan_of.code != "72"
    }
    assert sum(inside.values()) == plan.communities.persons[mine].sum()
    assert sum(inside[state] for state in states) >= least * sum(inside.values())


def test_the_communities_of_a_state_are_in_its_counties_and_tracts_to_the_person(plan: CountryPlan) -> None:
    state = next(one for one in plan.states if one.code == "04")
    land = plan.lay_out(state)
    found = np.zeros(len(plan.communities), dtype=np.int64)
    numbers: list[tuple[int, int, int]] = []
    for settlement in plan.settler(land).settle():
        found += np.bincount(settlement.community, weights=settlement.count, minlength=len(found)).astype(np.int64)
        persons = np.bincount(settlement.of_block, weights=land.persons[settlement.low : settlement.high])
        assert persons.tolist() == settlement.persons.tolist()
        assert settlement.count.sum() == settlement.persons.sum()
        numbers += zip(settlement.community.tolist(), settlement.first.tolist(), settlement.count.tolist(), strict=True)
    assert found.tolist() == plan.counts["04"].tolist()
    # The persons of a community are numbered one after the other, from the first of the state on.
    following = plan.first["04"].copy()
    for community, first, count in sorted(numbers):
        assert first == following[community]
        following[community] += count


def test_rare_peoples_are_in_large_counties_and_neighbouring_counties_are_alike(
    plan: CountryPlan, bureau: Parameters
) -> None:
    texas = next(one for one in plan.states if one.code == "48")
    counties = plan.settler(plan.lay_out(texas)).counties()
    persons = counties.sum(axis=1)
    order = np.argsort(-persons)

    def in_largest(name: str) -> float:
        mine = counties[:, plan.communities.people == people_of(plan, bureau, name)].sum(axis=1)
        return float(mine[order[:25]].sum() / mine.sum())

    everyone = float(persons[order[:25]].sum() / persons.sum())
    assert in_largest("English") < everyone + 0.05
    assert in_largest("Pakistani") > everyone + 0.05
    german = counties[:, plan.communities.people == people_of(plan, bureau, "German")].sum(axis=1)
    density = np.log((german + 1) / (persons + 1))
    density = (density - density.mean()) / density.std()
    five = density[: len(density) // 5 * 5].reshape(-1, 5)
    alike = float((five[:, 0] * five[:, 4]).mean())
    apart = float((five[:-1, 0] * five[1:, 4]).mean())
    assert alike > 0.2 > apart


def test_states_have_totals_of_the_size_that_was_published(plan: CountryPlan, bureau: Parameters) -> None:
    # Nothing but the home states of well-known groups says what lives where, so this is far from exact.
    scale = 331_449_281 / sum(one.persons for one in plan.states if not one.is_puerto_rico)
    for one, total in zip(STATE_TOTALS, planned_state_totals(bureau, plan), strict=True):
        assert one.count < 100_000 or 0.4 * one.count < total * scale < 2.5 * one.count


def test_common_groups_are_less_concentrated_at_home_than_rare_ones(plan: CountryPlan, bureau: Parameters) -> None:
    names = ("English", "Irish", "Italian", "Navajo Nation", "mexican")
    english, irish, italian, navajo, mexican = (
        float(plan.concentration.at_home[people_of(plan, bureau, name)]) for name in names
    )
    assert 2.5 <= english < irish < italian < navajo == mexican == 8


@pytest.mark.long
@pytest.mark.parametrize("seed", [2020, 1])
def test_counties_have_as_many_groups_with_a_published_total_as_in_2020(bureau: Parameters, seed: int) -> None:
    nation = SHAPES["nation"]
    plan = plan_country(bureau, plan_states(nation, nation.states, puerto_rico=True), seed)
    for level, found in groups_per_county(bureau, plan).items():
        assert float(found.sum()) == pytest.approx(PUBLISHED[level], rel=0.15)
        here = [float(np.quantile(found, percent / 100)) for percent in QUANTILES]
        assert here == pytest.approx(PUBLISHED_QUANTILES[level], rel=0.25)
