"""An evaluation: each of its trials is a tabulation, and its figures are what a person computes from such releases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from safetab.engines import workers
from safetab.engines.protocol import Records
from safetab.noise.source import SeededSourceNotPrivate
from safetab.pipeline import counted_once, inputs
from safetab.pipeline import evaluate as evaluation
from safetab.pipeline.evaluate import Evaluation, evaluate
from tests.worlds import readable

SEED, TRIALS = 40, 4
KEYS = ["REGION_TYPE", "REGION_ID", "ITERATION_CODE"]
SIZES = ((0, 0), (1, 9), (10, 29), (30, 99), (100, 299), (300, 999), (1000, 2999))


class ByHand:
    """The same trials as releases on disk, and the truth."""

    def __init__(self, folder: Path) -> None:
        self.folder = readable.write(folder, allow_negative_counts=False)
        self.found: Evaluation = evaluate(
            folder / "params",
            folder / "data",
            trials=TRIALS,
            source_of_trial=lambda trial: SeededSourceNotPrivate(SEED + trial),
        )
        self.rows = self.found.figures.to_pylist()
        self.t1 = [self.table(readable.tabulated(folder, SEED + trial), "t1") for trial in range(TRIALS)]
        self.t2 = [self.table(folder / f"out-{SEED + trial}", "t2") for trial in range(TRIALS)]
        people = pd.read_csv(folder / "data" / "person-records.txt", sep="|", dtype=str)
        self.people = people.assign(AGE=people["QAGE"].astype(int))
        self._known: dict[tuple[str, str, str], pd.DataFrame] = {}

    def table(self, out: Path, name: str) -> pd.DataFrame:
        rows = pd.concat(pq.read_table(file).to_pandas() for file in sorted((out / "parquet" / name).glob("*.parquet")))
        return rows.reset_index(drop=True)

    def members(self, kind: str, region: str, code: str) -> pd.DataFrame:
        """The people of a group."""
        key = kind, region, code
        if key not in self._known:
            self._known[key] = self._members(*key)
        return self._known[key]

    def _members(self, kind: str, region: str, code: str) -> pd.DataFrame:
        """The people of a group, read from the records by eye of this world's definitions."""
        people = self.people
        tract = people["TABBLKST"] + people["TABBLKCOU"] + people["TABTRACTCE"]
        if kind == "PLACE":
            people = people[tract.isin(readable.IN_PLACE)]
        elif kind != "USA":
            people = people[tract.str.startswith(region)]
        chosen: Mapping[str, pd.Series[bool]] = {
            "2001": (people["QRACE1"] == "1010") & (people["QRACE2"] == "Null"),
            "2002": people["QRACE1"] == "1010",
            "4001": people["QSPAN"] == "2000",
        }
        return people[chosen[code]] if code in chosen else people.iloc[:0]

    def true_total(self, key: tuple[str, str, str]) -> int:
        return len(self.members(*key))

    def figure(self, kind: str, geography: str, size: tuple[int, int] | None = None) -> dict[str, Any]:
        found: list[dict[str, Any]] = [
            row
            for row in self.rows
            if row["KIND"] == kind
            and row["GEOGRAPHY"] == geography
            and row["SIZE_FROM"] == (None if size is None else size[0])
        ]
        assert len(found) == 1
        return found[0]


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> ByHand:
    return ByHand(tmp_path_factory.mktemp("evaluate"))


def judge_errors(found: Mapping[str, Any], rows: pd.DataFrame, true: pd.Series[int]) -> None:
    for column in ("COUNT", "ESTIMATE"):
        error = rows[column] - true
        assert found[f"{column}_BIAS"] == pytest.approx(error.mean())
        assert found[f"{column}_MAE"] == pytest.approx(error.abs().mean())
        assert found[f"{column}_RMSE"] == pytest.approx(math.sqrt((error**2).mean()))
    assert found["COVERAGE"] == pytest.approx(((rows["LOW_95"] <= true) & (true <= rows["HIGH_95"])).mean())


@pytest.mark.parametrize("geography", ["USA", "STATE", "COUNTY", "TRACT", "PLACE"])
def test_errors_of_totals_are_those_of_the_releases(by_hand: ByHand, geography: str) -> None:
    rows = pd.concat(by_hand.t1)
    rows = rows[rows["REGION_TYPE"] == geography]
    true = pd.Series([by_hand.true_total(key) for key in rows[KEYS].itertuples(index=False, name=None)], rows.index)
    found = by_hand.figure("T1", geography)
    assert found["ROWS"] * TRIALS == pytest.approx(len(rows))
    judge_errors(found, rows, true)
    sizes = [size for size in SIZES if ((size[0] <= true) & (true <= size[1])).any()]
    assert sizes
    for size in sizes:
        is_in = (size[0] <= true) & (true <= size[1])
        found = by_hand.figure("T1", geography, size)
        assert found["SIZE_TO"] == size[1]
        judge_errors(found, rows[is_in.to_numpy()], true[is_in])


def test_the_error_of_coverage_is_that_of_trials(by_hand: ByHand) -> None:
    counts = []
    for rows in by_hand.t1:
        of_level = rows[rows["REGION_TYPE"] == "TRACT"]
        true = [by_hand.true_total(key) for key in of_level[KEYS].itertuples(index=False, name=None)]
        counts.append((len(of_level), ((of_level["LOW_95"] <= true) & (true <= of_level["HIGH_95"])).sum()))
    share = sum(covered for _, covered in counts) / sum(rows for rows, _ in counts)
    spread = sum((covered - share * rows) ** 2 for rows, covered in counts) * TRIALS / (TRIALS - 1)
    error = by_hand.figure("T1", "TRACT")["COVERAGE_ERROR"]
    assert error == pytest.approx(math.sqrt(spread) / sum(rows for rows, _ in counts))


@pytest.mark.parametrize(("geography", "digits"), [("COUNTY", 5), ("TRACT", 11)])
def test_detail_and_how_often_it_changes(by_hand: ByHand, geography: str, digits: int) -> None:
    """Of every group, including those that no trial published."""
    codes = sorted(set(pd.concat(by_hand.t1)["ITERATION_CODE"]))
    regions = sorted({tract[:digits] for tract in readable.ALPINE})
    found = by_hand.figure("T1", geography)
    groups = found["GROUPS"]
    assert groups % len(regions) == 0
    trials = [
        {
            (row.REGION_ID, row.ITERATION_CODE): row.STAT_LEVEL
            for row in rows[rows["REGION_TYPE"] == geography].itertuples()
        }
        for rows in by_hand.t1
    ]
    keys = [(region, code) for region in regions for code in codes]
    for level in range(4):
        times = sum(trial.get(key) == level for key in keys for trial in trials)
        assert found[f"STAT_LEVEL_{level}"] == pytest.approx(times / groups / TRIALS)
    published = sum(len(trial) for trial in trials)
    assert found["NOT_PUBLISHED"] == pytest.approx(1 - published / groups / TRIALS)
    pairs = list(combinations(trials, 2))
    changes = sum(one.get(key) != other.get(key) for key in keys for one, other in pairs)
    assert found["CHANGES"] == pytest.approx(changes / len(pairs) / groups)
    assert changes > 0 or geography == "COUNTY"


def test_errors_of_tables_are_those_of_the_releases(by_hand: ByHand) -> None:
    rows = pd.concat(by_hand.t2)
    rows = rows[rows["REGION_TYPE"] == "STATE"]
    true = []
    for row in rows.itertuples():
        people = by_hand.members("STATE", row.REGION_ID, row.ITERATION_CODE)
        first, last = (0, 115) if row.AGESTART == "*" else (int(row.AGESTART), int(row.AGEEND))
        true.append(((people["QSEX"] == row.SEX) & people["AGE"].between(first, last)).sum())
    found = by_hand.figure("T2", "STATE")
    assert found["ROWS"] * TRIALS == pytest.approx(len(rows))
    assert set(rows["STAT_LEVEL"]) >= {1, 3}
    judge_errors(found, rows, pd.Series(true, rows.index))


def test_sums_over_counties_against_the_state(by_hand: ByHand) -> None:
    states, codes = ("01", "02"), ("2001", "2002", "4001")
    errors: dict[str, list[float]] = {"COUNT": [], "ESTIMATE": []}
    own: dict[str, list[float]] = {"COUNT": [], "ESTIMATE": []}
    for rows in by_hand.t1:
        for state in states:
            for code in codes:
                true = by_hand.true_total(("STATE", state, code))
                is_code = rows["ITERATION_CODE"] == code
                inside = rows[(rows["REGION_TYPE"] == "COUNTY") & rows["REGION_ID"].str.startswith(state) & is_code]
                whole = rows[(rows["REGION_TYPE"] == "STATE") & (rows["REGION_ID"] == state) & is_code]
                for column in errors:
                    errors[column].append(inside[column].sum() - true)
                    own[column].append(whole[column].sum() - true)
    (found,) = [row for row in by_hand.rows if row["KIND"] == "sums" and row["GEOGRAPHY"] == "STATE"]
    assert found["SUM_OVER"] == "COUNTY"
    for column, values in errors.items():
        error = pd.Series(values)
        assert found["GROUPS"] * TRIALS == len(error)
        assert found[f"{column}_BIAS"] == pytest.approx(error.mean())
        assert found[f"{column}_MAE"] == pytest.approx(error.abs().mean())
        assert found[f"{column}_RMSE"] == pytest.approx(math.sqrt((error**2).mean()))
        assert found[f"OWN_{column}_RMSE"] == pytest.approx(math.sqrt((pd.Series(own[column]) ** 2).mean()))


def test_the_records_are_counted_once(by_hand: ByHand, monkeypatch: pytest.MonkeyPatch) -> None:
    """With twice as many trials no question more is put to the engine, unless a group gets an unlikely table."""
    asked: list[str] = []
    real = inputs.open_records

    class Listening:
        def __init__(self, records: Records) -> None:
            self._records = records

        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(self._records, name)

    def listening(*words: Any, **options: Any) -> dict[str, Any]:
        return {run: Listening(records) for run, records in real(*words, **options).items()}

    monkeypatch.setattr(evaluation, "open_records", listening)
    numbers = []
    for trials in (4, 8):
        asked.clear()
        sources = {trial: SeededSourceNotPrivate(SEED) for trial in range(trials)}
        evaluate(by_hand.folder / "params", by_hand.folder / "data", trials=trials, source_of_trial=sources.__getitem__)
        numbers.append((asked.count("totals"), asked.count("cells")))
    assert numbers[0] == numbers[1]
    assert numbers[0][0] == 6, "one for each level"


def test_trials_at_the_same_time_give_the_same_figures(by_hand: ByHand, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group may get its table in one trial while another trial counts it."""
    monkeypatch.setattr(counted_once, "_UNLIKELY", Fraction(1, 2))
    found = []
    for cores in (1, 4):
        monkeypatch.setattr(workers, "usable_cores", lambda cores=cores: cores)
        sources = {trial: SeededSourceNotPrivate(SEED + trial) for trial in range(12)}
        evaluated = evaluate(
            by_hand.folder / "params", by_hand.folder / "data", trials=12, source_of_trial=sources.__getitem__
        )
        found.append(evaluated.figures)
    assert found[0].equals(found[1])


def test_without_noise_there_is_no_error(by_hand: ByHand) -> None:
    found = evaluate(by_hand.folder / "params", by_hand.folder / "data", trials=1, source_of_trial=lambda _trial: None)
    assert not found.has_noise
    for row in found.figures.to_pylist():
        if row["KIND"] != "sums" and row["ROWS"]:
            assert row["COUNT_RMSE"] == row["ESTIMATE_RMSE"] == 0
            assert row["COVERAGE"] == 1
            assert row["COVERAGE_ERROR"] is None
            assert row["CHANGES"] is None
    assert "NOT PRIVATE" in repr(found)
