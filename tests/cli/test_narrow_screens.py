"""On a narrow screen numbers and level names stay whole, whatever the command: tables fold or stack, nothing is cut."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from safetab import TabulatedRelease, tabulate
from safetab.cli.main import main
from safetab.cli.tabulate import _summarise
from safetab.cli.terminal import Console
from safetab.screen import display_width
from tests.worlds.merovia import MEROVIA

WIDE = 300
NARROW = [80, 60, 50, 40]
LEVEL = re.compile(r"\([\w-]+, [\w-]+\)")

Shown = Callable[[int], str]


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Shown]:
    """What a command shows, by the number of columns, to standard output and standard error together."""

    def command(*words: str, status: int = 0) -> Shown:
        def at(columns: int) -> str:
            monkeypatch.setenv("COLUMNS", str(columns))
            assert main(list(words)) == status
            output = capsys.readouterr()
            return output.out + output.err

        return at

    return command


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> TabulatedRelease:
    return tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path_factory.mktemp("narrow") / "out")


def numbers(text: str) -> Counter[str]:
    """Every word with a digit in it, as a reader would copy it. A path may be longer than the screen is wide."""
    return Counter(word for word in text.split() if any(map(str.isdigit, word)) and os.sep not in word)


def assert_whole_at_every_width(at: Shown) -> None:
    wide = at(WIDE)
    assert numbers(wide)
    for columns in NARROW:
        narrow = at(columns)
        assert "…" not in narrow
        assert not numbers(wide) - numbers(narrow), columns
        assert set(LEVEL.findall(wide)) == set(LEVEL.findall(narrow)), columns
        # Only a line that is left as it is for people to copy may be longer.
        too_long = {line for line in narrow.splitlines() if display_width(line) > columns}
        assert too_long <= set(wide.splitlines()), columns
        assert narrow == "\n".join(line.rstrip() for line in narrow.split("\n")), columns
    assert len(narrow.splitlines()) > len(wide.splitlines())


MEROVIA_COMMANDS = {
    "account": ["account", "PARAMS", "--epsilon", "12", "--delta", "1e-6"],
    "calibrate": ["calibrate", "PARAMS", "--moe", "COUNTRY,2=6"],
    "calibrate for the other definition": ["calibrate", "PARAMS", "--privacy", "puredp"],
    "calibrate to an epsilon": ["calibrate", "PARAMS", "--epsilon", "9"],
    "check": ["check", "PARAMS", "DATA"],
    "detail": ["detail", "PARAMS"],
    "two plans": ["account", "PARAMS", "PARAMS", "--epsilon", "12"],
    "paper": ["paper"],
    "synth": ["synth", "--break", "list"],
}


@pytest.mark.parametrize("name", MEROVIA_COMMANDS)
def test_the_example_country(name: str, shown: Callable[..., Shown]) -> None:
    places = {"PARAMS": str(MEROVIA / "params"), "DATA": str(MEROVIA / "data")}
    assert_whole_at_every_width(shown(*(places.get(word, word) for word in MEROVIA_COMMANDS[name])))


@pytest.mark.parametrize("words", ["account", "calibrate", "check", "detail", "detail --sizes us-2020 --rows 5"])
def test_the_production_files(words: str, census_2020: Path, shown: Callable[..., Shown]) -> None:
    command, *options = words.split()
    assert_whole_at_every_width(shown(command, str(census_2020), *options))


def test_a_release_and_a_sample_of_it(
    release: TabulatedRelease,
    shown: Callable[..., Shown],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert_whole_at_every_width(shown("view", str(release.folder)))

    def summary(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        _summarise(release, 1.5)
        # How much memory was used is not the same twice.
        return capsys.readouterr().out.partition("Resources")[0]

    assert_whole_at_every_width(summary)


def test_errors(shown: Callable[..., Shown]) -> None:
    assert_whole_at_every_width(shown("calibrate", str(MEROVIA / "params"), "--moe", "NOWHERE,2=6", status=2))
    assert_whole_at_every_width(shown("account", str(MEROVIA / "params"), "--delta", "0", status=2))


def test_a_terminal_says_how_wide_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stream is asked itself: standard error may be a terminal where standard output is none."""
    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as screen:
        for told, columns in ((50, 50), (0, 80)):
            fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, told, 0, 0))
            assert Console(screen).width == columns
        monkeypatch.setenv("COLUMNS", "60")
        assert Console(screen).width == 60
    os.close(ours)


@pytest.mark.parametrize(("text", "width"), [("60", 60), ("0", None), ("-5", None), ("wide", None), ("", None)])
def test_a_pipe_is_as_wide_as_columns_says(text: str, width: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", text)
    with Path(os.devnull).open("w") as pipe:
        assert Console(pipe).width == width
