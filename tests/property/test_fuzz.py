"""Damaged files, very many: an error with a code, or the right answer; never a fault of ours, never a wrong one.

Each case breaks the bytes of one file of a small sound world, or the values of its configuration. Whatever comes of it,
the exit status is 0 or 1, every finding has a code, MACHINE-003 (a fault in SafeTab) never appears, and where the
command succeeds with noise off its tables are the oracle's for what the file then says.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import safetab
from safetab.checks.inputs import check_inputs
from tests import worlds
from tests.census_world import RECORD_COLUMNS, Block, CensusWorld, read_t1, read_t2
from tests.oracle.membership import Group
from tests.oracle.tabulation import Person

CODES = ("1000", "1001", "1002")
BLOCKS = (
    Block("01", "001", "000100", "1000", "00001"),
    Block("01", "003", "000100", "1000", "99999", "0001"),
    Block("72", "001", "000100", "1000"),
)
GROUPS = (
    Group("2001", 2, "True", "False", "False", frozenset(CODES[:2])),
    Group("2002", 2, "False", "False", "False", frozenset(CODES[:2])),
    Group("2003", 2, "False", "True", "False", frozenset(CODES[2:])),
    Group("4001", 2, "", "False", "False", frozenset(CODES[1:])),
    Group("1001", 1, "False", "False", "False", frozenset(CODES)),
)
#: Cases of each test: in `make test`, and in `make test-all`.
QUICK, MANY = 40, 500
SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def sound_world() -> CensusWorld:
    config = worlds.config() | {"state_filter_us": ["01"]}
    on = {"(USA, 1)", "(USA, 2)", "(COUNTY, 2)", "(PR-STATE, 2)"}
    for key in config["thresholds_p"]:
        name, level = key.strip("()").lower().replace("-", "_").split(", ")
        config["thresholds_p"][key] = [1, 2, 4]
        config[f"privacy_budget_p_level_{level}_{name}"] = int(key in on)
    rng = random.Random(7)
    people = tuple(
        Person(
            BLOCKS[rng.randrange(3) if number > 2 else number].key,
            rng.randrange(116),
            rng.choice("12"),
            tuple(rng.choices(CODES, k=rng.randrange(1, 4))),
            rng.choice(CODES),
        )
        for number in range(12)
    )
    return CensusWorld(config, CODES, GROUPS, BLOCKS, people)


#: Pieces that parsers trip over.
NASTY = st.sampled_from(
    [b"|", b"\n", b"\r", b"\r\n", b"\0", b"\"", b"'", b"\xff", b"\xef\xbb\xbf", b"Null", b"-1", b"116", b" ", b"\t",
     b",", b"1e5", "\u0661".encode(), b"\x1a", b"NaN", b"00", b"{", b"}", b"[", b"=", b"9" * 20, b"\\", b"|" * 99]
)  # fmt: skip


@st.composite
def damage(draw: st.DrawFn, content: bytes) -> bytes:
    """One to three edits: insert, delete, overwrite, cut off, repeat."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        length = draw(st.integers(1, 12))
        kind = draw(st.sampled_from(["insert", "delete", "overwrite", "cut", "repeat", "line"]))
        if kind == "insert":
            content = content[:at] + draw(NASTY) + content[at:]
        elif kind == "delete":
            content = content[:at] + content[at + length :]
        elif kind == "overwrite":
            content = content[:at] + draw(st.binary(min_size=1, max_size=length)) + content[at + length :]
        elif kind == "cut":
            content = content[:at]
        elif kind == "repeat":
            content = content + content[at:]
        else:
            lines = content.splitlines(keepends=True)
            if lines:
                draw(st.randoms(use_true_random=False)).shuffle(lines)
                content = b"".join(lines)
    return content


def codes_of(findings: Any) -> list[str]:
    return [finding.rule.code for finding in findings]


def reread(path: Path) -> list[Person] | None:
    """The people as a plain reading of the file gives them; None where it is not that plain."""
    # Columns that nobody reads may hold anything.
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    header, *lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    names = header.split("|")
    if not set(RECORD_COLUMNS[:2]) <= set(names):
        return None
    people = []
    for line in lines:
        row = dict(zip(names, line.split("|"), strict=False))
        race = tuple(row[f"QRACE{n}"] for n in range(1, 9) if row[f"QRACE{n}"] != "Null")
        block = tuple(row[name] for name in ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"))
        people.append(Person(block, int(row["QAGE"]), row["QSEX"], race, row["QSPAN"]))
    return people


def judge(folder: Path) -> None:
    """Check and tabulate, noise off: they agree, fail with a code, or give the oracle's tables."""
    words: dict[str, Any] = {"noise": False, "not_private": True}
    report = check_inputs(folder / "params", folder / "data")
    assert not [code for code in codes_of(report.findings) if code.startswith("MACHINE")]
    refused: list[str] = []
    try:
        safetab.tabulate(folder / "params", folder / "data", folder / "out", **words)
    except safetab.InputError as error:
        refused = codes_of(error.findings) or ["no finding"]
    assert sorted(set(refused)) == sorted(set(codes_of(report.errors))), "check and tabulate disagree"
    assert (folder / "out").exists() != bool(refused)


def damaged_records(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = sound_world().write(Path(name))
        path = folder / "data" / "person-records.txt"
        path.write_bytes(content)
        judge(folder)
        if not (folder / "out").exists():
            return
        people = reread(path)
        assert people is not None
        world = sound_world()
        after = CensusWorld(world.config, world.codes, world.groups, world.blocks, tuple(people))
        for run in ("us", "pr"):
            t1, t2 = after.expected(run)
            assert read_t1(folder / "out" / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
            assert read_t2(folder / "out" / "t2" / f"{run}.NOT-PRIVATE.csv") == t2


def record_bytes() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound_world().write_data(folder)
        return (folder / "person-records.txt").read_bytes()


RECORDS = record_bytes()
PARAMETER_FILES = ["config.json", *worlds.FILES]


@settings(SETTINGS, max_examples=QUICK)
@given(damage(RECORDS))
def test_damaged_records(content: bytes) -> None:
    damaged_records(content)


@pytest.mark.long
@settings(SETTINGS, max_examples=MANY)
@given(damage(RECORDS))
def test_many_damaged_records(content: bytes) -> None:
    damaged_records(content)


def damaged_parameters(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = sound_world().write(Path(name))
        file = data.draw(st.sampled_from([f"params/{name}" for name in PARAMETER_FILES] + ["data/GRF-C.txt"]))
        path = folder / file
        path.write_bytes(data.draw(damage(path.read_bytes())))
        judge(folder)


@settings(SETTINGS, max_examples=QUICK)
@given(st.data())
def test_damaged_parameter_files(data: st.DataObject) -> None:
    damaged_parameters(data)


@pytest.mark.long
@settings(SETTINGS, max_examples=MANY)
@given(st.data())
def test_many_damaged_parameter_files(data: st.DataObject) -> None:
    damaged_parameters(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(SETTINGS, max_examples=QUICK)
@given(st.sampled_from(sorted(worlds.config())), VALUES)
def test_any_value_in_any_place_of_the_configuration(key: str, value: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = sound_world().write(Path(name))
        config = sound_world().config | {key: value}
        (folder / "params" / "config.json").write_text(json.dumps(config))
        judge(folder)
