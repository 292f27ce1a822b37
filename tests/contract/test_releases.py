"""With noise off, every engine publishes the same release, byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.synth.country import Country, make_country
from safetab.synth.shapes import SHAPES
from safetab.synth.write_data import Format
from tests import profile
from tests.contract.conftest import IN_SPARK, UnderContract, assert_same_release
from tests.worlds import by_hand, merovia
from tests.worlds.census import CensusWorld, read_t1, read_t2
from tests.worlds.merovia import MEROVIA
from tests.worlds.random_census import census_worlds

DUCKDB = UnderContract("duckdb", None)


def test_golden_example(contracted: UnderContract, tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    out = contracted.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert (out / "t1" / "us.NOT-PRIVATE.csv").read_text() == by_hand.T1_US
    assert (out / "t1" / "pr.NOT-PRIVATE.csv").read_text() == by_hand.T1_PR
    assert_same_release(out, DUCKDB.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "duckdb"))
    ledgers = [json.loads((tmp_path / name / "ledger.json").read_text()) for name in ("out", "duckdb")]
    assert ledgers[0]["engine"] == contracted.name
    for ledger in ledgers:
        del ledger["engine"], ledger["finished"]
    assert ledgers[0] == ledgers[1]


def test_parquet_of_other_types(contracted: UnderContract, tmp_path: Path) -> None:
    """Whole numbers of any width, with nulls for no code, dictionaries and long strings count as the text does."""
    by_hand.write(tmp_path, by_hand.SHORT)
    expected = DUCKDB.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "expected")
    text = tmp_path / "data" / "person-records.txt"
    names, *people = [line.split("|") for line in text.read_text().splitlines()]
    text.unlink()
    kinds = {
        "QAGE": pa.int64(),
        "QSEX": pa.uint8(),
        "TABBLKST": pa.int32(),
        "TABBLKCOU": pa.large_string(),
        "TABBLK": pa.dictionary(pa.int32(), pa.string()),
        "QRACE1": pa.int16(),
        "QRACE2": pa.uint64(),
        "QRACE3": pa.dictionary(pa.int8(), pa.large_string()),
        "QSPAN": pa.uint32(),
    }
    columns = {}
    for name, values in zip(names, zip(*people, strict=True), strict=True):
        found = pa.array([None if value == "Null" else value for value in values], pa.string())
        columns[name] = found.cast(kinds.get(name, pa.string()))
    pq.write_table(pa.table(columns), tmp_path / "data" / "person-records.parquet")
    assert_same_release(expected, contracted.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out"))


@IN_SPARK
def test_another_country(spark_session: Any, tmp_path: Path) -> None:
    spark = UnderContract("spark", spark_session)
    one = spark.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "spark")
    assert_same_release(one, DUCKDB.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "duckdb"))


@IN_SPARK
@pytest.mark.long
@pytest.mark.parametrize(
    ("bins", "sexes"), [(merovia.BINS[:1], ()), ((), merovia.SEXES)], ids=["age alone", "sex alone"]
)
def test_without_sex_or_without_age(
    spark_session: Any, tmp_path: Path, bins: Sequence[Sequence[int]], sexes: Sequence[str]
) -> None:
    folder = merovia.write(tmp_path, bins, sexes)
    one = UnderContract("spark", spark_session).tabulate(folder / "params", folder / "data", tmp_path / "spark")
    assert_same_release(one, DUCKDB.tabulate(folder / "params", folder / "data", tmp_path / "duckdb"))


def check(world: CensusWorld, spark: UnderContract, *, parquet: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = world.write(Path(name), parquet=parquet)
        one = spark.tabulate(folder / "params", folder / "data", folder / "spark")
        assert_same_release(one, DUCKDB.tabulate(folder / "params", folder / "data", folder / "duckdb"))
        for run in ("us", "pr"):
            t1, t2 = world.expected(run)
            assert read_t1(one / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
            assert read_t2(one / "t2" / f"{run}.NOT-PRIVATE.csv") == t2


@IN_SPARK
@profile.examples("random worlds compared with the oracle, with Spark", quick=1, long=15)
@given(world=census_worlds(most_levels=5), parquet=st.sampled_from([True, False]))
def test_random_worlds(spark_session: Any, world: CensusWorld, parquet: bool) -> None:
    check(world, UnderContract("spark", spark_session), parquet=parquet)


@pytest.mark.long
@pytest.mark.parametrize("form", list(Format), ids=lambda form: form.value)
def test_a_million_persons(census_2020: Path, tmp_path: Path, form: Format) -> None:
    """The Bureau's production parameters, from a shell, in a session of our own with everything a real run has."""
    make_country(Country(SHAPES["state"].with_persons(1_000_000), 2020, form, census_2020), tmp_path / "country")
    params, data = tmp_path / "country" / "params", tmp_path / "country" / "data"
    words = ["tabulate", str(params), str(data), str(tmp_path / "spark"), "--engine", "spark"]
    words += ["--noise", "off", "--not-private"]
    subprocess.run([sys.executable, "-m", "safetab", *words], check=True, stderr=subprocess.DEVNULL)
    assert_same_release(DUCKDB.tabulate(params, data, tmp_path / "duckdb"), tmp_path / "spark")
