"""A table of failures that an office meets with its own files: what happened, and the message that says what to do."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from safetab.cli.main import main

ORAVEL = Path(__file__).resolve().parents[2] / "examples" / "oravel"
PEOPLE, GEOGRAPHY = "data/people.csv", "data/geography.csv"
CODES, MAPPING = "params/codes.csv", "params/codes-of-iterations.csv"


def swap(file: str, pattern: str, new: str, count: int = 1) -> Callable[[Path], None]:
    """Replace the first matches of a pattern in a file, or all of them with a count of 0."""

    def break_it(world: Path) -> None:
        text = (world / file).read_bytes().decode()
        changed, times = re.subn(pattern, new, text, count=count, flags=re.MULTILINE)
        assert times
        (world / file).write_bytes(changed.encode())

    return break_it


def both(*breakings: Callable[[Path], None]) -> Callable[[Path], None]:
    def break_it(world: Path) -> None:
        for breaking in breakings:
            breaking(world)

    return break_it


def latin_1(world: Path) -> None:
    text = (world / GEOGRAPHY).read_text(encoding="utf-8").replace("ē", "e").replace("ō", "o").replace("Ō", "O")
    (world / GEOGRAPHY).write_bytes(text.encode("latin-1", errors="replace"))


#: In a spreadsheet a code such as 0101 becomes 101.
SHORT_CODES = both(swap(CODES, '^"?101"?,', '"0101",'), swap(MAPPING, '"?101"?$', '"0101"', 0))


@dataclass(frozen=True)
class Failure:
    """What happened, and what must be said: code, place, next step."""

    name: str
    breaking: Callable[[Path], None]
    code: str
    place: str
    advice: str


FAILURES = [
    Failure(
        "another name of a column in the records",
        swap(PEOPLE, '"Age"', '"Years"'),
        "FILE-005",
        "people.csv, Age",
        "use the name that the header has",
    ),
    Failure(
        "another name of a column in the geography",
        swap(GEOGRAPHY, '"AreaCode"', '"Area"'),
        "FILE-005",
        "geography.csv, AreaCode",
        "use the name that the header has",
    ),
    Failure(
        "records with semicolons",
        swap(PEOPLE, ",", ";", 0),
        "FILE-031",
        "people.csv, line 1 (with semicolons)",
        'Write `delimiter = { records = ";" }` in [files] in release.toml.',
    ),
    Failure(
        "a geography with tabs",
        swap(GEOGRAPHY, ",", "\t", 0),
        "FILE-031",
        "geography.csv, line 1 (with tabs)",
        'Write `delimiter = { geography = "\\t" }` in [files] in release.toml.',
    ),
    Failure(
        "a code that is not in the list",
        swap(PEOPLE, '"102"', '"777"'),
        "RECORDS-004",
        "people.csv, Eth1, line 2",
        "add the code to your table of groups and run it again",
    ),
    Failure(
        "an age that is missing",
        swap(PEOPLE, ",58,", ",,"),
        "FILE-009",
        "people.csv, Age, line 2",
        "Fill in the value, or remove the line.",
    ),
    Failure(
        "an age with decimals",
        swap(PEOPLE, ",58,", ",58.0,"),
        "RECORDS-002",
        "people.csv, Age, line 2",
        "Correct the ages.",
    ),
    Failure(
        "a sex that is not in the release",
        swap(PEOPLE, '"M"', '"X"'),
        "RECORDS-003",
        "people.csv, Sex, line 2",
        "Correct the values, or add them to `sexes`.",
    ),
    Failure(
        "a block on two lines",
        swap(GEOGRAPHY, '^"011002"', '"011001"'),
        "GEO-002",
        "geography.csv, line 3",
        "Keep one line for each block.",
    ),
    Failure(
        "a block that the geography lacks",
        swap(PEOPLE, '"033002"', '"999999"'),
        "RECORDS-001",
        "people.csv, Meshblock, line 2",
        "Add the block to the geography file, or correct the record.",
    ),
    Failure(
        "blocks of the records without leading zeros",
        swap(PEOPLE, '^"0', '"', 0),
        "RECORDS-012",
        "people.csv, Meshblock, lines 2, 3, 4, 5, 6",
        "A spreadsheet removes leading zeros. Export the table that lacks them again, with this column as text.",
    ),
    Failure(
        "blocks of the geography without leading zeros",
        swap(GEOGRAPHY, '^"0', '"', 0),
        "GEO-001",
        "geography.csv, Meshblock, lines 2, 3, 4, 5, 6 and 27 more are not 6 wide",
        "export the table again, with this column as text",
    ),
    Failure(
        "codes of the records without leading zeros",
        SHORT_CODES,
        "RECORDS-012",
        "people.csv, Eth",
        "A spreadsheet removes leading zeros. Export the table that lacks them again, with this column as text.",
    ),
    Failure(
        "codes of the list without leading zeros",
        swap(PEOPLE, '"102"', '"0102"'),
        "RECORDS-012",
        "people.csv, Eth1, line 2",
        "A spreadsheet removes leading zeros.",
    ),
    Failure(
        "a quote that nobody closes",
        swap(GEOGRAPHY, '"Port Ävalo"', '"Port Ävalo'),
        "FILE-032",
        "geography.csv, line 2",
        "Correct the line. A quoted field may lack its end.",
    ),
    Failure(
        "quotes in the records that are no quotes",
        swap(PEOPLE, '"102"', '10"2'),
        "FILE-032",
        "people.csv, line 2",
        'add `quote = { records = "" }` to [files] in release.toml',
    ),
    Failure(
        "a comma too many",
        swap(PEOPLE, ",58,", ",58,,"),
        "FILE-007",
        "people.csv, line 2",
        "Look for a missing or an extra delimiter",
    ),
    Failure(
        "another encoding",
        latin_1,
        "FILE-003",
        "geography.csv, line 2",
        "Or convert the file, for example with `iconv -f latin1 -t utf-8`.",
    ),
    Failure(
        "a region with two names",
        swap(GEOGRAPHY, '^"011002","A11","Port Ävalo"', '"011002","A11","Port Avalo"'),
        "GEO-010",
        "geography.csv, Area name, line 3",
        "Correct the names",
    ),
]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of an office and the release that `safetab init` writes for them."""
    world = tmp_path_factory.mktemp("office")
    shutil.copytree(ORAVEL, world / "data")
    files = {"--records": "people", "--geography": "geography", "--groups": "groups"}
    words = [word for key, name in files.items() for word in (key, str(world / "data" / f"{name}.csv"))]
    words += ["--group-levels", "Level1:Level1Name,Level2:Level2Name", "--block", "Meshblock", "--age", "Age"]
    words += ["--sex", "Sex", "--sexes", "F,M", "--codes", "Eth1,Eth2,Eth3", "--no-group", "999"]
    words += ["--region", "NATION", "--region", "REGION=RegionCode:Region name", "--region", "AREA=AreaCode:Area name"]
    assert main(["init", str(world / "params"), *words]) == 0
    assert main(["check", str(world / "params"), str(world / "data")]) == 0
    return world


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.name)
def test_a_failure_has_one_message_that_says_what_to_do(
    failure: Failure, office: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("params", "data"):
        shutil.copytree(office / name, tmp_path / name)
    failure.breaking(tmp_path)
    capsys.readouterr()
    assert main(["check", str(tmp_path / "params"), str(tmp_path / "data"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    errors = [one for one in found if one["severity"] == "error"]
    # A code may be in any of the columns; each of them is told.
    assert {one["code"] for one in errors} == {failure.code}
    assert len(errors) == len({one["key"] for one in errors})
    assert len(errors) == 1 or failure.breaking is SHORT_CODES
    main(["check", str(tmp_path / "params"), str(tmp_path / "data")])
    told = " ".join(capsys.readouterr().err.split())
    assert failure.place in told
    assert failure.advice in told
