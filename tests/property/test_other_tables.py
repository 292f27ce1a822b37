"""With noise off, the tables are the oracle's for a country that is not the United States and for production files."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import safetab
from tests.oracle.tabulation import Person
from tests.worlds.census import Block, CensusWorld, read_t1, read_t2
from tests.worlds.merovia import BINS, MEROVIA, SEXES, expected, groups_of, rows


def test_merovia(tmp_path: Path) -> None:
    t1, t2 = expected(BINS, SEXES)
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
