"""`safetab synth` as people type it."""

from __future__ import annotations

from pathlib import Path

import pytest

from safetab.cli.main import main


def test_a_country_is_made_and_found_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "a country"
    assert main(["synth", str(made), "--like", "tiny"]) == 0
    printed = capsys.readouterr()
    assert "400 synthetic persons in 50 blocks of 1 state and Puerto Rico" in printed.out
    assert f"Next: safetab check '{made / 'params'}' '{made / 'data'}'\n" in printed.out
    assert printed.err == ""
    assert main(["check", str(made / "params"), str(made / "data")]) == 0
    assert capsys.readouterr().err == ""


def test_every_choice_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--like", "tiny", "--persons", "30", "--format", "text", "--seed", "5", "--break", "GEO-002"]
    assert main(["synth", str(tmp_path / "x"), *words]) == 0
    assert "on purpose: a block that appears twice, which breaks GEO-002" in capsys.readouterr().out
    assert len((tmp_path / "x" / "data" / "person-records.txt").read_text().splitlines()) == 31
    assert main(["check", str(tmp_path / "x" / "params"), str(tmp_path / "x" / "data")]) == 1
    assert "GEO-002" in capsys.readouterr().err


def test_own_sizes_are_read_and_a_wrong_one_is_reported_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = tmp_path / "sizes.txt"
    sizes.write_text("ITERATION_CODE|COUNT\n1001|30\n1002|30\n")
    assert main(["synth", str(tmp_path / "x"), "--like", "tiny", "--sizes", str(sizes)]) == 0
    sizes.write_text("ITERATION_CODE|COUNT\n1001|30\n1002|few\n")
    capsys.readouterr()
    assert main(["synth", str(tmp_path / "y"), "--like", "tiny", "--sizes", str(sizes)]) == 1
    printed = capsys.readouterr().err
    assert "SYNTH-010" in printed
    assert "sizes.txt, COUNT, line 3" in printed
    assert "Nothing was written." in printed
    assert main(["synth", str(tmp_path / "y"), "--like", "tiny", "--sizes", str(tmp_path / "no.txt")]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sizes.txt", "x"]


def test_a_release_is_rehearsed_on_its_own_geography(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    oravel = Path(__file__).parents[2] / "examples" / "oravel"
    files = ["--records", "people.csv", "--geography", "geography.csv", "--groups", "groups.csv"]
    words = [str(oravel / word) if word.endswith(".csv") else word for word in files]
    words += ["--group-levels", "Level1:Level1Name,Level2:Level2Name", "--codes", "Eth1,Eth2,Eth3", "--no-group", "999"]
    words += ["--block", "Meshblock", "--age", "Age", "--sex", "Sex", "--sexes", "F,M"]
    words += ["--region", "NATION", "--region", "REGION=RegionCode:Region name", "--region", "AREA=AreaCode:Area name"]
    assert main(["init", str(tmp_path / "own"), *words]) == 0
    capsys.readouterr()
    options = ["--params", str(tmp_path / "own"), "--geography", str(oravel / "geography.csv"), "--persons", "2000"]
    assert main(["synth", str(tmp_path / "x"), *options]) == 0
    assert "2,000 synthetic persons in 32 blocks of geography.csv" in capsys.readouterr().out
    made = [str(tmp_path / "x" / name) for name in ("params", "data")]
    assert main(["check", *made]) == 0
    assert capsys.readouterr().err == ""
    assert main(["tabulate", *made, str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert main(["view", str(tmp_path / "out"), "--region", "Tēmarin Coast"]) == 0
    assert "Ōkarun" in capsys.readouterr().out


def test_breakages_are_listed_without_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "--break", "list"]) == 0
    printed = capsys.readouterr().out
    assert "overlap" in printed
    assert "GROUPS-012" in printed


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--persons", "0"], "SYNTH-001"),
        (["--persons", "many"], "USAGE-001"),
        (["--persons", "10000000001"], "SYNTH-001"),
        (["--seed", "-3"], "SYNTH-002"),
        (["--seed", str(2**63)], "SYNTH-002"),
        (["--break", "nonsense"], "SYNTH-005"),
        (["--like", "moon"], "USAGE-001"),
        (["--geography", "areas.csv"], "SYNTH-013"),
        (["--geography", "areas.csv", "--params", "own", "--like", "town"], "SYNTH-014"),
        (["--geography", "areas.csv", "--params", "own", "--break", "GEO-002"], "SYNTH-014"),
    ],
)
def test_wrong_words_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: str
) -> None:
    assert main(["synth", str(tmp_path / "x"), *words]) == 2
    printed = capsys.readouterr().err
    assert code in printed
    assert "Nothing was written." in printed
    assert not list(tmp_path.iterdir())


def test_a_folder_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth"]) == 2
    assert "DIR" in capsys.readouterr().err


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", str(tmp_path)]) == 2
    assert "SYNTH-003" in capsys.readouterr().err


def test_parameters_that_do_not_load_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", str(tmp_path / "x"), "--params", str(tmp_path)]) == 1
    assert "PARAMS-001" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
