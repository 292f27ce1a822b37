"""Making a country: the same bytes from the same seed, the same in both formats, and all of it or nothing."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab.errors import InputError, MachineError, SafetabError, UsageError
from safetab.params.template import release_toml
from safetab.pipeline.check import check_inputs
from safetab.rules import synth_rules
from safetab.synth import making, people
from safetab.synth.breakages.catalogue import BREAKAGES
from safetab.synth.breakages.site import read_text_table
from safetab.synth.country import Country, make_country
from safetab.synth.shapes import SHAPES, AreaCounts, Shape
from safetab.synth.write_data import Format
from tests.unit.files.disk_log import DiskLog, number
from tests.unit.synth.observed import Observed
from tests.worlds.census import RECORD_COLUMNS

TINY, TOWN = SHAPES["tiny"], SHAPES["town"]
THREE_STATES = Shape("three", 3_000, ("04", "06", "35"), AreaCounts(6, 12, 9, 300), 4, 0.1, AreaCounts(1, 2, 1, 20))
Usage = namedtuple("Usage", "total used free")


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def records(folder: Path) -> pa.Table:
    parts = sorted((folder / "data" / "person-records.parquet").iterdir())
    return pa.concat_tables(
        [pa.table([c.cast(pa.string()) for c in pq.read_table(part).columns], names=RECORD_COLUMNS) for part in parts]
    )


def refused(error: pytest.ExceptionInfo[SafetabError]) -> list[str]:
    return [finding.rule.code for finding in error.value.findings]


@pytest.mark.parametrize("table_format", list(Format))
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(tmp_path: Path, table_format: Format) -> None:
    wanted = Country(THREE_STATES, seed=7, table_format=table_format)
    for name, workers in (("one", 1), ("four", 4)):
        make_country(wanted, tmp_path / name, workers=workers)
    assert digests(tmp_path / "one") == digests(tmp_path / "four")
    make_country(replace(wanted, seed=8), tmp_path / "other")
    assert digests(tmp_path / "one") != digests(tmp_path / "other")


def test_several_chunks_of_a_state_give_the_same_bytes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "CHUNK", 5_000)
    for name in ("one", "two"):
        make_country(Country(TOWN), tmp_path / name)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    part = tmp_path / "one" / "data" / "person-records.parquet" / "state-04.parquet"
    assert pq.read_metadata(part).num_row_groups > 5
    assert records(tmp_path / "one").num_rows == TOWN.persons


def test_text_and_parquet_contain_the_same(tiny: Path, tiny_text: Path) -> None:
    assert read_text_table(tiny_text / "data" / "person-records.txt").equals(records(tiny))
    for folder in (tiny, tiny_text):
        assert not check_inputs(folder / "params", folder / "data").findings


def test_a_country_has_the_areas_it_was_asked_for(small_nation: Path) -> None:
    report = check_inputs(small_nation / "params", small_nation / "data")
    assert not report.findings
    us, pr = (run.geography for run in report.runs)
    assert us is not None
    assert pr is not None
    sizes = {level.name: len(ids) for level, ids in zip(us.levels, us.regions, strict=True)}
    assert sizes == {"USA": 1, "STATE": 51, "COUNTY": 800, "TRACT": 6_000, "PLACE": 2_000, "AIANNH": 120}
    assert us.blocks.num_rows == 80_000
    assert [len(ids) for ids in pr.regions] == [1, 10, 60, 10]


def test_areas_cross_states(small_nation: Path) -> None:
    parts = sorted((small_nation / "data" / "GRF-C.parquet").iterdir())
    states_of: dict[str, set[str]] = {}
    for part in parts:
        for code in set(pq.read_table(part)["AIANNHCE"].to_pylist()) - {"9999"}:
            states_of.setdefault(code, set()).add(part.stem)
    assert sum(len(states) > 1 for states in states_of.values()) >= 10


@pytest.mark.parametrize("like", ["tiny", "town"])
@pytest.mark.parametrize("persons", [2, 7, 2_000])
def test_persons_are_as_many_as_asked_for(tmp_path: Path, like: str, persons: int) -> None:
    make_country(Country(SHAPES[like].with_persons(persons)), tmp_path / "x")
    assert records(tmp_path / "x").num_rows == persons
    assert not check_inputs(tmp_path / "x" / "params", tmp_path / "x" / "data").findings


def test_records_keep_the_rules_of_their_format(small_nation: Path) -> None:
    seen = Observed.of(small_nation)
    race = seen.codes()
    has_code = race > 0
    assert has_code[:, 0].all()
    assert not (has_code[:, 1:] & ~has_code[:, :-1]).any(), "no code after the first Null"
    assert has_code.sum(axis=1).max() == 8
    assert (~has_code[:, 1:] | (race[:, 1:] > race[:, :-1])).all(), "codes of a person are distinct and rise"
    assert 0 == seen.column("QAGE").min() < seen.column("QAGE").max() <= 115
    assert set(np.unique(seen.column("QSEX"))) == {1, 2}


@pytest.mark.parametrize("persons", [1, 0, -5, 10_000_000_001])
def test_numbers_of_persons_that_have_no_meaning_are_refused(persons: int) -> None:
    with pytest.raises(ValueError, match=f"persons is {persons}; use a number from 2 to 10,000,000,000"):
        TINY.with_persons(persons)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_that_have_no_meaning_are_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=f"seed is {seed}; use a number from 0"):
        Country(TINY, seed=seed)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"shape": "tiny"}, "shape is 'tiny'; use one of SHAPES"),
        ({"seed": "5"}, "seed is '5'; use a whole number"),
        ({"table_format": "text"}, "table_format is 'text'; use Format.PARQUET or Format.TEXT"),
        ({"breakage": "overlap"}, "breakage is 'overlap'; use find_breakage"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_arguments_of_the_wrong_type_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        Country(**{"shape": TINY} | wrong)


def test_shapes_and_workers_that_have_no_meaning_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"persons is 2\.5; use a whole number"):
        TINY.with_persons(2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="states has 99, XX; use the state codes"):
        replace(TINY, states=("04", "XX", "99"))
    with pytest.raises(ValueError, match="workers is 0; use 1 or more"):
        make_country(Country(TINY), tmp_path / "x", workers=0)
    assert not list(tmp_path.iterdir())


def test_paths_may_be_text(tmp_path: Path, tiny: Path) -> None:
    facts = make_country(Country(TINY, params=str(tiny / "params")), str(tmp_path / "x"))
    assert facts.persons == TINY.persons
    assert not check_inputs(tmp_path / "x" / "params", tmp_path / "x" / "data").findings


def test_a_missing_parent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        make_country(Country(TINY), tmp_path / "no" / "x")
    assert refused(error) == [synth_rules.NO_PARENT.code]
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine").write_text("keep")
    with pytest.raises(UsageError) as error:
        make_country(Country(TINY), tmp_path / "x")
    assert refused(error) == [synth_rules.EXISTS.code]
    assert [path.name for path in tmp_path.rglob("*")] == ["x", "mine"]


def test_a_country_is_on_the_disk_before_it_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "x"
    log = DiskLog(folder.exists).install(monkeypatch)
    make_country(Country(TINY), folder)
    tree = (folder, *folder.rglob("*"))
    assert sorted(log.synced) == sorted(number(path) for path in (tmp_path, *tree))
    assert log.seen == [False] * len(tree) + [True]


def test_a_folder_that_has_come_meanwhile_is_kept(tmp_path: Path) -> None:
    def take_the_name(_: int) -> None:
        (tmp_path / "x").mkdir(exist_ok=True)

    with pytest.raises(UsageError) as error:
        make_country(Country(TINY), tmp_path / "x", on_progress=take_the_name)
    assert refused(error) == [synth_rules.EXISTS.code]
    assert [path.name for path in tmp_path.rglob("*")] == ["x"]


def test_too_little_room_is_seen_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100, 90, 10))
    with pytest.raises(MachineError) as error:
        make_country(Country(TINY), tmp_path / "x")
    assert refused(error) == [synth_rules.NO_SPACE.code]
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(making, "write_geography", full)
    with pytest.raises(MachineError) as error:
        make_country(Country(TINY), tmp_path / "x")
    assert refused(error) == [synth_rules.NO_SPACE.code]
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("sent", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_signal_leaves_nothing(tmp_path: Path, sent: signal.Signals) -> None:
    words = [sys.executable, "-m", "safetab", "synth", str(tmp_path / "x"), "--like", "state"]
    # In the background of a shell interrupts are switched off, and the child would inherit that.
    process = subprocess.Popen(
        words, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    )
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob(".x.*/data/person-records.parquet/*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(sent)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 130
    assert b"MACHINE-004" in printed
    assert not list(tmp_path.iterdir())


def test_own_parameters_are_taken(tmp_path: Path, census_2020: Path) -> None:
    make_country(Country(TOWN, params=census_2020), tmp_path / "x")
    params = tmp_path / "x" / "params"
    assert not check_inputs(params, tmp_path / "x" / "data").findings
    for path in census_2020.glob("*.txt"):
        assert (params / path.name).read_bytes() == path.read_bytes()
    ours, theirs = ((folder / "config.json").read_text() for folder in (params, census_2020))
    assert [line for line in ours.splitlines() if "reader" not in line and "state_filter" not in line] == [
        line for line in theirs.splitlines() if "reader" not in line and "state_filter" not in line
    ]


def test_an_own_release_of_other_states_gets_its_states(tmp_path: Path, tiny: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(tiny / "params", own)
    (own / "config.json").unlink()
    text = release_toml("census-2020")
    start, end = text.index('name = "us"'), text.index('name = "pr"')
    part = text[start:end]
    part = part[: part.index("where")] + 'where.TABBLKST = ["50"]\n\n[[run]]\n'
    (own / "release.toml").write_text(text[:start] + part + text[end:])
    make_country(Country(TINY, params=own), tmp_path / "x")
    assert not check_inputs(tmp_path / "x" / "params", tmp_path / "x" / "data").findings
    assert (tmp_path / "x" / "params" / "release.toml").read_bytes() == (own / "release.toml").read_bytes()


def own_with(tiny: Path, folder: Path, **keys: object) -> Path:
    """A copy of the generated parameters with some keys of the configuration changed."""
    shutil.copytree(tiny / "params", folder)
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))
    return folder


def test_no_record_has_more_codes_than_an_own_release_allows(tmp_path: Path, tiny: Path) -> None:
    own = own_with(tiny, tmp_path / "own", max_race_codes=2)
    make_country(Country(TOWN, params=own), tmp_path / "x")
    most = (Observed.of(tmp_path / "x").codes() > 0).sum(axis=1).max()
    assert most == 2


def test_an_own_release_of_puerto_rico_alone_gets_nothing_else(tmp_path: Path, tiny: Path) -> None:
    own = own_with(tiny, tmp_path / "own", run_us=False)
    facts = make_country(Country(TINY, params=own), tmp_path / "x")
    assert (facts.states, facts.has_puerto_rico) == (0, True)
    assert set(Observed.of(tmp_path / "x").column("TABBLKST")) == {72}
    assert not check_inputs(tmp_path / "x" / "params", tmp_path / "x" / "data").findings


def own_release(tiny: Path, folder: Path, *changes: tuple[str, str]) -> Path:
    """The generated group definitions with a `release.toml` in which some words are changed."""
    shutil.copytree(tiny / "params", folder)
    (folder / "config.json").unlink()
    text = release_toml("census-2020")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "release.toml").write_text(text)
    return folder


OTHER_FILES = (
    "[columns]",
    '[files]\ngeography = "blocks.csv"\nrecords = "people.csv"\ndelimiter = { geography = "," }\n\n[columns]',
)


def test_an_own_release_gets_its_own_columns_and_file_names(tmp_path: Path, tiny: Path) -> None:
    own = own_release(tiny, tmp_path / "own", ('age = "QAGE"', 'age = "YEARS"'), OTHER_FILES)
    make_country(Country(TINY, params=own), tmp_path / "x")
    data = tmp_path / "x" / "data"
    assert sorted(path.name for path in data.iterdir()) == ["blocks.parquet", "people.parquet"]
    assert "YEARS" in pq.read_schema(data / "people.parquet" / "state-04.parquet").names
    # The release names states that so small a country does not have.
    assert [finding.rule.code for finding in check_inputs(tmp_path / "x" / "params", data).findings] == ["GEO-005"]
    make_country(Country(TINY, params=own, table_format=Format.TEXT), tmp_path / "y")
    first = (tmp_path / "y" / "data" / "blocks.csv").read_text().splitlines()[0]
    assert first == '"TABBLKST","TABBLKCOU","TABTRACTCE","TABBLK","PLACEFP","AIANNHCE"'


def test_an_own_release_with_other_geography_columns_is_refused(tmp_path: Path, tiny: Path) -> None:
    own = own_release(tiny, tmp_path / "own", ("TABTRACTCE", "TRACT"))
    with pytest.raises(InputError) as error:
        make_country(Country(TINY, params=own), tmp_path / "x")
    assert refused(error) == [synth_rules.FOREIGN_COLUMNS.code]
    assert "--geography" in error.value.findings[0].rule.next_step
    # Breakages know the Bureau's files alone.
    other = own_release(tiny, tmp_path / "other", OTHER_FILES)
    with pytest.raises(InputError) as error:
        make_country(Country(TINY, params=other, breakage=BREAKAGES[0]), tmp_path / "x")
    assert refused(error) == [synth_rules.FOREIGN_COLUMNS.code]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "own"]
