"""Columns made without pandas are those that pyarrow makes, and no work on a release imports pandas for nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from safetab.files import arrow

ROOT = Path(__file__).parents[3]
DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.float64, np.bool_]
#: Work on a release, in a process of its own.
SCRIPT = """
import sys, safetab
from safetab.cli.main import main
params, data, out = sys.argv[1:]
assert main(["check", params, data]) == 0
assert main(["tabulate", params, data, out]) == 0
opened = safetab.open(out)
opened.find("high")
opened.totals(["A01"], ["PROVINCE/Ar"])
opened.total("A01", regions=["PROVINCE/Ar", "PROVINCE/Co"])
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_those_of_pyarrow(dtype: npt.DTypeLike) -> None:
    values = (np.arange(19) % 3).astype(dtype)
    missing = np.arange(19) % 5 == 2
    for some in (values, values[::2], values[3:11], values[:0]):
        column = arrow.numbers(some)
        assert column.equals(pa.array(some))
        column.validate(full=True)
        assert np.array_equal(arrow.values(column), some)
        assert arrow.values(column).dtype == some.dtype
    column = arrow.numbers(values, missing)
    column.validate(full=True)
    assert column.equals(pa.array(values, mask=missing))
    assert arrow.numbers(values, np.zeros(19, dtype=np.bool_)).null_count == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_pieces_come_in_order(dtype: npt.DTypeLike) -> None:
    values = (np.arange(40) % 7).astype(dtype)
    column = pa.chunked_array([pa.array(values[:11]), pa.array(values[11:11]), pa.array(values[11:])])
    for some in (column, column.slice(5, 20), column.slice(12), column.slice(40), column.slice(0, 3)):
        assert np.array_equal(arrow.values(some), some.to_numpy())
        assert arrow.values(some).dtype == values.dtype
    assert arrow.values(pa.chunked_array([], pa.int16())).dtype == np.int16


@pytest.mark.parametrize("most", [0, 3, 1_000])
def test_rows_that_are_wanted_keep_their_order(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(arrow, "_MOST_PLACES", most)
    table = pa.table({"row": pa.chunked_array([list(range(7)), [], list(range(7, 23))], pa.int64())})
    rows = np.arange(23)
    for wanted in (rows < 0, rows >= 0, rows < 9, rows > 20, (rows > 3) & (rows < 12), rows % 3 == 1):
        found = arrow.rows_where(table, wanted)
        assert found["row"].to_pylist() == rows[wanted].tolist()
        assert found.schema == table.schema


def test_values_that_are_missing_are_not_made_up() -> None:
    with pytest.raises(ValueError, match="nulls"):
        arrow.values(pa.array([1, None]))


def test_texts_are_those_of_pyarrow() -> None:
    for some in (["Waikato", "", None, "Åland", "北"], ["a", "b"], [None], []):
        column = arrow.texts(some)
        column.validate(full=True)
        assert column.equals(pa.array(some, pa.string()))


def test_known_numbers_are_those_of_pyarrow() -> None:
    assert arrow.known_numbers([1.5, None, 0.0], np.float64).equals(pa.array([1.5, None, 0.0]))
    assert arrow.known_numbers([3, None], np.int32).equals(pa.array([3, None], pa.int32()))
    assert arrow.known_numbers([], np.int64).equals(pa.array([], pa.int64()))


def test_scalars_are_those_of_pyarrow() -> None:
    assert arrow.text("|").equals(pa.scalar("|"))
    assert arrow.text(None).equals(pa.scalar(None, pa.string()))
    assert arrow.number(-1, np.int32).equals(pa.scalar(-1, pa.int32()))


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed: it cannot be imported by mistake")
    merovia, data = ROOT / "examples" / "merovia", tmp_path / "data"
    data.mkdir()
    # Parquet and text are read on other ways; the group definitions are text.
    for file in (merovia / "data").glob("*.txt"):
        text = f"read_csv('{file}', delim = '|', quote = '', all_varchar = true)"
        duckdb.execute(f"COPY (FROM {text}) TO '{data / file.with_suffix('.parquet').name}'")
    words = [sys.executable, "-c", SCRIPT, str(merovia / "params"), str(data), str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "False"
