"""A small country to ask questions about: two states, four counties, a place across two of them, true counts known."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import safetab
from safetab.noise.source import SeededSourceNotPrivate
from tests.worlds import tiny

#: Alpine people, all of one race, in each tract; every fifth of them is of Spain.
ALPINE = {
    "01001000100": 400,
    "01001000200": 300,
    "01003000100": 60,
    "01003000200": 25,
    "01005000100": 10,
    "01005000200": 2,
    "02001000100": 150,
    "02001000200": 1,
}
#: Alpine people who are Baltic too, hence in combination only.
MIXED = {"01001000100": 30, "02001000100": 20}
#: Tracts that the place 01 00500 has; it crosses counties.
IN_PLACE = ("01001000200", "01003000100")
LEVELS = {
    "usa": "USA",
    "state": "STATE",
    "county": "COUNTY",
    "tract": "TRACT",
    "place": "PLACE",
    "pr_state": "PR-STATE",
}
#: Of iteration level 2; level 1 is off.
BUDGETS = {"usa": 4, "state": 4, "county": 1, "tract": 1, "place": 1, "pr_state": 1}
THRESHOLDS = [100, 300, 600]


def truth(code: str, region: str) -> int:
    """The true count of group 2001 (alone), 2002 (in combination) or 4001 (of Spain) in a region: COUNTY/01001, say."""
    kind, _, region_id = region.partition("/")
    tracts = [
        tract
        for tract in ALPINE
        if kind == "USA" or (tract in IN_PLACE if kind == "PLACE" else tract.startswith(region_id))
    ]
    if code == "4001":
        return sum(-(-ALPINE[tract] // 5) for tract in tracts)
    return sum(ALPINE[tract] + (MIXED.get(tract, 0) if code == "2002" else 0) for tract in tracts)


def write(folder: Path, **choices: object) -> Path:
    """Write `params` and `data` below a folder; `choices` are keys of config.json."""
    config = tiny.config() | {"max_race_codes": 8, "state_filter_us": ["01", "02"]}
    for key in list(config):
        if key.startswith("privacy_budget_p_level"):
            level = key.removeprefix("privacy_budget_p_level_")
            config[key] = BUDGETS.get(level[2:], 0) if level[0] == "2" else 0
    config["thresholds_p"] = {f"({name}, 2)": THRESHOLDS for name in LEVELS.values()}
    blocks = ["TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE"]
    head = [
        "QAGE",
        "QSEX",
        "TABBLKST",
        "TABBLKCOU",
        "TABTRACTCE",
        "TABBLK",
        *(f"QRACE{n}" for n in range(1, 9)),
        "QSPAN",
    ]
    people, numbers = ["|".join(head)], count()
    for tract in ALPINE:
        block = f"{tract[:2]}|{tract[2:5]}|{tract[5:]}|1000"
        blocks.append(f"{block}|{'00500' if tract in IN_PLACE else '99999'}|9999")
        for number in range(ALPINE[tract] + MIXED.get(tract, 0)):
            is_mixed = number >= ALPINE[tract]
            age, sex = (7 * next(numbers)) % 100, 1 + number % 2
            spain = "2000" if number % 5 == 0 and not is_mixed else "9950"
            races = ["1010", "1020" if is_mixed else "Null", *["Null"] * 6]
            people.append("|".join([str(age), str(sex), block, *races, spain]))
    blocks.append("72|001|000100|1000|99999|9999")
    files = tiny.files() | {
        "params/config.json": json.dumps(config | choices),
        "data/GRF-C.txt": "\n".join(blocks) + "\n",
        "data/person-records.txt": "\n".join(people) + "\n",
    }
    return tiny.write(folder, files)


def tabulated(folder: Path, seed: int | None) -> Path:
    """OUT of a tabulation with seeded noise, or with none."""
    out = folder / f"out-{seed}"
    noise: dict[str, Any] = {"noise": False} if seed is None else {"source": SeededSourceNotPrivate(seed)}
    safetab.tabulate(folder / "params", folder / "data", out, not_private=True, **noise)
    return out
