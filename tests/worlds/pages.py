"""A page of ours as a program reads it: its tables, its pictures, everything that it might ask a network for."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any


class Page(HTMLParser):
    """The tables by id, as rows of text; the words of pictures; the data of scripts; every address."""

    def __init__(self, file: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: dict[str, list[list[str]]] = {}
        self.pictures: list[str] = []
        self.svgs = 0
        self.addresses: list[str] = []
        self.data: dict[str, Any] = {}
        self.text = ""
        self._table: list[list[str]] | None = None
        self._cell: list[str] | None = None
        self._script: str | None = None
        self._is_style = False
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.addresses += [found[name] for name in ("src", "href", "xlink:href", "action", "data") if name in found]
        if tag == "table":
            self._table = self.tables.setdefault(found["id"], [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag == "svg":
            self.svgs += 1
        elif tag == "script":
            self._script = found.get("id", "")
        elif tag == "style":
            self._is_style = True
        if found.get("role") == "img":
            self.pictures.append(found.get("aria-label", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._table is not None and self._cell is not None:
            self._table[-1].append("".join(self._cell))
            self._cell = None
        elif tag == "table":
            self._table = None
        elif tag == "script":
            self._script = None
        elif tag == "style":
            self._is_style = False

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            if self._script:
                self.data[self._script] = json.loads(data)
        elif not self._is_style:
            self.text += data
            if self._cell is not None:
                self._cell.append(data)


def number(text: str) -> float:
    """A figure of a page."""
    return float(text.replace(",", "").removeprefix("± ").removesuffix(" pairs").removesuffix(" rows"))
