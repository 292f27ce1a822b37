"""The built site: every link leads somewhere, nothing is loaded from the network, every page can be found."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tools.site import SiteError, build, pages, stage

#: With the tests of pages in a browser: they share the site.
pytestmark = pytest.mark.xdist_group("browser")
#: Attributes that make a browser load something.
LOADING = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}
#: Pages that Sphinx adds.
ADDED = {"genindex.html", "search.html"}


class Page(HTMLParser):
    """The names that links can lead to, the links, and what a browser loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if not value:
                continue
            if name == "id":
                self.anchors.add(value)
            elif tag == "a" and name == "href":
                self.links.append(value)
            elif (tag, name) in LOADING:
                self.loaded.append(value)


def read_site(folder: Path) -> dict[Path, Page]:
    """The pages by path, without the templates of the theme."""
    found = (path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts)
    return {path: Page(path.read_text(encoding="utf-8")) for path in found}


def broken_links(folder: Path) -> list[str]:
    """Every link and every loaded file of a site that is not there."""
    found = list[str]()
    read = read_site(folder)
    for path, page in read.items():
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            is_anchor_missing = (
                parts.fragment and target in read and unquote(parts.fragment) not in read[target].anchors
            )
            # The switch of the theme opens nothing.
            if link != "#" and (not target.is_file() or is_anchor_missing):
                found.append(f"{path.relative_to(folder)}: {link}")
    return found


def loaded_from_elsewhere(folder: Path) -> list[str]:
    """What a browser would load from the network, page by page and from style sheets."""
    of_pages = [link for page in read_site(folder).values() for link in page.loaded]
    of_styles = [
        link
        for style in folder.rglob("*.css")
        for link in re.findall(r"(?:url\(|@import)\s*[\"']?([^)\"'\s]+)", style.read_text(encoding="utf-8"))
    ]
    return [link for link in (*of_pages, *of_styles) if link.startswith(("http:", "https:", "//"))]


def test_every_link_leads_somewhere(site: Path) -> None:
    assert len(read_site(site)) > 40
    assert sum(len(page.links) for page in read_site(site).values()) > 1_000
    assert broken_links(site) == []


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    assert loaded_from_elsewhere(site) == []


def test_broken_links_and_loaded_things_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h1 id="there">x</h1>')
    (tmp_path / "style.css").write_text("@import 'https://a.example/b.css'; p { background: url(//c.example/d.png) }")
    (tmp_path / "page.html").write_text(
        '<a href="other.html#there">1</a><a href="other.html#gone">2</a><a href="gone.html">3</a><a href="#gone">4</a>'
        '<img src="gone.png"><script src="https://e.example/f.js"></script><a href="https://g.example">5</a>'
    )
    assert broken_links(tmp_path) == [
        "page.html: other.html#gone",
        "page.html: gone.html",
        "page.html: #gone",
        "page.html: gone.png",
    ]
    assert loaded_from_elsewhere(tmp_path) == [
        "https://e.example/f.js",
        "https://a.example/b.css",
        "//c.example/d.png",
    ]


def test_every_page_is_on_the_site_and_can_be_searched(site: Path) -> None:
    expected = {place.removesuffix(".md") + ".html" for place in pages().values()}
    assert {path.relative_to(site).as_posix() for path in read_site(site)} == expected | ADDED
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    # A script and no data file: a browser loads it from a disk too.
    assert index.startswith("Search.setIndex(")
    for place in pages().values():
        assert f'"{place}"' in index


def test_a_page_in_no_table_of_contents_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does a link to a heading that is not there; `stage` is what a build begins with."""

    def stage_with_a_stray_page(folder: Path) -> None:
        stage(folder)
        for path in folder.rglob("*.md"):
            if path.name != "index.md" or path.parent != folder:
                path.unlink()
        (folder / "index.md").write_text("# A\n\n[x](#gone)\n")
        (folder / "stray.md").write_text("# B\n")

    monkeypatch.setattr("tools.site.stage", stage_with_a_stray_page)
    with pytest.raises(SiteError) as error:
        build(tmp_path / "site")
    assert "stray.md: WARNING: document isn't included in any toctree" in str(error.value)
    assert "'gone'" in str(error.value)
