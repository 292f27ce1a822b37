"""Well-known Hispanic origins with rough sizes, and the home states of groups of both kinds.

Sizes are in thousand persons, written down by hand from public knowledge, as for the race groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from safetab.synth.known_groups import parse

#: Hispanic origins: a regional group (or none), and its detailed groups with their sizes.
ORIGINS: tuple[tuple[str, str], ...] = (
    ("", "Mexican 35900"),
    (
        "Central American",
        "Salvadoran 2470; Guatemalan 1770; Honduran 1150; Nicaraguan 460; Panamanian 230; Costa Rican 180; "
        "Other Central American 60",
    ),
    (
        "South American",
        "Colombian 1400; Ecuadorian 840; Peruvian 710; Venezuelan 610; Argentinean 300; Chilean 190; Bolivian 130; "
        "Uruguayan 70; Paraguayan 30; Other South American 40",
    ),
    ("Caribbean Hispanic", "Puerto Rican 5600; Cuban 2450; Dominican 2400; Other Caribbean Hispanic 30"),
    ("Other Hispanic, Latino, or Spanish", "Spaniard 1000; Spanish 900; Spanish American 40"),
    ("", "Afro Latino 80; Garifuna 11"),
)
ORIGINS_DETAILED_ONLY = "Hispanic 1900; Latino 900; Hispanic or Latino, not specified 700"

#: The home states of a group.
HOMES: Mapping[str, str] = {
    "mexican": "06 48 04 35 32 08 17",
    "puerto rican": "36 12 34 42 25 09",
    "cuban": "12",
    "dominican": "36 34 25 44",
    "salvadoran": "06 48 24 51",
    "african american": "13 28 22 01 45 37 24 11",
    "haitian": "12 36 25",
    "jamaican": "12 36 09",
    "somali": "27 39 53",
    "native hawaiian": "15",
    "samoan": "15 06 02",
    "japanese": "15 06",
    "filipino": "06 15 32",
    "chinese": "06 36",
    "asian indian": "34 06 48 17",
    "vietnamese": "06 48",
    "hmong": "27 55 06",
    "navajo": "04 35 49",
    "cherokee": "40 05 37",
    "choctaw": "40 28",
    "lumbee": "37",
    "yup'ik": "02",
    "inupiat": "02",
    "tlingit": "02",
    "sioux": "46 38 27",
    "blackfeet": "30",
    "apache": "04 35",
    "chippewa": "27 26 55 38",
    "norwegian": "27 38 55 53",
    "swedish": "27 17",
    "finnish": "26 27",
    "polish": "17 26 36 55 34",
    "italian": "36 34 09 44",
    "irish": "25 36 42 33",
    "german": "55 38 46 19 31 39 42",
    "french": "22 23 33 50",
    "cajun": "22",
    "portuguese": "25 44 06",
    "dutch": "26 19",
    "danish": "49 31 19",
    "lebanese": "26",
    "chaldean": "26",
    "armenian": "06",
    "english": "49 23 50 16",
    "marshallese": "05 15",
    "pennsylvania german": "42 39",
}


@cache
def origin_sizes_by_name() -> dict[str, float]:
    """The size of every well-known Hispanic origin, by its name in lower case."""
    lines = [*(known for _, known in ORIGINS), ORIGINS_DETAILED_ONLY]
    return {name.lower(): size for known in lines for name, size in parse(known)}
