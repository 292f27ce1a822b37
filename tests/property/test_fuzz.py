"""Damaged files, very many: an error with a code, or the right answer; never a fault of ours, never a wrong one.

Each case breaks the bytes of one file of a small sound world, or the values of its configuration. Whatever comes of it,
it comes within a time limit, every finding has a code, MACHINE-003 (a fault in SafeTab) never appears, and where the
command succeeds with noise off its tables, and the budgets, stabilities and scales in its ledger, are the oracle's for
what the files then say. The oracle reads them again by itself.
"""

from __future__ import annotations

import faulthandler
import json
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safetab
from safetab.pipeline.check import check_inputs
from tests import profile
from tests.oracle import parameters as oracle
from tests.worlds import tiny
from tests.worlds.census import Block, CensusWorld, read_t1, read_t2
from tests.worlds.small_census import sound_world
from tests.worlds.text_variants import Quoting, TextVariant

#: Seconds that one case may take; a sound one takes a twentieth of one.
LIMIT = 60
#: Each of the five kinds of damage.
CASES = profile.examples("damaged files", quick=25, long=500)


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


#: A number, a word, a code or a flag of a text file.
WORD = re.compile(rb"[A-Za-z0-9.]+")


@st.composite
def slip(draw: st.DrawFn, content: bytes) -> bytes:
    """One to three edits that leave a file looking right: a digit, a word for another, a line lost, doubled, moved."""
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["digit", "word", "swap", "lose", "double", "move"]))
        words = [match.span() for match in WORD.finditer(content)]
        if kind in {"digit", "word"} and words:
            start, end = draw(st.sampled_from(words))
            if kind == "digit":
                start = draw(st.integers(start, end - 1))
                end, new = start + 1, draw(st.sampled_from([b"0", b"1", b"2", b"3", b"5", b"9"]))
            else:
                other = draw(st.sampled_from(words))
                new = content[slice(*other)]
            content = content[:start] + new + content[end:]
            continue
        lines = content.splitlines(keepends=True)
        if len(lines) < 3:
            continue
        at, to = draw(st.integers(1, len(lines) - 1)), draw(st.integers(1, len(lines) - 1))
        if kind == "swap":
            lines[at], lines[to] = lines[to], lines[at]
        elif kind == "double":
            lines.insert(to, lines[at])
        else:
            line = lines.pop(at)
            if kind == "move":
                lines.insert(to, line)
        content = b"".join(lines)
    return content


def codes_of(findings: Any) -> list[str]:
    return [finding.rule.code for finding in findings]


def took_too_long(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    pytest.fail(f"a case hung: it took longer than {LIMIT} s")


@contextmanager
def time_limit() -> Iterator[None]:
    """Fail after LIMIT seconds; where not even a signal gets through, end the process with a trace of the hang."""
    before = signal.signal(signal.SIGALRM, took_too_long)
    signal.alarm(LIMIT)
    faulthandler.dump_traceback_later(2 * LIMIT, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def sound_folder(*, parquet: bool = False) -> Iterator[Path]:
    """The sound world on disk, to be damaged."""
    with tempfile.TemporaryDirectory() as name, time_limit():
        yield sound_world().write(Path(name), parquet=parquet)


def judge(folder: Path) -> None:
    """Check and tabulate, noise off: they agree, and fail with a code or give the oracle's answer."""
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
    if not refused:
        compare(folder)


def compare(folder: Path) -> None:
    """What was written is what the files say, by the oracle's own reading of them."""
    params, data = folder / "params", folder / "data"
    config, codes, groups = oracle.config_of(params), oracle.codes_of(params), oracle.groups_of(params)
    columns = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "PLACEFP", "AIANNHCE")
    geography = pq.read_table(data / "GRF-C.parquet").to_pylist() if (data / "GRF-C.parquet").exists() else (
        oracle.lines_of(data / "GRF-C.txt")
    )  # fmt: skip
    # A column of levels that are all off is not asked for.
    blocks = tuple(Block(*(line.get(name, "") for name in columns)) for line in geography)
    world = CensusWorld(config, codes, groups, blocks, tuple(oracle.people_of(data)))
    ledger = json.loads((folder / "out" / "ledger.json").read_text())
    runs = [run for run in ("us", "pr") if config[f"run_{run}"]]
    assert [run["name"] for run in ledger["runs"]] == runs
    for run, told in zip(runs, ledger["runs"], strict=True):
        t1, t2 = world.expected(run)
        assert read_t1(folder / "out" / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
        assert read_t2(folder / "out" / "t2" / f"{run}.NOT-PRIVATE.csv") == t2
        assert levels_told(told) == oracle.planned(config, codes, groups, run)
    assert ledger["privacy"] == config["privacy_defn"]
    assert Fraction(ledger["stage_1_fraction"]) == config["privacy_budget_p_stage_1_fraction"]
    names = json.loads((folder / "out" / "data-dictionary.json").read_text())["iterations"]
    assert names == oracle.names_of(params)


def levels_told(run: dict[str, Any]) -> list[oracle.Planned]:
    """The levels of a run as the ledger has them."""
    return [
        oracle.Planned(
            level["level"],
            Fraction(level["budget"]),
            level["stability"],
            {event["stage"]: Fraction(event.get("sigma_squared") or event["scale"]) for event in level["measurements"]},
        )
        for level in run["levels"]
    ]


def bytes_of(file: str, *, parquet: bool = False) -> bytes:
    with sound_folder(parquet=parquet) as folder:
        return (folder / file).read_bytes()


TEXT, PART = "data/person-records.txt", "data/person-records.parquet/part-0.parquet"
RECORDS, PARQUET = bytes_of(TEXT), bytes_of(PART, parquet=True)
#: The same records in quotes, with fields of several lines.
QUOTED = TextVariant(",", Quoting.ALL).written(sound_world().record_rows())
PARAMETER_FILES = [*(f"params/{name}" for name in ("config.json", *tiny.FILES)), "data/GRF-C.txt"]


def test_the_sound_world_is_accepted_and_compared() -> None:
    for parquet in (False, True):
        with sound_folder(parquet=parquet) as folder:
            judge(folder)
            assert (folder / "out").exists()
    with sound_folder() as folder:
        (folder / TEXT).write_bytes(QUOTED)
        judge(folder)
        assert (folder / "out").exists()


@CASES
@given(slip(RECORDS) | damage(RECORDS))
def test_damaged_records(content: bytes) -> None:
    with sound_folder() as folder:
        (folder / TEXT).write_bytes(content)
        judge(folder)


@CASES
@given(slip(QUOTED) | damage(QUOTED))
def test_damaged_quoted_records(content: bytes) -> None:
    with sound_folder() as folder:
        (folder / TEXT).write_bytes(content)
        judge(folder)


@CASES
@given(damage(PARQUET))
def test_damaged_parquet_records(content: bytes) -> None:
    with sound_folder(parquet=True) as folder:
        (folder / PART).write_bytes(content)
        judge(folder)


@CASES
@given(st.data())
def test_damaged_parameter_files(data: st.DataObject) -> None:
    with sound_folder() as folder:
        path = folder / data.draw(st.sampled_from(PARAMETER_FILES))
        content = path.read_bytes()
        path.write_bytes(data.draw(slip(content) | damage(content)))
        judge(folder)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
#: Values that some key takes.
FITTING = st.sampled_from(
    [0, 1, 2, 3, 8, 0.0, 0.1, 0.5, "0", "0.25", "1e-3", " 2 ", "0.9999", True, False, None, "zcdp", "puredp", "csv",
     ["01"], ["01", "03"], ["01", "02"]]
)  # fmt: skip
THRESHOLDS = st.lists(st.integers(-1, 8), min_size=3, max_size=3).map(sorted)


def changed_thresholds(levels: dict[str, list[int]]) -> dict[str, Any]:
    return {"thresholds_p": sound_world().config["thresholds_p"] | levels}


KEYS = sorted(tiny.config())
CHANGES = (
    st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=1)
    | st.dictionaries(st.sampled_from(KEYS), FITTING, min_size=1, max_size=2)
    | st.dictionaries(st.sampled_from([key for key in KEYS if "budget" in key]), FITTING, min_size=1, max_size=4)
    | st.dictionaries(st.sampled_from(sorted(tiny.config()["thresholds_p"])), THRESHOLDS).map(changed_thresholds)
)


@CASES
@given(CHANGES)
def test_any_value_in_any_place_of_the_configuration(change: dict[str, Any]) -> None:
    with sound_folder() as folder:
        config = sound_world().config | change
        (folder / "params" / "config.json").write_text(json.dumps(config))
        judge(folder)
