"""`safetab synth` as people type it."""

from __future__ import annotations

from pathlib import Path

import pytest

from safetab.cli.main import main


def test_a_country_is_made_and_found_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", str(tmp_path / "x"), "--like", "tiny"]) == 0
    told = capsys.readouterr()
    assert "400 synthetic persons in 50 blocks of 1 state and Puerto Rico" in told.out
    assert told.err == ""
    assert main(["check", str(tmp_path / "x" / "params"), str(tmp_path / "x" / "data")]) == 0
    assert capsys.readouterr().err == ""


def test_every_choice_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--like", "tiny", "--persons", "30", "--format", "text", "--seed", "5", "--break", "GEO-002"]
    assert main(["synth", str(tmp_path / "x"), *words]) == 0
    assert "on purpose: a block twice, which breaks GEO-002" in capsys.readouterr().out
    assert len((tmp_path / "x" / "data" / "person-records.txt").read_text().splitlines()) == 31
    assert main(["check", str(tmp_path / "x" / "params"), str(tmp_path / "x" / "data")]) == 1
    assert "GEO-002" in capsys.readouterr().err


def test_faults_are_listed_without_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "--break", "list"]) == 0
    told = capsys.readouterr().out
    assert "overlap" in told
    assert "GROUPS-012" in told


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--persons", "0"], "SYNTH-001"),
        (["--persons", "many"], "USAGE-001"),
        (["--seed", "-3"], "SYNTH-002"),
        (["--break", "nonsense"], "SYNTH-005"),
        (["--like", "moon"], "USAGE-001"),
    ],
)
def test_wrong_words_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: str
) -> None:
    assert main(["synth", str(tmp_path / "x"), *words]) == 2
    told = capsys.readouterr().err
    assert code in told
    assert "Nothing was written." in told
    assert not list(tmp_path.iterdir())


def test_a_folder_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth"]) == 2
    assert "DIR" in capsys.readouterr().err


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", str(tmp_path)]) == 2
    assert "SYNTH-003" in capsys.readouterr().err


def test_parameters_that_do_not_load_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", str(tmp_path / "x"), "--params", str(tmp_path)]) == 1
    assert "PARAMS-001" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
