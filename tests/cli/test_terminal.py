"""What people see: columns, folding, colours on a terminal and none in a pipe, and a bar that leaves nothing behind."""

from __future__ import annotations

import io
import threading

import pytest

from safetab.cli.layout import Facts, Grid, Paragraph, Style, folded, unbroken
from safetab.cli.terminal import Console, alarm, as_it_is
from safetab.pipeline.progress_bar import ProgressBar
from safetab.screen import display_width


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def printed(what: Facts | Grid | Paragraph | str) -> str:
    pipe = io.StringIO()
    Console(pipe).print(what)
    return pipe.getvalue()


TABLE = Grid("Counts", ["Region", "People", "Margin"], [["Waikato", "17,329", "± 139"], ["São João", "8", "-"]])


def test_names_are_left_and_numbers_right_without_trailing_spaces() -> None:
    assert printed(TABLE) == (
        "Counts\n"
        "Region    People  Margin\n"
        "Waikato   17,329   ± 139\n"
        "São João       8       -\n"
    )  # fmt: skip


def test_wide_and_combining_letters_keep_columns_straight() -> None:
    names = ["Ωmega", "東京", "Sa\u0303o", "plain"]
    assert [display_width(name) for name in names] == [5, 4, 3, 5]
    lines = printed(Grid("", ["", "n"], [[name, "1"] for name in names])).splitlines()[2:]
    assert {display_width(line) for line in lines} == {8}


def on_terminal(what: Grid, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    Console(terminal).print(what)
    return terminal.getvalue().splitlines()


LEVELS = Grid(
    "Levels",
    ["Geography level", "Empty group seen", "Thresholds"],
    [["(COUNTY, 2)", "0.0124", "971 4,971 19,971"], ["(USA, 1)", "1", "4,971 19,971 149,971"]],
)


def test_headings_give_way_first_then_numbers(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_terminal(LEVELS, terminal, monkeypatch, 44) == [
        "Levels",
        "Geography        Empty            Thresholds",
        "level            group",
        "                  seen",
        "(COUNTY, 2)     0.0124      971 4,971 19,971",
        "(USA, 1)             1  4,971 19,971 149,971",
    ]
    assert on_terminal(LEVELS, Terminal(), monkeypatch, 40)[4:] == [
        "(COUNTY, 2)  0.0124     971 4,971 19,971",
        "(USA, 1)          1 4,971 19,971 149,971",
    ]
    assert on_terminal(LEVELS, Terminal(), monkeypatch, 38)[4:] == [
        "(COUNTY, 2)  0.0124   971 4,971 19,971",
        "(USA, 1)          1       4,971 19,971",
        "                               149,971",
    ]


@pytest.mark.parametrize("columns", [28, 30, 36, 40, 50, 60, 80])
def test_no_number_and_no_name_is_ever_cut(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    lines = on_terminal(LEVELS, terminal, monkeypatch, columns)
    assert max(map(display_width, lines)) <= columns
    words = " ".join(lines).split()
    for text in (*LEVELS.columns, *(cell for row in LEVELS.rows for cell in row)):
        assert set(text.split()) <= set(words)
    assert "…" not in "".join(lines)


def test_a_table_in_a_pipe_keeps_its_width() -> None:
    wide = Grid("", ["Name", "People"], [["n" * 200, "1"]])
    assert "n" * 200 in printed(wide)


def test_rows_are_stacked_where_columns_do_not_fit(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_terminal(TABLE, terminal, monkeypatch, 18) == [
        "Counts",
        "",
        "Region  Waikato",
        "People  17,329",
        "Margin  ± 139",
        "",
        "Region  São João",
        "People  8",
        "Margin  -",
    ]


def test_names_are_folded_last_and_level_names_never(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    level = unbroken("(COUNTY, 2)")
    figures = Grid("", ["", "Count", "Margin"], [[f"us {level}", "1,234,567", "± 12"]])
    assert on_terminal(figures, terminal, monkeypatch, 31)[-1] == "us (COUNTY, 2) 1,234,567   ± 12"
    assert on_terminal(figures, Terminal(), monkeypatch, 29)[-2:] == [
        "us           1,234,567   ± 12",
        "(COUNTY, 2)",
    ]
    assert on_terminal(figures, Terminal(), monkeypatch, 24)[-3:] == [
        "us (COUNTY, 2)",
        "Count   1,234,567",
        "Margin  ± 12",
    ]


def test_values_stand_below_headings_that_leave_no_room(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = Grid("", ["Region", "Margin of error"], [["Northumberland", "± 12"]])
    assert on_terminal(figures, terminal, monkeypatch, 20)[-4:] == [
        "Region:",
        "  Northumberland",
        "Margin of error:",
        "  ± 12",
    ]


def test_a_name_that_repeats_is_left_out_in_columns_and_not_in_blocks(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = Grid("", ["", "n"], [["name", "1"], ["name", "2"], ["else", "3"], ["name", "4"]], repeats=False)
    assert on_terminal(figures, terminal, monkeypatch, 20)[2:] == ["name  1", "      2", "else  3", "name  4"]
    assert on_terminal(figures, Terminal(), monkeypatch, 5)[2:] == [
        "name", "n  1", "", "name", "n  2", "", "else", "n  3", "", "name", "n  4"
    ]  # fmt: skip


def test_a_coloured_line_has_no_trailing_spaces(terminal: Terminal) -> None:
    Console(terminal).print(Grid("", ["Name", "n"], [["a", ""]], left=2))
    assert terminal.getvalue() == "\n\x1b[1mName  n\x1b[0m\na\n"


@pytest.mark.parametrize("columns", [1, 9, 17, 30, 45, 60, 80, 81, 200])
def test_a_bar_stays_on_its_line(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is longer than the terminal cannot be erased."""
    monkeypatch.setenv("COLUMNS", str(columns))
    bar = ProgressBar(Terminal(), "reading records")
    assert len(bar.line()) < columns
    bar.update(1, 2, "tabulating (PR-COUNTY, 2)")
    line = bar.line()
    assert len(line) < columns
    assert "…" not in line
    assert ("(PR-COUNTY, 2)" in line) == (columns >= 42)
    assert line.count("━") == (20 if columns >= 83 else (columns - 43) // 2 if columns >= 47 else 0)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("  kept", ["  kept"]),
        ("unbreakably long", ["unbreaka", "bly long"]),
        ("a unbreakably", ["a", "unbreaka", "bly"]),
        ("two\nlines", ["two", "lines"]),
        ("", [""]),
        ("東京東京東", ["東京東京", "東"]),
    ],
)
def test_text_is_folded_between_words_where_that_is_possible(text: str, lines: list[str]) -> None:
    assert folded(text, 8) == lines


def test_facts_are_folded_beside_their_names() -> None:
    text = " ".join(["word"] * 40)
    first, second = printed(Facts([("Promise", text)])).splitlines()
    assert first.startswith("Promise  word word")
    assert len(first) <= 120
    assert second.startswith("         word")


def test_a_line_to_copy_is_not_folded() -> None:
    assert printed(as_it_is("x " * 200 + "end")) == "x " * 200 + "end\n"
    assert printed("x " * 200 + "end").count("\n") > 1


def test_brackets_and_percent_signs_are_text() -> None:
    assert printed("level[3].budget [bold] 95 %") == "level[3].budget [bold] 95 %\n"


def test_colours_are_for_terminals_that_want_them(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(alarm("NOT PRIVATE")) == "NOT PRIVATE\n"
    Console(terminal).print(alarm("NOT PRIVATE"))
    assert terminal.getvalue() == f"\x1b[{Style.ERROR.value}mNOT PRIVATE\x1b[0m\n"
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            plain = Terminal()
            Console(plain).print(alarm("NOT PRIVATE"))
            assert plain.getvalue() == "NOT PRIVATE\n"


def test_a_bar_shows_how_far_the_work_is_and_is_erased() -> None:
    screen = Terminal()
    with ProgressBar(screen, "reading records") as bar:
        assert bar.line().startswith("reading records 0:00:0")
        bar.update(1, 4, "tabulating (USA, 1)")
        assert "tabulating (USA, 1)" in screen.getvalue(), "a step is shown at once, or a short one never would be"
        assert bar.line().count("━") == 10
        bar.update(2, 4, None)
        assert bar.line().startswith("tabulating (USA, 1)")
        assert bar.line().count("━") == 20
        bar.print_above(lambda: print("a warning", file=screen))
    shown = screen.getvalue()
    assert "\r\x1b[2Ka warning\n" in shown
    assert shown.endswith("\r\x1b[2K")


def test_a_bar_moves_while_the_work_is_silent() -> None:
    drawn = threading.Event()

    class Watched(Terminal):
        def write(self, text: str) -> int:
            if "reading records" in text:
                drawn.set()
            return super().write(text)

    with ProgressBar(Watched(), "reading records"):
        assert drawn.wait(30)


def test_the_time_that_is_left() -> None:
    now = 0.0
    bar = ProgressBar(Terminal(), "counting", clock=lambda: now)
    now = 3600.0
    bar.update(1, 2, "counting")
    assert bar.line().endswith(" 1:00:00 1:00:00")
    now = 5400.0
    assert bar.line().endswith(" 1:30:00 0:30:00"), "it gets less while a step lasts"
    now = 9000.0
    assert bar.line().endswith(" 2:30:00 0:00:00")
    bar.update(0.9, 1, None)
    assert bar.line().endswith(" 2:30:00 0:16:40")
    bar.update(0, 2, "counting")
    assert bar.line().endswith(" 2:30:00 -:--:--")
