"""Records that break a rule stop every engine with the same code, and no message quotes a record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from safetab.engines.layout import RecordLayout
from safetab.engines.protocol import Engine, Members
from safetab.errors import Finding, InputError, MachineError
from safetab.params.load import load
from safetab.pipeline.inputs import read_geographies
from safetab.population.membership import Pairs
from safetab.rules import record_rules
from tests.contract.conftest import UnderContract, leave_to_long_profile
from tests.worlds.faulty_records import FAULTY, POISON, record, write


def codes_told(contracted: UnderContract, folder: Path, **options: str) -> set[str]:
    return {finding.rule.code for finding in findings_told(contracted, folder, **options)}


def findings_told(contracted: UnderContract, folder: Path, **options: str) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        contracted.tabulate(folder / "params", folder / "data", folder / "out", **options)
    assert POISON not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert not (folder / "out").exists()
    return caught.value.findings


#: Values that are not there, which no rule about what they mean can judge.
EMPTY = (record(QRACE2=""), record(QAGE=""), record(TABBLK=""), record(QSPAN=""), record(TABBLKST="1", QSEX=""))


@pytest.mark.parametrize("parquet", [False, True], ids=["text", "Parquet"])
def test_all_faults_are_reported_at_once(contracted: UnderContract, tmp_path: Path, parquet: bool) -> None:
    """With file, column, how many and the first lines; every engine tells the same."""
    if parquet:
        leave_to_long_profile(contracted, "the same of text, or faults in several parts of Parquet,")
    lines = [record(), *(line for _, _, line in FAULTY), *EMPTY, *[record(QSEX="3")] * 7]
    write(tmp_path, lines, parquet=parquet)
    findings = findings_told(contracted, tmp_path)
    codes = {code for _, code, _ in FAULTY} | {"FILE-009", "RECORDS-012"}
    assert {finding.rule.code for finding in findings} == codes
    first = 1 if parquet else 2
    unit = "row" if parquet else "line"
    place = "person-records.parquet" if parquet else "person-records.txt"
    sexes = tuple(first + number for number in (5, 16, 17, 18, 19))
    assert Finding(record_rules.SEX, place, "QSEX", sexes, 8, unit=unit) in findings
    assert findings == findings_told(UnderContract("duckdb", None), tmp_path)


def test_faults_in_several_parts(contracted: UnderContract, tmp_path: Path) -> None:
    write(tmp_path, [record(), record(QAGE="200"), record(), record(QAGE="300")], parquet=True)
    path = tmp_path / "data" / "person-records.parquet"
    table = pq.read_table(path)
    path.unlink()
    path.mkdir()
    # The second row group of the second part: rows are numbered through the file.
    pq.write_table(table.slice(0, 2), path / "first.parquet")
    pq.write_table(table.slice(1, 3), path / "the second.parquet", row_group_size=1)
    told = [(finding.file, finding.lines, finding.count) for finding in findings_told(contracted, tmp_path)]
    assert told == [("first.parquet", (2,), 1), ("the second.parquet", (1, 3), 2)]


def test_faults_in_many_parts(contracted: UnderContract, tmp_path: Path) -> None:
    """The first five part files are named; of the others it is said how many they are and how many rows they break."""
    leave_to_long_profile(contracted, "a folder of two broken parts")
    write(tmp_path, [record(), record(QAGE="200"), record(QAGE="300")], parquet=True)
    path = tmp_path / "data" / "person-records.parquet"
    table = pq.read_table(path)
    path.unlink()
    path.mkdir()
    for number in range(7):
        pq.write_table(table, path / f"part-{number}.parquet")
    *named, rest = findings_told(contracted, tmp_path)
    assert [(found.file, found.lines, found.count) for found in named] == [
        (f"part-{number}.parquet", (2, 3), 2) for number in range(5)
    ]
    assert (rest.file, rest.lines, rest.count) == ("person-records.parquet", (), 4)
    assert rest.seen == "broken in 4 rows of 2 more part files"


@pytest.mark.parametrize(("code", "line"), [pytest.param(*case[1:], id=case[0]) for case in FAULTY])
def test_one_fault(contracted: UnderContract, tmp_path: Path, code: str, line: str) -> None:
    leave_to_long_profile(contracted, "a file with this fault and all others")
    write(tmp_path, [record(), line], parquet=True)
    assert codes_told(contracted, tmp_path) == {code}


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(old, new, 1)


#: Text files that are not tables: what is told of a local file, and of one at an address, which Spark alone can judge.
BROKEN_TEXT = (
    ("a field missing", "FILE-007", "RECORDS-009", replaced(b"|9950\n", b"\n")),
    ("a field too many", "FILE-007", "RECORDS-009", replaced(b"|9950\n", b"|9950|x\n")),
    ("not UTF-8", "FILE-003", "RECORDS-009", replaced(b"|9950\n", b"|99\xe90\n")),
    ("cut off in the middle", "FILE-007", "RECORDS-009", lambda content: content[:-30]),
    ("a column missing", "FILE-005", "FILE-005", replaced(b"QSPAN", b"QSPUN")),
)


@pytest.mark.parametrize(
    ("code", "code_at_address", "breaking"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN_TEXT]
)
def test_broken_text(
    contracted: UnderContract,
    tmp_path: Path,
    code: str,
    code_at_address: str,
    breaking: Callable[[bytes], bytes],
) -> None:
    write(tmp_path, [record(), record(QAGE="31")], parquet=False)
    path = tmp_path / "data" / "person-records.txt"
    path.write_bytes(breaking(path.read_bytes()))
    if contracted.name == "duckdb":
        assert codes_told(contracted, tmp_path) == {code}
    else:
        (finding,) = findings_told(contracted, tmp_path, records=f"file:{path}")
        assert finding.rule.code == code_at_address
        # The record that is cut off is the last of three lines, the other broken ones are the first below the header.
        if code_at_address == "RECORDS-009":
            assert (finding.lines, finding.count) == ((3 if path.read_bytes()[-1:] != b"\n" else 2,), 1)


@pytest.mark.parametrize(
    "dressing",
    [
        pytest.param(lambda content: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"), id="a mark and CRLF"),
        pytest.param(lambda content: content + b"\n", id="a final blank line"),
        pytest.param(lambda content: content[:-1], id="no final line end"),
    ],
)
def test_text_that_is_accepted(contracted: UnderContract, tmp_path: Path, dressing: Callable[[bytes], bytes]) -> None:
    write(tmp_path, [record(), record(QAGE="31")], parquet=False)
    path = tmp_path / "data" / "person-records.txt"
    path.write_bytes(dressing(path.read_bytes()))
    with_engine = contracted.engine(tmp_path / "engine")
    try:
        assert persons(with_engine, tmp_path) == 2
    finally:
        with_engine.close()


def persons(engine: Engine, folder: Path) -> int:
    parameters = load(folder / "params")
    run = parameters.release.runs[0]
    geography = read_geographies(parameters.release, folder / "data", [])[run.name]
    place = str(folder / "data" / "person-records.txt")
    layout = RecordLayout.of(place, parameters.release, run, parameters.catalogue, geography)
    records = engine.open(layout, geography)
    # Everybody in one group of one region.
    sets = len(records.code_sets())
    everybody = Pairs(np.arange(sets), np.zeros(sets, dtype=np.int16))
    nobody = Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int16))
    regions = np.zeros(geography.block_sets, dtype=np.int32)
    members = Members(everybody, nobody, np.arange(1))
    return sum(int(batch.true_count.sum()) for batch in records.totals(regions, members))


def test_parquet_that_is_none(contracted: UnderContract, tmp_path: Path) -> None:
    write(tmp_path, [record()], parquet=True)
    (tmp_path / "data" / "person-records.parquet").write_bytes(b"PAR1 no")
    assert codes_told(contracted, tmp_path) == {"FILE-012"}


def test_a_part_that_lacks_a_column(contracted: UnderContract, tmp_path: Path) -> None:
    """Read as empty, the missing race code would move people to other groups without a word."""
    write(tmp_path, [record(QRACE2="1020"), record(QAGE="31")], parquet=True)
    whole = tmp_path / "data" / "person-records.parquet"
    table = pq.read_table(whole)
    whole.unlink()
    whole.mkdir()
    pq.write_table(table.slice(0, 1), whole / "part-0.parquet")
    pq.write_table(table.slice(1).drop_columns(["QRACE2"]), whole / "part-1.parquet")
    with pytest.raises((InputError, MachineError)):
        contracted.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert not (tmp_path / "out").exists()
