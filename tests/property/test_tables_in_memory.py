"""Tables in memory give the oracle's tables and the findings of files: pandas, polars, pyarrow, DuckDB, every type."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import safetab
from safetab.engines.choice import Spark
from safetab.errors import Finding
from safetab.files.memory import MemoryTable, read_columns
from safetab.rules import file_rules, output_rules, record_rules
from tests import profile
from tests.worlds.census import read_t1, read_t2
from tests.worlds.small_census import sound_world

WORLD = sound_world()
Make = Callable[[pa.Table], Any]
RECORDS, GEOGRAPHY = 'data["records"]', 'data["geography"]'
#: Columns of whole numbers, which get their leading zeros back.
NUMBERS = ("QAGE", "QSEX", "TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "QRACE1", "QSPAN", "PLACEFP", "AIANNHCE")


def table_of(rows: list[tuple[str, ...]]) -> pa.Table:
    """A table of text; where a race column has no code it has a null."""
    header, *lines = rows
    columns = zip(*lines, strict=True)
    return pa.table(
        {
            name: pa.array([None if value == "Null" else value for value in values], pa.string())
            for name, values in zip(header, columns, strict=True)
        }
    )


def cast(kind: pa.DataType) -> Make:
    return lambda table: table.cast(pa.schema([(name, kind) for name in table.column_names]))


def in_chunks(table: pa.Table) -> pa.Table:
    """Pieces of unequal size, an empty one and one with an offset among them."""
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1, 2), table.slice(3)])


def as_numbers(kind: pa.DataType) -> Make:
    def make(table: pa.Table) -> pa.Table:
        for number, name in enumerate(table.column_names):
            if name in NUMBERS or name.startswith("QRACE"):
                table = table.set_column(number, name, table[name].cast(pa.int64()).cast(kind))
        return table

    return make


def pandas_frame(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas().set_index(pd.Index([f"p{number}" for number in range(table.num_rows)]))


def pandas_objects(table: pa.Table) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names})


def pandas_floats(table: pa.Table) -> pd.DataFrame:
    """As pandas reads a file with gaps: whole numbers become floats, and what is missing becomes NaN."""
    return as_numbers(pa.float64())(table).to_pandas()


def pandas_nullable(table: pa.Table) -> pd.DataFrame:
    return as_numbers(pa.int64())(table).to_pandas().convert_dtypes()


def polars_frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def polars_enum(table: pa.Table) -> pl.DataFrame:
    frame = polars_frame(table)
    return frame.with_columns(
        pl.col(name).cast(pl.Enum(sorted(set(frame[name].drop_nulls())))) for name in frame.columns
    )


def relation(table: pa.Table) -> Any:
    connection = duckdb.connect()
    connection.register("people", table)
    return connection.sql("SELECT * FROM people")


KINDS: dict[str, Make] = {
    "pandas": pandas_frame,
    "pandas objects": pandas_objects,
    "pandas categories": lambda table: pandas_frame(table).astype("category"),
    "pandas floats": pandas_floats,
    "pandas nullable": pandas_nullable,
    "pandas of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories of numbers": lambda table: pandas_nullable(table).astype("category"),
    "polars": polars_frame,
    "polars categories": lambda table: polars_frame(table).with_columns(pl.all().cast(pl.Categorical)),
    "polars enums": polars_enum,
    "polars lazy": lambda table: polars_frame(table).lazy(),
    "polars numbers": lambda table: polars_frame(as_numbers(pa.int32())(table)),
    "pyarrow": lambda table: table,
    "pyarrow in chunks": in_chunks,
    "pyarrow batch": lambda table: table.combine_chunks().to_batches()[0],
    "pyarrow reader": lambda table: in_chunks(table).to_reader(),
    "pyarrow dataset": lambda table: ds.dataset(in_chunks(table)),
    "large_string": cast(pa.large_string()),
    "string_view": cast(pa.string_view()),
    "dictionary": cast(pa.dictionary(pa.int8(), pa.string())),
    "dictionary of views": lambda table: pa.table(polars_enum(table)),
    "float32": as_numbers(pa.float32()),
    "float64": as_numbers(pa.float64()),
    "int64": as_numbers(pa.int64()),
    "uint32": as_numbers(pa.uint32()),
    "DuckDB": relation,
}


@profile.tries("kinds of tables in memory")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_tables_of_the_oracle(tmp_path: Path, kind: str) -> None:
    make, params = KINDS[kind], WORLD.write(tmp_path) / "params"
    data = {"records": make(table_of(WORLD.record_rows())), "geography": make(table_of(WORLD.geography_rows()))}
    release = safetab.tabulate(params, data, tmp_path / "out", noise=False, not_private=True)
    for run in ("us", "pr"):
        t1, t2 = WORLD.expected(run)
        assert t1
        assert read_t1(tmp_path / "out" / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
        assert read_t2(tmp_path / "out" / "t2" / f"{run}.NOT-PRIVATE.csv") == t2
    assert list(release.ledger["inputs"]["geography"]) == [GEOGRAPHY]


def test_the_same_bytes_as_from_files(tmp_path: Path) -> None:
    """Also with a path for one of the two."""
    WORLD.write(tmp_path)
    records, geography = table_of(WORLD.record_rows()), tmp_path / "data" / "GRF-C.txt"
    params, mixed = tmp_path / "params", {"records": records, "geography": geography}
    from_files = safetab.tabulate(params, tmp_path / "data", tmp_path / "files", noise=False, not_private=True)
    in_memory = safetab.tabulate(params, mixed, tmp_path / "memory", noise=False, not_private=True)
    for path in sorted(from_files.folder.rglob("*")):
        if path.is_file() and path.name not in {"ledger.json", "ledger.sha256"}:
            assert path.read_bytes() == (in_memory.folder / path.relative_to(from_files.folder)).read_bytes()
    assert in_memory.ledger["inputs"]["geography"] == from_files.ledger["inputs"]["geography"]


def test_a_relation_is_asked_for_wanted_columns_whatever_their_names() -> None:
    relation = duckdb.connect().sql('SELECT 1 AS "a.b", 2 AS "c d", 3 AS "q""x", error(\'read\') AS unwanted')
    findings: list[Finding] = []
    found = read_columns(MemoryTable(RECORDS, relation), ["c d", 'q"x', "a.b"], findings)
    assert found is not None
    assert found.table.to_pylist() == [{"c d": 2, 'q"x': 3, "a.b": 1}]
    assert found.all_names == ("a.b", "c d", 'q"x', "unwanted")
    assert not findings


def findings_of(folder: Path, records: Any = None, geography: Any = None) -> list[Finding]:
    """What check finds, after making sure that tabulate is refused for the same reasons."""
    params = WORLD.write(folder) / "params"
    data = {
        "records": table_of(WORLD.record_rows()) if records is None else records,
        "geography": table_of(WORLD.geography_rows()) if geography is None else geography,
    }
    report = safetab.check_inputs(params, data)
    if report.errors:
        with pytest.raises(safetab.InputError) as caught:
            safetab.tabulate(params, data, folder / "out", noise=False, not_private=True)
        assert set(caught.value.findings) == set(report.errors)
        assert not (folder / "out").exists()
    return list(report.findings)


def changed(table: pa.Table, column: str, values: dict[int, Any], kind: pa.DataType) -> pa.Table:
    """Another type of a column, with other values in some rows, counted from 1."""
    found = [values.get(row, value) for row, value in enumerate(table[column].to_pylist(), start=1)]
    array = pa.array([float(value) if pa.types.is_floating(kind) else value for value in found], kind)
    return table.set_column(table.column_names.index(column), column, array)


@pytest.mark.parametrize("make", [lambda table: table, pandas_frame, polars_frame], ids=["pyarrow", "pandas", "polars"])
def test_a_fraction_and_a_nan_are_findings_with_their_rows(tmp_path: Path, make: Make) -> None:
    people = table_of(WORLD.record_rows())
    frame = make(changed(people, "QAGE", {3: 30.5, 5: float("nan")}, pa.float64()))
    found = {(one.rule, one.key, row) for one in findings_of(tmp_path, frame) for row in one.lines}
    # To pandas a NaN is a value that is missing.
    missing = file_rules.EMPTY_VALUE if make is pandas_frame else record_rules.AGE
    assert found == {(record_rules.AGE, "QAGE", 3), (missing, "QAGE", 5)}
    blocks = table_of(WORLD.geography_rows())
    frame = make(changed(blocks, "TABBLKST", {2: 1.5}, pa.float64()))
    (one,) = findings_of(tmp_path, geography=frame)
    assert (one.rule, one.file, one.key, one.lines) == (file_rules.COLUMN_TYPE, GEOGRAPHY, "TABBLKST", (2,))


def test_faults_are_reported_as_those_of_files(tmp_path: Path) -> None:
    people = table_of(WORLD.record_rows())
    faulty = changed(people, "QAGE", {1: "116", 12: "Zq7"}, pa.string())
    faulty = changed(faulty, "TABTRACTCE", {2: "100"}, pa.string())
    found = findings_of(tmp_path, polars_frame(faulty))
    assert {(one.rule, one.file, one.key, row, one.unit) for one in found for row in one.lines} == {
        (record_rules.AGE, RECORDS, "QAGE", 1, "row"),
        (record_rules.AGE, RECORDS, "QAGE", 12, "row"),
        (record_rules.LEADING_ZEROS, RECORDS, "TABBLKST + TABBLKCOU + TABTRACTCE + TABBLK", 2, "row"),
    }
    assert not [one for one in found if "Zq7" in one.sentence()]


def test_columns_are_judged_by_name_and_type(tmp_path: Path) -> None:
    people = table_of(WORLD.record_rows())
    dates = pa.array([0] * people.num_rows, pa.date32())
    cases: list[tuple[Any, Finding]] = [
        (people.drop_columns(["QSEX"]), Finding(file_rules.MISSING_COLUMN, RECORDS, "QSEX")),
        (people.append_column("QSEX", people["QSEX"]), Finding(file_rules.REPEATED_COLUMN, RECORDS, "QSEX")),
        (
            pd.concat([pandas_frame(people), pandas_frame(people)["QSEX"]], axis=1),
            Finding(file_rules.REPEATED_COLUMN, RECORDS, "QSEX"),
        ),
        (
            people.set_column(0, "QAGE", dates),
            Finding(file_rules.COLUMN_TYPE, RECORDS, "QAGE", seen="of type date32[day]"),
        ),
        (pandas_objects(people).assign(QAGE=[1, "2"] * 6), Finding(file_rules.NOT_ARROW, RECORDS, "QAGE")),
    ]
    for number, (records, expected) in enumerate(cases):
        assert findings_of(tmp_path / str(number), records) == [expected]


def test_columns_nobody_reads_are_named_and_not_converted(tmp_path: Path) -> None:
    """A column that Arrow cannot read does no harm where nobody wants it."""
    frame = pandas_objects(table_of(WORLD.record_rows())).assign(SHOES=[1, "2"] * 6)
    (warning,) = findings_of(tmp_path, frame)
    assert warning == Finding(file_rules.UNREAD_COLUMN, RECORDS, seen="SHOES")


def test_a_table_that_fails_is_reported_without_its_words(tmp_path: Path) -> None:
    people = table_of(WORLD.record_rows())

    def batches() -> Any:
        yield from people.to_batches()
        raise RuntimeError("Zq7")

    params = WORLD.write(tmp_path) / "params"
    data = {
        "records": pa.RecordBatchReader.from_batches(people.schema, batches()),
        "geography": table_of(WORLD.geography_rows()),
    }
    with pytest.raises(safetab.InputError) as caught:
        safetab.tabulate(params, data, tmp_path / "out", noise=False, not_private=True)
    assert [one.rule for one in caught.value.findings] == [file_rules.NOT_ARROW]
    assert "Zq7" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_table_is_fingerprinted_with_the_key_of_the_registry(tmp_path: Path) -> None:
    params = WORLD.write(tmp_path) / "params"
    people, blocks = table_of(WORLD.record_rows()), table_of(WORLD.geography_rows())
    prints = []
    for number, records in enumerate((people, in_chunks(people), people.slice(1), ds.dataset(people))):
        registry = tmp_path / "registry"
        out = tmp_path / f"out {number}"
        data = {"records": records, "geography": blocks}
        release = safetab.tabulate(params, data, out, registry=registry, spend_again=True)
        entry = json.loads(registry.read_text().splitlines()[-1])
        assert entry["records"] == release.ledger["inputs"]["records"]
        prints.append(entry["records"])
    assert prints[0] == prints[1] != prints[2]
    assert all(prints)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({"records": 1, "geography": "x"}, TypeError, 'data["records"] is of type int: pass a path or a DataFrame'),
        ({"records": "x"}, ValueError, 'data has no "geography"'),
        ({"geography": "x", "people": "y"}, ValueError, "data has the key 'people'"),
        (pa.table({"a": [1]}), TypeError, '{"records": table, "geography": ...}'),
    ],
)
def test_what_is_no_data_is_refused(tmp_path: Path, data: Any, error: type[Exception], words: str) -> None:
    for call in (safetab.check_inputs, lambda params, data: safetab.tabulate(params, data, tmp_path / "out")):
        with pytest.raises(error) as caught:
            call(tmp_path, data)
        assert words in str(caught.value)


def test_a_geography_alone_can_be_checked_and_not_tabulated(tmp_path: Path) -> None:
    params = WORLD.write(tmp_path) / "params"
    data = {"geography": table_of(WORLD.geography_rows())}
    assert not safetab.check_inputs(params, data).errors
    with pytest.raises(ValueError, match='data has no "records"'):
        safetab.tabulate(params, data, tmp_path / "out")


def test_records_are_named_once(tmp_path: Path) -> None:
    data = {"records": "x", "geography": "y"}
    with pytest.raises(ValueError, match="named twice"):
        safetab.tabulate(tmp_path, data, tmp_path / "out", records="z")


def test_a_path_that_is_not_there_is_reported(tmp_path: Path) -> None:
    found = findings_of(tmp_path, "no-people.csv", tmp_path / "no-blocks.csv")
    assert [(one.rule, one.file) for one in found] == [
        (file_rules.MISSING_FILE, str(tmp_path / "no-blocks.csv")),
        (file_rules.MISSING_FILE, "no-people.csv"),
    ]


def test_spark_reads_no_table_of_this_process(tmp_path: Path) -> None:
    data = {"records": table_of(WORLD.record_rows()), "geography": "x"}
    with pytest.raises(safetab.UsageError) as caught:
        safetab.tabulate(tmp_path, data, tmp_path / "out", engine=Spark())
    assert caught.value.findings == (Finding(output_rules.NOT_FOR_SPARK, RECORDS),)


def test_the_output_must_not_hold_an_input(tmp_path: Path) -> None:
    data = {"records": tmp_path / "out" / "people.csv", "geography": "x"}
    with pytest.raises(safetab.UsageError) as caught:
        safetab.tabulate(tmp_path / "params", data, tmp_path / "out")
    assert caught.value.findings[0].rule is output_rules.OUTPUT_HOLDS_INPUT
