"""A tiny world in the Bureau's file formats, small enough to read, for tests to copy and to break."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

US_LEVELS = ("usa", "state", "county", "tract", "place", "aiannh")
PR_LEVELS = ("pr_state", "pr_county", "pr_tract", "pr_place")


def config() -> dict[str, Any]:
    """A `config.json` that is sound and tabulates both runs."""
    result: dict[str, Any] = {
        f"privacy_budget_p_level_{level}_{name}": 1 if level == 2 else 0.25
        for name in (*US_LEVELS, *PR_LEVELS)
        for level in (1, 2)
    }
    thresholds = {
        f"({name.upper().replace('_', '-')}, {level})": [5, 10, 20]
        for name in (*US_LEVELS, *PR_LEVELS)
        for level in (1, 2)
    }
    return result | {
        "max_race_codes": 8,
        "privacy_budget_p_stage_1_fraction": 0.1,
        "thresholds_p": thresholds,
        "zero_suppression_chance": 0.9999,
        "allow_negative_counts": True,
        "run_us": True,
        "run_pr": True,
        "reader": "csv",
        "state_filter_us": ["01", "02"],
        "privacy_defn": "zcdp",
    }


CODES = """\
RACE_ETH_CODE|RACE_ETH_NAME
1000|White
1010|Alpine
1020|Baltic
3000|Tribe A
3010|Tribe B
9999|Checkbox, in no group
2000|Of Spain
2010|Of Chile
9950|Not Hispanic
"""
RACE = """\
ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY
0001|White alone|0|True|Null|Null
1001|European alone|1|True|False|False
1002|European alone or in combination|1|False|False|False
2001|Alpine alone|2|True|False|False
2002|Alpine alone or in combination|2|False|False|False
2003|Tribe A alone|2|True|True|False
2004|Tribe A alone or in combination|2|False|True|False
2005|Tribe B alone|2|True|True|False
2006|Tribe B alone or in combination|2|False|True|False
2007|All tribes alone|2|True|False|True
2008|All tribes alone or in combination|2|False|False|True
"""
ETHNICITY = """\
ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY
4000|Hispanic|0|Null|Null
4001|Spaniard|2|False|False
4002|South American|1|False|False
"""
MAPPING = """\
ITERATION_CODE|RACE_ETH_CODE
0001|1000
0001|1010
1001|1010
1001|1020
1002|1010
1002|1020
2001|1010
2002|1010
2003|3000
2004|3000
2005|3010
2006|3010
2007|3000
2007|3010
2008|3000
2008|3010
4000|2000
4001|2000
4002|2010
"""
GEOGRAPHY = """\
TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE|OTHER
01|001|000100|1000|00100|9999|x
01|001|000100|1001|99999|0010|x
01|003|000200|1000|00100|9999|x
02|001|000100|1000|99999|0010|x
03|001|000100|1000|00200|0020|left out by the filter
72|001|000100|1000|00100|9999|x
"""

FILES = {
    "race-and-ethnicity-codes.txt": CODES,
    "race-characteristic-iterations.txt": RACE,
    "ethnicity-characteristic-iterations.txt": ETHNICITY,
    "race-and-ethnicity-code-to-iteration.txt": MAPPING,
}


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files, by relative path, below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def files() -> dict[str, str | bytes]:
    """The files of the tiny world, by path: `params/...` and `data/...`."""
    params: dict[str, str | bytes] = {f"params/{name}": text for name, text in FILES.items()}
    return params | {"params/config.json": json.dumps(config()), "data/GRF-C.txt": GEOGRAPHY}
