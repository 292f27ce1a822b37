"""`safetab account`, `calibrate` and `paper` from outside."""

from __future__ import annotations

import json
import sys
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from safetab.accounting.paper.tables import paper_tables
from safetab.cli.figures import at_most
from safetab.cli.main import main
from tests.worlds import tiny

ROOT = Path(__file__).resolve().parents[2]
MEROVIA = str(ROOT / "examples" / "merovia" / "params")


def figures_of(table: dict[str, Any]) -> dict[tuple[str, str], Any]:
    return {(f["row"], f["column"]): (f["printed"], f["formula"], f["exact"]) for f in table["figures"]}


@pytest.fixture(scope="module")
def tables() -> list[dict[str, Any]]:
    from safetab.cli.paper import as_dict

    return [as_dict(table) for table in paper_tables()]


def test_paper_reproduces_the_budget_tables_to_the_digit(tables: list[dict[str, Any]]) -> None:
    figures = figures_of(tables[0])
    assert len(figures) == 28
    assert all(printed == formula for printed, formula, _ in figures.values())
    row = "(Nation, Detailed), MOE 6"
    assert [
        figures[row, f"{word}, {step}"]
        for word in ("geometric epsilon", "Gaussian rho")
        for step in ("step 2", "total")
    ] == [
        ("3.84", "3.84", "4.112"),
        ("4.27", "4.27", "4.569"),
        ("0.481", "0.481", "0.4061"),
        ("0.534", "0.534", "0.4512"),
    ]
    assert figures["(County, Regional), MOE 50", "Gaussian rho, total"][:2] == ("0.008", "0.008")


def test_paper_reproduces_the_privacy_losses_and_tells_the_rdp_slip(tables: list[dict[str, Any]]) -> None:
    figures = figures_of(tables[2])
    assert figures["MOE 6", "geometric, pure DP"][:2] == ("15.3", "15.3")
    assert figures["MOE 6", "geometric, RDP"] == ("13.2", "13.57", "14.19")
    assert figures["MOE 6", "Gaussian, zCDP analytical"][:2] == ("12.8", "12.8")
    assert figures["MOE 6", "Gaussian, zCDP experimental"][:2] == ("12.2", "12.2")
    assert figures["MOE 6", "Gaussian, loss distribution"] == (None, None, "11.67")
    assert figures["MOE 6", "geometric, loss distribution"] == (None, None, "14.05")


def test_paper_reproduces_the_other_moes_but_for_rdp(tables: list[dict[str, Any]]) -> None:
    figures = figures_of(tables[3])
    assert len(figures) == 42
    for (_, column), (printed, formula, exact) in figures.items():
        if "RDP" in column:
            assert float(printed) < float(formula) < float(exact)
        elif printed is not None:
            assert printed == formula


def test_the_commented_out_stage_targets_are_there(tables: list[dict[str, Any]]) -> None:
    figures = figures_of(tables[1])
    assert len(figures) == 14
    assert figures["levels 1, 2, Stage 2", "Gaussian MOE"] == ("6", "6", "6")
    assert figures["levels 1, 2, Stage 2", "geometric MOE"] == ("6", "6", "7")


def test_paper_prints_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper"]) == 0
    printed = capsys.readouterr().out
    for words in ("By formula", "tab:alternate-moes", "13.57", "14.19"):
        assert words in printed


def test_account_of_the_production_files(census_2020: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", str(census_2020), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [run["rho"] for run in report["runs"]] == ["4.944", "2.643"]
    assert report["release"]["rho"] == "4.944"
    assert report["release"]["epsilon"] == report["runs"][0]["epsilon"] == pytest.approx(24.42, abs=0.02)
    assert report["runs"][1]["epsilon"] == pytest.approx(16.80, abs=0.02)
    own = {level["name"]: level["epsilon"] for level in report["runs"][0]["levels"]}
    assert own["(USA, 1)"] < own["(COUNTY, 2)"] < own["(USA, 2)"] < report["release"]["epsilon"]
    accuracy = {entry["level"]: entry for entry in report["accuracy"]}
    moes = {figure["figure"]: figure["moe_95"] for figure in accuracy["(COUNTY, 2)"]["figures"]}
    assert moes["total or cell of stage 2"] == 11
    assert moes["total of 46 cells"] == 75
    assert 0 < accuracy["(COUNTY, 2)"]["empty_group_seen"] < 1e-4


def test_account_prints_what_people_ask_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", MEROVIA, "--delta", "1e-6", "--epsilon", "12", "--cross-check"]) == 0
    printed = capsys.readouterr().out
    for words in (
        "Guarantee",
        "at delta 1e-6",
        "whole release",
        "someone who sees one level only",
        "delta at epsilon 12",
        "dp-accounting",
    ):
        assert words in printed
    assert main(["account", MEROVIA, "--delta", "1e-300", "--cross-check", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["delta"] == "1e-300"
    assert report["dp_accounting"] == {"merovia": None}


@pytest.mark.parametrize(
    ("option", "number", "code"),
    [
        ("--delta", "0", "ACCOUNT-004"),
        ("--delta", "2", "ACCOUNT-004"),
        ("--delta", "-1", "ACCOUNT-004"),
        ("--epsilon", "-1", "ACCOUNT-005"),
    ],
)
def test_account_refuses_what_has_no_meaning(
    option: str, number: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["account", MEROVIA, option, number]) == 2
    printed = capsys.readouterr().err
    assert printed.count(code) == 1
    assert option in printed
    assert f"'{number}'" in printed
    assert "Fraction" not in printed
    assert main(["calibrate", MEROVIA, option, number]) == 2


def test_a_cross_check_without_its_package_says_how_to_install_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    monkeypatch.delitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", raising=False)
    assert main(["account", MEROVIA, "--delta", "1e-6", "--cross-check"]) == 3
    printed = capsys.readouterr()
    assert "ACCOUNT-008" in printed.err
    assert "pip install 'safetab[crosscheck]'" in " ".join(printed.err.split())
    assert "Guarantee" not in printed.out


@pytest.mark.parametrize("text", ["small", "nan", "inf", "1e-10000000", ""])
def test_account_refuses_what_is_no_number(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", MEROVIA, "--delta", text]) == 2
    assert "USAGE-010" in capsys.readouterr().err


def test_account_of_geometric_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tiny.files()
    config = tiny.config() | {"privacy_defn": "puredp"}
    tiny.write(tmp_path, files | {"params/config.json": json.dumps(config)})
    assert main(["account", str(tmp_path / "params"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["release"]["pure_epsilon"] == "7.5"
    assert report["release"]["epsilon"] <= 7.5
    assert main(["account", str(tmp_path / "params")]) == 0
    assert "7.5-differential privacy" in capsys.readouterr().out


def test_calibrate_gives_lines_that_keep_their_targets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", MEROVIA, "--moe", "COUNTRY,2=6", "--moe", "(PROVINCE, 1)=20", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    levels = {level["level"]: level for level in report["levels"]}
    assert {name: level["stage_2_moe_95"] for name, level in levels.items() if level["moe_95"] is not None} == {
        "(COUNTRY, 2)": 6,
        "(PROVINCE, 1)": 20,
        "(DISTRICT, 2)": 12,
    }
    assert levels["(COUNTRY, 1)"]["moe_95"] is None
    assert levels["(COUNTRY, 1)"]["budget"] == "0.5"
    assert report["epsilon"] > 0
    assert main(["calibrate", MEROVIA]) == 0
    printed = capsys.readouterr().out
    lines = [line for line in printed.splitlines() if line.startswith("budget = ")]
    assert [tomllib.loads(line)["budget"] for line in lines] == [levels["(DISTRICT, 2)"]["budget"]]
    assert "Together: " in printed


def test_calibrate_for_the_other_definition(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", MEROVIA, "--privacy", "puredp", "--moe", "COUNTRY,2=6", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    level = next(level for level in report["levels"] if level["level"] == "(COUNTRY, 2)")
    assert level["stage_2_moe_95"] == 6
    assert level["paper_budget_moe_95"] == 7
    assert report["pure_epsilon"] is not None
    assert main(["calibrate", MEROVIA, "--privacy", "puredp"]) == 0
    assert "-DP and (" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["COUNTRY,2", "COUNTRY=6", "COUNTRY,2=6.5", "=", ""])
def test_calibrate_refuses_targets_it_cannot_read(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", MEROVIA, "--moe", target]) == 2
    assert "USAGE-011" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["NOWHERE,2=6", "COUNTRY,3=6"])
def test_calibrate_lists_the_levels_where_it_does_not_know_one(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", MEROVIA, "--moe", target]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "USAGE-012" in told
    assert "the levels are COUNTRY,1 COUNTRY,2 PROVINCE,1 PROVINCE,2 DISTRICT,2)" in told


@pytest.mark.parametrize("target", ["COUNTRY,2=0", "COUNTRY,2=-1"])
def test_calibrate_refuses_a_margin_of_nothing(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", MEROVIA, "--moe", target]) == 2
    printed = capsys.readouterr()
    assert "USAGE-013" in printed.err
    assert "Write 1 or more" in printed.err
    assert not printed.out


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction("4.944"), "4.944"),
        (Fraction("1.854523"), "1.854523"),
        (Fraction(1, 3), "0.333334"),
        (0.1234561, "0.123457"),
        (Fraction(0), "0"),
        (0.0, "0"),
        (None, "-"),
        (2e20, "2e20"),
        (12.0, "12"),
    ],
)
def test_bounds_are_rounded_up(value: Fraction | float | None, text: str) -> None:
    assert at_most(value) == text


@pytest.mark.parametrize("value", [4.944, 1e-300, 5e-324, 24.4235092, 1.7e308, 0.99999999])
def test_no_bound_is_shown_below_itself(value: float) -> None:
    assert float(at_most(value)) >= value


@pytest.mark.parametrize("definition", ["zcdp", "puredp"])
@pytest.mark.parametrize("budget", ["1e-12", "1e6"])
@pytest.mark.parametrize("delta", ["1e-300", "1"])
def test_account_answers_at_the_extremes(
    definition: str, budget: str, delta: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny.config() | {"privacy_defn": definition}
    config |= {key: float(budget) for key in config if key.startswith("privacy_budget_p_level")}
    tiny.write(tmp_path, tiny.files() | {"params/config.json": json.dumps(config)})
    assert main(["account", str(tmp_path / "params"), "--delta", delta, "--epsilon", "3", "--json"]) == 0
    report = capsys.readouterr().out
    assert "NaN" not in report
    assert "Infinity" not in report
    assert json.loads(report)["release"]["epsilon"] <= 12.2 * float(budget) * (1 if budget == "1e6" else 10**8)
