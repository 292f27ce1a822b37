"""Reports and evaluations in a browser: no error, no request, words for every picture, a table that can be searched."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from pypdf import PdfReader

import safetab
from safetab.cli.main import main
from safetab.reading.survey import Survey
from tests import profile
from tests.browser.conftest import serious_faults
from tests.worlds import readable
from tests.worlds.merovia import MEROVIA


@dataclass
class Opened:
    """A page from the disk, what the console said and what was asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def opened(browser: Browser, file: Path, width: int = 1100) -> Opened:
    page = browser.new_page(viewport={"width": width, "height": 900})
    found = Opened(page)
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))
    page.on("request", lambda request: found.asked.append(request.url))
    page.goto(file.as_uri())
    return found


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    safetab.tabulate(MEROVIA / "params", MEROVIA / "data", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def files(out: Path) -> dict[str, Path]:
    """The report of a private release, of one that is not, and an evaluation."""
    folder = out.parent
    assert main(["report", str(out), str(folder / "report.html")]) == 0
    world = readable.write(folder / "world")
    assert main(["report", str(readable.tabulated(world, 8)), str(folder / "marked.html")]) == 0
    words = ["evaluate", str(world / "params"), str(world / "data"), str(folder / "results"), "--trials", "2"]
    assert main(words) == 0
    return {
        "report": folder / "report.html",
        "marked": folder / "marked.html",
        "evaluation": folder / "results" / "evaluation.NOT-PRIVATE.html",
    }


@pytest.fixture(params=["report", "marked", "evaluation"])
def shown(request: pytest.FixtureRequest, browser: Browser, files: dict[str, Path]) -> Iterator[tuple[str, Opened]]:
    found = opened(browser, files[request.param])
    yield request.param, found
    found.page.close()


def test_a_page_opens_without_complaints_and_asks_nobody(shown: tuple[str, Opened], files: dict[str, Path]) -> None:
    name, found = shown
    assert found.said == []
    assert [url for url in found.asked if not url.startswith("data:")] == [files[name].as_uri()]
    pictures = found.page.locator("figure svg")
    assert pictures.count() >= 2
    for place in range(pictures.count()):
        words = pictures.nth(place).locator("xpath=..").get_attribute("aria-label")
        assert words
        assert len(words) > 40
        assert (pictures.nth(place).bounding_box() or {"height": 0})["height"] > 50
    assert found.page.locator(".banner").count() == (0 if name == "report" else 1)


def test_a_page_is_accessible_and_fits(browser: Browser, files: dict[str, Path]) -> None:
    # At 320 pixels the styles are those of 390, and there is less room: what axe-core finds at 390 it finds at 320.
    judged = {1100, 320, profile.size(quick=320, long=390)}
    # A report with a banner is the report; the evaluation has the same banner.
    names = [name for name in files if name != "marked" or profile.size(quick=0, long=1)]
    for name in names:
        page = opened(browser, files[name]).page
        for width in (1100, 390, 320):
            page.set_viewport_size({"width": width, "height": 900})
            if width in judged:
                assert serious_faults(page) == [], (name, width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, "what is wide scrolls by itself"
        page.close()


def test_the_table_is_searched_and_sorted(browser: Browser, files: dict[str, Path], out: Path) -> None:
    page = opened(browser, files["report"]).page
    with Survey(safetab.open(out)) as survey:
        rows = [row for row in survey.every() if row.geography == "DISTRICT" and row.code == "A08"]
    page.fill("#words", "district A08")
    lines = page.locator("#totals tbody tr")
    assert lines.count() == len(rows) > 1
    assert page.inner_text("#shown") == f"{len(rows)} of {len(rows)} totals that match are shown."
    first = max(rows, key=lambda row: row.estimate)
    for _ in range(2):
        page.click("#totals thead th:nth-child(5) button")
    smallest = min(row.estimate for row in rows)
    assert lines.first.locator("td").nth(4).inner_text() == f"{smallest:,}"
    assert page.get_attribute("#totals thead th:nth-child(5)", "aria-sort") == "ascending"
    page.click("#totals thead th:nth-child(5) button")
    shown = lines.first.locator("td").all_inner_texts()
    assert shown[4:] == [f"{value:,}" for value in (first.estimate, first.low_95, first.high_95, first.stat_level)]
    page.fill("#words", "")
    page.select_option("#level", label="(COUNTRY, 1)")
    assert {line.locator("td").first.inner_text() for line in lines.all()} == {"(COUNTRY, 1)"}
    page.close()


def test_every_printed_page_of_the_table_has_its_headings(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["marked"]).page
    printed = [sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages]
    rows = page.locator("#totals tbody tr").all_inner_texts()
    first, last = (
        next(n for n, text in enumerate(printed) if _line(row) in _line(text)) for row in (rows[0], rows[-1])
    )
    assert last > first, "the table is longer than a page"
    for sheet in printed[first : last + 1]:
        assert _line("HIGH_95 Stat level") in _line(sheet)
    page.close()


def _line(text: str) -> str:
    """Text without the breaks that depend on the width of a column."""
    return "".join(text.split())


def test_no_label_of_a_picture_is_cut_off(browser: Browser, files: dict[str, Path]) -> None:
    """In the font that this browser has, which is not the one that the picture was measured with."""
    for file in files.values():
        page = opened(browser, file).page
        for picture in page.locator("figure svg").all():
            cut = picture.evaluate(
                "picture => { const frame = picture.getBoundingClientRect();"
                " const box = text => text.getBoundingClientRect();"
                " const isCut = text => box(text).left < frame.left - 1 || box(text).right > frame.right + 1;"
                " return [...picture.querySelectorAll('text')].filter(isCut).map(text => text.textContent); }"
            )
            assert cut == []
        page.close()


def test_a_warning_is_on_every_printed_page(browser: Browser, files: dict[str, Path]) -> None:
    for name, is_marked in (("marked", True), ("evaluation", True), ("report", False)):
        page = opened(browser, files[name]).page
        printed = PdfReader(io.BytesIO(page.pdf(print_background=True, prefer_css_page_size=True))).pages
        assert len(printed) > 2
        assert {"NOT PRIVATE" in sheet.extract_text() for sheet in printed} == {is_marked}
        page.close()
