"""The same table from every form of text: delimiters, quoting, line ends, marks and compression."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safetab.errors import Finding
from safetab.files.delimited import TextForm, ToldForm, form_of_header
from safetab.files.quotes import quoted_lines
from safetab.files.text import TextTable, read_text
from safetab.rules import file_rules

ROWS = [("01", "Te Ōhau"), ("02", "a, b; c | d\te"), ("03", 'say "no"'), ("04", "two\nlines"), ("05", "")]


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def written(delimiter: str, quote: Callable[[str], str], rows: list[tuple[str, str]]) -> str:
    lines = [("CODE", "UNUSED", "NAME"), *((a, "-", b) for a, b in rows)]
    return "".join(delimiter.join(map(quote, line)) + "\n" for line in lines)


def read(path: Path, told: ToldForm | None = None) -> tuple[TextTable | None, list[Finding]]:
    findings: list[Finding] = []
    return read_text(path, ["CODE", "NAME"], findings, told or ToldForm(file_key="codes")), findings


@pytest.mark.parametrize("delimiter", ["|", ",", ";", "\t"])
@pytest.mark.parametrize("is_quoted", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("compression", ["", ".gz"])
def test_every_form_gives_the_same_table(
    tmp_path: Path, delimiter: str, is_quoted: bool, end: str, mark: bytes, compression: str
) -> None:
    # Without quotes a value cannot have the delimiter, a line break or, where quotes have a meaning, a quote.
    rows = ROWS if is_quoted else [ROWS[0], ROWS[4]]
    text = written(delimiter, quoted if is_quoted else str, rows).replace("\n", end)
    data = mark + text.encode()
    path = tmp_path / f"t.csv{compression}"
    path.write_bytes(gzip.compress(data) if compression else data)
    table, findings = read(path)
    assert not findings
    assert table is not None
    assert list(zip(table.column("CODE"), table.column("NAME"), strict=True)) == [
        (a, b.replace("\n", end)) for a, b in rows
    ]


def test_bars_without_quotes_are_read_as_the_bureau_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text('CODE|UNUSED|NAME\n1|"|"x\n')
    table, _ = read(path)
    assert table is not None
    assert table.column("NAME") == ['"x']
    path.write_text('CODE,UNUSED,NAME\n1,",5"\n')
    table, findings = read(path, ToldForm(is_quoted=False))
    assert not findings
    assert table is not None
    assert table.column("NAME") == ['5"']


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("CODE|NAME", TextForm("|", False)),
        ('"CODE"|"NAME"', TextForm("|", True)),
        ("CODE,NAME", TextForm(",", True)),
        ("CODE;NAME, in full", TextForm(";", True)),
        ('CODE,"NAME; of it",NAME', TextForm(",", True)),
        ("CODE\tNAME", TextForm("\t", True)),
        ("CODE", TextForm("|", False)),
        ("CODE|x,CODE", None),
        ("a|b,c", None),
    ],
)
def test_the_header_decides_where_it_is_unambiguous(header: str, form: TextForm | None) -> None:
    assert form_of_header(header, ["CODE"], ToldForm()) == form


def test_the_error_shows_the_line_to_add(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("CODE|NAME,CODE;NAME\n")
    _, (finding,) = read(path)
    assert finding.rule.code == file_rules.AMBIGUOUS_DELIMITER.code
    assert 'Add `delimiter = { codes = "|" }` or `delimiter = { codes = "," }`' in finding.rule.next_step
    path.write_text("CODE,NAME\n1,2\n")
    _, (finding,) = read(path, ToldForm(";", file_key="codes"))
    assert finding.rule.next_step == 'Write `delimiter = { codes = "," }` in [files] in release.toml.'
    path.write_text('CODE,NAME\n1,"2\n')
    _, (finding,) = read(path)
    assert 'add `quote = { codes = "" }` to [files]' in finding.rule.next_step


def test_lines_are_right_after_quoted_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('CODE,"UNU\nSED",NAME\n1,"a\n\nb",x\n2,-,y\n3,-\n"4\n",-,z\n5\n6,"c\r\nd",w\n')
    table, findings = read(path)
    assert table is None
    assert [(finding.rule.code, finding.lines) for finding in findings] == [("FILE-007", (7, 10))]
    path.write_text(path.read_text().replace("3,-\n", "3,-,\n").replace("\n5\n", "\n5,,\n"))
    table, findings = read(path)
    assert not findings
    assert table is not None
    assert table.lines(range(len(table))) == [3, 6, 7, 8, 10, 11]


def lines_by_hand(text: str) -> tuple[list[int], bool]:
    """Character by character, as RFC 4180 says: the lines that continue a record, and whether all quotes are right."""
    continued: list[int] = []
    line, position, is_field_start = 1, 0, True
    while position < len(text):
        letter = text[position]
        if letter == '"' and is_field_start:
            position += 1
            while True:
                if position >= len(text):
                    return continued, False
                if text[position] == '"':
                    if text[position + 1 : position + 2] != '"':
                        break
                    position += 1
                elif text[position] == "\n":
                    line += 1
                    continued.append(line)
                position += 1
            if text[position + 1 : position + 2] not in ("", ",", "\n"):
                return continued, False
            is_field_start = False
        elif letter == '"':
            return continued, False
        else:
            line += letter == "\n"
            is_field_start = letter in ",\n"
        position += 1
    return continued, True


@given(st.text(alphabet='",\na', max_size=24), st.integers(1, 5))
def test_quotes_are_judged_as_letter_by_letter(tmp_path_factory: pytest.TempPathFactory, text: str, chunk: int) -> None:
    path = tmp_path_factory.mktemp("quotes") / "t.csv"
    path.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("safetab.files.quotes._CHUNK", chunk)
        found = quoted_lines(path, ",")
    continued, is_sound = lines_by_hand(text)
    assert (found.wrong is None) is is_sound
    if is_sound:
        assert found.continued.tolist() == continued
