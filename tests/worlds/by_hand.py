"""A world small enough to work out with a pencil. The expected tables below were written before the program ran."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.worlds import tiny

#: Age, sex, block, race codes, ethnicity.
PEOPLE = (
    ("30", "1", "01|001|000100|1000", "1010", "9950"),  # 1 Alpine
    ("70", "2", "01|001|000100|1000", "1010 3000", "2000"),  # 2 Alpine and Tribe A, of Spain
    ("10", "2", "01|001|000100|1001", "3000 3010", "9950"),  # 3 Tribe A and Tribe B, on AIANNH land
    ("17", "1", "01|003|000200|1000", "1020", "2010"),  # 4 Baltic, of Chile
    ("18", "2", "02|001|000100|1000", "1010 9999", "9950"),  # 5 Alpine and a checkbox, on the same AIANNH land
    ("40", "1", "03|001|000100|1000", "1010", "9950"),  # 6 lives in a state that is left out
    ("50", "2", "72|001|000100|1000", "1010", "2000"),  # 7 lives in Puerto Rico
)
LEVELS_ON = {
    "(USA, 1)": [1, 5, 9],
    "(USA, 2)": [1, 2, 3],
    "(COUNTY, 2)": [1, 1, 2],
    "(AIANNH, 2)": [2, 2, 2],
    "(PR-STATE, 2)": [1, 9, 9],
}
# USA: Alpine alone is 1 only (2 and 5 have other codes too, be they in no group). The tribes are detailed only at this
# level and get totals, also of 0. COUNTY: tribes are counted together; groups without people are dropped. AIANNH 0010
# crosses states: 3 and 5 live there.
T1_US = """\
REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT
0010|AIANNH|2002|1
0010|AIANNH|2007|1
0010|AIANNH|2008|1
01001|COUNTY|2001|1
01001|COUNTY|2002|2
01001|COUNTY|2007|1
01001|COUNTY|2008|2
01001|COUNTY|4001|1
02001|COUNTY|2002|1
1|USA|1001|2
1|USA|1002|4
1|USA|2001|1
1|USA|2002|3
1|USA|2003|0
1|USA|2004|2
1|USA|2005|0
1|USA|2006|1
1|USA|4001|1
1|USA|4002|1
"""
T1_PR = """\
REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT
72|PR-STATE|2001|1
72|PR-STATE|2002|1
72|PR-STATE|2003|0
72|PR-STATE|2004|0
72|PR-STATE|2005|0
72|PR-STATE|2006|0
72|PR-STATE|4001|1
"""
#: Rows of T2 that are not 0; the others are counted below.
T2_US = """\
01001|COUNTY|2001|*|*|1|1
01001|COUNTY|2001|25|34|1|1
01001|COUNTY|2002|*|*|1|1
01001|COUNTY|2002|*|*|2|1
01001|COUNTY|2002|30|34|1|1
01001|COUNTY|2002|70|74|2|1
01001|COUNTY|2007|*|*|2|1
01001|COUNTY|2007|5|17|2|1
01001|COUNTY|2008|*|*|2|2
01001|COUNTY|2008|10|14|2|1
01001|COUNTY|2008|70|74|2|1
01001|COUNTY|4001|*|*|2|1
01001|COUNTY|4001|65|74|2|1
02001|COUNTY|2002|*|*|2|1
02001|COUNTY|2002|18|24|2|1
1|USA|1001|*|*|1|2
1|USA|1001|0|17|1|1
1|USA|1001|18|44|1|1
1|USA|1002|*|*|1|2
1|USA|1002|*|*|2|2
1|USA|1002|0|17|1|1
1|USA|1002|18|44|1|1
1|USA|1002|18|44|2|1
1|USA|1002|65|115|2|1
1|USA|2001|*|*|1|1
1|USA|2001|18|44|1|1
1|USA|2002|*|*|1|1
1|USA|2002|*|*|2|2
1|USA|2002|18|19|2|1
1|USA|2002|30|34|1|1
1|USA|2002|70|74|2|1
1|USA|4001|*|*|2|1
1|USA|4001|65|115|2|1
1|USA|4002|*|*|1|1
1|USA|4002|0|17|1|1
"""
#: 2 sexes x (bins + 1 marginal): age4 makes 10 rows, age9 20, age23 48. In order of the file: four groups with age9
#: and two with age23 in the counties; five with age4 and one with age23 in the USA.
T2_US_ROWS = 4 * 20 + 2 * 48 + 5 * 10 + 48
T2_PR = """\
72|PR-STATE|2001|*|*|2|1
72|PR-STATE|2001|45|64|2|1
72|PR-STATE|2002|*|*|2|1
72|PR-STATE|2002|45|64|2|1
72|PR-STATE|4001|*|*|2|1
72|PR-STATE|4001|45|64|2|1
"""


#: One level of each run: enough where a test is not about the tables.
SHORT = ("(USA, 2)", "(PR-STATE, 2)")


def write(folder: Path, levels: Collection[str] = tuple(LEVELS_ON)) -> None:
    """Write `params` and `data` below a folder, with some of the levels on."""
    config = tiny.config()
    for key in list(config):
        if key.startswith("privacy_budget_p_level"):
            config[key] = 0
    for level in levels:
        name, number = level.strip("()").split(", ")
        config[f"privacy_budget_p_level_{number}_{name.lower().replace('-', '_')}"] = 1
        config["thresholds_p"][level] = LEVELS_ON[level]
    lines = ["|".join(["HOUSEHOLDER|QAGE|QSEX|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|CENRACE",
                       *(f"QRACE{n}" for n in range(1, 9)), "QSPAN"])]  # fmt: skip
    for age, sex, block, codes, ethnicity in PEOPLE:
        listed = codes.split()
        lines.append("|".join(["", age, sex, block, "", *listed, *["Null"] * (8 - len(listed)), ethnicity]))
    files = tiny.files() | {
        "params/config.json": json.dumps(config),
        "data/person-records.txt": "\r\n".join(lines) + "\r\n",
    }
    tiny.write(folder, files)


def choose(folder: Path, **choices: Any) -> None:
    """Change some keys of the release below a folder."""
    file = folder / "params" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | choices))
