"""Text records in every form, counted alike and with the same lines in their findings by every engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from safetab.errors import InputError
from safetab.rules import file_rules, record_rules
from tests import profile
from tests.contract.conftest import IN_SPARK, UnderContract, assert_same_release, leave_to_long_profile
from tests.worlds.small_census import one_run, sound_world
from tests.worlds.text_variants import Quoting, TextVariant

DUCKDB = UnderContract("duckdb", None)
VARIANTS = (
    TextVariant(",", Quoting.ALL, "\r\n", b"\xef\xbb\xbf"),
    TextVariant(";", Quoting.NEEDED, "\n", b"", ".gz"),
    TextVariant("\t", Quoting.NONE, "\r\n", b"", ".zst"),
    TextVariant("|", Quoting.ALL),
)
#: Long enough that notes of every kind come more than once. A second run reads the same file in the same way, and takes
#: Spark as long again.
WORLD = sound_world() if profile.size(quick=0, long=1) else one_run(sound_world())


def write_records(folder: Path, variant: TextVariant, rows: list[tuple[str, ...]]) -> Path:
    """The world with its records in one form."""
    WORLD.write(folder)
    (folder / "data" / "person-records.txt").unlink()
    path = folder / "data" / f"person-records.txt{variant.compression}"
    path.write_bytes(variant.written(rows))
    return path


def released(contracted: UnderContract, folder: Path, name: str, **options: Any) -> Path:
    return contracted.tabulate(folder / "params", folder / "data", folder / name, **options)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_form_is_counted_alike(contracted: UnderContract, tmp_path: Path, variant: TextVariant) -> None:
    if variant in VARIANTS[1:]:
        leave_to_long_profile(contracted, "a search for faults in such a file, or one compressed,")
    WORLD.write(tmp_path)
    released(DUCKDB, tmp_path, "expected")
    write_records(tmp_path, variant, WORLD.record_rows())
    assert_same_release(released(contracted, tmp_path, "out"), tmp_path / "expected")


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_lines_of_findings_are_right(contracted: UnderContract, tmp_path: Path, variant: TextVariant) -> None:
    """Also after fields of several lines, and for a header of two."""
    if variant in VARIANTS[:2]:
        leave_to_long_profile(contracted, "a count of such a file")
    rows = WORLD.record_rows()
    for number in (2, 5, 11):
        rows[number] = ("116", *rows[number][1:])
    path = write_records(tmp_path, variant, rows)
    lines = variant.first_lines(rows)
    with pytest.raises(InputError) as caught:
        released(contracted, tmp_path, "out")
    expected = {(record_rules.AGE.code, path.name, "QAGE", lines[number - 1]) for number in (2, 5, 11)}
    found = caught.value.findings
    # A finding for each run that has such people.
    assert {(one.rule.code, one.file, one.key, line) for one in found for line in one.lines} == expected
    assert sum(one.count for one in found) == 3


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        assert old in content
        return content.replace(old, new, 1)

    return change


#: What is wrong with quoted text, the rule and line for a local file, and the rule where Spark alone can judge.
BROKEN: dict[str, tuple[Callable[[bytes], bytes], str, str, tuple[int, ...]]] = {
    "a mark inside a field": (replaced(b'"two\nlines"', b'"two\n"lines"'), "FILE-032", "FILE-032", (6,)),
    "no end of a field": (lambda text: text.rstrip(b'"\n'), "FILE-032", "FILE-032", (21,)),
    "a field too many": (replaced(b'"two\nlines"', b'"two\nlines","x"'), "FILE-007", "RECORDS-009", (5,)),
    "a field too few": (replaced(b'"two\nlines",', b""), "FILE-007", "RECORDS-009", (5,)),
    "not UTF-8": (
        lambda text: re.sub(rb'"[12]","two', b'"\xef","two', text, count=1),
        "FILE-003",
        "RECORDS-009",
        (5,),
    ),
    "text after quotes": (replaced(b',"",', b',""x,'), "FILE-032", "FILE-032", (9,)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_quotes(contracted: UnderContract, tmp_path: Path, name: str) -> None:
    if name not in ("a mark inside a field", "a field too few"):
        leave_to_long_profile(contracted, "another fault of quotes")
    change, code, code_at_address, lines = BROKEN[name]
    path = write_records(tmp_path, TextVariant(",", Quoting.ALL), WORLD.record_rows())
    path.write_bytes(change(path.read_bytes()))
    is_spark = contracted.name == "spark"
    with pytest.raises(InputError) as caught:
        released(contracted, tmp_path, "out", **({"records": f"file:{path}"} if is_spark else {}))
    (found,) = caught.value.findings
    assert found.rule.code == (code_at_address if is_spark else code)
    assert found.lines == lines


@IN_SPARK
def test_parts_with_line_breaks_at_an_address(spark_session: Any, tmp_path: Path) -> None:
    """Each file is joined by itself; none takes a line from another."""
    spark = UnderContract("spark", spark_session)
    WORLD.write(tmp_path)
    expected = released(DUCKDB, tmp_path, "expected")
    header, *rows = WORLD.record_rows()
    folder = tmp_path / "people.csv"
    folder.mkdir()
    for number in range(3):
        content = TextVariant(",", Quoting.ALL).written([header, *rows[4 * number : 4 * number + 4]])
        (folder / f"part {number}.csv").write_bytes(content)
    assert_same_release(released(spark, tmp_path, "out", records=f"file:{folder}"), expected)


def test_an_ambiguous_header_shows_the_line_to_add(contracted: UnderContract, tmp_path: Path) -> None:
    path = write_records(tmp_path, TextVariant(), WORLD.record_rows())
    path.write_text("QAGE,QSEX|TABBLKST\n")
    options = {"records": f"file:{path}"} if contracted.name == "spark" else {}
    with pytest.raises(InputError) as caught:
        released(contracted, tmp_path, "out", **options)
    (found,) = caught.value.findings
    assert found.rule.code == file_rules.AMBIGUOUS_DELIMITER.code
    assert 'Add `delimiter = { records = "|" }` or `delimiter = { records = "," }`' in found.rule.next_step
