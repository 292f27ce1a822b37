"""Forgeries with fresh hashes: what does not follow from the rest of a release is found, by the rule that it breaks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import safetab
from tests.worlds import readable, seals

Row = dict[str, Any]
Rows = list[Row]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases with Gaussian and geometric noise, with negative counts set to 0, and without noise."""
    folder = tmp_path_factory.mktemp("forgeries")
    for name, choices in WORLDS.items():
        readable.write(folder / name, **choices)
        readable.tabulated(folder / name, 5)
    readable.tabulated(folder / "usual", None)
    return folder


WORLDS: dict[str, dict[str, object]] = {
    "usual": {},
    "geometric": {"privacy_defn": "puredp"},
    "clipped": {"allow_negative_counts": False},
}


def copy(world: Path, tmp_path: Path, name: str, seed: int | None = 5) -> Path:
    return Path(shutil.copytree(world / name / f"out-{seed}", tmp_path / "out"))


def codes(out: Path, **options: Path) -> list[str]:
    return sorted({finding.rule.code for finding in safetab.verify(out, **options).findings})


@pytest.mark.parametrize(("name", "seed"), [*((name, 5) for name in WORLDS), ("usual", None)])
def test_fresh_hashes_alone_are_no_fault(world: Path, tmp_path: Path, name: str, seed: int | None) -> None:
    out = copy(world, tmp_path, name, seed)
    seals.change_ledger(out, len)
    seals.change_table(out, "t1", len)
    assert not codes(out, params=world / name / "params")


def find(rows: Rows, **wanted: object) -> Row:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def add(column: str, number: int, **wanted: object) -> Callable[[Rows], object]:
    def change(rows: Rows) -> None:
        row = find(rows, **wanted)
        row[column] += number

    return change


def put(column: str, value: object, **wanted: object) -> Callable[[Rows], object]:
    return lambda rows: find(rows, **wanted).update({column: value})


def _swap(rows: Rows) -> None:
    rows[0], rows[1] = rows[1], rows[0]


def _move_people(rows: Rows) -> None:
    """From one age to another of the same sex: totals and marginals stay."""
    cells = [row for row in rows if row["AGESTART"] != "*" and row["SEX"] == rows[0]["SEX"]]
    cells[0]["COUNT"] += 9
    cells[1]["COUNT"] -= 9


TABLE, TOTAL = {"STAT_LEVEL": 3}, {"STAT_LEVEL": 0}
T1: dict[str, tuple[Callable[[Rows], object], str]] = {
    "a total of its own": (add("COUNT", 9, **TOTAL), "VERIFY-019"),
    "a total that is not the sum of its cells": (add("COUNT", 1, **TABLE), "VERIFY-017"),
    "an estimate": (add("ESTIMATE", 1, **TOTAL), "VERIFY-019"),
    "an estimate of a sum": (add("ESTIMATE", 1, **TABLE), "VERIFY-019"),
    "a lower end": (add("LOW_95", 1, **TABLE), "VERIFY-019"),
    "an upper end": (add("HIGH_95", -1, **TABLE), "VERIFY-019"),
    "a stage 1 count": (add("STAGE_1_COUNT", 40, **TABLE), "VERIFY-019"),
    "a stage 1 count below its threshold": (put("STAGE_1_COUNT", 599, **TABLE), "VERIFY-015"),
    "no stage 1 count": (put("STAGE_1_COUNT", None, **TABLE), "VERIFY-015"),
    "a stage 1 count of a group without stage 1": (
        put("STAGE_1_COUNT", 5, ITERATION_CODE="2003", REGION_TYPE="STATE"),
        "VERIFY-015",
    ),
    "another stat level": (put("STAT_LEVEL", 2, **TABLE), "VERIFY-015"),
    "a smaller margin": (add("MOE_95", -1, **TABLE), "VERIFY-018"),
    "a margin where none is true": (put("MOE_95", 3, STAT_LEVEL=0, REGION_TYPE="COUNTY"), "VERIFY-018"),
    "a smaller variance": (put("VARIANCE", 1.0, **TABLE), "VERIFY-018"),
    "another noise": (put("NOISE", "none", **TABLE), "VERIFY-018"),
    "a row left out": (lambda rows: rows.remove(find(rows, REGION_TYPE="STATE", STAT_LEVEL=0)), "VERIFY-014"),
    "a row that suppression took": (
        lambda rows: rows.remove(find(rows, REGION_TYPE="TRACT", STAT_LEVEL=0)),
        "VERIFY-012",
    ),
    "a row that suppression would take": (put("COUNT", 1, REGION_TYPE="TRACT", STAT_LEVEL=0), "VERIFY-015"),
    "a row twice": (lambda rows: rows.insert(0, dict(rows[0])), "VERIFY-014"),
    "rows in another order": (_swap, "VERIFY-014"),
    "a group that is not in the release": (put("ITERATION_CODE", "9999", **TOTAL), "VERIFY-014"),
    "a group of another level": (put("ITERATION_CODE", "1001", **TOTAL), "VERIFY-014"),
    "a region that is not in the release": (put("REGION_ID", "99", **TOTAL), "VERIFY-014"),
}
T2: dict[str, tuple[Callable[[Rows], object], str]] = {
    "a cell": (add("COUNT", 1, AGESTART="0"), "VERIFY-017"),
    "a sex marginal": (add("COUNT", 1, AGESTART="*"), "VERIFY-017"),
    "people of another age": (_move_people, "VERIFY-019"),
    "an estimate": (add("ESTIMATE", 1, AGESTART="*"), "VERIFY-019"),
    "a lower end": (add("LOW_95", 1, AGESTART="*"), "VERIFY-019"),
    "an upper end": (add("HIGH_95", -1, AGESTART="0"), "VERIFY-019"),
    "a smaller margin": (add("MOE_95", -1, AGESTART="0"), "VERIFY-018"),
    "another age": (put("AGEEND", "18", AGESTART="0"), "VERIFY-016"),
    "another sex": (put("SEX", "2", AGESTART="0", SEX="1"), "VERIFY-016"),
    "a cell left out": (lambda rows: rows.pop(), "VERIFY-016"),
    "a table left out": (lambda rows: rows.clear(), "VERIFY-016"),
    "another group": (put("ITERATION_CODE", "4001", ITERATION_CODE="2001"), "VERIFY-016"),
}


@pytest.mark.parametrize("name", T1)
def test_changes_of_t1(world: Path, tmp_path: Path, name: str) -> None:
    change, code = T1[name]
    out = copy(world, tmp_path, "usual")
    seals.change_table(out, "t1", change)
    assert code in codes(out)


@pytest.mark.parametrize("name", T2)
def test_changes_of_t2(world: Path, tmp_path: Path, name: str) -> None:
    change, code = T2[name]
    out = copy(world, tmp_path, "usual")
    seals.change_table(out, "t2", change)
    assert code in codes(out)


def test_the_ledger_must_have_the_number_of_rows(world: Path, tmp_path: Path) -> None:
    out = copy(world, tmp_path, "usual")
    seals.change_table(out, "t2", lambda rows: rows.pop(), with_rows=False)
    assert "VERIFY-012" in codes(out)


def test_text_must_say_what_parquet_says(world: Path, tmp_path: Path) -> None:
    out = copy(world, tmp_path, "usual")
    file = out / "t1" / "us.NOT-PRIVATE.csv"
    text = file.read_text()
    head, first, *rest = text.splitlines(keepends=True)
    for changed in (head + "9" + first + "".join(rest), head + first, text + first):
        file.write_text(changed)
        seals.reseal(out)
        assert codes(out) == ["VERIFY-013"]
    file.write_text(text.replace("COUNT", "PEOPLE", 1))
    seals.reseal(out)
    assert codes(out) == ["VERIFY-011"]


def _level(change: Callable[[Row], object]) -> Callable[[Row], object]:
    return lambda ledger: change(ledger["runs"][0]["levels"][0])


def _stage(change: Callable[[Row], object]) -> Callable[[Row], object]:
    return _level(lambda level: change(level["measurements"][-1]))


LEDGER: dict[str, tuple[Callable[[Row], object], str]] = {
    "a budget of a level": (_level(lambda level: level.update(budget="3")), "VERIFY-010"),
    "a stability": (_level(lambda level: level.update(stability=level["stability"] - 1)), "VERIFY-010"),
    "a number of groups": (_level(lambda level: level.update(groups=1)), "VERIFY-010"),
    "a noise scale": (_stage(lambda stage: stage.update(sigma_squared="9")), "VERIFY-010"),
    "a budget of a count": (_stage(lambda stage: stage.update(budget_of_one_count="1/100")), "VERIFY-010"),
    "a mechanism": (_stage(lambda stage: stage.update(mechanism="geometric", scale="3")), "VERIFY-010"),
    "a stage": (_level(lambda level: level["measurements"].pop()), "VERIFY-010"),
    "a number of counts": (_stage(lambda stage: stage.update(counts=stage["counts"] + 1)), "VERIFY-010"),
    "a total budget": (lambda ledger: ledger.update(total_budget="1"), "VERIFY-010"),
    "a budget of a run": (lambda ledger: ledger["runs"][0].update(budget="1"), "VERIFY-010"),
    "an epsilon": (lambda ledger: ledger["analyses"].update(epsilon=1.5), "VERIFY-010"),
    "an epsilon of one analysis": (
        lambda ledger: ledger["analyses"].update(epsilon_renyi=1.5, epsilon=1.5),
        "VERIFY-010",
    ),
    "an epsilon of a run": (lambda ledger: ledger["runs"][0]["analyses"].update(epsilon_renyi=1.5), "VERIFY-010"),
    "a rho": (lambda ledger: ledger["analyses"].update(rho="1"), "VERIFY-010"),
    "a stage 1 fraction": (lambda ledger: ledger.update(stage_1_fraction="0.2"), "VERIFY-010"),
    "the kind of privacy": (lambda ledger: ledger.update(privacy="puredp"), "VERIFY-010"),
    "that it is private": (lambda ledger: ledger.update(is_private=True, warning=None), "VERIFY-002"),
    "a warning": (lambda ledger: ledger.update(warning=None), "VERIFY-010"),
    "that there is no noise": (lambda ledger: ledger.update(has_noise=False), "VERIFY-018"),
    "thresholds": (_level(lambda level: level.update(thresholds=[1, 2, 3])), "VERIFY-015"),
    "thresholds out of order": (_level(lambda level: level.update(thresholds=[3, 2, 1])), "VERIFY-010"),
    "suppressed rows": (lambda ledger: ledger["runs"][0].update(suppressed_rows=0), "VERIFY-012"),
    "a run left out": (lambda ledger: ledger["runs"].pop(), "VERIFY-003"),
    "no runs at all": (lambda ledger: ledger.update(runs=None), "VERIFY-006"),
}


@pytest.mark.parametrize("name", LEDGER)
def test_changes_of_the_ledger(world: Path, tmp_path: Path, name: str) -> None:
    change, code = LEDGER[name]
    out = copy(world, tmp_path, "usual")
    seals.change_ledger(out, change)
    assert code in codes(out)


def _of_level(change: Callable[[Row], object]) -> Callable[[Row], object]:
    return lambda ledger: change(ledger["runs"][0]["levels"][2])


#: Choices of the release, which OUT repeats and cannot prove.
CHOSEN: dict[str, Callable[[Row], object]] = {
    "the title": lambda ledger: ledger.update(title="another"),
    "the stage 1 fraction": lambda ledger: ledger.update(stage_1_fraction="0.2"),
    "a level left out": lambda ledger: ledger["runs"][0]["levels"].pop(),
    "a run left out": lambda ledger: ledger["runs"].pop(),
    "whether a level is local": _of_level(lambda level: level.update(is_local=False)),
    "what is suppressed": _of_level(lambda level: level["measurements"][-1].update(suppressed_up_to=1)),
    "thresholds": _of_level(lambda level: level.update(thresholds=[100, 300, 601])),
    "a budget": _of_level(lambda level: level.update(budget="2")),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_the_release_chose_is_compared_with_its_parameters(world: Path, tmp_path: Path, name: str) -> None:
    out = copy(world, tmp_path, "usual")
    seals.change_ledger(out, CHOSEN[name])
    assert codes(out, params=world / "usual" / "params") == ["VERIFY-030"]


DICTIONARY: dict[str, Callable[[Row], object]] = {
    "a column": lambda words: words["t1"]["columns"].pop(),
    "a type": lambda words: words["t2"]["columns"][0].update(type="int64"),
    "what the text files have": lambda words: words["t1"]["columns"][-1].update(in_text_file=True),
    "a group": lambda words: words["groups"].pop("4001"),
    "the most race codes": lambda words: words.update(max_race_codes=1),
    "the sexes": lambda words: words.update(sexes=["1"]),
    "their order": lambda words: words.update(sexes=["2", "1"]),
    "the age bins": lambda words: words["age_starts"].update({"1": [0, 18, 45, 64]}),
    "the oldest age": lambda words: words.update(oldest_age=100),
    "what tables are by": lambda words: words.update(detail="age"),
    "a region": lambda words: words.update(regions={"STATE": {"99": "Nowhere"}}),
    "everything": lambda words: words.clear(),
}


@pytest.mark.parametrize("name", DICTIONARY)
def test_changes_of_the_dictionary(world: Path, tmp_path: Path, name: str) -> None:
    out = copy(world, tmp_path, "usual")
    seals.change_dictionary(out, DICTIONARY[name])
    assert codes(out)


#: What OUT alone cannot prove.
FROM_PARAMETERS: dict[str, Callable[[Row], object]] = {
    "the codes of a group": lambda words: words["groups"]["2001"]["codes"].append("1020"),
    "the name of a group": lambda words: words["iterations"].update({"2001": "Baltic alone"}),
}


@pytest.mark.parametrize("name", FROM_PARAMETERS)
def test_groups_are_compared_with_the_parameters(world: Path, tmp_path: Path, name: str) -> None:
    out = copy(world, tmp_path, "usual")
    seals.change_dictionary(out, FROM_PARAMETERS[name])
    assert codes(out, params=world / "usual" / "params") == ["VERIFY-030"]


@pytest.mark.parametrize("name", ["geometric", "clipped"])
def test_other_noise_and_counts_set_to_0(world: Path, tmp_path: Path, name: str) -> None:
    """An estimate may not be larger than the counts allow, whatever was drawn below 0."""
    for table, wanted in (("t1", TABLE), ("t1", TOTAL), ("t2", {"AGESTART": "*"}), ("t2", {"AGESTART": "0"})):
        for column in ("ESTIMATE", "HIGH_95"):
            out = copy(world, tmp_path / table / column / str(len(wanted)) / str(wanted), name)
            seals.change_table(out, table, add(column, 500, **wanted))
            assert "VERIFY-019" in codes(out)


def test_without_noise_an_estimate_is_the_count(world: Path, tmp_path: Path) -> None:
    out = copy(world, tmp_path, "usual", None)
    seals.change_table(out, "t1", add("ESTIMATE", 1, **TABLE))
    assert codes(out) == ["VERIFY-019"]


def test_a_block_set_fewer(world: Path, tmp_path: Path) -> None:
    """Regions decide how many groups there are."""
    out = copy(world, tmp_path, "usual")
    file = out / "parquet" / "geography" / "us.NOT-PRIVATE.parquet"
    pq.write_table(pq.read_table(file).slice(1), file)
    seals.reseal(out)
    assert "VERIFY-010" in codes(out)
