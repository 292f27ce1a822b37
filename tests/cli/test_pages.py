"""What pages of docs/ say is done and printed: every command, program, edit and output of them is run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from safetab.errors import Rule
from tools.pages import COLUMNS, PAGES, ROOT, Reader, UntrueError, rewrite
from tools.reference import rule_modules


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a reader, who has the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", PAGES, ids=lambda name: name.stem)
def test_a_page_is_true(name: Path) -> None:
    """Which groups a page shows depends on noise: another one with a probability below 1e-9."""
    assert Reader().follow(name) > 0


def test_the_codes_of_the_tutorial_are_those_of_rules() -> None:
    rules = {rule.code for module in rule_modules() for rule in vars(module).values() if isinstance(rule, Rule)}
    codes = set(re.findall(r"\b[A-Z]{3,}-\d{3}\b", PAGES[0].read_text(encoding="utf-8")))
    assert len(codes) >= 7
    assert codes <= rules


def page(*blocks: str) -> str:
    return "".join(f"```{block}\n```\n" for block in blocks)


@pytest.mark.parametrize(
    "text",
    [
        page("sh\necho one\necho 2", "text\none\n2"),
        page("sh\necho 'b 7'\necho 'a -1,000   4.5'", "text noisy\na 3 9\nb 12"),
        page("sh\nseq 5", "text part\n2\n4"),
        page(
            "sh fails\nsafetab view nowhere",
            "text part\n           Nothing was written. Name the OUT folder of a tabulation.",
        ),
        page("python\nx = 1", "python\nprint(x + 1)", "text\n2"),
        page("sh\nprintf 'a\\nb\\nb\\n' > new.toml", "diff new.toml\n a\n-b\n+c", "toml new.toml\na\nc\nb"),
        page("sh\nmkdir inner\ncd inner\nbasename $PWD", "text\ninner"),
        page("console\n$ make demo    # shows it\n$ make test-all"),
    ],
)
def test_a_true_page_is_found_true(text: str, folder: Path) -> None:
    (folder / "page.md").write_text(text)
    Reader().follow(folder / "page.md")


@pytest.mark.parametrize(
    "text",
    [
        page("sh\necho one", "text\ntwo"),
        page("sh\necho one\necho two", "text\none"),
        page("sh\necho a 1 2", "text noisy\na 1"),
        page("sh\necho a 1", "text noisy\na 1\nb 2"),
        page("sh\nseq 5", "text part\n2\n6"),
        page("sh\nseq 5", "text part of it\n2"),
        page("sh\nfalse"),
        page("sh fails\ntrue"),
        page("sh\nsafetab view nowhere"),
        page("python\n1 / 0"),
        page("sh\nprintf 'a\\n' > new.toml", "diff new.toml\n-b\n+c"),
        page("sh\nprintf 'a\\n' > new.toml", "toml new.toml\nb"),
        page("\nno word"),
        page("console\n$ make nothing"),
        page("console\nmake demo"),
    ],
)
def test_a_false_page_is_found_false(text: str, folder: Path) -> None:
    (folder / "page.md").write_text(text)
    with pytest.raises(UntrueError, match=r"page.md, line \d+: "):
        Reader().follow(folder / "page.md")


def test_what_is_not_true_is_rewritten(folder: Path) -> None:
    old = page("sh\nseq 3", "text\n1\n2", "text noisy\n7\n8\n9", "sh\necho x", "text\ny\nz")
    (folder / "page.md").write_text(old)
    rewrite(folder / "page.md")
    assert (folder / "page.md").read_text() == page(
        "sh\nseq 3", "text\n1\n2\n3", "text noisy\n7\n8\n9", "sh\necho x", "text\nx"
    )
