"""Builds the documentation site: the pages of docs/ and of other folders in one place, and Sphinx over them.

In: the Markdown pages of the repository. Out: HTML in build/site that needs no network. The promise: a link that leads
nowhere, a page in no table of contents and every other warning end the build.

Run as `make site`. Pages are written so that their links work where they are, on the disk and on the host of the
repository. Some of them are not in docs/, or have another place on the site: `ADOPTED` says which.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
#: Where pages are on the site whose place there is not that in docs/; a folder of examples leads to the page about it.
ADOPTED = {
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "how-to/contributing.md",
    "SECURITY.md": "explanation/security.md",
    "src/safetab/noise/EXACTNESS.md": "explanation/exactness.md",
    "docs/decisions/README.md": "decisions/index.md",
    "docs/decisions": "decisions/index.md",
    "docs/reference": "reference/index.md",
    "README.md": "index.md",
    "examples/merovia": "reference/examples.md#merovia",
    "examples/oravel": "reference/examples.md#oravel",
}
#: The pages that are below the first page of each section, by folder or name.
SECTIONS = {
    "how-to/index.md": ("how-to/",),
    "reference/index.md": ("reference/",),
    "explanation/index.md": ("explanation/", "benchmarks.md", "studies/"),
    "decisions/index.md": ("decisions/",),
}
#: A line below the title of a page says for whom it is.
FOR_WHOM = re.compile(r"\A# .+\n\n(\*For [^*]+\.\*)\n")
_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


class SiteError(Exception):
    """The site cannot be built; the text says every reason."""


class LinkError(SiteError):
    """A page has a link that leads nowhere."""


def pages() -> dict[str, str]:
    """Every page of the site, by its path in the repository: its path on the site."""
    in_docs = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))
    adopted = (path for path in ADOPTED if path.endswith(".md") and path != "README.md")
    return {path: _place(path) for path in dict.fromkeys([*in_docs, *adopted])}


def _place(in_repository: str) -> str:
    """Where something of the repository is on the site, if it is there."""
    return ADOPTED.get(in_repository, in_repository.removeprefix("docs/"))


def text_on_site(path: str) -> str:
    """A page as Sphinx reads it: its links lead to where the pages are on the site."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.startswith("docs/decisions/") and path not in ADOPTED:
        title, _, rest = text.partition("\n")
        text = f"{title}\n\n{for_whom('docs/decisions/README.md')}\n{rest}"
    # What is in a fence is no link.
    parts = _FENCE.split(text)
    parts[::2] = (_LINK.sub(lambda link: _moved(path, link), part) for part in parts[::2])
    return "".join(parts) + _contents(_place(path), "".join(parts))


def for_whom(path: str) -> str:
    """The line of a page that says for whom it is; empty if there is none."""
    found = FOR_WHOM.match((ROOT / path).read_text(encoding="utf-8"))
    return found[1] if found else ""


def _contents(first_page: str, text: str) -> str:
    """The table of contents of a section: the pages that its first page links to, in that order, then the others."""
    if first_page not in SECTIONS:
        return ""
    links = [normpath(join(dirname(first_page), link[2])) for link in _LINK.finditer(text)]
    below = {place for place in pages().values() if place.startswith(SECTIONS[first_page]) and place != first_page}
    order = dict.fromkeys([*(link for link in links if link in below), *sorted(below)])
    entries = "\n".join(f"/{place.removesuffix('.md')}" for place in order)
    return f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def _moved(page: str, link: re.Match[str]) -> str:
    """A link as it is on the site. Files of examples can be downloaded there; of the code nothing can."""
    before, target, anchor, after = link.groups()
    in_repository = normpath(join(dirname(page), target))
    if not (ROOT / in_repository).exists():
        raise LinkError(f"{page}: {target} does not exist")
    is_file = (ROOT / in_repository).is_file()
    if in_repository not in ADOPTED and not (is_file and in_repository.startswith(("docs/", "examples/", "LICENSE"))):
        raise LinkError(f"{page}: {target} has no place on the site")
    on_site = relpath(_place(in_repository), dirname(_place(page)) or ".")
    return f"{before}{on_site}{anchor or ''}{after}"


def stage(folder: Path) -> None:
    """Put everything that Sphinx reads into a new folder."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    for path, place in pages().items():
        page = folder / place
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text_on_site(path), encoding="utf-8")


def build(site: Path = SITE) -> list[str]:
    """Build the site in place of an earlier one; what Sphinx prints. Raises where Sphinx warns."""
    sources = site.with_name(site.name + "-sources")
    for folder in (sources, site):
        shutil.rmtree(folder, ignore_errors=True)
    stage(sources)
    options = ("-b", "html", "-W", "--keep-going", "-q", "-d", sources / ".read")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, sources, site], text=True, check=False, capture_output=True
    )
    printed = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode:
        raise SiteError("\n".join(line.removeprefix(f"{sources}/") for line in printed))
    shutil.rmtree(sources)
    (site / ".buildinfo").unlink(missing_ok=True)
    return printed


def main() -> None:
    """Build the site and say where it is."""
    try:
        for line in build():
            print(line, file=sys.stderr)
    except SiteError as error:
        raise SystemExit(str(error)) from error
    print(f"Open {(SITE / 'index.html').relative_to(ROOT)} in a browser.")


if __name__ == "__main__":
    main()
