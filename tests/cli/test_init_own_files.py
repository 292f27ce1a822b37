"""`safetab init` for files of one's own, and after another release: what is written, what is wrong."""

from __future__ import annotations

import csv
import shutil
import sys
import tomllib
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab import load, tabulate
from safetab.cli.main import main
from tests.worlds import tiny

ORAVEL = Path(__file__).resolve().parents[2] / "examples" / "oravel"
NAMES = {
    "--group-levels": "Level1:Level1Name,Level2:Level2Name",
    "--block": "Meshblock",
    "--age": "Age",
    "--sex": "Sex",
    "--codes": "Eth1,Eth2,Eth3",
    "--sexes": "M,F",
    "--no-group": "999",
}
REGIONS = ["--region", "NATION", "--region", "REGION=RegionCode:Region name", "--region", "AREA=AreaCode:Area name"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The files of the office, with the records between bars."""
    shutil.copytree(ORAVEL, tmp_path / "data")
    file = tmp_path / "data" / "people.csv"
    with file.open(newline="", encoding="utf-8") as people:
        rows = list(csv.reader(people))
    file.write_text("".join("|".join(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path / "data"


def words(folder: Path, data: Path, **changes: str | None) -> list[str]:
    places = {
        f"--{name}": str(data / f"{file}.csv")
        for name, file in (("records", "people"), ("geography", "geography"), ("groups", "groups"))
    }
    changed = {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    options = {key: value for key, value in (places | NAMES | changed).items() if value is not None}
    return ["init", str(folder), *(word for pair in options.items() for word in pair), *REGIONS]


def test_what_is_written_checks_at_once(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    params = tmp_path / "params"
    assert main(words(params, data)) == 0
    assert f"Next: safetab check {params} {data}" in capsys.readouterr().out
    assert main(["check", str(params), str(data)]) == 0
    told = capsys.readouterr()
    assert "every record of 1 file was judged" in told.out
    assert told.err == ""
    release = tomllib.loads((params / "release.toml").read_text(encoding="utf-8"))
    assert release["columns"]["sexes"] == ["M", "F"]
    assert release["files"]["delimiter"] == dict.fromkeys(
        ("codes", "race_iterations", "code_to_iteration", "geography"), ","
    ) | {"records": "|"}
    lines = (params / "release.toml").read_text(encoding="utf-8").splitlines()
    for section in ("[files]", "[columns]", "[ages]"):
        assert lines[lines.index(section) + 1].startswith("# ")


def test_records_in_another_folder_are_reported(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "secure").mkdir()
    records = shutil.move(data / "people.csv", tmp_path / "secure")
    assert main(words(tmp_path / "params", data, records=str(records))) == 0
    assert "name them with --records" in capsys.readouterr().out
    release = tabulate(tmp_path / "params", data, tmp_path / "out", records=records)
    assert release.t1.num_rows
    assert main(words(tmp_path / "other", data, records=str(shutil.move(records, data)))) == 0
    assert "--records" not in capsys.readouterr().out


def test_every_code_is_in_one_group_of_each_level_and_kind(tmp_path: Path, data: Path) -> None:
    assert main(words(tmp_path / "params", data)) == 0
    catalogue = load(tmp_path / "params").catalogue
    assert set(catalogue.codes) == {"101", "102", "103", "201", "202", "301", "399", "999"}
    members = {iteration.code: (iteration.name, set(iteration.members)) for iteration in catalogue.iterations}
    assert members["1-alone"] == ("Islander alone", {"101", "102", "103"})
    assert members["1-any"] == ("Islander alone or in combination", {"101", "102", "103"})
    assert members["103-any"] == ("Sél, Lower alone or in combination", {"103"})
    assert len(members) == 2 * (3 + 7)
    assert not any("999" in codes for _, codes in members.values())


def test_several_codes_may_be_no_group(tmp_path: Path, data: Path) -> None:
    assert main([*words(tmp_path / "params", data, no_group="999, 399"), "--no-group", "888"]) == 0
    catalogue = load(tmp_path / "params").catalogue
    assert {"999", "399", "888"} <= set(catalogue.codes)
    assert {code for iteration in catalogue.iterations for code in iteration.members} == {
        *("101", "102", "103"),
        *("201", "202", "301"),
    }


def test_comma_separated_records_need_their_header_alone(tmp_path: Path) -> None:
    assert main(words(tmp_path / "params", ORAVEL)) == 0
    files = tomllib.loads((tmp_path / "params" / "release.toml").read_text(encoding="utf-8"))["files"]
    assert (files["delimiter"], files["quote"]) == (",", '"')
    (tmp_path / "data").mkdir()
    shutil.copy(ORAVEL / "geography.csv", tmp_path / "data")
    assert main(["check", str(tmp_path / "params"), str(tmp_path / "data")]) == 0


def test_parquet_records_and_geography(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, delimiter in (("people", "|"), ("geography", ",")):
        with (data / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file, delimiter=delimiter)
        columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
        (data / f"{name}.csv").unlink()
        table = pa.table(columns).set_column(0, "Meshblock", pa.array([int(block) for block in columns["Meshblock"]]))
        pq.write_table(table if name == "people" else pa.table(columns), data / f"{name}.parquet")
    changes = {"records": str(data / "people.parquet"), "geography": str(data / "geography.parquet")}
    assert main(words(tmp_path / "params", data, **changes)) == 0
    assert main(["check", str(tmp_path / "params"), str(data)]) == 0
    assert "every record of 1 file was judged" in capsys.readouterr().out


def test_look_reads_the_sexes_and_says_so(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words(tmp_path / "params", data, sexes=None), "--look"]) == 0
    assert "confidential" in capsys.readouterr().err
    release = tomllib.loads((tmp_path / "params" / "release.toml").read_text(encoding="utf-8"))
    assert release["columns"]["sexes"] == ["F", "M"]
    file = data / "people.csv"
    sound = file.read_text(encoding="utf-8")
    file.write_text(sound.replace("|M|", "||", 1), encoding="utf-8")
    assert main([*words(tmp_path / "other", data, sexes=None), "--look"]) == 1
    assert "FILE-009  people.csv, Sex, line 2:" in capsys.readouterr().err
    file.write_text(sound, encoding="utf-8")
    # A column of ages in its place would put confidential values into a public file.
    assert main([*words(tmp_path / "other", data, sexes=None, sex="Age"), "--look"]) == 1
    assert "USAGE-033" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("sexes", [",", " ", "F\nM"])
def test_sexes_without_a_value_are_no_leave_to_look(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], sexes: str
) -> None:
    assert main(words(tmp_path / "params", data, sexes=sexes)) == 2
    told = capsys.readouterr().err
    assert "USAGE-031" in told
    assert "confidential" not in told
    assert not (tmp_path / "params").exists()


def test_an_answer_of_spaces_is_asked_for_again(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["  ", "F,M"])
    monkeypatch.setattr(click, "prompt", lambda *_, **__: next(answers))
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(words(tmp_path / "params", data, sexes=None)) == 0
    assert not list(answers)
    assert "confidential" not in capsys.readouterr().err
    release = tomllib.loads((tmp_path / "params" / "release.toml").read_text(encoding="utf-8"))
    assert release["columns"]["sexes"] == ["F", "M"]


def test_a_file_that_is_not_there_is_asked_for_again_and_quotes_are_no_part_of_names(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regions = "NATION, REGION=RegionCode:\"Region name\", AREA='AreaCode'"
    answers = iter([str(data / "person.csv"), f"{data / 'people.csv'} ", regions])
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: next(answers))
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(words(tmp_path / "params", data, records=None)[: -len(REGIONS)]) == 0
    assert not list(answers)
    release = tomllib.loads((tmp_path / "params" / "release.toml").read_text(encoding="utf-8"))
    assert release["geography"]["REGION"]["name_column"] == "Region name"
    assert release["geography"]["AREA"]["columns"] == ["AreaCode"]


def test_what_is_missing_is_listed_in_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "params"), "--records", "people.csv", "--age", "Age"]) == 2
    told = capsys.readouterr().err
    assert told.count("USAGE-030") == 1
    for option in ("--geography", "--groups", "--group-levels", "--block", "--sex", "--codes", "--region", "--sexes"):
        assert option in told
    assert "--records" not in told.split(":")[0]


def test_what_is_missing_is_asked_for_on_a_terminal(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(question: str, **_: object) -> str:
        asked.append(question)
        return {"values of the sex": "F,M", "geography levels": "NATION,REGION=RegionCode:Region name"}[
            next(part for part in ("values of the sex", "geography levels") if part in question)
        ]

    monkeypatch.setattr(click, "prompt", answer)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    without_regions = words(tmp_path / "params", data, sexes=None)[: -len(REGIONS)]
    assert main(without_regions) == 0
    assert len(asked) == 2
    release = tomllib.loads((tmp_path / "params" / "release.toml").read_text(encoding="utf-8"))
    assert list(release["geography"]) == ["NATION", "REGION"]


@pytest.mark.parametrize(
    ("changes", "status", "code", "place"),
    [
        ({"age": "Years"}, 1, "FILE-005", "people.csv, Years"),
        ({"block": "Block"}, 1, "FILE-005", "geography.csv, Block"),
        ({"group_levels": "Level1:Name"}, 1, "FILE-005", "groups.csv, Name"),
        ({"group_levels": "Level1:"}, 2, "USAGE-031", "--group-levels"),
        ({"group_levels": "Level2:Level2Name,Level1:Level1Name"}, 1, "GROUPS-020", "groups.csv, Level1, lines 3, 4, 6"),
        ({"group_levels": "Level1:Level2Name,Level2"}, 1, "GROUPS-021", "groups.csv, Level2Name, lines 3, 4, 6"),
        ({"group_levels": ","}, 2, "USAGE-031", "--group-levels"),
        ({"group_levels": "Level1:Level1Name,Level1"}, 2, "USAGE-036", "--group-levels ('Level1')"),
        ({"codes": "a,b,c,d,e,f,g,h,i"}, 2, "USAGE-037", "--codes (9 columns)"),
        ({"codes": ","}, 2, "USAGE-031", "--codes"),
        ({"block": " "}, 2, "USAGE-031", "--block"),
        ({"no_group": "9"}, 1, "GROUPS-022", "--no-group ('9')"),
        ({"no_group": "0999"}, 1, "GROUPS-024", "--no-group ('0999')"),
        ({"no_group": "a|b"}, 1, "GROUPS-014", "--no-group ('a|b')"),
        ({"no_group": "101,102,103,201,202,301,399,999"}, 1, "GROUPS-023", "groups.csv, Level2"),
        ({"no_group": ""}, 2, "USAGE-031", "--no-group"),
        ({"region": "NATION=RegionCode"}, 2, "USAGE-035", "--region ('NATION')"),
        ({"region": "SUBURB=AreaCode"}, 1, "USAGE-038", "--region (SUBURB before NATION, SUBURB before REGION)"),
        ({"region": "=x"}, 2, "USAGE-031", "--region"),
        ({"region": "BLOCK"}, 2, "USAGE-034", "--region ('NATION')"),
        ({"delimiter": "people=,"}, 2, "USAGE-031", "--delimiter"),
        ({"delimiter": "groups=;"}, 1, "FILE-031", "groups.csv"),
        ({"geography": "nowhere.csv"}, 1, "FILE-001", "nowhere.csv"),
        ({"like": "paper"}, 2, "USAGE-032", "safetab init"),
        ({"block": "AreaCode"}, 1, "GEO-002", "geography.csv"),
        ({"codes": "Eth1,Eth1"}, 1, "PARAMS-039", "columns.race_codes"),
    ],
)
def test_what_is_wrong_is_reported_and_nothing_is_written(
    tmp_path: Path,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, str],
    status: int,
    code: str,
    place: str,
) -> None:
    if "AreaCode" in changes.values():
        file = data / "people.csv"
        file.write_text(file.read_text().replace("Meshblock", "AreaCode", 1))
    assert main(words(tmp_path / "params", data, **changes)) == status
    told = " ".join(capsys.readouterr().err.split())
    assert code in told
    assert place in told
    assert told.count(f"{code} {place}") <= 1
    assert not (tmp_path / "params").exists()


@pytest.mark.parametrize(
    ("content", "code", "advice"),
    [
        (b"Groups of 2026\n", "FILE-031", "The first line of a file must be its header."),
        (b"Groups of 2026,,,\n", "FILE-005", "The first line of a file must be its header."),
        (b"Level1, Level1Name, Level2, Level2Name\n", "FILE-005", "capital letters and spaces count"),
        (b"PK\x03\x04\x14\x00\x06\x00", "FILE-017", "The file may be a spreadsheet: save the table as `CSV UTF-8`."),
    ],
    ids=["title", "title with commas", "spaces", "spreadsheet"],
)
def test_what_a_spreadsheet_writes_above_a_table_is_explained(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], content: bytes, code: str, advice: str
) -> None:
    file = data / "groups.csv"
    file.write_bytes(content + file.read_bytes())
    assert main(words(tmp_path / "params", data)) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert code in told
    assert advice in told


def test_levels_that_do_not_contain_each_other_are_in_any_order(tmp_path: Path, data: Path) -> None:
    """An electorate may be larger or smaller than a region: no order is wrong."""
    file = data / "geography.csv"
    head, *lines = file.read_text(encoding="utf-8").splitlines()
    cut = [f'{line},"E{number % 2}"' for number, line in enumerate(lines)]
    file.write_text("\n".join([f'{head},"Electorate"', *cut]) + "\n", encoding="utf-8")
    assert main([*words(tmp_path / "params", data), "--region", "ELECTORATE=Electorate"]) == 0


def test_a_column_without_a_name_is_reported(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = data / "people.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("\n", "|\n"), encoding="utf-8")
    assert main(words(tmp_path / "params", data)) == 0
    assert main(["check", str(tmp_path / "params"), str(data)]) == 0
    assert "people.csv (one without a name): these columns are not read." in capsys.readouterr().err


def test_nothing_is_overwritten(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "params").mkdir()
    (tmp_path / "params" / "codes.csv").write_text("mine")
    assert main(words(tmp_path / "params", data)) == 2
    assert "USAGE-002" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "params").iterdir()] == ["codes.csv"]


def test_names_of_regions_are_shown(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(tmp_path / "params", data)) == 0
    out = tmp_path / "out"
    release = tabulate(tmp_path / "params", data, out)
    rows = release.t1.to_pylist()
    assert {row["REGION_NAME"] for row in rows if row["REGION_ID"] == "R2"} == {"Ōkaru"}
    assert {row["REGION_NAME"] for row in rows if row["REGION_TYPE"] == "NATION"} == {None}
    capsys.readouterr()
    assert main(["view", str(out), "--region", "Tēmarin Coast"]) == 0
    assert "REGION Tēmarin Coast, the largest of" in capsys.readouterr().out
    # An area has the name of its region.
    assert main(["view", str(out), "--region", "R2"]) == 0
    assert "REGION Ōkaru" in capsys.readouterr().out


def test_one_code_column_has_one_kind_of_group(tmp_path: Path, data: Path) -> None:
    assert main(words(tmp_path / "params", data, codes="Eth1")) == 0
    assert {iteration.code for iteration in load(tmp_path / "params").catalogue.iterations} == {
        *("1", "2", "3"),
        *("101", "102", "103", "201", "202", "301", "399"),
    }


def test_codes_that_two_levels_share_get_their_level(tmp_path: Path, data: Path) -> None:
    groups = data / "groups.csv"
    groups.write_text(groups.read_text(encoding="utf-8").replace('"1",', '"101",'), encoding="utf-8")
    assert main(words(tmp_path / "params", data)) == 0
    codes = {iteration.code for iteration in load(tmp_path / "params").catalogue.iterations}
    assert {"1.101-alone", "2.101-alone", "1.2-any"} <= codes


def test_a_config_becomes_an_equal_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write(tmp_path, tiny.files())
    old, new = tmp_path / "params", tmp_path / "new release"
    assert main(["init", str(new), "--from", str(old)]) == 0
    told = capsys.readouterr().out
    assert f"{new / 'release.toml'} and {old / 'config.json'} are equal." in told
    assert f"Next: safetab check '{new}' --same-as {old / 'config.json'}\n" in told
    assert main(["check", str(new), str(tmp_path / "data"), "--same-as", str(old)]) == 0
    assert f"{new} and {old} are equal." in capsys.readouterr().out
    file = new / "release.toml"
    file.write_text(file.read_text().replace("max_race_codes = 8", "max_race_codes = 7"))
    assert main(["check", str(new), "--same-as", str(old)]) == 1
    errors = capsys.readouterr().err
    assert "PARAMS-064" in errors
    assert "(max_race_codes)" in errors


def test_two_files_in_one_folder_may_be_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write(tmp_path, tiny.files())
    params = tmp_path / "params"
    assert main(["init", str(params), "--from", str(params)]) == 0
    assert main(["check", str(params)]) == 0
    assert "PARAMS-063" in capsys.readouterr().err
    file = params / "release.toml"
    file.write_text(file.read_text().replace("max_race_codes = 8", "max_race_codes = 7"))
    assert main(["check", str(params)]) == 1
    assert "PARAMS-002" in capsys.readouterr().err


def test_calibrate_prints_lines_for_the_file_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write(tmp_path, tiny.files())
    assert main(["calibrate", str(tmp_path / "params"), "--moe", "PR-STATE,2=50"]) == 0
    told = capsys.readouterr().out
    assert '"privacy_budget_p_level_2_pr_state": 0.' in told
    assert "budget = " not in told


@pytest.mark.parametrize(
    ("changes", "flags", "detail", "thresholds"),
    [
        ({"age": None}, ["--no-age"], "sex", [40]),
        ({"sex": None, "sexes": None}, ["--no-sex"], "age", [80, 180, 460]),
        ({"age": None, "sex": None, "sexes": None}, ["--no-age", "--no-sex"], "", None),
    ],
)
def test_releases_without_age_or_without_sex(
    tmp_path: Path,
    data: Path,
    changes: dict[str, str | None],
    flags: list[str],
    detail: str,
    thresholds: list[int] | None,
) -> None:
    assert main([*words(tmp_path / "params", data, **changes), *flags]) == 0
    assert main(["check", str(tmp_path / "params"), str(data)]) == 0
    assert load(tmp_path / "params").release.detail == detail
    document = tomllib.loads((tmp_path / "params" / "release.toml").read_text(encoding="utf-8"))
    assert [level.get("thresholds") for level in document["level"]] == [thresholds] * 6


def test_an_empty_answer_is_a_release_without_sex(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click, "prompt", lambda _, default, **__: default)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(words(tmp_path / "params", data, age=None, sex=None, sexes=None)) == 0
    assert load(tmp_path / "params").release.detail == ""


def test_a_column_and_none_are_not_said_together(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words(tmp_path / "params", data), "--no-age"]) == 2
    assert "--age and --no-age exclude each other" in capsys.readouterr().err
    assert not (tmp_path / "params").exists()
