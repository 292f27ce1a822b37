"""The plan of a country: everything about its people that is decided before the first state is made.

In: parameters, the dimensions of the states, a seed, and optionally sizes of groups. Out: a `CountryPlan`: the
communities, and how many persons of each live in each state. Promise: the persons of all states add up to the country,
for every community and to the person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from safetab.params.load import Parameters
from safetab.synth.communities import Communities, communities_of
from safetab.synth.concentration import Concentration, concentration_of
from safetab.synth.dealing import Indices
from safetab.synth.geography import Area, Land, lay_out, plan_areas
from safetab.synth.neighbourhoods import Settler, state_counts
from safetab.synth.shapes import StatePlan

#: The share of persons in AIANNH areas: in the country, and at most in a state.
_AREA_SHARE, _MOST_AREA_SHARE = 0.012, 0.4


@dataclass(frozen=True, slots=True, eq=False)
class CountryPlan:
    """Communities and, for each state, their persons, the number of the first of them, and the AIANNH areas."""

    states: tuple[StatePlan, ...]
    seed: int
    communities: Communities
    concentration: Concentration
    areas: Mapping[str, list[Area]]
    area_shares: Mapping[str, float]
    counts: Mapping[str, Indices]
    first: Mapping[str, Indices]
    #: The land of each state, where it is not drawn.
    lands: Mapping[str, Land]

    def lay_out(self, state: StatePlan) -> Land:
        if state.code in self.lands:
            return self.lands[state.code]
        return lay_out(state, self.areas[state.code], self.area_shares[state.code], self.seed)

    def settler(self, land: Land) -> Settler:
        """What settles the people of a state on its land."""
        counts, first = self.counts[land.state], self.first[land.state]
        return Settler(land, counts, first, self.communities, self.concentration, self.seed)


def plan_country(
    parameters: Parameters,
    states: tuple[StatePlan, ...],
    seed: int,
    sizes: Mapping[str, int] | None = None,
    lands: Mapping[str, Land] | None = None,
) -> CountryPlan:
    """Plan a country of these states, on land that is drawn or given; Puerto Rico has people of its own."""
    puerto_rico = sum(plan.persons for plan in states if plan.is_puerto_rico)
    # Without any state, the island is the country.
    persons = sum(plan.persons for plan in states if not plan.is_puerto_rico) or puerto_rico
    communities = communities_of(parameters, persons, seed, sizes)
    areas = plan_areas(states, seed)
    shares = _area_shares(states, areas)
    inside = {plan.code: _area_persons(plan, areas[plan.code], shares[plan.code]) for plan in states}
    concentration = concentration_of(communities, areas, inside)
    counts = state_counts(communities, states, concentration, inside, seed)
    first = _first_numbers(states, counts)
    return CountryPlan(states, seed, communities, concentration, areas, shares, counts, first, lands or {})


def _area_shares(plans: tuple[StatePlan, ...], areas: dict[str, list[Area]]) -> dict[str, float]:
    """The share of each state's persons that lives in its AIANNH areas, so that the country has the right share."""
    size = {code: sum(area.size for area in its_areas) for code, its_areas in areas.items()}
    everything = sum(size.values())
    persons = sum(plan.persons for plan in plans)
    return {
        plan.code: min(_MOST_AREA_SHARE, _AREA_SHARE * persons * size[plan.code] / everything / plan.persons)
        if everything and plan.persons
        else 0.0
        for plan in plans
    }


def _area_persons(plan: StatePlan, areas: list[Area], share: float) -> dict[str, float]:
    """About how many persons live in each AIANNH area of a state."""
    size = sum(area.size for area in areas)
    return {area.code: plan.persons * share * area.size / size for area in areas}


def _first_numbers(plans: tuple[StatePlan, ...], counts: dict[str, Indices]) -> dict[str, Indices]:
    """The number of the first person of each community in each state; Puerto Rico counts its own."""
    first: dict[str, Indices] = {}
    running = np.zeros_like(counts[plans[0].code])
    for plan in plans:
        first[plan.code] = np.zeros_like(running) if plan.is_puerto_rico else running
        running = running if plan.is_puerto_rico else running + counts[plan.code]
    return first
