"""Records in every form that is read, counted alike by every engine: folders of parts, numbers, compressed text."""

from __future__ import annotations

import gzip
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import safetab.engines.spark.files
from safetab.engines.layout import RecordLayout
from safetab.errors import Finding, InputError, MachineError
from safetab.params.load import load
from safetab.pipeline.inputs import read_geographies
from safetab.rules import record_rules
from tests import profile
from tests.contract.conftest import IN_SPARK, UnderContract, assert_same_release, leave_to_long_profile
from tests.worlds import by_hand
from tests.worlds.faulty_records import record, write

DUCKDB = UnderContract("duckdb", None)
#: Parts at several depths, with every end, and names that are patterns which fit other parts.
NAMES = ("a.parquet", "more/b.PARQUET", "more/deep er/c.parq", "p[1].pq", "p1.pq", "p*.parquet", "100 %25é+.Pq")
MARKERS = ("_SUCCESS", ".gone.parquet.crc", "more/_metadata", "_common_metadata")


def take_table(world: Path) -> pa.Table:
    """The records by hand as a table of text, which are gone from the world."""
    text = world / "data" / "person-records.txt"
    header, *lines = text.read_text().splitlines()
    text.unlink()
    columns = zip(*(line.split("|") for line in lines), strict=True)
    return pa.table(dict(zip(header.split("|"), map(list, columns), strict=True)))


def put(folder: Path, name: str, table: pa.Table) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / name)


def released(contracted: UnderContract, world: Path, name: str, **options: Any) -> Path:
    return contracted.tabulate(world / "params", world / "data", world / name, **options)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The world by hand, and what DuckDB publishes from its text.

    In the quick profile there is one run, and a state more of it, so that as many people count. A second run reads the
    same files in the same way, and takes Spark as long again.
    """
    by_hand.write(tmp_path, by_hand.SHORT)
    if profile.size(quick=1, long=2) == 1:
        by_hand.choose(tmp_path, run_pr=False, state_filter_us=["01", "02", "03"])
    released(DUCKDB, tmp_path, "expected")
    return tmp_path


def scattered(world: Path) -> Path:
    """A person in each part, and markers between the parts."""
    table, folder = take_table(world), world / "data" / "person-records"
    assert table.num_rows == len(NAMES)
    for number, name in enumerate(NAMES):
        put(folder, name, table.slice(number, 1))
    for marker in MARKERS:
        (folder / marker).touch()
    return folder


def partitioned(world: Path) -> Path:
    """States and sexes in the names of folders, where the leading zero of a state may be lost."""
    table, folder = take_table(world), world / "data" / "person-records"
    for number, (state, sex) in enumerate(zip(table["TABBLKST"], table["QSEX"], strict=True)):
        short = state.as_py() if number % 2 else state.as_py().lstrip("0")
        rest = table.slice(number, 1).drop_columns(["TABBLKST", "QSEX"])
        put(folder, f"TABBLKST={short}/any/QSEX=%3{sex}/part {number % 3}.parquet", rest)
    return folder


@pytest.mark.parametrize("arranged", [scattered, partitioned])
def test_a_folder_of_parts(contracted: UnderContract, world: Path, arranged: Any) -> None:
    folder = arranged(world)
    # In the quick profile Spark reads one of the two folders from its path, and the other from its address.
    is_quick = contracted.name == "spark" and profile.size(quick=1, long=0)
    if not is_quick or arranged is scattered:
        assert_same_release(released(contracted, world, "out"), world / "expected")
    if contracted.name == "spark" and (not is_quick or arranged is partitioned):
        assert_same_release(released(contracted, world, "address", records=f"file:{folder}"), world / "expected")


@IN_SPARK
def test_a_path_that_spark_spells_otherwise_is_no_missing_code(
    spark_session: Any, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody loses the race code that is in the name of a folder."""
    table, folder = take_table(world), world / "data" / "person-records"
    for code in pc.unique(table["QRACE2"]).to_pylist():
        rest = table.filter(pc.equal(table["QRACE2"], code)).drop_columns("QRACE2")
        put(folder, f"QRACE2={code}/part.parquet", rest)
    spark = UnderContract("spark", spark_session)
    assert_same_release(released(spark, world, "out"), world / "expected")
    monkeypatch.setattr(safetab.engines.spark.files, "PLAIN", "'/elsewhere' || _metadata.file_path")
    with pytest.raises(MachineError):
        released(spark, world, "misspelled")


@IN_SPARK
def test_a_folder_at_an_address_holds_parts_alone(spark_session: Any, world: Path) -> None:
    folder = scattered(world)
    for name in ("more/d.csv", "_e.parquet"):
        (folder / name).touch()
    with pytest.raises(InputError) as caught:
        released(UnderContract("spark", spark_session), world, "out", records=f"file:{folder}")
    assert [(found.rule.code, found.file) for found in caught.value.findings] == [
        ("FILE-020", "_e.parquet"),
        ("FILE-020", "more/d.csv"),
    ]


@IN_SPARK
def test_nothing_at_an_address(spark_session: Any, world: Path) -> None:
    with pytest.raises(InputError, match="FILE-001"):
        released(UnderContract("spark", spark_session), world, "out", records=f"file:{world}/none*")


def as_numbers(table: pa.Table, kind: pa.DataType) -> pa.Table:
    """Every column as numbers; no code is a null."""
    texts = {name: table[name].to_pylist() for name in table.column_names}
    return pa.table(
        {name: pa.array([int(t) if t.isdecimal() else None for t in values], kind) for name, values in texts.items()}
    )


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.uint32()], ids=str)
def test_numbers_are_read_as_their_text(contracted: UnderContract, world: Path, kind: pa.DataType) -> None:
    if kind != pa.float64():
        leave_to_long_profile(contracted, "a file of doubles, or one of several widths of whole numbers,")
    put(world / "data", "person-records.parquet", as_numbers(take_table(world), kind))
    assert_same_release(released(contracted, world, "out"), world / "expected")


def findings_of(contracted: UnderContract, folder: Path, table: pa.Table) -> list[tuple[str, str, tuple[int, ...]]]:
    (folder / "data" / "person-records.parquet").unlink(missing_ok=True)
    put(folder / "data", "person-records.parquet", table)
    with pytest.raises(InputError) as caught:
        released(contracted, folder, "out")
    return [(found.rule.code, found.key, found.lines) for found in caught.value.findings]


def test_numbers_that_are_not_what_they_look_like(contracted: UnderContract, tmp_path: Path) -> None:
    """Cut to their width, or to whole numbers, all of these would be values that are known."""
    write(tmp_path, [record() for _ in range(9)], parquet=True)
    whole = as_numbers(pq.read_table(tmp_path / "data" / "person-records.parquet"), pa.int64())
    changes: list[tuple[str, float | None]] = [
        ("TABBLKST", 10), ("QRACE1", 10105), ("QRACE2", 10201), ("QSPAN", 99501), ("QAGE", -1), ("TABBLK", 10001)
    ]  # fmt: skip
    wide = [("RECORDS-001", "TABBLKST + TABBLKCOU + TABTRACTCE + TABBLK", (1, 6)), ("RECORDS-002", "QAGE", (5,))]
    wide += [("RECORDS-004", "QRACE1", (2,)), ("RECORDS-004", "QRACE2", (3,)), ("RECORDS-008", "QSPAN", (4,))]
    if contracted.name == "duckdb" or profile.size(quick=0, long=1):
        # Spark takes long to find many faults, and floats have more of them.
        assert findings_of(contracted, tmp_path, changed(whole, changes)) == wide
    fractions: list[tuple[str, float | None]] = [
        ("QRACE2", float("nan")),
        ("QRACE1", 1010.5),
        ("QAGE", 30.25),
        ("QAGE", float("inf")),
        ("QSPAN", 1e30),
    ]
    fractions += [("TABBLK", 1000.5), ("QSEX", 1.5), ("QAGE", None), ("QAGE", 1e300)]
    floats = pa.table({name: whole[name].cast(pa.float64()) for name in whole.column_names})
    assert findings_of(contracted, tmp_path, changed(floats, fractions)) == [
        ("FILE-009", "QAGE", (8,)),
        ("RECORDS-001", "TABBLKST + TABBLKCOU + TABTRACTCE + TABBLK", (6,)),
        ("RECORDS-002", "QAGE", (3, 4, 9)),
        ("RECORDS-003", "QSEX", (7,)),
        ("RECORDS-004", "QRACE1", (2,)),
        ("RECORDS-004", "QRACE2", (1,)),
        ("RECORDS-008", "QSPAN", (5,)),
    ]


def changed(table: pa.Table, values: Any) -> pa.Table:
    """Another value in a column of each row."""
    for row, (name, value) in enumerate(values):
        column = table[name].to_pylist()
        column[row] = value
        kind = table[name].type
        table = table.set_column(table.column_names.index(name), name, pa.array(column, kind))
    return table


def compressed(text: bytes, end: str) -> bytes:
    """In two members, as programs that work in parallel write them."""
    half = len(text) // 2
    if end == ".gz":
        return gzip.compress(text[:half]) + gzip.compress(text[half:])
    return b"".join(pa.compress(part, codec="zstd", asbytes=True) for part in (text[:half], text[half:]))


@IN_SPARK
@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_compressed_text_at_an_address(spark_session: Any, world: Path, end: str) -> None:
    """A folder of parts, of which one is deeper; where one is cut off nobody is left out in silence."""
    spark = UnderContract("spark", spark_session)
    if end == ".gz":
        leave_to_long_profile(spark, "such a file in the folder of the data")
    header, *lines = (world / "data" / "person-records.txt").read_bytes().splitlines(keepends=True)
    folder = world / "people.txt"
    (folder / "more").mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    (folder / f"a{end}").write_bytes(compressed(header + b"".join(lines[:3]), end))
    packed = compressed(header + b"".join(lines[3:]), end)
    (folder / "more" / f"b{end}").write_bytes(packed)
    out = released(spark, world, "out", records=f"file:{folder}")
    assert_same_release(out, world / "expected")
    (folder / "more" / f"b{end}").write_bytes(packed[:-9])
    with pytest.raises((InputError, MachineError)):
        released(spark, world, "cut", records=f"file:{folder}")


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_compressed_text(contracted: UnderContract, world: Path, end: str) -> None:
    leave_to_long_profile(contracted, "a folder of such files at an address, or another form of text,")
    text = world / "data" / "person-records.txt"
    content = text.read_bytes()
    text.unlink()
    packed = text.with_name(text.name + end)
    packed.write_bytes(compressed(content, end))
    assert_same_release(released(contracted, world, "out"), world / "expected")
    lines = content.splitlines(keepends=True)
    lines[3] = lines[3].replace(b"|10|", b"|210|", 1)
    packed.write_bytes(compressed(b"".join(lines), end))
    with pytest.raises(InputError) as caught:
        released(contracted, world, "faulty")
    assert caught.value.findings == (Finding(record_rules.AGE, packed.name, "QAGE", (4,), 1),)


def test_no_text_may_be_the_word_for_no_code(contracted: UnderContract, tmp_path: Path) -> None:
    """People without a second code are sound, also where somebody's age is not."""
    leave_to_long_profile(contracted, "a file with a fault and with people without a second code")
    no_second = {f"QRACE{number}": "" for number in range(2, 9)}
    write(tmp_path, [record(**no_second), record(**no_second, QAGE="200"), record(**no_second)], parquet=False)
    parameters = load(tmp_path / "params")
    run = parameters.release.runs[0]
    geography = read_geographies(parameters.release, tmp_path / "data", [])[run.name]
    place = str(tmp_path / "data" / "person-records.txt")
    layout = RecordLayout.of(place, parameters.release, run, parameters.catalogue, geography)
    layout = replace(layout, columns=replace(layout.columns, no_code=""))
    with closing(contracted.engine(tmp_path / "engine")) as engine, pytest.raises(InputError) as caught:
        engine.open(layout, geography)
    assert caught.value.findings == (Finding(record_rules.AGE, "person-records.txt", "QAGE", (3,), 1),)
