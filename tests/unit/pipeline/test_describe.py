"""What OUT says of regions and groups besides their numbers, held against the files of the world it came from."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import safetab
from tests.worlds import tiny


def lines(file: Path) -> list[dict[str, str]]:
    head, *rows = (line.split("|") for line in file.read_text(encoding="utf-8").splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("described")
    columns = ["QAGE", "QSEX", "TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]
    columns += [*(f"QRACE{number}" for number in range(1, 9)), "QSPAN"]
    tiny.write(folder, tiny.files() | {"data/person-records.txt": "|".join(columns) + "\n"})
    safetab.tabulate(folder / "params", folder / "data", folder / "out")
    return folder


def opened(world: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((world / "out" / name).read_text(encoding="utf-8"))
    return content


def test_block_sets_are_the_distinct_places_of_blocks(world: Path) -> None:
    expected = set()
    for block in lines(world / "data" / "GRF-C.txt"):
        state, county, place, area = (block[name] for name in ("TABBLKST", "TABBLKCOU", "PLACEFP", "AIANNHCE"))
        if state in {"01", "02"}:
            tract = state + county + block["TABTRACTCE"]
            in_place = None if place == "99999" else state + place
            expected.add(("1", state, state + county, tract, in_place, None if area == "9999" else area))
    table = pq.read_table(world / "out" / "parquet" / "geography" / "us.parquet")
    assert table.column_names == ["USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH"]
    found = [tuple(row.values()) for row in table.to_pylist()]
    assert set(found) == expected
    assert len(found) == len(expected)


def test_groups_have_the_codes_of_the_mapping(world: Path) -> None:
    groups = opened(world, "data-dictionary.json")["groups"]
    file = world / "params" / "race-and-ethnicity-code-to-iteration.txt"
    mapping = {(line["ITERATION_CODE"], line["RACE_ETH_CODE"]) for line in lines(file)}
    assert {(code, member) for code, group in groups.items() for member in group["codes"]} == mapping
    assert groups["2003"]["reach"] == "detailed only"
    assert groups["2001"] == {
        "kind": "race alone",
        "iteration_level": 2,
        "reach": "common",
        "codes": sorted(member for code, member in mapping if code == "2001"),
    }


def test_the_ledger_says_which_totals_are_left_out(world: Path) -> None:
    """0.9999 of the noise of a county's total is at most the number in the ledger, and not at most one less."""
    ledger = opened(world, "ledger.json")
    levels = {level["level"]: level for run in ledger["runs"] for level in run["levels"]}
    county = levels["(COUNTY, 2)"]
    assert (county["geography"], county["iteration_level"], county["is_local"]) == ("COUNTY", 2, True)
    assert county["thresholds"] == [5, 10, 20]
    left_out = {part["stage"]: part["suppressed_up_to"] for part in county["measurements"]}
    variance = county["stability"] / (2 * 0.9)
    weights = {k: exp(-k * k / (2 * variance)) for k in range(-60, 61)}
    up_to = [sum(weights[k] for k in weights if k <= t) / sum(weights.values()) for t in range(20)]
    assert left_out == {"stage 1": None, "stage 2": next(t for t in range(20) if up_to[t] >= 0.9999)}
    assert {part["suppressed_up_to"] for part in levels["(STATE, 2)"]["measurements"]} == {None}
