"""The documentation site as people open it: from a disk, on a screen and on a phone, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests import profile
from tests.browser.conftest import PATIENCE
from tools.site import pages

#: Those with the widest tables and the longest lines first.
WIDEST = (
    "index.md",
    "tutorial/first-release.md",
    "reference/json.md",
    "reference/commands.md",
    "how-to/size-a-machine.md",
)
PHONE = {"width": 375, "height": 800}


@pytest.fixture(scope="module")
def screen(browser: Browser, site: Path) -> Iterator[Page]:
    """A page of the browser; at the end nothing may have failed, and nothing been asked of another machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    errors, requests = list[str](), list[str]()
    page.on("console", lambda said: errors.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    yield page
    context.close()
    assert errors == []
    assert [url for url in requests if not url.startswith((site.as_uri(), "data:"))] == []


def test_the_three_doors_lead_to_pages(screen: Page, site: Path) -> None:
    screen.goto((site / "index.html").as_uri())
    doors = [card.get_attribute("href") for card in screen.locator(".sd-card a.sd-stretched-link").all()]
    assert doors == ["tutorial/first-release.html", "how-to/plan-a-release.html", "how-to/read-a-release.html"]
    pictures = [image.is_visible() for image in screen.locator("article img").all()]
    assert pictures == [True, False]


@pytest.mark.parametrize("path", ["index.html", "tutorial/first-release.html"])
def test_everybody_can_read_the_pages(browser: Browser, site: Path, path: str) -> None:
    """Contrast, names of links and pictures, order of headings: what axe knows to judge."""
    # A page of its own: axe asks for files that a browser may not read from a disk.
    page = browser.new_page()
    page.goto((site / path).as_uri())
    found = Axe().run(page).response["violations"]
    page.close()
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []


def test_a_search_from_a_disk_finds_the_page(screen: Page, site: Path) -> None:
    screen.goto((site / "search.html").as_uri() + "?q=suppression")
    screen.locator("#search-results li").filter(has_text="Glossary").locator("a").first.click()
    assert screen.url.startswith((site / "glossary.html").as_uri())


def test_no_page_is_wider_than_a_phone(screen: Page, site: Path) -> None:
    """Wide tables and output scroll by themselves; the page does not."""
    screen.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    too_wide = list[str]()
    every = dict.fromkeys([*WIDEST, *pages().values()])
    for place in list(every)[: profile.size(quick=len(WIDEST), long=len(every))]:
        path = place.removesuffix(".md") + ".html"
        screen.goto((site / path).as_uri(), wait_until="domcontentloaded")
        if screen.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            too_wide.append(path)
    assert too_wide == []
    screen.goto((site / "index.html").as_uri())
    assert [image.is_visible() for image in screen.locator("article img").all()] == [False, True]


def test_a_laptop_shows_output_whole(screen: Page, site: Path) -> None:
    """Help and outputs have 100 columns; they fit beside the table of contents, and codes of messages are not cut."""
    screen.set_viewport_size({"width": 1280, "height": 900})
    screen.goto((site / "reference" / "commands.html").as_uri())
    widths = "every => every.map(e => [e.scrollWidth, e.clientWidth])"
    blocks = screen.locator("div.highlight pre").evaluate_all(widths)
    assert len(blocks) >= 15
    assert [block for block in blocks if block[0] > block[1]] == []
    screen.goto((site / "reference" / "errors.html").as_uri())
    heights = "every => every.map(e => e.getClientRects().length)"
    codes = screen.locator("table td:first-child code").evaluate_all(heights)
    assert len(codes) > 100
    assert set(codes) == {1}


def test_output_is_not_wrapped(screen: Page, site: Path) -> None:
    screen.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    screen.goto((site / "tutorial" / "first-release.html").as_uri())
    blocks = screen.locator("div.highlight pre")
    assert blocks.count() > 20
    for block in blocks.all():
        lines = block.inner_text().rstrip("\n").count("\n") + 1
        height, line = block.evaluate(
            "e => [e.clientHeight - parseFloat(getComputedStyle(e).paddingTop)"
            " - parseFloat(getComputedStyle(e).paddingBottom), parseFloat(getComputedStyle(e).lineHeight)]"
        )
        assert round(height / line) == lines
