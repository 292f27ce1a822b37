"""A table of broken records: what is broken, the code, column and lines that must be told, by check and by tabulate.

The values planted here never come out; with --show-values, which only `check` has, they do.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from safetab.cli.main import main
from safetab.errors import Rule
from safetab.rules import record_rules
from tests import profile
from tests.worlds import tiny
from tests.worlds.broken_records import (
    CASES,
    EMPTY_RUNS,
    HEADER,
    PARQUET_CASES,
    PUERTO_RICO,
    SOUND,
    TEXT_CASES,
    Case,
    Rows,
    as_table,
    as_text,
    codes,
    parquet_bytes,
    put,
    sound_rows,
)
from tests.worlds.one_run import one_run_if_quick


def write(folder: Path, records: dict[str, bytes], **choices: Any) -> list[str]:
    """The tiny world with these records and some other choices in its configuration."""
    config = {"params/config.json": json.dumps(tiny.config() | choices)}
    tiny.write(folder, tiny.files() | config | {f"data/{name}": content for name, content in records.items()})
    return [str(folder / "params"), str(folder / "data")]


def findings_of_records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What `check --json` found, but for the warning of a state that no run takes: this world has one on purpose."""
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["seen"] for finding in found if finding["code"] == "GEO-007"] == ["03"]
    return [finding for finding in found if finding["code"] != "GEO-007"]


def assert_refused(
    folder: Path, words: list[str], code: str, place: str, capsys: pytest.CaptureFixture[str], secret: str = ""
) -> dict[str, object]:
    """Both commands refuse, tell code and place, spend nothing, leave nothing and keep the secret; the finding."""
    assert main(["check", *words, "--json"]) == 1
    output = capsys.readouterr()
    assert not secret or secret not in output.out + output.err
    findings = [found for found in json.loads(output.out)["findings"] if found["code"] == code]
    assert findings, output.out
    registry = folder / "registry"
    assert main(["tabulate", *words, str(folder / "out"), "--registry", str(registry)]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert code in told
    assert place in told
    assert "no budget was spent" in told
    assert "MACHINE" not in told
    assert not secret or secret not in told
    assert sorted(path.name for path in folder.iterdir()) == ["data", "params"]
    first: dict[str, object] = findings[0]
    return first


@profile.tries("ways to break records")
@pytest.mark.parametrize("form", ["text", "parquet"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_broken_record_is_reported(case: Case, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = sound_rows()
    case.change(rows)
    parquet = form == "parquet"
    content = parquet_bytes(as_table(rows)) if parquet else as_text(rows)
    words = write(tmp_path, {f"person-records.{'parquet' if parquet else 'txt'}": content}, **one_run_if_quick())
    finding = assert_refused(tmp_path, words, case.code, case.column, capsys, case.secret)
    # Rows of Parquet are counted from 1, lines of text from the header.
    unit, shift = ("rows", 1) if parquet else ("lines", 0)
    assert finding.get(unit, finding.get("lines")) == [line - shift for line in case.lines]
    assert finding["count"] == case.count
    if case.secret and case.column in HEADER and case.code != "RECORDS-001" and not parquet:
        main(["check", *words, "--show-values"])
        assert case.secret in capsys.readouterr().err


@profile.tries("ways to break records")
@pytest.mark.parametrize("name", TEXT_CASES)
def test_broken_text_is_reported(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, code, place = TEXT_CASES[name]
    words = write(tmp_path, {"person-records.txt": change(as_text(sound_rows()))}, **one_run_if_quick())
    assert_refused(tmp_path, words, code, place, capsys)


def test_a_last_line_without_its_end_and_blank_lines_after_it_are_sound(tmp_path: Path) -> None:
    text = as_text(sound_rows())
    for content in (text[:-1], text + b"\n", text + b"\n\n", text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text):
        assert main(["check", *write(tmp_path, {"person-records.txt": content})]) == 0


def test_the_word_for_no_code_may_be_a_null_in_parquet(tmp_path: Path) -> None:
    rows = sound_rows()
    for row in rows:
        row[7:14] = [None] * 7
    assert main(["check", *write(tmp_path, {"person-records.parquet": parquet_bytes(as_table(rows))})]) == 0


def test_a_null_in_the_column_that_runs_filter_on_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person of no state is in no run; left out silently, nobody would miss them."""
    rows = sound_rows()
    put("TABBLKST", None, 4)(rows)
    words = write(tmp_path, {"person-records.parquet": parquet_bytes(as_table(rows))})
    finding = assert_refused(tmp_path, words, "FILE-009", "TABBLKST", capsys)
    assert (finding["rows"], finding["count"]) == ([3], 1)


@profile.tries("ways to break records")
@pytest.mark.parametrize("name", PARQUET_CASES)
def test_broken_parquet_is_reported(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make, code, place = PARQUET_CASES[name]
    words = write(tmp_path, make(as_table(sound_rows())), **one_run_if_quick())
    assert_refused(tmp_path, words, code, place, capsys)


def test_all_faults_of_all_runs_are_reported_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = sound_rows()
    for change in (put("QAGE", "999", 2, 9), put("QSEX", "9", 2), put("TABBLK", "9999", 3), codes(4, "Null")):
        change(rows)
    words = write(tmp_path, {"person-records.txt": as_text(rows)})
    assert main(["check", *words, "--json"]) == 1
    found = [(f["code"], f["lines"]) for f in findings_of_records(capsys)]
    assert sorted(found) == [
        ("RECORDS-001", [3]),
        ("RECORDS-002", [2]),
        ("RECORDS-002", [9]),
        ("RECORDS-003", [2]),
        ("RECORDS-007", [4]),
    ]


@pytest.mark.parametrize("name", [b"", b"qage", b"SHOES|SHOES", b"a b'c\""], ids=["none", "capitals", "twice", "odd"])
def test_any_name_of_a_column_nobody_reads_will_do(name: bytes, tmp_path: Path) -> None:
    more = b"|x" * (1 + name.count(b"|"))
    text = as_text(sound_rows()).replace(b"\n", more + b"\n").replace(b"QSPAN" + more, b"QSPAN|" + name)
    assert main(["check", *write(tmp_path, {"person-records.txt": text})]) == 0


def test_columns_that_differ_in_capitals_are_refused_in_parquet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = as_table(sound_rows())
    table = table.add_column(0, "qage", table["QSEX"])
    words = write(tmp_path, {"person-records.parquet": parquet_bytes(table)})
    assert_refused(tmp_path, words, "FILE-006", "QAGE", capsys)


def test_columns_nobody_reads_are_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = as_text(sound_rows()).replace(b"\n", b"|x\n").replace(b"QSPAN|x", b"QSPAN|SHOES")
    words = write(tmp_path, {"person-records.txt": text})
    assert main(["check", *words]) == 0
    assert "FILE-019" in capsys.readouterr().err
    assert main(["tabulate", *words, str(tmp_path / "out")]) == 0
    assert "FILE-019  Warning: person-records.txt (SHOES)" in capsys.readouterr().err


def test_lines_inside_quotation_marks_are_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two stray marks in one column make a field of all that is between them, and nobody there is counted."""
    text = as_text(sound_rows()).replace(b"\n", b"|x\n").replace(b"QSPAN|x", b"QSPAN|SHOES").replace(b"|", b",")
    assert main(["check", *write(tmp_path, {"person-records.txt": text})]) == 0
    assert "FILE-022" not in capsys.readouterr().err
    lines = text.split(b"\n")
    lines[1], lines[3] = lines[1].replace(b",x", b',"x'), lines[3].replace(b",x", b',x"')
    words = write(tmp_path, {"person-records.txt": b"\n".join(lines)})
    assert main(["check", *words, "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    (found,) = [found for found in findings if found["code"] == "FILE-022"]
    assert (found["lines"], found["count"], found["severity"]) == ([3, 4], 2, "warning")
    # What lines of records contain is for the secure area; a log of `tabulate` need not stay there.
    assert main(["tabulate", *words, str(tmp_path / "out")]) == 0
    assert "FILE-022" not in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "parquet"])
@pytest.mark.parametrize("name", EMPTY_RUNS)
def test_a_run_of_no_records_is_a_warning_of_check_alone(
    name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of one record is published, and neighbours must not be told apart; `check` stays in the secure area."""
    change, runs = EMPTY_RUNS[name]
    rows = sound_rows()
    change(rows)
    content = {"person-records.txt": as_text(rows)} if form == "text" else {}
    words = write(tmp_path, content or {"person-records.parquet": parquet_bytes(as_table(rows))})
    assert main(["check", *words, "--json"]) == 0
    found = [(f["code"], f["severity"], f["key"]) for f in findings_of_records(capsys)]
    assert found == [("RECORDS-010", "warning", run) for run in runs]
    assert main(["tabulate", *words, str(tmp_path / "out"), "--registry", str(tmp_path / "registry")]) == 0
    assert "RECORDS-010" not in capsys.readouterr().err
    ledger = json.loads((tmp_path / "out" / "ledger.json").read_text())
    measured = [level["measurements"][0]["counts"] for run in ledger["runs"] for level in run["levels"]]
    assert measured
    assert all(measured)


def test_line_numbers_hold_in_a_long_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Long enough that an engine would like to read it in pieces, in any order."""
    rows: Rows = [SOUND] * 300_000 + [PUERTO_RICO]
    broken = (2, 150_000, 299_999)
    for line in broken:
        rows[line - 2] = ["999", *SOUND[1:]]
    words = write(tmp_path, {"person-records.txt": as_text(rows)})
    assert main(["check", *words, "--json"]) == 1
    (finding,) = findings_of_records(capsys)
    assert finding["lines"] == list(broken)


def compressed(content: bytes, end: str) -> bytes:
    return gzip.compress(content) if end == ".gz" else pa.compress(content, codec="zstd", asbytes=True)


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_compressed_text_is_judged_like_any_other(end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, text = f"person-records.txt{end}", as_text(sound_rows())
    words = write(tmp_path / "sound", {name: compressed(text, end)})
    assert main(["check", *words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["records_judged"], report["record_files"]) == (True, 1)
    for case in ("a field too many", "a NUL byte", "a blank line inside", "no bytes", "mixed line ends"):
        change, code, place = TEXT_CASES[case]
        folder = tmp_path / case
        assert_refused(
            folder, write(folder, {name: compressed(change(text), end)}), code, place.removesuffix(".txt"), capsys
        )


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_a_damaged_compressed_file_is_reported(end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut off anywhere, with another byte inside, or compressed without a name that says so."""
    whole = compressed(as_text([SOUND] * 5000 + [PUERTO_RICO]), end)
    flipped = bytearray(whole)
    flipped[-6] ^= 1
    named = f"person-records.txt{end}"
    broken = [
        (named, whole[:-4]),
        (named, whole[:20]),
        (named, whole[: len(whole) // 2]),
        ("person-records.txt", whole),
    ]
    broken += [(named, bytes(flipped))] if end == ".gz" else []
    for number, (name, content) in enumerate(broken):
        folder = tmp_path / str(number)
        assert_refused(folder, write(folder, {name: content}), "FILE-021", name, capsys)


def test_check_says_whether_records_were_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = parquet_bytes(as_table(sound_rows()))
    broken = parquet_bytes(as_table(sound_rows()).drop_columns(["QAGE"]))
    faulty = as_text(sound_rows()).replace(b"30|", b"300|", 1)
    worlds: list[tuple[dict[str, bytes], int, bool, int, str]] = [
        ({}, 0, False, 0, "not judged: there are none in"),
        ({"person-records.txt": as_text(sound_rows())}, 0, True, 1, "every record of 1 file was judged"),
        ({"person-records/a.pq": part, "person-records/b/c.parquet": part}, 0, True, 2, "every record of 2 files was"),
        ({"person-records.txt": faulty}, 1, True, 1, "every record of 1 file was judged"),
        ({"person-records.parquet": broken}, 1, False, 1, "not judged, because of the faults below"),
    ]
    for number, (files, status, judged, count, words) in enumerate(worlds):
        named = write(tmp_path / str(number), files)
        assert main(["check", *named, "--json"]) == status
        report = json.loads(capsys.readouterr().out)
        assert (report["records_judged"], report["record_files"]) == (judged, count)
        main(["check", *named])
        out = " ".join(capsys.readouterr().out.split())
        assert f"Records {words}" in out
        assert ("No record was judged." in out) == (not judged and status == 0)
    main(["check", named[0]])
    assert "not judged, because no data folder was named" in " ".join(capsys.readouterr().out.split())


def test_every_rule_of_records_is_in_the_tables() -> None:
    tested = {case.code for case in CASES} | {code for _, code, _ in [*TEXT_CASES.values(), *PARQUET_CASES.values()]}
    needed = {rule.code for rule in vars(record_rules).values() if isinstance(rule, Rule)}
    # More codes than allowed needs another release, RECORDS-009 an engine that is stricter than our own reading, and
    # RECORDS-011 Spark; each has its test elsewhere. RECORDS-010 is a warning, and has its own test above.
    assert needed - tested == {"RECORDS-006", "RECORDS-009", "RECORDS-010", "RECORDS-011"}
