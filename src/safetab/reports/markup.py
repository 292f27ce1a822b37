"""The parts of every page: text, tables, pictures, sections, and the page around them.

In: figures as text, pictures. Out: HTML. The promise: everything that is not ours is escaped, a table has a heading for
each column and a picture its words, and the page asks nobody for anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path

from safetab.errors import Finding, UsageError
from safetab.reports.charts import Picture
from safetab.rules import output_rules, report_rules

#: Every page begins with this, so that a page of ours, and nothing else, is replaced by the next one.
MARK = "<!doctype html>\n<!-- A SafeTab page -->\n"
_RELEASE_MARK = "ledger.json"


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page, with its heading; the id is what the contents point to."""

    id: str
    title: str
    parts: tuple[str, ...]

    def html(self) -> str:
        inner = "\n".join(self.parts)
        return f'<section id="{self.id}">\n<h2>{escape(self.title)}</h2>\n{inner}\n</section>\n'


def paragraph(text: str) -> str:
    """Plain text; what is between backticks is shown as code."""
    return f"<p>{inline(text)}</p>"


def inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def items(texts: Iterable[str]) -> str:
    """A list; `**words**` at the beginning of an item are strong."""
    lines = (re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", inline(text)) for text in texts)
    return "<ul>\n" + "\n".join(f"<li>{line}</li>" for line in lines) + "\n</ul>"


def table(
    table_id: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1, caption: str = ""
) -> str:
    """A table of figures; its first `left` columns are names."""
    kinds = [' class="name"' if column < left else "" for column in range(len(columns))]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(columns, kinds, strict=True))
    lines = (
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    about = f"<caption>{escape(caption)}</caption>" if caption else ""
    label = escape(caption or table_id.replace("-", " "))
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table id="{table_id}">{about}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def facts(table_id: str, rows: Iterable[tuple[str, str]]) -> str:
    """Names and what belongs to them."""
    lines = (f'<tr><th scope="row">{escape(name)}</th><td>{inline(text)}</td></tr>' for name, text in rows)
    return f'<table class="facts" id="{table_id}"><tbody>\n' + "\n".join(lines) + "\n</tbody></table>"


def glance(rows: Iterable[tuple[str, str, str]]) -> str:
    """A few large figures: what each is called, the figure, a word about it."""
    cards = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in rows
    )
    return '<dl class="glance">\n' + "\n".join(cards) + "\n</dl>"


def figure(picture: Picture) -> str:
    return (
        f'<figure><div class="chart" role="img" tabindex="0" aria-label="{escape(picture.alt)}">{picture.svg}</div>'
        f"<figcaption>{inline(picture.caption)}</figcaption></figure>"
    )


def page(
    title: str, kind: str, under: str, head: Sequence[str], sections: Sequence[Section], foot: str, warning: str | None
) -> str:
    """A whole page; with a warning on every screen and every printed page where there is one."""
    style = resources.files("safetab.reports").joinpath("page.css").read_text(encoding="utf-8")
    style += _head_of_printed_pages(warning) if warning else ""
    banner = f'<div class="banner" role="alert"><span>{escape(warning)}</span></div>\n' if warning else ""
    contents = "".join(f'<li><a href="#{part.id}">{escape(part.title)}</a></li>' for part in sections)
    return (
        f'{MARK}<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # The page may show what is in it and run the script that is in it; it may fetch nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        # Without an icon of its own a browser asks the server of the page for one.
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}: {escape(kind)}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body>\n{banner}<div class="page">\n<header>\n<p class="kind">{escape(kind)}</p>\n'
        f'<h1>{escape(title)}</h1>\n<p class="under">{escape(under)}</p>\n'
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav>\n</header>\n<main>\n'
        + "\n".join(head)
        + "\n"
        + "".join(part.html() for part in sections)
        + f"</main>\n<footer><p>{inline(foot)}</p></footer>\n</div>\n</body>\n</html>\n"
    )


def _head_of_printed_pages(warning: str) -> str:
    """The margin of every printed page has the warning, and not only the first page."""
    text = warning.replace("\\", "\\\\").replace('"', '\\"')
    place = "height: 9mm; margin: 8mm 0 9mm; padding-left: 3mm; vertical-align: middle; width: 100%"
    look = "background: #b00020; color: #fff; font: bold 10pt sans-serif; print-color-adjust: exact"
    return f'@page {{ margin-top: 26mm; @top-left {{ content: "{text}"; {place}; {look}; }} }}\n'


def script(name: str) -> str:
    """A script of this package, to be written into a page."""
    text = resources.files("safetab.reports").joinpath(name).read_text(encoding="utf-8")
    return f"<script>\n{text}</script>"


def refuse_inside_release(target: Path) -> None:
    """Raise if a path is the folder of a release, or anywhere in one."""
    path = target.resolve()
    for folder in (path, *path.parents):
        if (folder / _RELEASE_MARK).is_file():
            raise UsageError(Finding(report_rules.INSIDE_RELEASE, str(target)))


def refuse_file(target: Path) -> None:
    """Raise if a page cannot or may not be written there."""
    refuse_inside_release(target)
    folder = target.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(Finding(output_rules.OUTPUT_PARENT, str(folder)))
    if not target.exists():
        return
    if not target.is_file() or not _is_ours(target):
        raise UsageError(Finding(report_rules.NOT_A_REPORT, str(target)))


def _is_ours(file: Path) -> bool:
    mark = MARK.encode()
    with file.open("rb") as content:
        return content.read(len(mark)) == mark


def write_page(target: Path, pieces: Iterable[str], *, for_everybody: bool) -> None:
    """Write a page whole: under its name there is all of it, or what was there before."""
    refuse_file(target)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            for piece in pieces:
                file.write(piece)
        unfinished.chmod(0o644 if for_everybody else 0o600)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
