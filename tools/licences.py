"""Writes docs/reference/licences.md: every package that SafeTab installs, with every extra, and its licence.

In: the metadata of the packages in this environment, which are the locked versions. Out: a page. The promise: the page
has every package that `pip install 'safetab[all]'` installs on this system, and nothing that only developers need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

#: Each extra, and the packages that a plain installation has.
EXTRAS = ("", "report", "explore", "spark", "crosscheck")
_CLASSIFIER = "License :: OSI Approved :: "


def packages(extra: str) -> dict[str, Distribution]:
    """Every package that SafeTab needs with an extra, directly or not, by its normal name."""
    found: dict[str, Distribution] = {}
    waiting: list[tuple[str, frozenset[str]]] = [("safetab", frozenset({extra} if extra else set()))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            # Needed on another system, which the marker of a requirement in between did not say.
            continue
        for text in found[name].requires or []:
            need = Requirement(text)
            if need.marker is None or any(need.marker.evaluate({"extra": one}) for one in (extras or {""})):
                waiting.append((normal_name(need.name), frozenset(need.extras)))
    del found["safetab"]
    return found


def normal_name(name: str) -> str:
    """The name of a package as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(package: Distribution) -> str:
    """The licence of a package in a few words, as its metadata states it."""
    about = package.metadata
    if "License-Expression" in about:
        return str(about["License-Expression"])
    listed = [line.removeprefix(_CLASSIFIER) for line in about.get_all("Classifier") or [] if _CLASSIFIER in line]
    if listed:
        return ", ".join(listed)
    text = str(about["License"]).strip() if "License" in about else ""
    return text.splitlines()[0][:60] if text else "not stated"


def page() -> Iterator[str]:
    """The page, line by line."""
    yield from ("# Licences", "", "*For people who must know what they install.*", "")
    yield "SafeTab is under the Apache License 2.0. It installs these packages on Linux, here in the versions of"
    yield "the lock files, and the licences that they state themselves. Each wheel of SafeTab comes with a list of its"
    yield "parts in the CycloneDX form (`make dist`)."
    plain = packages("")
    for extra in EXTRAS:
        listed = {name: one for name, one in packages(extra).items() if not extra or name not in plain}
        yield from ("", f"## {f'With safetab[{extra}], also' if extra else 'A plain installation'}", "")
        yield from ("| package | version | licence |", "| --- | --- | --- |")
        for name, one in sorted(listed.items()):
            yield f"| {name} | {one.version} | {licence(one).replace('|', '/')} |"


def main() -> None:
    """Write the page."""
    file = Path(__file__).resolve().parents[1] / "docs" / "reference" / "licences.md"
    file.write_text("\n".join(page()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
