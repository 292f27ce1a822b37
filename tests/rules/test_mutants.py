"""The tool that plants mutants: it finds those that no longer fit the code, and is not fooled by broken ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.mutants import __main__ as tool
from tools.mutants.catalogue import MUTANTS
from tools.mutants.mutant import Mutant, misfits, mutated

CODE = "a = 1\nb = 2\nb = 2\n"


def mutant(*swaps: tuple[str, str], file: str = "code.py", tests: tuple[str, ...] = ()) -> Mutant:
    return Mutant("x", file, swaps, tests)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text(CODE)
    (tmp_path / "test_it.py").write_text("def test_one() -> None: ...\n\ndef test_twelve() -> None: ...\n")
    return tmp_path


def test_all_misfits_are_reported_at_once(root: Path) -> None:
    fits = mutant(("a = 1", "a = 3"), ("a = 3", "a = 4"), tests=("test_it.py", "test_it.py::test_one[some case]"))
    wrong = [
        mutant(("b = 2", ""), ("a = 9", "")),
        mutant(("a", "b"), file="gone.py"),
        mutant(("a = 1", "a = 2"), tests=("test_it.py::test_two", "gone.py::test_one")),
    ]
    found = [(m.file, m.found) for m in misfits([fits, *wrong], root, root)]
    assert found == [("code.py", 2), ("code.py", 0), ("gone.py", None), ("test_it.py", 0), ("gone.py", None)]


def test_every_mutant_fits_the_code() -> None:
    assert [str(misfit) for misfit in misfits(MUTANTS, tool.SOURCE, tool.ROOT)] == []


def test_a_misfit_says_its_name_its_file_and_how_often_it_was_found(root: Path) -> None:
    first, second = misfits([mutant(("b = 2", "")), mutant(("a", "b"), file="gone.py")], root, root)
    assert str(first) == "x\n    code.py: found 2 times: b = 2"
    assert str(second) == "x\n    gone.py: no such file: a"


def test_a_mutant_is_planted_once_or_not_at_all() -> None:
    assert mutated(mutant(("a = 1\n", ""), ("b = 2\nb = 2", "b = 3")), CODE) == "b = 3\n"
    with pytest.raises(ValueError, match="once, not 2 times"):
        mutated(mutant(("b = 2", "b = 3")), CODE)


@pytest.mark.parametrize(
    ("status", "output", "is_caught", "words"),
    [
        (1, "t.py:3: AssertionError: no\nFAILED t.py::test[a b] - AssertionError: no\n", True, "t.py::test[a b]"),
        (1, "src/m.py:3: AttributeError: no noise\nFAILED t.py::test\n", False, "broken itself (AttributeError: no"),
        (0, "1 passed\n", False, "ended with 0"),
        (2, "ERROR t.py\n", False, "ended with 2"),
    ],
    ids=["caught", "crashed", "survived", "not collected"],
)
def test_only_a_failed_test_catches_a_mutant(status: int, output: str, is_caught: bool, words: str) -> None:
    verdict = tool.Verdict(mutant(), status, output, 1.0)
    assert verdict.is_caught == is_caught
    assert words in verdict.words


def test_mutants_are_chosen_by_name_or_by_words_of_it() -> None:
    assert tool.choose([]) == list(MUTANTS)
    assert [m.name for m in tool.choose(["s left out", "s left"])] == ["s left out"]
    assert len(tool.choose(["s one too small"])) == 1
    assert len(tool.choose(["one too small"])) == 2
    with pytest.raises(SystemExit, match="no mutant is called 'nonsense'"):
        tool.choose(["nonsense"])


def test_every_mutant_has_a_name_of_its_own() -> None:
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)


def test_pages_say_how_many_mutants_there_are() -> None:
    said = [
        int(number)
        for page in ("README.md", "docs/explanation/how-it-is-tested.md")
        for number in re.findall(r"(\d+) (?:mutants|mistakes)\b", (tool.ROOT / page).read_text(encoding="utf-8"))
    ]
    assert said == [len(MUTANTS)] * 3
