"""Files that nobody can read, and names that no terminal should print: the right file is named, and nothing waits."""

from __future__ import annotations

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from safetab.cli.main import main
from tests.worlds import readable, seals

TABLES = [f"parquet/{name}/us.NOT-PRIVATE.parquet" for name in ("t1", "t2", "geography")]
TEXTS = [f"{name}/us.NOT-PRIVATE.csv" for name in ("t1", "t2")]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    readable.write(folder)
    readable.tabulated(folder, 5)
    return folder / "out-5"


@pytest.fixture
def out(release: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(release, tmp_path / "out"))


def found(out: Path) -> list[tuple[str, str]]:
    """Code and file of each finding."""
    return [(finding.rule.code, finding.file) for finding in safetab.verify(out).findings]


def write_ledger(out: Path, text: str) -> None:
    """Any text in place of the ledger, with its digest."""
    (out / "ledger.json").write_text(text, encoding="utf-8")
    (out / "ledger.sha256").write_text(f"{sha256(text.encode()).hexdigest()}  ledger.json\n")


@pytest.mark.parametrize("file", [*TABLES, "data-dictionary.json"])
@pytest.mark.parametrize("content", [b"", b"no such thing", b"PAR1" * 9, b"[" * 100_000], ids=len)
def test_a_file_that_cannot_be_read_is_named(out: Path, file: str, content: bytes) -> None:
    (out / file).write_bytes(content)
    seals.reseal(out)
    assert found(out) == [("VERIFY-006", file)]


@pytest.mark.parametrize("file", TABLES)
def test_damaged_pages_are_not_taken_for_a_failure_of_the_machine(out: Path, file: str) -> None:
    """PyArrow says of most of them what it says of a broken disk."""
    whole = (out / file).read_bytes()
    seen = set()
    for place in range(4, len(whole) - 8, max(len(whole) // 10, 1)):
        (out / file).write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        seals.reseal(out)
        seen |= set(found(out))
    assert ("VERIFY-006", file) in seen
    assert {name for code, name in seen if code == "VERIFY-006"} <= {file, file.removeprefix("parquet/")}


@pytest.mark.parametrize("file", TEXTS)
def test_a_text_that_cannot_be_read_is_named(out: Path, file: str) -> None:
    text = (out / file).read_text()
    (out / file).write_text(text.removesuffix("\n") + "x\n")
    seals.reseal(out)
    assert found(out) == [("VERIFY-006", file)]


@pytest.mark.parametrize("name", ["t1", "t2"])
def test_a_table_with_nulls_is_named(out: Path, name: str) -> None:
    file = out / "parquet" / name / "us.NOT-PRIVATE.parquet"
    rows = pq.read_table(file)
    nulls = pa.nulls(rows.num_rows, rows.schema.field("ESTIMATE").type)
    pq.write_table(rows.set_column(rows.schema.get_field_index("ESTIMATE"), rows.schema.field("ESTIMATE"), nulls), file)
    seals.reseal(out)
    assert ("VERIFY-006", f"parquet/{name}/us.NOT-PRIVATE.parquet") in found(out)
    assert "ledger.json" not in {file for _, file in found(out)}


def test_a_dictionary_that_lacks_something_is_named(out: Path) -> None:
    for key in ("sexes", "age_starts", "groups", "iterations", "regions", "max_race_codes", "t1", "detail"):
        whole = (out / "data-dictionary.json").read_text()
        seals.change_dictionary(out, lambda words, key=key: words.pop(key))  # type: ignore[misc]
        assert found(out) == [("VERIFY-006", "data-dictionary.json")], key
        (out / "data-dictionary.json").write_text(whole)


@pytest.mark.parametrize("text", ["", "no", "[" * 100_000, '{"outputs": {}, "signing_key": null}'], ids=len)
def test_a_ledger_that_lists_nothing(out: Path, text: str) -> None:
    write_ledger(out, text)
    assert found(out) == [("VERIFY-005", "ledger.json")]


def test_a_key_that_appears_twice(out: Path) -> None:
    """Some programs read the first value, some the last."""
    text = (out / "ledger.json").read_text()
    assert not found(out)
    write_ledger(out, text.replace('"total_budget"', '"total_budget": "0.1",\n  "total_budget"', 1))
    assert found(out) == [("VERIFY-005", "ledger.json")]


@pytest.mark.parametrize("key", ["total_budget", "stage_1_fraction"])
def test_a_number_that_no_memory_holds(out: Path, key: str) -> None:
    for text in ("1e999999999", "1E-99999999999", "9" * 5_000):
        seals.change_ledger(out, lambda ledger, text=text: ledger.update({key: text}))  # type: ignore[misc]
        assert found(out) == [("VERIFY-006", "ledger.json")]


@pytest.mark.parametrize("key", ["is_private", "has_noise", "allow_negative_counts"])
def test_yes_or_no_is_nothing_else(out: Path, key: str) -> None:
    value = seals.read_ledger(out)[key]
    seals.change_ledger(out, lambda ledger: ledger.update({key: int(value)}))
    assert [(finding.rule.code, finding.key) for finding in safetab.verify(out).findings] == [("VERIFY-010", key)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("file", [*TEXTS, *TABLES, "ledger.sha256"])
def test_nobody_waits_for_a_pipe(out: Path, file: str) -> None:
    (out / file).unlink()
    os.mkfifo(out / file)
    assert found(out) == [("VERIFY-002", file)]


def test_a_folder_in_place_of_a_file_is_a_missing_file(out: Path) -> None:
    (out / TEXTS[0]).unlink()
    (out / TEXTS[0]).mkdir()
    assert found(out) == [("VERIFY-002", TEXTS[0])]


def test_names_are_printed_without_what_moves_a_terminal(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = seals.read_ledger(out)
    ledger["outputs"]["\x1b[31mred\nFiles  all is well\ud800"] = "x"
    ledger["signing_key"] = "\x1b]0;owned\x07"
    write_ledger(out, json.dumps(ledger))
    assert main(["verify", str(out), "--json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["signing_key"] == "]0;owned"
    assert {"VERIFY-002", "VERIFY-041"} & {finding["code"] for finding in json.loads(printed.out)["findings"]}
    assert "[31mred Files all is well" in " ".join(printed.err.split())
    assert not {"\x1b", "\x07", "\ud800"} & set(printed.out + printed.err)
