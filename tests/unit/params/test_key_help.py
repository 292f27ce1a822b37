"""A fault of a key says what the key means, or which keys there are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from safetab.errors import Finding
from safetab.params.census import release_of_config
from safetab.params.document import ReleaseDocument
from safetab.params.key_help import Path, keys_beside, meaning_of
from safetab.params.validate import validate
from tests.worlds import tiny


def next_step(findings: list[Finding], key: str) -> str:
    (found,) = [finding for finding in findings if finding.key == key]
    return found.rule.next_step


def of_document(**changes: Any) -> list[Finding]:
    findings: list[Finding] = []
    validate(changes, "release.toml", findings)
    return findings


def test_a_missing_key_is_reported_with_its_meaning() -> None:
    findings = of_document(level=[{"run": "us"}])
    assert next_step(findings, "max_race_codes").endswith("The largest number of race codes a record can have.")
    assert next_step(findings, "columns").startswith("Add it. Meaning of the key: The columns of the data files")
    assert "iteration level" in next_step(findings, "level[0].iteration_level")


def test_a_wrong_type_is_reported_with_its_meaning() -> None:
    findings = of_document(columns={"age": 3}, allow_negative_counts="yes", level=4)
    assert (
        next_step(findings, "columns.age")
        == "Correct the value. Meaning of the key: Age in years. Leave it out to publish nothing by age."
    )
    assert next_step(findings, "allow_negative_counts").endswith("false: negative counts become 0.")
    assert next_step(findings, "level").endswith("The population group levels.")


def test_an_unknown_key_is_reported_with_the_keys_there_are() -> None:
    findings = of_document(hair=1, run=[{"nmae": "us"}], geography={"STATE": {"column": "a"}})
    assert "The keys here are safetab, title, privacy, " in next_step(findings, "hair")
    assert next_step(findings, "run[0].nmae").endswith("The keys here are name, where.")
    assert next_step(findings, "geography.STATE.column").endswith(
        "The keys here are columns, region_id, absent, name_column, local."
    )


@pytest.mark.parametrize("key", tiny.config())
def test_a_missing_key_of_the_bureaus_is_reported_once_by_its_own_name(key: str) -> None:
    config = tiny.config()
    del config[key]
    findings: list[Finding] = []
    release_of_config(config, "config.json", findings)
    told = [finding.key for finding in findings if finding.rule.code == "PARAMS-007"]
    if key == "thresholds_p":
        assert told[0] == key
        assert all(other.startswith("thresholds_p[") for other in told[1:])
    else:
        assert told == ([] if key == "zero_suppression_chance" else [key])


def test_the_bureaus_keys_are_reported_in_the_words_of_its_file() -> None:
    config = tiny.config()
    for key in ("reader", "max_race_codes", "privacy_budget_p_level_1_usa"):
        del config[key]
    del config["thresholds_p"]["(STATE, 2)"]
    findings: list[Finding] = []
    release_of_config(config | {"run_pr": "yes", "surprise": 1}, "config.json", findings)
    assert "How the records are stored" in next_step(findings, "reader")
    assert "largest number of race codes" in next_step(findings, "max_race_codes")
    assert "rho for zcdp" in next_step(findings, "privacy_budget_p_level_1_usa")
    assert "three thresholds" in next_step(findings, 'thresholds_p["(STATE, 2)"]')
    assert next_step(findings, "run_pr").endswith("Whether Puerto Rico is tabulated: true or false.")
    listed = next_step(findings, "surprise")
    assert all(key in listed for key in json.loads(json.dumps(tiny.config())))


@pytest.mark.parametrize("path", [(), ("hair",), ("level",), ("level", 0), ("run", 0, "where", "STATE", 0)])
def test_every_place_has_keys_beside_it(path: Path) -> None:
    assert keys_beside(path)
    assert isinstance(meaning_of(path), str)


def test_every_key_has_a_meaning() -> None:
    for key in ReleaseDocument.model_fields:
        assert meaning_of((key,)), key
