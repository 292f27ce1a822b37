"""How large a country is and how its areas divide among the states.

In: the name of a shape, and optionally a number of persons. Out: a `Shape`, and for each state the numbers of persons,
counties, tracts, places and blocks. The populations and county numbers of the states are the public figures of the 2020
census, populations in thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from safetab.params.census import PUERTO_RICO

#: For each state code: thousands of persons, and counties.
STATES: Mapping[str, tuple[int, int]] = {
    "01": (5024, 67),
    "02": (733, 30),
    "04": (7152, 15),
    "05": (3012, 75),
    "06": (39538, 58),
    "08": (5774, 64),
    "09": (3606, 8),
    "10": (990, 3),
    "11": (690, 1),
    "12": (21538, 67),
    "13": (10712, 159),
    "15": (1455, 5),
    "16": (1839, 44),
    "17": (12813, 102),
    "18": (6786, 92),
    "19": (3190, 99),
    "20": (2938, 105),
    "21": (4506, 120),
    "22": (4658, 64),
    "23": (1362, 16),
    "24": (6177, 24),
    "25": (7030, 14),
    "26": (10077, 83),
    "27": (5707, 87),
    "28": (2961, 82),
    "29": (6155, 115),
    "30": (1084, 56),
    "31": (1962, 93),
    "32": (3105, 17),
    "33": (1378, 10),
    "34": (9289, 21),
    "35": (2118, 33),
    "36": (20201, 62),
    "37": (10439, 100),
    "38": (779, 53),
    "39": (11799, 88),
    "40": (3959, 77),
    "41": (4238, 36),
    "42": (13003, 67),
    "44": (1097, 5),
    "45": (5118, 46),
    "46": (887, 66),
    "47": (6911, 95),
    "48": (29146, 254),
    "49": (3272, 29),
    "50": (643, 14),
    "51": (8631, 133),
    "53": (7705, 39),
    "54": (1794, 55),
    "55": (5894, 72),
    "56": (577, 23),
}
#: The names of the states in lower case, as they appear in the names of tribes.
STATE_NAMES: Mapping[str, str] = {
    "01": "alabama",
    "02": "alaska",
    "04": "arizona",
    "05": "arkansas",
    "06": "california",
    "08": "colorado",
    "09": "connecticut",
    "12": "florida",
    "13": "georgia",
    "15": "hawaii",
    "16": "idaho",
    "17": "illinois",
    "18": "indiana",
    "19": "iowa",
    "20": "kansas",
    "21": "kentucky",
    "22": "louisiana",
    "23": "maine",
    "24": "maryland",
    "25": "massachusetts",
    "26": "michigan",
    "27": "minnesota",
    "28": "mississippi",
    "29": "missouri",
    "30": "montana",
    "31": "nebraska",
    "32": "nevada",
    "33": "new hampshire",
    "34": "new jersey",
    "35": "new mexico",
    "36": "new york",
    "37": "north carolina",
    "38": "north dakota",
    "39": "ohio",
    "40": "oklahoma",
    "41": "oregon",
    "42": "pennsylvania",
    "44": "rhode island",
    "45": "south carolina",
    "46": "south dakota",
    "47": "tennessee",
    "48": "texas",
    "49": "utah",
    "50": "vermont",
    "51": "virginia",
    "53": "washington",
    "54": "west virginia",
    "55": "wisconsin",
    "56": "wyoming",
}
#: States with many AIANNH areas: their weight; every other state has 0.3.
_AREA_STATES = {"02": 12.0, "04": 5.0, "35": 6.0, "40": 7.0, "53": 5.0, "46": 6.0, "06": 4.0, "30": 5.0, "38": 4.0}
_PUERTO_RICO_COUNTIES = 78
#: At least one person for each of the two runs, the United States and Puerto Rico.
LEAST_PERSONS, MOST_PERSONS = 2, 10_000_000_000


@dataclass(frozen=True, slots=True)
class AreaCounts:
    """How many areas of each kind there are."""

    counties: int
    tracts: int
    places: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Shape:
    """The dimensions of a country: its states, Puerto Rico's share of the persons, and the areas of both."""

    name: str
    persons: int
    states: tuple[str, ...]
    areas: AreaCounts
    aiannh: int
    puerto_rico_share: float
    puerto_rico: AreaCounts

    def __post_init__(self) -> None:
        if not isinstance(self.persons, int):
            raise TypeError(f"persons is {self.persons!r}; use a whole number")
        if not LEAST_PERSONS <= self.persons <= MOST_PERSONS:
            raise ValueError(f"persons is {self.persons}; use a number from {LEAST_PERSONS} to {MOST_PERSONS:,}")
        if unknown := sorted(set(self.states) - set(STATES)):
            raise ValueError(f"states has {', '.join(unknown)}; use the state codes that are the keys of STATES")

    def with_persons(self, persons: int) -> Shape:
        return replace(self, persons=persons)


_NATION_PERSONS = 331_449_000
_PUERTO_RICO_PERSONS = 3_286_000

SHAPES: Mapping[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("tiny", 400, ("04",), AreaCounts(2, 4, 3, 40), 1, 0.1, AreaCounts(1, 2, 1, 10)),
        Shape("town", 40_000, ("04",), AreaCounts(3, 12, 6, 900), 2, 0.1, AreaCounts(2, 3, 2, 100)),
        Shape(
            "state", 10_000_000, ("04",), AreaCounts(80, 2_500, 500, 200_000), 22, 0.05, AreaCounts(8, 120, 30, 6_000)
        ),
        Shape(
            "nation",
            _NATION_PERSONS + _PUERTO_RICO_PERSONS,
            tuple(STATES),
            AreaCounts(3_143, 84_400, 32_000, 8_100_000),
            860,
            _PUERTO_RICO_PERSONS / (_NATION_PERSONS + _PUERTO_RICO_PERSONS),
            AreaCounts(_PUERTO_RICO_COUNTIES, 980, 290, 42_000),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class StatePlan:
    """The dimensions of one state, or of Puerto Rico."""

    code: str
    persons: int
    areas: AreaCounts
    aiannh: int

    @property
    def is_puerto_rico(self) -> bool:
        return self.code == PUERTO_RICO


def plan_states(shape: Shape, states: tuple[str, ...], *, puerto_rico: bool) -> tuple[StatePlan, ...]:
    """Divide a shape among states, by their real populations, and optionally Puerto Rico."""
    share = (shape.puerto_rico_share if states else 1.0) if puerto_rico else 0.0
    persons_there = round(shape.persons * share)
    if puerto_rico and states:
        # A run without persons cannot be tabulated.
        persons_there = min(max(persons_there, 1), shape.persons - 1)
    plans: list[StatePlan] = []
    if states:
        size = np.array([STATES[state][0] for state in states], dtype=float)
        persons = apportion(shape.persons - persons_there, size)
        # Each state gets one county first; with the counties of the nation, every state then gets its real number.
        counties = apportion(shape.areas.counties, [STATES[state][1] - 1 for state in states], least=1)
        tracts = apportion(shape.areas.tracts, size, least=counties)
        places = apportion(shape.areas.places, size**0.6, least=1)
        # At least three blocks for each tract and one more for each place, so that places have land around them.
        blocks = apportion(shape.areas.blocks, size**0.75, least=3 * tracts + places)
        aiannh = apportion(shape.aiannh, [_AREA_STATES.get(state, 0.3) for state in states])
        for number, state in enumerate(states):
            areas = AreaCounts(int(counties[number]), int(tracts[number]), int(places[number]), int(blocks[number]))
            plans.append(StatePlan(state, int(persons[number]), areas, int(aiannh[number])))
    if puerto_rico:
        plans.append(StatePlan(PUERTO_RICO, persons_there, shape.puerto_rico, 0))
    return tuple(plans)


def apportion(
    total: int,
    weights: npt.ArrayLike,
    least: int | npt.NDArray[np.int64] = 0,
) -> npt.NDArray[np.int64]:
    """Whole numbers in proportion to weights, none below `least`, whose sum is `total` unless `least` asks for more."""
    shares = np.asarray(weights, dtype=np.float64)
    floor = np.broadcast_to(np.asarray(least, dtype=np.int64), shares.shape)
    spare = max(0, total - int(floor.sum()))
    scale = shares.sum()
    # The cumulative sums are rounded, not each number, so that the numbers add up.
    edges = np.floor(np.cumsum(shares) / scale * spare + 0.5) if scale > 0 else np.zeros(len(shares))
    edges[-1:] = spare
    return floor + np.diff(edges, prepend=0).astype(np.int64)
