"""`safetab detail`, `account A B` and the ways of `calibrate` from outside."""

from __future__ import annotations

import json
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import safetab
from safetab.accounting.privacy_loss import analyse
from safetab.cli.main import main
from safetab.params.load import load
from safetab.planning import by_size, detail_rule, moe_95_of_estimate, outlook, read_sizes, sizes_of_interest
from tests.worlds import tiny
from tests.worlds.merovia import MEROVIA

PARAMS = str(MEROVIA / "params")
DELTA = Fraction(1, 10**10)


def report(words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def refused(words: list[str], capsys: pytest.CaptureFixture[str], status: int = 2) -> str:
    assert main(words) == status
    told = capsys.readouterr()
    assert not told.out
    return " ".join(told.err.split())


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return tiny.write(tmp_path / "world", tiny.files())


@pytest.fixture
def sizes(tmp_path: Path) -> Path:
    file = tmp_path / "sizes.txt"
    file.write_text("ITERATION_CODE|COUNT\n2001|9\n2003|12\n2002|2500\n0001|4\n", encoding="utf-8")
    return file


def test_detail_reports_what_the_library_says(world: Path, sizes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(["detail", str(world / "params"), "--sizes", str(sizes)], capsys)
    parameters = load(world / "params")
    known = read_sizes(sizes, parameters)
    levels = {(each["run"], each["level"]): each for each in found["levels"]}
    for run in parameters.plan.runs:
        for planned in run.measured:
            rule = detail_rule(parameters.release, planned)
            level = levels[run.name, planned.name]
            assert level["thresholds"] == [5, 10, 20]
            assert level["suppressed_up_to"] == rule.dropped_up_to()
            rows = by_size(rule, sizes_of_interest(rule))
            assert [each["stat_levels"] for each in level["by_size"]] == [list(row.stat_levels) for row in rows]
            assert [each["half_width_95"] for each in level["by_size"]] == [row.half_width for row in rows]
    (expected,) = outlook(parameters, known)
    nation = levels["us", "(USA, 2)"]
    assert nation["expected"]["stat_levels"] == list(expected.total.stat_levels)
    assert [group["code"] for group in nation["groups"]] == ["2001", "2002", "2003"]
    assert levels["us", "(STATE, 2)"]["expected"] is None
    assert found["sizes"] == {
        "source": "sizes.txt",
        "words": f"the table {sizes}",
        "warning": None,
        "groups": 3,
        "left_out": 1,
    }


def test_detail_prints_tables_for_people(world: Path, sizes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(["detail", str(world / "params")], capsys)
    assert "what a group gets, by its true size" in text
    assert "Sizes    none" in text
    # Levels that treat their groups alike share a table.
    assert "us (USA, 2), us (STATE, 2), pr (PR-STATE, 2): what" in text
    assert text.count("what a group gets") == 4
    text = printed(["detail", str(world / "params"), "--sizes", str(sizes), "--rows", "1"], capsys)
    assert "public: the table" in text
    assert "1 size is of a group that this release does not tabulate" in text
    assert "us (USA, 2): probabilities, the largest 1 of 3 groups" in text
    assert "Alpine alone or in combination  2002" in text
    assert "Tribe A alone" not in text
    text = printed(["detail", str(world / "params"), "--sizes", str(sizes), "--group", "tribe a"], capsys)
    assert re.search(r"Tribe A alone +2003 +12 +100 % +0 % +0 % +0 % +100 %", text)
    assert "what a group gets" not in text
    assert "Alpine" not in text


def test_no_uncertain_chance_looks_certain() -> None:
    from safetab.cli.figures import percent

    cases = {
        0.0: "0 %",
        1e-9: "<0.1 %",
        0.00099: "<0.1 %",
        0.001: "0.1 %",
        0.5: "50 %",
        0.9991: ">99.9 %",
        1.0: "100 %",
    }
    assert {chance: percent(chance) for chance in cases} == cases


def test_detail_like_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    release = safetab.tabulate(PARAMS, MEROVIA / "data", out)
    found = report(["detail", PARAMS, "--like", str(out)], capsys)
    rows = release.t1.to_pylist()
    assert found["sizes"]["groups"] == len(rows)
    assert found["sizes"]["warning"] is None
    by_level = {each["level"]: each["expected"] for each in found["levels"]}
    assert sum(level["groups"] for level in by_level.values()) == len(rows)
    column = "ESTIMATE" if "ESTIMATE" in rows[0] else "COUNT"
    assert sum(level["persons"] for level in by_level.values()) == sum(max(row[column], 0) for row in rows)
    text = printed(["detail", PARAMS, "--like", str(out)], capsys)
    assert "expected numbers of regions" in text
    assert "Regions" in text


def test_sizes_of_what_is_not_private_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safetab.tabulate(PARAMS, MEROVIA / "data", tmp_path / "truth", noise=False, not_private=True)
    assert "NOT PRIVATE" in printed(["detail", PARAMS, "--like", str(tmp_path / "truth")], capsys)
    assert "NOT PRIVATE" in report(["detail", PARAMS, "--like", str(tmp_path / "truth")], capsys)["sizes"]["warning"]
    compared = printed(["account", PARAMS, PARAMS, "--like", str(tmp_path / "truth")], capsys)
    assert "NOT PRIVATE" in compared


def test_the_published_sizes_of_2020(census_2020: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(["detail", str(census_2020), "--sizes", "us-2020"], capsys)
    levels = {(each["run"], each["level"]): each for each in found["levels"]}
    nation = levels["us", "(USA, 2)"]
    assert nation["expected"]["groups"] > 2600
    navajo = next(group for group in nation["groups"] if group["name"] == "Navajo Nation alone")
    assert navajo["persons"] == 315_086
    assert navajo["stat_levels"] == pytest.approx([0, 0, 0, 1])
    # Most groups get no ages at all.
    assert 0.5 < nation["expected"]["stat_levels"][0] / nation["expected"]["groups"] < 0.7
    assert "published for the United States in 2020" in found["sizes"]["words"]


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--sizes", "FILE", "--like", "FILE"], 2, "USAGE-016"),
        (["--like", "WORLD"], 1, "USAGE-004"),
        (["--sizes", "NOWHERE"], 1, "FILE-"),
        (["--sizes", "OTHERS"], 1, "PLAN-006"),
        (["--rows", "0"], 2, "USAGE-001"),
    ],
)
def test_detail_refuses_sizes_it_cannot_use(
    words: list[str], status: int, code: str, world: Path, sizes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = world / "others.txt"
    others.write_text("ITERATION_CODE|COUNT\n0001|9\n", encoding="utf-8")
    places = {"FILE": str(sizes), "WORLD": str(world), "NOWHERE": str(world / "nowhere.txt"), "OTHERS": str(others)}
    told = refused(["detail", str(world / "params"), *(places.get(word, word) for word in words)], capsys, status)
    assert code in told


def test_sizes_without_regions_need_a_nation(tmp_path: Path, sizes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tiny.files()
    config = json.loads(str(files["params/config.json"]))
    config |= {"run_us": False}
    folder = tiny.write(tmp_path / "pr", files | {"params/config.json": json.dumps(config)})
    assert "PLAN-005" in refused(["detail", str(folder / "params"), "--sizes", str(sizes)], capsys, 1)
    assert "PLAN-005" in refused(["detail", str(folder / "params"), "--sizes", "us-2020"], capsys, 1)


def changed(world: Path, name: str, **changes: Any) -> str:
    config = json.loads((world / "params" / "config.json").read_text(encoding="utf-8")) | changes
    tiny.write(world.parent / name, tiny.files() | {"params/config.json": json.dumps(config)})
    return str(world.parent / name / "params")


def test_account_compares_plans(world: Path, sizes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = str(world / "params"), changed(world, "other", privacy_budget_p_level_2_usa=0.5)
    alone = [report(["account", each], capsys)["release"] for each in (one, other)]
    words = ["account", one, other, "--sizes", str(sizes), "--epsilon", "5"]
    found = report(words, capsys)
    assert [plan["release"] for plan in found["plans"]] == alone
    assert found["differences"] == [{"name": "run us, level (USA, 2), budget", "values": ["1", "0.5"]}]
    detail = [report(["detail", each, "--sizes", str(sizes)], capsys) for each in (one, other)]
    for plan, of_detail in zip(found["plans"], detail, strict=True):
        expected = {each["level"]: each["expected"] for each in plan["levels"]}["(USA, 2)"]
        of_nation = {each["level"]: each["expected"] for each in of_detail["levels"]}["(USA, 2)"]
        assert expected["stat_levels"] == of_nation["stat_levels"]
        assert 0 < plan["delta_at_epsilon"] <= 1
    text = printed(words, capsys)
    for part in ("What differs", "run us, level (USA, 2), budget", "Least epsilon", "delta at epsilon 5", "46 cells"):
        assert part in text
    assert "Expected numbers of groups" in text
    assert "The plans choose the same." in printed(["account", one, one], capsys)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([PARAMS, "--sizes", "us-2020"], "USAGE-017"),
        ([PARAMS, "--like", PARAMS], "USAGE-017"),
        ([PARAMS, PARAMS, "--cross-check"], "USAGE-018"),
        ([], "USAGE-001"),
    ],
)
def test_account_refuses_what_is_for_other_uses(
    words: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code in refused(["account", *words], capsys)


def test_account_shows_the_margin_of_estimates(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(["account", PARAMS], capsys)
    parameters = load(PARAMS)
    for entry, planned in zip(found["accuracy"], parameters.plan.runs[0].measured, strict=True):
        rule = detail_rule(parameters.release, planned)
        assert [total["cells"] for total in entry["totals"]] == [1, 6, 14, 28]
        for total in entry["totals"]:
            assert total["estimate_moe_95"] == moe_95_of_estimate(rule.stage_1, rule.stage_2, total["cells"])
        sums = {figure["cells"]: figure["moe_95"] for figure in entry["figures"] if figure["kind"] == "sum_of_cells"}
        assert {total["cells"]: total["sum_moe_95"] for total in entry["totals"][1:]} == sums
        fractions = [each["stage_1_fraction"] for each in entry["by_stage_1_fraction"]]
        assert (fractions[0], fractions[-1]) == ("0.02", "0.5")
        own = next(each for each in entry["by_stage_1_fraction"] if each["stage_1_fraction"] == "0.1")
        assert own["totals"] == entry["totals"]
    text = printed(["account", PARAMS], capsys)
    assert "ESTIMATE (its two stages together) / COUNT" in text
    assert re.search(r"^0\.1 \* +", text, re.MULTILINE)


def test_calibrate_finds_the_least_budget_for_an_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(["calibrate", PARAMS, "--total-moe", "COUNTRY,2=9"], capsys)
    level = next(each for each in found["levels"] if each["level"] == "(COUNTRY, 2)")
    assert level["total_moe_95"] == 9
    assert level["moe_95"] is None
    assert level["totals"][-1] == {"stat_level": 3, "cells": 28, "estimate_moe_95": 9, "sum_moe_95": 19}
    below = Fraction(level["budget"]) - Fraction(1, 10**5)
    assert Fraction(1, 10) < below < 1
    again = report(["calibrate", PARAMS, "--budget", f"COUNTRY,2={float(below)}"], capsys)
    level = next(each for each in again["levels"] if each["level"] == "(COUNTRY, 2)")
    assert Fraction(level["budget"]) == below
    assert level["totals"][-1]["estimate_moe_95"] > 9


def test_calibrate_keeps_an_epsilon(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(["calibrate", PARAMS, "--epsilon", "6", "--delta", "1e-10"], capsys)
    assert 5.999 < found["epsilon"] <= 6
    before = {each["level"]: each["budget"] for each in report(["calibrate", PARAMS], capsys)["levels"]}
    factor = Fraction(found["factor"])
    assert {each["level"]: Fraction(each["budget"]) for each in found["levels"]} == {
        name: Fraction(budget) * factor for name, budget in before.items()
    }
    assert found["target_epsilon"] == "6"
    text = printed(["calibrate", PARAMS, "--epsilon", "6"], capsys)
    assert f"Every budget is {found['factor']} times what it was." in text
    assert len(re.findall(r"^budget = ", text, re.MULTILINE)) == len(before)


def test_calibrate_prints_lines_that_fit_a_config(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Put in place of the lines with the same keys, they make the release that was reported."""
    file = world / "params" / "config.json"
    words = ["calibrate", str(file), "--moe", "USA,2=7", "--total-moe", "STATE,2=30", "--budget", "COUNTY,1=0.3"]
    words += ["--privacy", "puredp", "--epsilon", "9"]
    wanted = report(words, capsys)
    lines = [line for line in printed(words, capsys).splitlines() if line.startswith('"')]
    new = json.loads("{" + " ".join(lines).rstrip(",") + "}")
    assert "privacy_defn" in new
    config = json.loads(file.read_text(encoding="utf-8"))
    assert new.keys() <= config.keys()
    text = "{\n" + "\n".join(f"{json.dumps(key)}: {json.dumps(config[key])}," for key in config.keys() - new.keys())
    file.write_text(text + "\n" + "\n".join(lines).rstrip(",") + "\n}", encoding="utf-8")
    after = load(file)
    assert {(level.name, level.budget) for run in after.plan.runs for level in run.measured} == {
        (each["level"], Fraction(each["budget"])) for each in wanted["levels"]
    }
    assert analyse(after.plan.noise_of_run, DELTA).total.epsilon == wanted["epsilon"] <= 9


def test_calibrate_prints_lines_that_fit_a_release(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", PARAMS, "--total-moe", "COUNTRY,2=9", "--budget", "COUNTRY,1=0.7", "--privacy", "puredp"]
    lines = [line for line in printed(words, capsys).splitlines() if line.startswith(("budget", "privacy", "# run"))]
    assert tomllib.loads(lines[0]) == {"privacy": "puredp"}
    assert lines[1] == "# run merovia, level (COUNTRY, 1): budget 0.7"
    assert tomllib.loads(lines[2]) == {"budget": "0.7"}
    assert lines[3] == "# run merovia, level (COUNTRY, 2): margin of the estimate 9 at the finest stat level"
    assert lines[5] == "# run merovia, level (DISTRICT, 2): moe_95 12"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--budget", "COUNTRY,2"], "USAGE-015"),
        (["--budget", "COUNTRY,2=much"], "USAGE-015"),
        (["--budget", "COUNTRY,2=0"], "USAGE-015"),
        (["--budget", "COUNTRY,2=-1"], "USAGE-015"),
        (["--budget", "NOWHERE,2=1"], "USAGE-012"),
        (["--total-moe", "COUNTRY,2=x"], "USAGE-011"),
        (["--total-moe", "COUNTRY,2=0"], "USAGE-013"),
        (["--total-moe", "NOWHERE,2=1"], "USAGE-012"),
        (["--total-moe", "COUNTRY,2=9", "--moe", "COUNTRY,2=9"], "USAGE-014"),
        (["--budget", "COUNTRY,2=1", "--budget", "COUNTRY,2=2"], "USAGE-014"),
        (["--epsilon", "much"], "USAGE-010"),
        (["--epsilon", "1", "--delta", "1"], "ACCOUNT-009"),
    ],
)
def test_calibrate_refuses_what_it_cannot_keep(words: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code in refused(["calibrate", PARAMS, *words], capsys)


def test_a_level_where_every_group_gets_a_total_only(
    tmp_path: Path, sizes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of level 2 no group of the nation and of states has two stages, and no local one has a total only."""
    race = tiny.RACE.replace("|2|True|False|False", "|2|True|True|False").replace(
        "|2|False|False|False", "|2|False|True|False"
    )
    ethnicity = tiny.ETHNICITY.replace("|2|False|False", "|2|True|False")
    files = tiny.files() | {
        "params/race-characteristic-iterations.txt": race,
        "params/ethnicity-characteristic-iterations.txt": ethnicity,
    }
    params = str(tiny.write(tmp_path / "totals", files) / "params")
    found = report(["detail", params, "--sizes", str(sizes)], capsys)
    level = next(each for each in found["levels"] if each["level"] == "(USA, 2)")
    assert level["by_size"] == []
    assert level["total_only_moe_95"] > 0
    assert level["expected"]["groups"] == level["expected"]["total_only"] == 3
    assert level["expected"]["stat_levels"] == [3, 0, 0, 0]
    accuracy = {each["level"]: each for each in report(["account", params], capsys)["accuracy"]}
    assert accuracy["(USA, 2)"]["totals"] == accuracy["(USA, 2)"]["by_stage_1_fraction"] == []
    assert accuracy["(USA, 2)"]["empty_group_seen"] is None
    calibrated = report(["calibrate", params, "--total-moe", "USA,2=6"], capsys)
    assert {each["level"]: each["stage_2_moe_95"] for each in calibrated["levels"]}["(USA, 2)"] == 6
    for words in (["detail", params, "--sizes", str(sizes)], ["account", params], ["calibrate", params]):
        assert "(USA, 2)" in printed(words, capsys)
    compared = printed(["account", params, params, "--sizes", str(sizes)], capsys)
    assert re.search(r"us \(USA, 2\) +groups with a size +3 +3", compared)


def test_calibrate_refuses_noise_that_cannot_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert "NOISE-" in refused(["calibrate", PARAMS, "--budget", "COUNTRY,2=1e-60"], capsys, 1)
