"""Every page says for whom it is, its links lead somewhere, its code is code, and its figures are those measured."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

import safetab
from safetab.cli.main import cli
from tests.worlds.merovia import MEROVIA
from tools import python_names
from tools.mutants.catalogue import MUTANTS
from tools.pages import Block, blocks
from tools.site import ADOPTED, LinkError, for_whom, pages, text_on_site

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({*pages(), "README.md"})
#: Turns of phrase that have a plainer one.
PHRASES = (
    "also one that nobody",
    "fills two small protocols",
    "is told with file",
    "stands twice",
    "changes the chances of what is published by no more",
    "is without rows",
    "is told how",
)


@pytest.mark.parametrize("page", sorted(pages()))
def test_a_page_says_for_whom_it_is(page: str) -> None:
    is_decision = page.startswith("docs/decisions/") and page not in ADOPTED
    said = for_whom("docs/decisions/README.md" if is_decision else page)
    assert said, "below the title: an empty line, then one line such as *For people who make the tables.*"
    assert said in text_on_site(page)


@pytest.mark.parametrize("page", sorted(pages()))
def test_links_to_files_lead_somewhere(page: str) -> None:
    text_on_site(page)


def test_a_link_that_leads_nowhere_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(
        "# A\n\n```\n[x](in-a-fence.md)\n```\n[y](https://example.org) [z](no.md)\n"
    )
    monkeypatch.setattr("tools.site.ROOT", tmp_path)
    with pytest.raises(LinkError, match=r"docs/page.md: no.md does not exist"):
        text_on_site("docs/page.md")


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert len(links) >= 15
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_code_are_code(page: str) -> None:
    for block in blocks(ROOT / page):
        match block.words:
            case ("python", *_):
                ast.parse(block.text)
            case ("toml", *_):
                tomllib.loads(block.text)
            case ("json", *_):
                json.loads(block.text)
            case ("sh", *_):
                judge_commands(block)


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_sentences_exist(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for command in re.findall(r"`(safetab [a-z][^`]+)`", text):
        judge_commands(Block(("sh",), " ".join(command.split()), 0))


def judge_commands(block: Block) -> None:
    """Every command of ours in the block exists, and so do its options."""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if "safetab" not in words or "..." in words:
            continue
        name, *rest = words[words.index("safetab") + 1 :]
        command = cli.get_command(click.Context(cli), name)
        assert command, f"line {block.line}: there is no command {name}"
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        used = {word.partition("=")[0] for word in rest if word.startswith("--")}
        assert used <= known | {"--help"}, f"line {block.line}: {used - known}"


def test_commands_that_do_not_exist_are_found() -> None:
    judge_commands(Block(("sh",), "safetab check a b --json\nls --there", 1))
    for text in ("safetab reread a", "safetab check a --jsun"):
        with pytest.raises(AssertionError, match="line 7"):
            judge_commands(Block(("sh",), text, 7))


@pytest.mark.parametrize("page", PAGES)
def test_pages_use_plain_phrases(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert [phrase for phrase in PHRASES if phrase in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_table_is_empty(page: str) -> None:
    lines = [*(ROOT / page).read_text(encoding="utf-8").splitlines(), ""]
    heads = [number for number, line in enumerate(lines) if re.fullmatch(r"\|( :?-+:? \|)+", line)]
    assert [lines[number - 1] for number in heads if not lines[number + 1].startswith("|")] == []


@pytest.mark.parametrize(
    "page", sorted(name for name in PAGES if name.endswith("/index.md") and name != "docs/index.md")
)
def test_the_first_page_of_a_section_names_a_page_once(page: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert len(links) >= 10
    assert sorted(links) == sorted(set(links))


def test_the_page_about_python_has_every_public_name() -> None:
    assert {name for names in python_names.SECTIONS.values() for name in names} <= set(safetab.__all__)
    page = "\n".join(python_names.page())
    assert sorted(re.findall(r"^### safetab\.(\w+)$", page, re.M)) == sorted(safetab.__all__)
    for name in ("total", "share", "find"):
        assert f"#### Release.{name}\n" in page


def test_the_page_about_files_lists_what_is_in_a_release(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    table = page.split("## OUT: ")[1].split("\n## ")[0]
    listed = [file for row in re.findall(r"^\| (`.+?) \|", table, re.M) for file in re.findall(r"`(.+?)`", row)]
    assert len(listed) >= 7
    release = safetab.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "out")
    written = (path.relative_to(release.folder).as_posix() for path in release.folder.rglob("*") if path.is_file())
    assert sorted(written) == sorted(name.replace("RUN", "merovia") for name in listed), "list it in files.md"


def test_figures_of_the_readme_are_those_measured() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    nation = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").split("## A nation\n")[1].split("\n## ")[0]
    persons = re.search(r"^([\d,]+) synthetic persons", nation, re.M)
    cores = re.search(r": (\d+) cores,", nation)
    measured = re.search(r"^\| `safetab tabulate`, start to finish \| (\d+) \| ([\d,]+) \|$", nation, re.M)
    assert persons
    assert cores
    assert measured
    millions = round(int(persons[1].replace(",", "")) / 1_000_000)
    assert (
        f"{millions} million synthetic persons took {measured[1]} seconds on {cores[1]} cores, "
        f"with {measured[2]} MiB of memory"
    ) in readme
    planted = re.search(r"must catch (\d+) mistakes", readme)
    assert planted
    assert len(MUTANTS) - 20 <= int(planted[1]) <= len(MUTANTS)
