"""`safetab read` and `safetab view --group --find`: words in, answers out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import safetab
from safetab.cli.main import main
from tests.worlds import merovia, readable

#: A row without its bar.
NO_BARS = str.maketrans("", "", "─●")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(readable.tabulated(readable.write(tmp_path_factory.mktemp("read")), 3))


def told(words: list[str], capsys: pytest.CaptureFixture[str], status: int = 0) -> str:
    assert main(words) == status
    printed = capsys.readouterr()
    return " ".join((printed.err if status else printed.out).split())


def test_a_total_with_its_interval_and_how(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = safetab.open(out).total("2001", "STATE/01")
    text = told(["read", out, "total", "--group", "Alpine alone", "--region", "STATE/01"], capsys)
    assert text.startswith(f"Answer {int(found.value)} Interval {int(found.low)} to {int(found.high)} with")
    assert "Computed the published row STATE/01 group 2001" in text


def test_sums_by_sex_and_ages(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["total", "--group", "2001", "--region", "STATE/01", "--sex", "1", "--ages", "0", "17", "--json"]
    found = json.loads(told(["read", out, *words], capsys))
    assert found["value"] == safetab.open(out).total("2001", "STATE/01", sex="1", ages=(0, 17)).value


def test_shares_differences_and_ranks(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    pair, whole = ["2001", "COUNTY/01003"], ["2001", "STATE/01"]
    assert "Fieller" in told(["read", out, "share", "--part", *pair, "--whole", *whole], capsys)
    assert "By noise a gap at least this large" in told(
        ["read", out, "difference", "--a", *pair, "--b", *whole], capsys
    )
    ranks = told(["read", out, "rank", "--group", "2001", "--group", "4001", "--region", "STATE/01"], capsys)
    assert ranks.index("Alpine alone") < ranks.index("Spaniard")


def test_ranks_say_what_holds_together_and_what_was_not_published(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["read", out, "rank", "--group", "2001", "--group", "4001", "--region"]
    text = told([*words, "TRACT/01005000200"], capsys)
    assert "All ranks hold together with a probability of at least 95 %, each interval by itself." in text
    # The other group is the rest of its county.
    assert "Warning not published: 4001." in text
    assert "not published" not in told([*words, "STATE/01"], capsys)


def test_a_release_that_is_not_private_says_so(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["total", "--group", "2001"], ["rank", "--group", "2001"]):
        question = ["read", out, *words, "--region", "STATE/01"]
        assert "Warning NOT PRIVATE" in told(question, capsys)
        assert json.loads(told([*question, "--json"], capsys))["is_private"] is False


def test_the_answer_about_a_private_release_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    params, data = merovia.MEROVIA / "params", merovia.MEROVIA / "data"
    safetab.tabulate(params, data, tmp_path / "out")
    words = ["total", "--group", "A01", "--region", "COUNTRY/Merovia"]
    text = told(["read", str(tmp_path / "out"), *words], capsys)
    assert "NOT PRIVATE" not in text
    assert json.loads(told(["read", str(tmp_path / "out"), *words, "--json"], capsys))["is_private"] is True


def test_what_is_missing_and_what_has_no_bound_is_said(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["4001", "TRACT/01005000200"]
    text = told(["read", out, "share", "--part", "2001", "STATE/01", "--whole", *small], capsys)
    assert "without bound" in text
    assert "Warning" in text
    assert "1 total was not published" in text


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["total", "--group", "nobody", "--region", "USA/1"], "READ-001"),
        (["total", "--group", "2001", "--region", "COUNTY/99"], "READ-002"),
        (["total", "--group", "2003", "--region", "COUNTY/01001"], "READ-003"),
        (["total", "--group", "2001", "--group", "2002", "--region", "USA/1"], "READ-004"),
        (["total", "--group", "2001", "--region", "STATE/01", "--sex", "9"], "READ-005"),
        (["total", "--group", "2001"], "READ-007"),
        (["share", "--part", "2001", "USA/1"], "(share without --whole)"),
        (["total", "--group", "2001", "--region", "USA/1", "--confidence", "95"], "(confidence 95.0)"),
        (["rank", "--group", "2001", "--region", "USA/1", "--sex", "1"], "READ-009"),
        (["share", "--part", "2001", "USA/1", "--whole", "2001", "USA/1", "--ages", "0", "17"], "(share with --ages)"),
        (["total", "--group", "2001", "--region", "USA/1", "--b", "2001", "USA/1"], "(total with --b)"),
        (["rank", "--group", "2001"], "READ-007"),
        (["sum", "--group", "2001"], "USAGE-001"),
    ],
)
def test_questions_without_an_answer(out: str, words: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code in told(["read", out, *words], capsys, status=2)


def test_a_release_of_an_earlier_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ledger.json", "data-dictionary.json"):
        (tmp_path / name).write_text("{}")
    assert "READ-006" in told(["read", str(tmp_path), "total"], capsys, status=1)


def test_overlap_can_be_allowed(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["total", "--group", "2001", "--group", "2002", "--region", "USA/1", "--overlap", "allow"]
    assert "Answer" in told(["read", out, *words], capsys)


def test_view_finds_and_shows_one_group(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(["view", out, "--find", "alpine"], capsys)
    assert "2 groups and regions with 'alpine'" in found
    assert "2002" in found
    one = told(["view", out, "--group", "Spaniard", "--region", "STATE/01"], capsys)
    assert "Spaniard" in one
    assert "Alpine" not in one
    assert "No total of Spaniard" in told(["view", out, "--group", "4001", "--region", "COUNTY/01005"], capsys)
    assert "READ-001" in told(["view", out, "--group", "nobody"], capsys, status=2)


def test_view_shows_intervals_as_bars(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A bar begins at LOW_95 and ends at HIGH_95, on a scale from 0 to the largest end."""
    assert main(["view", out, "--region", "STATE/01", "--bars"]) == 0
    printed = capsys.readouterr().out
    rows = safetab.open(out).table("t1", "pandas")
    rows = rows[(rows["REGION_TYPE"] == "STATE") & (rows["REGION_ID"] == "01")]
    most = rows.sort_values("COUNT", ascending=False)[:12]["HIGH_95"].max()
    lines = [line for line in printed.splitlines() if "●" in line]
    assert len(lines) == min(12, len(rows))
    (heading,) = [line for line in printed.splitlines() if line.startswith("Group")]
    start = heading.index(" 0 ") + 1
    assert heading[start:].startswith(f"0{f'{most:,}':>23}")
    for line in lines:
        (row,) = rows[rows["ITERATION_CODE"] == line[:start].split()[-1]].to_dict("records")
        bar = line[start : start + 24].rstrip()
        places = [round(23 * row[name] / most) for name in ("LOW_95", "ESTIMATE", "HIGH_95")]
        assert [len(bar) - len(bar.lstrip()), bar.index("●"), len(bar) - 1] == places
    assert main(["view", out, "--region", "STATE/01"]) == 0
    assert "●" not in capsys.readouterr().out


def test_bars_are_shorter_on_a_narrow_screen(
    out: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bars give way before a number or a name is folded."""
    words = ["view", out, "--region", "STATE/01", "--bars"]
    assert main(words) == 0
    wide = [line for line in capsys.readouterr().out.splitlines() if "●" in line]
    monkeypatch.setenv("COLUMNS", str(max(map(len, wide)) - 10))
    assert main(words) == 0
    narrow = [line for line in capsys.readouterr().out.splitlines() if "●" in line]
    assert [line.translate(NO_BARS).split() for line in narrow] == [line.translate(NO_BARS).split() for line in wide]
    assert max(line.index("●") for line in narrow) < max(line.index("●") for line in wide)
