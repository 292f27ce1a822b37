"""One model of a release, whichever file it was written in."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from safetab.errors import Finding, InputError
from safetab.params.document import ReleaseDocument, json_schema
from safetab.params.load import load, read_release
from safetab.params.release import PrivacyDefinition, Release
from safetab.params.template import STATES, TITLES, release_toml
from tests.worlds import tiny


def release_of(path: Path) -> Release:
    findings: list[Finding] = []
    release = read_release(path, findings)
    assert release is not None, findings
    return release


def test_the_tiny_world_loads_exactly(tmp_path: Path) -> None:
    tiny.write(tmp_path, tiny.files())
    parameters = load(tmp_path / "params")
    us, pr = parameters.release.runs
    assert [level.name for level in us.levels[:4]] == ["(USA, 1)", "(USA, 2)", "(STATE, 1)", "(STATE, 2)"]
    assert us.levels[0].budget == Fraction(1, 4)
    assert us.only is not None
    assert us.only.values == ("01", "02")
    assert pr.only is not None
    assert pr.only.values == ("72",)
    assert [level.name for level in pr.geography_levels] == ["PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE"]
    assert parameters.release.stage_1_fraction == Fraction(1, 10)


def test_numbers_in_json_are_read_as_decimals(tmp_path: Path) -> None:
    text = json.dumps(tiny.config()).replace(
        '"privacy_budget_p_level_1_usa": 0.25', '"privacy_budget_p_level_1_usa": 0.1000000000000000055511151231257827'
    )
    tiny.write(tmp_path, {"config.json": text})
    budget = release_of(tmp_path / "config.json").runs[0].levels[0].budget
    assert budget == Fraction(Decimal("0.1000000000000000055511151231257827"))
    assert budget != Fraction(0.1)


def test_the_production_template_is_the_production_release(census_2020: Path, tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(release_toml("census-2020"))
    ours, theirs = release_of(tmp_path / "release.toml"), release_of(census_2020 / "config.json")
    assert dataclasses.replace(ours, title="") == dataclasses.replace(theirs, title="")


def test_the_paper_template_has_the_papers_targets(tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(release_toml("paper"))
    release = release_of(tmp_path / "release.toml")
    assert release.privacy is PrivacyDefinition.ZCDP
    assert [(level.name, level.moe_95) for level in release.runs[0].levels] == [
        ("(USA, 2)", 6),
        ("(STATE, 2)", 6),
        ("(COUNTY, 2)", 11),
        ("(AIANNH, 2)", 11),
        ("(USA, 1)", 50),
        ("(STATE, 1)", 50),
        ("(COUNTY, 1)", 50),
    ]


def test_there_are_fifty_states_and_the_district() -> None:
    assert len(STATES) == 51
    assert "11" in STATES
    assert "72" not in STATES


@pytest.mark.parametrize("like", sorted(TITLES))
def test_every_key_of_the_templates_is_in_the_schema(like: str) -> None:
    schema = json_schema()
    raw = tomllib.loads(release_toml(like), parse_float=Decimal)
    assert set(raw) <= set(schema["properties"])
    assert ReleaseDocument.model_validate(raw).title == TITLES[like]


def test_a_run_that_is_off_needs_no_keys(tmp_path: Path) -> None:
    config = tiny.config()
    for key in [key for key in config if "_pr_" in key]:
        del config[key]
    tiny.write(tmp_path, {"config.json": json.dumps(config | {"run_pr": False})})
    assert [run.name for run in release_of(tmp_path / "config.json").runs] == ["us"]


def test_a_level_without_budget_is_off_and_needs_no_thresholds(tmp_path: Path) -> None:
    config = tiny.config()
    config["privacy_budget_p_level_1_aiannh"] = 0
    del config["thresholds_p"]["(AIANNH, 1)"]
    tiny.write(tmp_path, {"config.json": json.dumps(config)})
    levels = release_of(tmp_path / "config.json").runs[0].levels
    assert [level.name for level in levels if not level.is_on] == ["(AIANNH, 1)"]


def test_suppression_chance_0_is_off(tmp_path: Path) -> None:
    tiny.write(tmp_path, {"config.json": json.dumps(tiny.config() | {"zero_suppression_chance": 0})})
    assert release_of(tmp_path / "config.json").zero_suppression_chance is None


def test_load_raises_with_every_fault(tmp_path: Path) -> None:
    tiny.write(tmp_path, {"config.json": json.dumps(tiny.config() | {"one": 1, "two": 2})})
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert [finding.key for finding in caught.value.findings] == ["one", "two"]


def test_parameters_show_themselves_in_a_line(tmp_path: Path) -> None:
    shown = repr(load(tiny.write(tmp_path, tiny.files()) / "params"))
    assert shown.startswith("Parameters(")
    assert len(shown.splitlines()) == 1
    assert len(shown) < 120 + len(str(tmp_path))


def test_a_release_is_its_file_or_its_folder(tmp_path: Path) -> None:
    params = tiny.write(tmp_path, tiny.files()) / "params"
    assert load(params / "config.json").release == load(params).release
    (params / "notes.txt").touch()
    for place, code in ((params / "notes.txt", "PARAMS-001"), (params / "nowhere", "FILE-001")):
        with pytest.raises(InputError) as caught:
            load(place)
        assert [finding.rule.code for finding in caught.value.findings] == [code]


def test_production_files_load(census_2020: Path) -> None:
    release = load(census_2020).release
    assert [sum(level.budget or 0 for level in run.levels) for run in release.runs] == [
        Fraction(4944, 1000),
        Fraction(2643, 1000),
    ]
