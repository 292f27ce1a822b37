"""The Bureau's folders read again, in the plainest way: what the files say, and what a ledger must then say.

In: `params` and `data` folders that safetab accepted. Out: the codes, groups, blocks and people that stand there, and
the budget, the stability and the noise of each level. Imports nothing from safetab, and judges nothing: a file that
safetab ought to have refused leads to other tables than safetab's, or to an error here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from tests.oracle.membership import Group, exists_at, most_groups_of_anybody
from tests.oracle.tabulation import Person

LEVELS_OF_RUN = {
    "us": ("USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH"),
    "pr": ("PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE"),
}
NOT_LOCAL = {"USA", "STATE", "PR-STATE"}
_BLOCK = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
#: A column that nobody reads may be damaged.
_READ = ["QAGE", "QSEX", *_BLOCK, *(f"QRACE{number}" for number in range(1, 9)), "QSPAN"]
_WIDTHS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}


@dataclass(frozen=True)
class Planned:
    """What the ledger says of one level: `noise` is the parameter of each stage's law, as the ledger names it."""

    name: str
    budget: Fraction
    stability: int
    noise: dict[str, Fraction]


def lines_of(path: Path) -> list[dict[str, str]]:
    """The lines of a file separated by bars, or by commas with quotes, each by its column names."""
    # Columns that nobody reads may hold anything, bytes that are no text too.
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    if text.partition("\n")[0].count(",") > 1:
        rows = csv.DictReader(io.StringIO(text, newline=""), strict=True, restkey="too many", restval="too few")
        return list(rows)
    header, *lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    return [dict(zip(header.split("|"), line.split("|"), strict=True)) for line in lines]


def config_of(params: Path) -> dict[str, Any]:
    """The configuration with exact numbers; the names of levels as `(USA, 1)`."""
    config: dict[str, Any] = json.loads((params / "config.json").read_text(encoding="utf-8-sig"), parse_float=Decimal)
    for key, value in config.items():
        if key.startswith("privacy_budget_p") or (key == "zero_suppression_chance" and value is not None):
            config[key] = Fraction(Decimal(value))
    names = {key: ", ".join(part.strip() for part in key.strip(" ()").split(",")) for key in config["thresholds_p"]}
    config["thresholds_p"] = {f"({names[key]})": value for key, value in config["thresholds_p"].items()}
    return config


def groups_of(params: Path) -> tuple[Group, ...]:
    """Every line of the two iteration files, with its codes."""
    members: dict[str, set[str]] = {}
    for line in lines_of(params / "race-and-ethnicity-code-to-iteration.txt"):
        members.setdefault(line["ITERATION_CODE"], set()).add(line["RACE_ETH_CODE"])
    return tuple(
        Group(
            line["ITERATION_CODE"],
            int(line["LEVEL"]),
            line["ALONE"] if kind == "race" else "",
            line["DETAILED_ONLY"],
            line["COARSE_ONLY"],
            frozenset(members[line["ITERATION_CODE"]]),
        )
        for kind in ("race", "ethnicity")
        for line in lines_of(params / f"{kind}-characteristic-iterations.txt")
    )


def codes_of(params: Path) -> tuple[str, ...]:
    """The code list."""
    return tuple(line["RACE_ETH_CODE"] for line in lines_of(params / "race-and-ethnicity-codes.txt"))


def names_of(params: Path) -> dict[str, str]:
    """What each iteration is called."""
    files = [params / f"{kind}-characteristic-iterations.txt" for kind in ("race", "ethnicity")]
    return {line["ITERATION_CODE"]: line["ITERATION_NAME"] for file in files for line in lines_of(file)}


def _rows_of(part: Path) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = pq.read_table(part, columns=_READ).to_pylist()
        return rows
    except OSError:
        # Arrow refuses some damage that changes no value, such as a wrong encoding of levels that a column does not
        # have. DuckDB reads such a file, and then both must read it alike; what is compared is what becomes of it.
        found = duckdb.connect().execute(f"SELECT {', '.join(_READ)} FROM read_parquet(?)", [str(part)])  # noqa: S608
        return [dict(zip(_READ, row, strict=True)) for row in found.fetchall()]


def people_of(data: Path) -> Iterator[Person]:
    """Everybody in the records, text or Parquet."""
    folder = data / "person-records.parquet"
    lines: Sequence[dict[str, Any]] = (
        [line for part in sorted(folder.iterdir()) for line in _rows_of(part)]
        if folder.is_dir()
        else lines_of(data / "person-records.txt")
    )
    for line in lines:
        race = tuple(str(line[f"QRACE{number}"]) for number in range(1, 9))
        yield Person(
            tuple(str(line[name]).rjust(_WIDTHS[name], "0") for name in _BLOCK),
            int(line["QAGE"]),
            str(line["QSEX"]),
            tuple(code for code in race if code != "Null"),
            str(line["QSPAN"]),
        )


def planned(config: dict[str, Any], codes: Sequence[str], groups: Sequence[Group], run: str) -> list[Planned]:
    """The levels of one run that are on and have groups, in the order of the Bureau's lists."""
    found: list[Planned] = []
    for geography in LEVELS_OF_RUN[run]:
        for level in (1, 2):
            budget = config[f"privacy_budget_p_level_{level}_{geography.lower().replace('-', '_')}"]
            local = geography not in NOT_LOCAL
            here = [group for group in groups if group.level == level and exists_at(group, local)]
            if budget and here:
                most = most_groups_of_anybody(codes, groups, level, local, config["max_race_codes"])
                found.append(Planned(f"({geography}, {level})", budget, most, _noise(config, here, budget / most)))
    return found


def _noise(config: dict[str, Any], groups: Sequence[Group], budget: Fraction) -> dict[str, Fraction]:
    """Sigma squared is 1 / (2 rho), the geometric scale 1 / epsilon, of the share of each stage."""
    gamma = config["privacy_budget_p_stage_1_fraction"]
    shares = {"total only": Fraction(1)} if any(group.detailed_only == "True" for group in groups) else {}
    if any(group.detailed_only != "True" for group in groups):
        shares |= {"stage 1": gamma, "stage 2": 1 - gamma}
    factor = 2 if config["privacy_defn"] == "zcdp" else 1
    return {stage: 1 / (factor * share * budget) for stage, share in shares.items()}
