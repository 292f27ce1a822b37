"""With noise off, the tables are the oracle's for a country that is not the United States and for production files."""

from __future__ import annotations

import csv
import json
import random
import shutil
from pathlib import Path

import safetab
from tests.census_world import Block, CensusWorld, read_t1, read_t2
from tests.oracle import tabulation
from tests.oracle.membership import Group
from tests.oracle.tabulation import Level, Person

MEROVIA = Path(__file__).resolve().parents[2] / "examples" / "merovia"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [row for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE) if any(row.values())]


def groups_of(folder: Path, race: str, ethnicity: str, mapping: str) -> tuple[Group, ...]:
    members: dict[str, set[str]] = {}
    for row in rows(folder / mapping):
        members.setdefault(row["ITERATION_CODE"], set()).add(row["RACE_ETH_CODE"])
    return tuple(
        Group(
            row["ITERATION_CODE"],
            int(row["LEVEL"]),
            row.get("ALONE", ""),
            row["DETAILED_ONLY"],
            row["COARSE_ONLY"],
            frozenset(members[row["ITERATION_CODE"]]),
        )
        for row in rows(folder / race) + rows(folder / ethnicity)
    )


def test_merovia(tmp_path: Path) -> None:
    """Levels, bins and columns are those of examples/merovia/params/release.toml, read by eye."""
    people = [
        Person(
            (row["PROVINCE"], row["DISTRICT"], row["VILLAGE"]),
            int(row["YEARS"]),
            row["GENDER"],
            tuple(row[f"PEOPLE{n}"] for n in (1, 2, 3) if row[f"PEOPLE{n}"] != "-"),
            row["TONGUE"],
        )
        for row in rows(MEROVIA / "data" / "people.txt")
    ]
    blocks = [tuple(row.values()) for row in rows(MEROVIA / "data" / "villages.txt")]
    country: dict[tuple[str, ...], str | None] = dict.fromkeys(blocks, "Merovia")
    province: dict[tuple[str, ...], str | None] = {block: block[0] for block in blocks}
    district: dict[tuple[str, ...], str | None] = {block: block[0] + block[1] for block in blocks}
    levels = [
        Level("COUNTRY", False, 1, (100, 500, 2000), country),
        Level("COUNTRY", False, 2, (100, 500, 1500), country),
        Level("PROVINCE", False, 1, (100, 500, 1500), province),
        Level("PROVINCE", False, 2, (100, 400, 1000), province),
        Level("DISTRICT", True, 2, (50, 200, 600), district),
    ]
    bins = ((0, 16, 60), (0, 7, 16, 30, 45, 60, 75), (0, 3, 7, 12, 16, 20, 25, 30, 40, 50, 60, 70, 80, 90))
    groups = groups_of(MEROVIA / "params", "people-groups.txt", "tongue-groups.txt", "groups-of-codes.txt")
    t1, t2 = tabulation.tabulate(people, levels, groups, bins, 100, ("F", "M"), suppress=True)
    release = safetab.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "out", noise=False, not_private=True)
    assert read_t1(tmp_path / "out" / "t1" / "merovia.NOT-PRIVATE.csv") == t1
    assert read_t2(tmp_path / "out" / "t2" / "merovia.NOT-PRIVATE.csv") == t2
    assert set(release.t1["STAT_LEVEL"].to_pylist()) == {0, 1, 2, 3}


def production_world(census_2020: Path, persons: int) -> CensusWorld:
    """Random people with production codes, and thresholds low enough that every stat level occurs."""
    draw = random.Random(5)
    config = json.loads((census_2020 / "config.json").read_text())
    config["thresholds_p"] = {key: [2, 4, 8] for key in config["thresholds_p"]}
    config["state_filter_us"] = ["01", "02"]
    groups = groups_of(
        census_2020,
        "race-characteristic-iterations.txt",
        "ethnicity-characteristic-iterations.txt",
        "race-and-ethnicity-code-to-iteration.txt",
    )
    codes = tuple(row["RACE_ETH_CODE"] for row in rows(census_2020 / "race-and-ethnicity-codes.txt"))
    blocks = tuple(
        Block(state, f"00{county}", f"00010{tract}", f"100{block}", place, land)
        for state in ("01", "02", "72")
        for county in (1, 3)
        for tract in (1, 2)
        for block, place, land in ((0, "99999", "9999"), (1, "00100", "0010"), (2, "00200", "9999"))
    )
    favourites = draw.sample(codes, 30)
    people = []
    for _ in range(persons):
        count = draw.choices((1, 2, 3, 8), (70, 20, 8, 2))[0]
        own = [draw.choice(favourites if draw.random() < 0.7 else codes) for _ in range(count)]
        block, age = draw.choice(blocks).key, draw.randint(0, 115)
        people.append(Person(block, age, draw.choice("12"), tuple(own), draw.choice(codes)))
    return CensusWorld(config, codes, groups, blocks, tuple(people))


def test_production_parameters(census_2020: Path, tmp_path: Path) -> None:
    world = production_world(census_2020, 1000)
    params = tmp_path / "params"
    params.mkdir()
    for path in census_2020.glob("*.txt"):
        shutil.copy(path, params)
    (params / "config.json").write_text(json.dumps(world.config))
    world.write_data(tmp_path / "data", parquet=True)
    out = tmp_path / "out"
    release = safetab.tabulate(params, tmp_path / "data", out, noise=False, not_private=True)
    for run in ("us", "pr"):
        t1, t2 = world.expected(run)
        assert read_t1(out / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
        assert read_t2(out / "t2" / f"{run}.NOT-PRIVATE.csv") == t2
        assert {len({key[3] for key in t2 if key[:3] == group}) for group in {key[:3] for key in t2}} == {5, 10, 24}
    assert set(release.t1["STAT_LEVEL"].to_pylist()) == {0, 1, 2, 3}
