"""The same table from text with every kind of line end, and from Parquet with text or whole numbers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab.errors import Finding
from safetab.files.parquet import read_table
from safetab.files.text import read_text

ROWS = [("01", "x y"), ("02", 'say "no"'), ("30", "é")]
TEXT = "A|UNUSED|B\n" + "".join(f"{a}|-|{b}\n" for a, b in ROWS)


def rows_of(path: Path) -> list[tuple[str, str]]:
    findings: list[Finding] = []
    table = read_table(path, ["A", "B"], {"A": 2}, findings)
    assert not findings
    assert table is not None
    return list(zip(table.column("A"), table.column("B"), strict=True))


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.rstrip("\n").encode(),
        TEXT.replace("\n", "\r\n").encode(),
        (TEXT + "\n").encode(),
        (TEXT + "\n").replace("\n", "\r\n").encode(),
        TEXT.encode("utf-8-sig"),
        (TEXT + "\n").replace("\n", "\r\n").encode("utf-8-sig"),
    ],
    ids=["lf", "no last line end", "crlf", "final blank", "crlf, final blank", "mark", "mark, crlf, final blank"],
)
def test_text_is_read_whatever_its_line_ends(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.txt").write_bytes(content)
    assert rows_of(tmp_path / "t.txt") == ROWS


def test_parquet_gives_the_same_text(tmp_path: Path) -> None:
    texts = [b for _, b in ROWS]
    for name, column in (
        ("text", pa.array([a for a, _ in ROWS])),
        ("numbers", pa.array([int(a) for a, _ in ROWS], pa.int8())),
        ("dictionary", pa.array([a for a, _ in ROWS]).dictionary_encode()),
    ):
        pq.write_table(pa.table({"B": texts, "A": column}), tmp_path / f"{name}.parquet")
        assert rows_of(tmp_path / f"{name}.parquet") == ROWS


def test_parts_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").mkdir()
    for number, (a, b) in enumerate(ROWS):
        pq.write_table(pa.table({"A": [a], "B": [b]}), tmp_path / "t.parquet" / f"part-{number}.parquet")
    assert rows_of(tmp_path / "t.parquet") == ROWS


def test_a_line_without_a_value_is_not_a_blank_line(tmp_path: Path) -> None:
    # A spreadsheet writes rows of delimiters below its table; a quoted field may have blank lines in it.
    (tmp_path / "t.csv").write_text('A,B,C\n1,2,"x\n\ny"\n,,\n3,4,\n,"",5\n\n6,7,8\n,,\n')
    findings: list[Finding] = []
    assert read_text(tmp_path / "t.csv", ["A", "B"], findings) is None
    assert {(one.rule.code, one.key, one.lines) for one in findings} == {
        ("FILE-008", "", (8,)),
        ("FILE-009", "A, B", (5, 7, 10)),
    }


def test_line_numbers_survive_ragged_and_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("A|B\n1|2\n1\n\n3|4\n5|6|7\n\n\n")
    findings: list[Finding] = []
    assert read_text(tmp_path / "t.txt", ["A", "B"], findings) is None
    assert {finding.rule.code: finding.lines for finding in findings} == {"FILE-007": (3, 6), "FILE-008": (4, 7)}
