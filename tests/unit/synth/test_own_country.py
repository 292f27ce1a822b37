"""People for any release and its geography file: what is written can be checked and tabulated at once."""

from __future__ import annotations

import csv
import gzip
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.errors import InputError, UsageError
from safetab.params.load import load
from safetab.pipeline.check import check_inputs
from safetab.pipeline.tabulate import tabulate
from safetab.population.iterations import Kind
from safetab.synth.country import Country, make_country
from safetab.synth.own_country import OwnCountry, make_own_country, prepare_own_country
from safetab.synth.record_form import RecordForm
from safetab.synth.shapes import SHAPES
from safetab.synth.write_data import Format
from tests.profile import examples
from tests.unit.synth.true_totals import race_totals

EXAMPLES = Path(__file__).parents[3] / "examples"
MEROVIA = EXAMPLES / "merovia" / "params"
VILLAGES = EXAMPLES / "merovia" / "data" / "villages.txt"


def make(own: OwnCountry, folder: Path) -> Path:
    make_own_country(prepare_own_country(own), folder)
    return folder


def records(folder: Path) -> pa.Table:
    """All records of a country in Parquet, as text."""
    place = folder / "data" / "people.parquet"
    parts = [pq.read_table(part) for part in sorted(place.iterdir())]
    return pa.concat_tables([pa.table([c.cast(pa.string()) for c in t.columns], names=t.column_names) for t in parts])


@pytest.mark.parametrize("table_format", list(Format))
def test_a_whole_release_can_be_rehearsed(tmp_path: Path, table_format: Format) -> None:
    folder = make(OwnCountry(MEROVIA, VILLAGES, 3_000, table_format=table_format), tmp_path / "x")
    assert not check_inputs(folder / "params", folder / "data").findings
    for source in (*MEROVIA.iterdir(), VILLAGES):
        target = folder / ("data" if source == VILLAGES else "params") / source.name
        assert target.read_bytes() == source.read_bytes()
    release = tabulate(folder / "params", folder / "data", tmp_path / "out")
    assert set(release.t1["REGION_TYPE"].to_pylist()) == {"COUNTRY", "PROVINCE", "DISTRICT"}
    assert release.t2.num_rows > 0


def test_records_are_what_the_release_reads(tmp_path: Path) -> None:
    found = records(make(OwnCountry(MEROVIA, VILLAGES, 5_000), tmp_path / "x"))
    assert found.column_names == [
        "PROVINCE", "DISTRICT", "VILLAGE", "YEARS", "GENDER", "PEOPLE1", "PEOPLE2", "PEOPLE3", "TONGUE",
    ]  # fmt: skip
    assert found.num_rows == 5_000
    ages = pc.cast(found["YEARS"], pa.int64()).to_numpy()
    assert ages.min() == 0
    # The release has nobody over 100.
    assert 90 < ages.max() <= 100
    assert set(found["GENDER"].to_pylist()) == {"F", "M"}
    assert {"T1", "T2", "T3", "T9"} == set(found["TONGUE"].to_pylist())
    # Most people speak the tongue that is in no group and is named like the others.
    assert Counter(found["TONGUE"].to_pylist()).most_common(1)[0][0] == "T9"
    many = Counter(
        3 - row.count("-") for row in zip(*(found[f"PEOPLE{n}"].to_pylist() for n in (1, 2, 3)), strict=True)
    )
    assert set(many) == {1, 2, 3}
    assert many[1] > many[2] > many[3]


def test_the_first_sex_has_the_ages_of_men_and_the_oldest_stay_as_old_as_the_release_allows(tmp_path: Path) -> None:
    params = tmp_path / "params"
    shutil.copytree(MEROVIA, params)
    text = (params / "release.toml").read_text()
    text = text.replace("oldest = 100", "oldest = 80").replace(" 80, 90]]", "]]").replace(", 80, 90]", "]")
    (params / "release.toml").write_text(text)
    found = records(make(OwnCountry(params, VILLAGES, 30_000), tmp_path / "x"))
    ages = pc.cast(found["YEARS"], pa.int64()).to_numpy()
    is_first = pc.equal(found["GENDER"], "F").to_numpy()
    assert ages.max() == 80
    # Everyone who would be older is 80: far more than are 79.
    assert (ages == 80).sum() > 3 * (ages == 79).sum()
    assert is_first[ages < 18].mean() > 0.5 > 0.46 > is_first[ages == 80].mean()


def test_every_region_has_people_and_some_blocks_of_large_ones_have_none(tmp_path: Path) -> None:
    params, blocks = World(2, 100, 1, 1, 3, 1, False, False, (3, 12), 240, 0).write(tmp_path)
    land = prepare_own_country(OwnCountry(params, blocks, 9_000)).land
    populations = [one.persons for one in land.lands.values()]
    empty = sum(int((some == 0).sum()) for some in populations)
    assert 30 < empty < 100
    tracts = [np.bincount(one.tract, weights=one.persons) for one in land.lands.values()]
    assert sorted(len(one) for one in tracts) == [4, 4, 4]
    assert min(float(one.min()) for one in tracts) > 0
    assert sum(int(some.sum()) for some in populations) == 9_000
    few = prepare_own_country(OwnCountry(MEROVIA, VILLAGES, 9_000)).land
    assert all((one.persons > 0).all() for one in few.lands.values())


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    own = OwnCountry(MEROVIA, VILLAGES, 800, seed=3)
    one, two = records(make(own, tmp_path / "one")), records(make(own, tmp_path / "two"))
    assert one.equals(two)
    assert not one.equals(records(make(replace(own, seed=4), tmp_path / "three")))
    for path in sorted((tmp_path / "one").rglob("*")):
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.is_dir() or path.read_bytes() == other.read_bytes()


def test_without_a_number_there_are_forty_persons_for_each_block(tmp_path: Path) -> None:
    assert prepare_own_country(OwnCountry(MEROVIA, VILLAGES)).persons == 10_000
    country = tmp_path / "state"
    make_country(Country(SHAPES["town"]), country)
    own = OwnCountry(country / "params", country / "data" / "GRF-C.parquet")
    assert prepare_own_country(own).persons == 40 * (900 + 100)


def test_own_sizes_are_the_persons_of_the_country(tmp_path: Path) -> None:
    catalogue = load(MEROVIA).catalogue
    wanted = {"A04": 1_500, "B04": 2_000, "A08": 900, "B08": 1_000}
    assert set(wanted) <= {it.code for it in catalogue.iterations}
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("ITERATION_CODE,COUNT\n" + "".join(f"{code},{count}\n" for code, count in wanted.items()))
    found = records(make(OwnCountry(MEROVIA, VILLAGES, 20_000, sizes=sizes), tmp_path / "x"))
    rows = zip(*(found[f"PEOPLE{n}"].to_pylist() for n in (1, 2, 3)), strict=True)
    sets = Counter(tuple(code for code in row if code != "-") for row in rows)
    totals = race_totals(sets.items(), [it for it in catalogue.iterations if it.kind is not Kind.ETHNICITY])
    assert {code: totals[code] for code in wanted} == pytest.approx(wanted, rel=0.05)


def test_a_region_may_have_nobody(tmp_path: Path) -> None:
    iterations = [it for it in load(MEROVIA).catalogue.iterations if it.level == 1 and it.kind is not Kind.ETHNICITY]
    empty = max(iterations, key=lambda it: len(it.members)).members
    sizes = tmp_path / "sizes.csv"
    lines = [f"{it.code},0\n" for it in iterations if it.members == empty]
    assert len(lines) == 2
    sizes.write_text("ITERATION_CODE,COUNT\n" + "".join(lines))
    found = records(make(OwnCountry(MEROVIA, VILLAGES, 2_000, sizes=sizes), tmp_path / "x"))
    codes = {code for n in (1, 2, 3) for code in found[f"PEOPLE{n}"].to_pylist()}
    assert len(codes) > 1
    assert not codes & empty


@pytest.mark.parametrize("form", ["commas", "semicolons", "gzip", "parquet", "folder"])
def test_any_form_of_the_geography_is_read_and_copied(tmp_path: Path, form: str) -> None:
    rows = [line.split("|") for line in VILLAGES.read_text().splitlines()]
    table = pa.table([list(column) for column in zip(*rows[1:], strict=True)], names=rows[0])
    path = tmp_path / "areas.csv"
    if form in {"commas", "semicolons"}:
        with path.open("w", newline="") as file:
            delimiter = "," if form == "commas" else ";"
            csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    elif form == "gzip":
        path = tmp_path / "areas.txt.gz"
        path.write_bytes(gzip.compress(VILLAGES.read_bytes()))
    else:
        path = tmp_path / "areas.parquet"
        part = path
        if form == "folder":
            path.mkdir()
            part = path / "PART=1" / "a.parquet"
            part.parent.mkdir()
        pq.write_table(table, part)
    folder = make(OwnCountry(MEROVIA, path, 500), tmp_path / "x")
    assert not check_inputs(folder / "params", folder / "data").findings
    plain = make(OwnCountry(MEROVIA, VILLAGES, 500), tmp_path / "y")
    assert records(folder).equals(records(plain))


def test_compressed_group_files_are_copied(tmp_path: Path) -> None:
    params = tmp_path / "params"
    shutil.copytree(MEROVIA, params)
    (params / "codes.txt.gz").write_bytes(gzip.compress((params / "codes.txt").read_bytes()))
    (params / "codes.txt").unlink()
    folder = make(OwnCountry(params, VILLAGES, 500), tmp_path / "x")
    assert not check_inputs(folder / "params", folder / "data").findings


def test_a_release_that_names_compressed_files_gets_parquet(tmp_path: Path) -> None:
    params = tmp_path / "params"
    shutil.copytree(MEROVIA, params)
    text = (params / "release.toml").read_text()
    (params / "release.toml").write_text(text.replace('villages.txt"', 'v.txt.gz"').replace('people.txt"', 'p.txt.gz"'))
    folder = make(OwnCountry(params, VILLAGES, 500, table_format=Format.TEXT), tmp_path / "x")
    assert sorted(path.name for path in (folder / "data").iterdir()) == ["p.txt.parquet", "v.txt.parquet"]
    assert not check_inputs(folder / "params", folder / "data").findings


def test_people_live_only_where_a_run_takes_them(tmp_path: Path) -> None:
    params = tmp_path / "params"
    shutil.copytree(MEROVIA, params)
    text = (params / "release.toml").read_text()
    (params / "release.toml").write_text(
        text.replace('name = "merovia"\n', 'name = "merovia"\nwhere.PROVINCE = ["Ar"]\n', 1)
    )
    found = records(make(OwnCountry(params, VILLAGES, 700), tmp_path / "x"))
    assert set(found["PROVINCE"].to_pylist()) == {"Ar"}
    assert found.num_rows == 700


def test_faults_of_the_geography_are_those_that_check_reports(tmp_path: Path) -> None:
    wrong = tmp_path / "areas.txt"
    wrong.write_text(VILLAGES.read_text() + "Ar|01|v1\nAr|1|v9\n")
    with pytest.raises(InputError) as error:
        prepare_own_country(OwnCountry(MEROVIA, wrong))
    assert [finding.rule.code for finding in error.value.findings] == ["GEO-001", "GEO-002"]
    assert {finding.file for finding in error.value.findings} == {"areas.txt"}
    with pytest.raises(InputError) as error:
        prepare_own_country(OwnCountry(MEROVIA, tmp_path / "no.txt"))
    assert [finding.rule.code for finding in error.value.findings] == ["FILE-001"]


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path) -> None:
    prepared = prepare_own_country(OwnCountry(MEROVIA, VILLAGES, 400))
    (tmp_path / "x").mkdir()
    with pytest.raises(UsageError):
        make_own_country(prepared, tmp_path / "x")

    def fail(_: int) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        make_own_country(prepared, tmp_path / "y", on_progress=fail)
    assert [path.name for path in tmp_path.rglob("*")] == ["x"]


@pytest.mark.parametrize("persons", [1, 10_000_000_001])
def test_numbers_that_have_no_meaning_are_refused(persons: int) -> None:
    with pytest.raises(ValueError, match=f"persons is {persons}; use a number from 2"):
        OwnCountry(MEROVIA, VILLAGES, persons)
    with pytest.raises(ValueError, match="seed is -1"):
        OwnCountry(MEROVIA, VILLAGES, seed=-1)


def test_a_release_without_age_or_sex_has_no_such_columns() -> None:
    release = load(MEROVIA).release
    without = replace(release, columns=replace(release.columns, age="", sex="", sexes=(), ethnicity=None))
    names = RecordForm.of(without).names
    assert names == ("PROVINCE", "DISTRICT", "VILLAGE", "PEOPLE1", "PEOPLE2", "PEOPLE3")


@dataclass(frozen=True)
class World:
    """A small country of its own kind: how many of what there are."""

    sexes: int
    oldest: int
    columns: int
    most_codes: int
    codes: int
    group_levels: int
    has_ethnicity: bool
    all_tongues_have_groups: bool
    regions: tuple[int, ...]
    blocks: int
    persons: int

    def write(self, folder: Path) -> tuple[Path, Path]:
        params = folder / "params"
        params.mkdir(parents=True)
        (params / "release.toml").write_text(self.release())
        races, tongues = [f"r{n}" for n in range(self.codes)], [f"t{n}" for n in range(3)]
        tongues = tongues if self.has_ethnicity else []
        write = {
            "codes.txt": ["RACE_ETH_CODE|RACE_ETH_NAME", *(f"{code}|The {code}" for code in races + tongues + ["zz"])],
            "races.txt": ["ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY|ALONE"],
            "tongues.txt": ["ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY"],
            "map.txt": ["ITERATION_CODE|RACE_ETH_CODE"],
        }
        for level in range(1, self.group_levels + 1):
            # The finest level has a group for each code, coarser ones have larger groups.
            many = 2 ** (self.group_levels - level)
            for start in range(0, self.codes, many):
                for alone in (True, False):
                    code = f"{level}-{start}-{'a' if alone else 'c'}"
                    write["races.txt"].append(f"{code}|Group {code}|{level}|False|False|{alone}")
                    write["map.txt"] += [f"{code}|{one}" for one in races[start : start + many]]
        for tongue in tongues if self.all_tongues_have_groups else tongues[:-1]:
            write["tongues.txt"].append(f"g{tongue}|Speakers of {tongue}|1|False|False")
            write["map.txt"].append(f"g{tongue}|{tongue}")
        for name, lines in write.items():
            (params / name).write_text("".join(line + "\n" for line in lines))
        lines = ["|".join([*(f"L{n}" for n in range(len(self.regions))), "B"])]
        for block in range(self.blocks):
            inside = [f"{n}.{block * many // self.blocks}" for n, many in enumerate(self.regions)]
            lines.append("|".join([*inside, f"b{block}"]))
        (folder / "blocks.txt").write_text("".join(line + "\n" for line in lines))
        return params, folder / "blocks.txt"

    def release(self) -> str:
        names = ["ALL", *(f"T{n}" for n in range(len(self.regions)))]
        geography = '[geography.ALL]\nregion_id = "1"\n' + "".join(
            f'[geography.T{n}]\ncolumns = ["L{n}"]\n' for n in range(len(self.regions))
        )
        levels = "".join(
            f'[[level]]\nrun = "all"\ngeography = "{name}"\niteration_level = {level}\nbudget = "0.1"\n'
            "thresholds = [10, 20, 30]\n"
            for name in names
            for level in range(1, self.group_levels + 1)
        )
        codes = [f"C{n}" for n in range(self.columns)]
        return (
            f'safetab = 1\nprivacy = "zcdp"\nmax_race_codes = {self.most_codes}\nstage_1_fraction = "0.1"\n'
            f"[ages]\noldest = {self.oldest}\nbins = [[0], [0], [0]]\n"
            '[files]\ncodes = "codes.txt"\nrace_iterations = "races.txt"\nethnicity_iterations = "tongues.txt"\n'
            'code_to_iteration = "map.txt"\ngeography = "blocks.txt"\nrecords = "people.txt"\n'
            f'[columns]\nblock = ["B"]\nage = "A"\nsex = "S"\nsexes = {[f"s{n}" for n in range(self.sexes)]}\n'
            f"race_codes = {codes}\n"
            + ('ethnicity = "E"\n' if self.has_ethnicity else "")
            + f'no_code = "-"\n{geography}[[run]]\nname = "all"\n{levels}'
        )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    columns = draw(st.integers(1, 8))
    return World(
        draw(st.integers(1, 5)),
        draw(st.sampled_from([0, 17, 100, 115, 200])),
        columns,
        draw(st.integers(1, columns)),
        draw(st.integers(1, 9)),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        draw(st.booleans()),
        tuple(sorted(draw(st.lists(st.integers(1, 90), max_size=4)))),
        draw(st.integers(1, 300)),
        draw(st.sampled_from([2, 3, 50, 3_000])),
    )


@examples("own countries", quick=12, long=200)
@given(worlds())
def test_any_small_world_can_be_checked_at_once(tmp_path_factory: pytest.TempPathFactory, world: World) -> None:
    folder = tmp_path_factory.mktemp("world") / "world"
    params, blocks = world.write(folder)
    made = make(OwnCountry(params, blocks, world.persons), folder / "made")
    assert not [one for one in check_inputs(made / "params", made / "data").findings if one.is_error]
    found = records(made)
    assert found.num_rows == world.persons
    assert set(found["S"].to_pylist()) <= {f"s{n}" for n in range(world.sexes)}
    assert pc.max(pc.cast(found["A"], pa.int64())).as_py() <= world.oldest
    rows = list(zip(*(found[f"C{n}"].to_pylist() for n in range(world.columns)), strict=True))
    assert max(len(row) - row.count("-") for row in rows) <= world.most_codes


def test_every_sex_of_several_occurs(tmp_path: Path) -> None:
    world = World(4, 100, 1, 1, 3, 1, False, False, (4,), 40, 5_000)
    params, blocks = world.write(tmp_path)
    found = Counter(records(make(OwnCountry(params, blocks, 20_000), tmp_path / "made"))["S"].to_pylist())
    assert set(found) == {"s0", "s1", "s2", "s3"}
    assert found["s2"] + found["s3"] == pytest.approx(400, abs=120)
