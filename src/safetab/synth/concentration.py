"""How concentrated each people is: in cities, in home states, in and around AIANNH areas.

In: the communities of a country and its AIANNH areas. Out: `Concentration`, a few numbers for each people (a detailed
race group or a Hispanic origin). Promise: the numbers depend on names and sizes alone. They are fitted so that about as
many groups get a published total in a county as in 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from safetab.synth.communities import Communities
from safetab.synth.dealing import Indices
from safetab.synth.draws import Floats
from safetab.synth.geography import Area
from safetab.synth.group_sizes import RaceGroups
from safetab.synth.known_groups import Major
from safetab.synth.known_origins import HOMES
from safetab.synth.published_sizes import plain_name
from safetab.synth.shapes import STATE_NAMES

#: For regions and major groups: how much denser a people is in large counties (an exponent), and how uneven it is over
#: states and counties (standard deviations of logarithms). The first one that a name starts with counts.
_PLACES: Mapping[str, tuple[float, float, float]] = {
    "european": (0.10, 0.35, 0.55),
    "middle eastern": (0.7, 0.5, 1.3),
    "other white": (0.0, 0.3, 0.6),
    "white": (0.0, 0.3, 0.5),
    "sub-saharan": (0.75, 0.6, 1.4),
    "caribbean indian": (0.35, 0.8, 1.0),
    "caribbean": (0.8, 0.8, 1.4),
    "black or african american": (0.25, 0.9, 1.5),
    "other black": (0.45, 0.9, 1.6),
    "mexican indian": (0.20, 0.7, 0.9),
    "central american indian": (0.35, 0.7, 1.1),
    "south american indian": (0.35, 0.7, 1.1),
    "american indian and": (0.0, 0.5, 0.6),
    "american indian": (0.2, 1.2, 1.6),
    "alaska native": (0.0, 1.6, 1.6),
    "east asian": (0.7, 0.5, 1.0),
    "southeast asian": (0.65, 0.6, 1.1),
    "south asian": (0.8, 0.5, 1.2),
    "central asian": (0.60, 0.7, 1.3),
    "other asian": (0.40, 0.6, 1.0),
    "asian": (0.6, 0.5, 1.0),
    "native hawaiian": (0.20, 0.9, 1.1),
    "polynesian": (0.25, 1.0, 1.2),
    "micronesian": (0.20, 1.0, 1.4),
    "melanesian": (0.35, 1.2, 1.4),
    "hispanic": (0.20, 0.6, 0.8),
    "some other race": (0.35, 0.6, 1.0),
    "multiracial": (0.20, 0.3, 0.6),
}
_ELSEWHERE, _ORIGINS = (0.3, 0.6, 1.0), (0.35, 0.8, 1.0)
#: Peoples with this share of the country are common. For each power of ten that a people is rarer, up to so many, it is
#: denser in large counties and more uneven over counties by so much. Native peoples are not denser in large counties.
_COMMON, _MOST_RARE, _RARE_IN_CITIES, _RARE_UNEVEN = 0.05, 3.0, 0.22, 0.25
_NATIVE = ("american indian", "alaska native")
#: How much denser a people is in its home states: rare race groups and Hispanic origins, and at least every other one.
#: Race groups with more than this share of the country are less concentrated, in proportion to the square root.
_AT_HOME, _LEAST_AT_HOME, _COMMON_AT_HOME = 8.0, 2.5, 0.01
#: At most this share of a tribe lives in its own AIANNH areas, and at most this share of an area is of its tribe.
_MOST_IN_AREAS, _MOST_OF_AREA = 0.6, 0.95
#: Regions whose groups have no areas.
_WITHOUT_AREAS = ("canadian", "mexican", "central", "south", "caribbean", "mesoamerican", "american indian and")


@dataclass(frozen=True, slots=True, eq=False)
class Concentration:
    """One entry for each people."""

    in_cities: Floats
    over_states: Floats
    over_counties: Floats
    homes: tuple[frozenset[str], ...]
    at_home: Floats
    #: The people that each AIANNH area belongs to, by the code of the area, and the share of it that lives in areas.
    people_of_area: Mapping[str, int]
    in_areas: Floats


def concentration_of(
    communities: Communities, areas: Mapping[str, list[Area]], area_persons: Mapping[str, Mapping[str, float]]
) -> Concentration:
    """The concentration of every people; `area_persons` has the expected persons of each area, by state."""
    groups, origins = communities.groups, communities.origins
    names = [_group_name(groups, number) for number in range(len(groups.group_iterations))]
    regions = [_region_name(groups, number) for number in range(len(names))]
    numbers = [_places(region) for region in regions] + [_ORIGINS] * len(origins.names)
    homes = [_homes(name, region) for name, region in zip(names, regions, strict=True)]
    homes += [frozenset(HOMES.get(name, "").split()) for name in origins.names]
    persons = np.bincount(communities.people, weights=communities.persons, minlength=len(numbers)).astype(np.float64)
    owners = _owners(groups, regions, homes, persons, areas)
    in_areas = np.zeros(len(numbers))
    for inside in area_persons.values():
        for code, many in inside.items():
            if code in owners:
                in_areas[owners[code]] += many
    in_areas = np.minimum(_MOST_IN_AREAS, _MOST_OF_AREA * in_areas / np.maximum(persons, 1.0))
    cities, states, counties = np.array(numbers).T
    share = persons / max(persons.sum(), 1.0)
    rarity = np.log10(_COMMON / np.clip(share, 1e-9, _COMMON))
    at_home = np.full(len(numbers), _AT_HOME)
    at_home[: len(names)] *= np.sqrt(_COMMON_AT_HOME / np.maximum(share[: len(names)], _COMMON_AT_HOME))
    at_home = np.maximum(at_home, _LEAST_AT_HOME)
    is_native = np.array([region.startswith(_NATIVE) for region in regions] + [False] * len(origins.names))
    cities = cities + np.where(is_native, 0.0, _RARE_IN_CITIES * np.minimum(rarity, _MOST_RARE))
    counties = counties + _RARE_UNEVEN * np.minimum(rarity, _MOST_RARE)
    return Concentration(cities, states, counties, tuple(homes), at_home, owners, in_areas)


def _group_name(groups: RaceGroups, number: int) -> str:
    pair = groups.group_iterations[number]
    return plain_name(pair[1]) if pair[1] else ""


def _region_name(groups: RaceGroups, number: int) -> str:
    """The name of the region of a group, or of its major group."""
    code = int(groups.first_codes[number])
    pair = groups.region_iterations[groups.region[code]]
    return plain_name(pair[1]) if pair[1] else groups.major[code].value.lower()


def _places(region: str) -> tuple[float, float, float]:
    return next((numbers for start, numbers in _PLACES.items() if region.startswith(start)), _ELSEWHERE)


def _homes(name: str, region: str) -> frozenset[str]:
    """The home states of a group: well known, or named in the name of a tribe."""
    words = name.split()
    # The name of the group, or its first one or two words.
    known = next((HOMES[start] for start in (name, *words[:1], " ".join(words[:2])) if start in HOMES), "")
    is_native = region.startswith(("american indian", "alaska"))
    named = [code for code, state in STATE_NAMES.items() if state in name] if is_native else []
    if region.startswith("alaska"):
        named.append("02")
    return frozenset([*known.split(), *named])


def _owners(
    groups: RaceGroups,
    regions: list[str],
    homes: list[frozenset[str]],
    persons: Floats,
    areas: Mapping[str, list[Area]],
) -> dict[str, int]:
    """The people of each area: in each state the largest area belongs to the largest people at home there."""
    major = np.array([groups.major[code] is Major.AIAN for code in groups.first_codes.tolist()])
    able = [n for n in np.flatnonzero(major).tolist() if not regions[n].startswith(_WITHOUT_AREAS)]
    able = sorted(able or np.flatnonzero(major).tolist(), key=lambda n: -persons[n])
    owners: dict[str, int] = {}
    taken: set[int] = set()
    for state, its_areas in areas.items():
        ours = [n for n in able if state in homes[n]]
        foreign = [n for n in able if not homes[n]] or able
        for area in sorted(its_areas, key=lambda area: -area.size):
            if area.code in owners or not able:
                continue
            free = [n for n in ours if n not in taken] or [n for n in foreign if n not in taken] or foreign
            owners[area.code] = free[0]
            taken.add(free[0])
    return owners


def densities(people: Indices, weights: Floats, homes: Floats, in_areas: Floats) -> Floats:
    """Densities of communities in places: most as their people is spread, some of it where its areas are.

    `weights` and `homes` have a row for each place and a column for each people.
    """
    spread_out = weights / np.maximum(weights.sum(axis=0), 1e-300)
    at_home = homes.sum(axis=0)
    share = np.where(at_home > 0, in_areas, 0.0)
    densities = spread_out * (1 - share) + homes / np.maximum(at_home, 1e-300) * share
    taken: Floats = densities[:, people]
    return taken
