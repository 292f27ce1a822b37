"""The generated group definitions against the dimensions of the real ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from safetab.pipeline.check import check_inputs
from safetab.synth.definitions import generate

RACE_MIX = {
    ("0", "Null", "Null"): 54,
    ("1", "False", "False"): 44,
    ("1", "True", "False"): 4,
    ("2", "False", "False"): 2123,
    ("2", "True", "False"): 791,
}


def test_there_are_as_many_of_everything_as_in_2020() -> None:
    definitions = generate()
    assert len(definitions.codes) == 1_755
    assert len(definitions.race_iterations) == 3_016
    assert len(definitions.ethnicity_iterations) == 38
    assert Counter((level, *flags) for _, _, level, _, *flags in definitions.race_iterations) == RACE_MIX


def test_the_mix_of_flags_is_that_of_the_production_file(census_2020: Path) -> None:
    text = (census_2020 / "race-characteristic-iterations.txt").read_text(encoding="utf-8-sig")
    rows = [tuple(line.split("|")) for line in text.splitlines()[1:] if line]
    assert Counter(row[2:] for row in rows) == Counter(row[2:] for row in generate().race_iterations)


def test_every_name_and_code_appears_once() -> None:
    definitions = generate()
    for rows in (definitions.codes, definitions.race_iterations, definitions.ethnicity_iterations):
        for column in (0, 1):
            assert max(Counter(row[column] for row in rows).values()) == 1


def test_known_groups_keep_their_names() -> None:
    names = {name for _, name, *_ in generate().race_iterations}
    assert {"German alone", "Navajo alone or in any combination", "Chinese alone"} <= names
    assert "Mexican" in {name for _, name, *_ in generate().ethnicity_iterations}


def test_the_stability_of_every_level_is_nine(tiny: Path) -> None:
    report = check_inputs(tiny / "params", tiny / "data")
    assert not report.findings
    assert {level.stability for run in report.runs for level in run.planned.measured} == {9}
