"""Columns may have any names, also those that the engines give to columns of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab.errors import InputError
from tests import profile
from tests.contract.conftest import IN_SPARK, UnderContract
from tests.worlds.random_release import RandomRelease

#: Names of tables and columns that the engines use themselves, and words of SQL.
WORDS = (
    *("block_set", "key", "n", "sex", "atom", "age", "kind", "code_set", "ethnicity", "faults", "place", "position"),
    *("b0", "b1", "k0", "c0", "i0", "s", "people", "records", "raw", "blocks", "kinds", "judged", "placed", "alike"),
    *("cell", "iteration", "iterations", "part_of_row", "row_in_part", "file", "line", "region", "count", "value"),
    *("part", "folders", "inside", "filename", "file_row_number", "numbered", "faulty", "f0", "v0"),
    *("select", "from", "null", "group"),
)
#: Which word comes first when the words are dealt out to the columns. The long profile gives DuckDB every word in every
#: column.
DEALS = {
    "duckdb": range(0, len(WORDS), profile.size(quick=8, long=1)),
    "spark": range(0, len(WORDS), profile.size(quick=len(WORDS), long=2)),
}
CASES = [pytest.param(name, first, marks=[IN_SPARK] * (name == "spark")) for name in DEALS for first in DEALS[name]]
PLAIN = ("PLOT", "HOUSE", "DISTRICT", "YEARS", "GENDER", "FIRST", "SECOND", "TONGUE")


def release_of(names: tuple[str, ...]) -> RandomRelease:
    """Six people in three blocks of two districts, in columns of these names."""
    plot, house, district, age, sex, first, second, tongue = names
    level = {"run": "one", "iteration_level": 1, "budget": 1, "thresholds": [0, 1, 2]}
    document: dict[str, Any] = {
        "safetab": 1,
        "privacy": "zcdp",
        "max_race_codes": 2,
        "stage_1_fraction": "0.5",
        "ages": {"oldest": 90, "bins": [[0], [0, 18], [0, 18, 65]]},
        "columns": {
            "block": [plot, house],
            "age": age,
            "sex": sex,
            "sexes": ["m", "f"],
            "race_codes": [first, second],
            "no_code": "none",
            "ethnicity": tongue,
        },
        "geography": {"ALL": {"region_id": "1"}, "DISTRICT": {"columns": [district]}, "PLOT": {"columns": [plot]}},
        "run": [{"name": "one", "where": {plot: ["1", "2"]}}],
        "level": [level | {"geography": name} for name in ("ALL", "DISTRICT", "PLOT")],
    }
    of_race = ["ITERATION_CODE", "ITERATION_NAME", "LEVEL", "ALONE", "DETAILED_ONLY", "COARSE_ONLY"]
    of_tongue = [name for name in of_race if name != "ALONE"]
    flags = ["False", "False"]
    tables = {
        "params/race-and-ethnicity-codes": [["RACE_ETH_CODE", "RACE_ETH_NAME"], *([c, c] for c in "abc")],
        "params/race-characteristic-iterations": [
            of_race,
            ["1", "A alone", "1", "True", *flags],
            ["2", "B in combination", "1", "False", *flags],
        ],
        "params/ethnicity-characteristic-iterations": [of_tongue, ["3", "C", "1", *flags]],
        "params/race-and-ethnicity-code-to-iteration": [
            ["ITERATION_CODE", "RACE_ETH_CODE"],
            *(["1", "a"], ["2", "b"], ["3", "c"]),
        ],
        "data/GRF-C": [[plot, house, district], ["1", "1", "x"], ["1", "2", "x"], ["2", "1", "y"]],
        "data/person-records": [
            [plot, house, age, sex, first, second, tongue],
            *(["1", "1", "30", "m", "a", "none", "c"], ["1", "2", "70", "f", "a", "b", "a"]),
            *(["2", "1", "5", "f", "b", "none", "c"], ["2", "1", "5", "m", "b", "c", "b"]),
            *(["2", "1", "40", "f", "a", "none", "a"], ["1", "1", "90", "f", "a", "none", "c"]),
        ],
    }
    return RandomRelease(document, tables, is_parquet=False)


def with_faults(names: tuple[str, ...]) -> RandomRelease:
    """The same people: one in a plot that nobody knows, one aged 500, one whose second code is not in the list."""
    release = release_of(names)
    header, *rows = map(list, release.tables["data/person-records"])
    rows[1][1], rows[2][2], rows[4][5] = "9", "500", "d"
    return replace(release, tables={**release.tables, "data/person-records": [header, *rows]})


def put_in_parts(release: RandomRelease, folder: Path, in_folders: str) -> None:
    """Each record of a written release in a part of its own, one column in the names of folders."""
    (folder / "data" / "person-records.txt").unlink()
    header, *rows = release.tables["data/person-records"]
    place = header.index(in_folders)
    for number, row in enumerate(rows):
        part = folder / "data" / "person-records" / f"{in_folders}={row[place]}" / f"{number}.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        inside = {name: [value] for name, value in zip(header, row, strict=True) if name != in_folders}
        pq.write_table(pa.table(inside), part)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same release with names that mean nothing to an engine."""
    folder = tmp_path_factory.mktemp("plain")
    release_of(PLAIN).write(folder)
    return UnderContract("duckdb", None).tabulate(folder / "params", folder / "data", folder / "out")


def assert_same_tables(out: Path, expected: Path) -> None:
    for table in ("t1", "t2"):
        (published,), (found,) = ([*(folder / table).glob("*.csv")] for folder in (expected, out))
        assert len(published.read_text().splitlines()) > 3
        assert found.read_text() == published.read_text()


@pytest.mark.parametrize(("contracted", "first"), CASES, indirect=["contracted"])
def test_names_of_columns_change_nothing(contracted: UnderContract, first: int, plain: Path, tmp_path: Path) -> None:
    dealt = tuple((WORDS[first:] + WORDS)[: len(PLAIN)])
    release_of(dealt).write(tmp_path)
    out = contracted.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert_same_tables(out, plain)


@pytest.mark.parametrize("first", DEALS["duckdb"])
@pytest.mark.parametrize("is_parquet", [False, True])
def test_names_of_columns_do_not_hide_faults(first: int, is_parquet: bool, tmp_path: Path) -> None:
    """Each fault with its column and its place, in text and in parts with a column in the names of folders."""
    dealt = tuple((WORDS[first:] + WORDS)[: len(PLAIN)])
    release = with_faults(dealt)
    release.write(tmp_path)
    plot, house, _, age, sex, _, second, _ = dealt
    places: list[tuple[str, tuple[int, ...]]] = [("person-records.txt", (line,)) for line in (3, 4, 6)]
    if is_parquet:
        put_in_parts(release, tmp_path, in_folders=sex)
        places = [(f"{sex}=f/{number}.parquet", (1,)) for number in (1, 2, 4)]
    with pytest.raises(InputError) as caught:
        UnderContract("duckdb", None).tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    found = [(finding.rule.code, finding.key, (finding.file, finding.lines)) for finding in caught.value.findings]
    wanted = [("RECORDS-001", f"{plot} + {house}"), ("RECORDS-002", age), ("RECORDS-004", second)]
    assert found == [(*fault, place) for fault, place in zip(wanted, places, strict=True)]


@pytest.mark.parametrize("first", DEALS["duckdb"])
def test_names_of_columns_in_the_names_of_folders(first: int, plain: Path, tmp_path: Path) -> None:
    dealt = tuple((WORDS[first:] + WORDS)[: len(PLAIN)])
    release = release_of(dealt)
    release.write(tmp_path)
    put_in_parts(release, tmp_path, in_folders=dealt[0])
    out = UnderContract("duckdb", None).tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert_same_tables(out, plain)
