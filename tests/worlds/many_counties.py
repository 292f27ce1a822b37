"""Many counties that are all alike: one tabulation of them is as many trials of every question about a county.

Each county has four tracts. Two are right at the first threshold, one is near suppression, one is nearly empty.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.worlds import tiny

#: Alpine people of one race in each tract.
ALPINE = {"000100": 105, "000200": 97, "000300": 24, "000400": 8}
#: Alpine people in the first tract who are Baltic too.
MIXED = 12
#: Every so many of the first are of Spain.
OF_SPAIN = 4
THRESHOLDS = [100, 300, 600]
_PER_STATE = 900


def counties(trials: int) -> list[str]:
    """The ids of so many counties."""
    return [f"{1 + number // _PER_STATE:02d}{1 + number % _PER_STATE:03d}" for number in range(trials)]


def truth(code: str, tracts: tuple[str, ...] = tuple(ALPINE)) -> int:
    """The true count of 2001 (alone), 2002 (in combination) or 4001 (of Spain) in some tracts of a county."""
    if code == "4001":
        return sum(-(-ALPINE[tract] // OF_SPAIN) for tract in tracts)
    return sum(ALPINE[tract] + (MIXED if code == "2002" and tract == "000100" else 0) for tract in tracts)


def of_age(first: int, last: int) -> int:
    """How many of a county's people of group 2001 have such ages: 0, 1, 2, ... 99, 0, 1, ... in the order of tracts."""
    ages = [number % 100 for n in ALPINE.values() for number in range(n)]
    return sum(first <= age <= last for age in ages)


def of_sex(sex: int) -> int:
    """How many of a county's people of group 2001 have a sex: 1, 2, 1, 2, ... in each tract."""
    return sum(1 + number % 2 == sex for n in ALPINE.values() for number in range(n))


def write(folder: Path, trials: int, privacy: str) -> Path:
    """Write `params` and `data`; `privacy` is zcdp or puredp."""
    config = tiny.config() | {"max_race_codes": 8, "privacy_defn": privacy, "run_pr": False}
    budget = 1 if privacy == "zcdp" else 6
    for key in list(config):
        if key.startswith("privacy_budget_p_level"):
            config[key] = budget if key.removeprefix("privacy_budget_p_level_") in {"2_county", "2_tract"} else 0
    config["thresholds_p"] = {f"({name}, 2)": THRESHOLDS for name in ("COUNTY", "TRACT")}
    every = counties(trials)
    config["state_filter_us"] = sorted({county[:2] for county in every})
    races = "|".join(f"QRACE{number}" for number in range(1, 9))
    blocks = ["TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE"]
    people = [f"QAGE|QSEX|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|{races}|QSPAN"]
    for county in every:
        for tract, alone in ALPINE.items():
            block = f"{county[:2]}|{county[2:]}|{tract}|1000"
            blocks.append(f"{block}|99999|9999")
            for number in range(alone + (MIXED if tract == "000100" else 0)):
                second = "1020" if number >= alone else "Null"
                spain = "2000" if number % OF_SPAIN == 0 and number < alone else "9950"
                people.append(f"{number % 100}|{1 + number % 2}|{block}|1010|{second}{'|Null' * 6}|{spain}")
    files = tiny.files() | {
        "params/config.json": json.dumps(config),
        "data/GRF-C.txt": "\n".join(blocks) + "\n",
        "data/person-records.txt": "\n".join(people) + "\n",
    }
    return tiny.write(folder, files)
