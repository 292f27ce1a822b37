"""How many persons the groups of a nation have: the sizes published for the United States in 2020, or a user's table.

In: group definitions, and optionally a file. Out: the size of each iteration that has one, by iteration code. Promise:
nothing is read before it is asked for. Each published figure has the name of its source in `published-2020.txt`, and
`published-2020-sources.txt` says where that is. All of them have the Bureau's noise in them; none is confidential.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from safetab.errors import Finding, InputError
from safetab.files.text import read_text
from safetab.population.iterations import Iteration, IterationCatalogue, Kind
from safetab.population.size_table import CODE, COUNT, SizeRules, size_findings
from safetab.rules import synth_rules

#: What users call the published sizes where a file of sizes may be named.
US_2020 = "us-2020"
#: The persons of the nation that the published sizes describe: the United States without Puerto Rico.
PUBLISHED_PERSONS = 331_449_281
_RULES = SizeRules(synth_rules.SIZE_COUNT, synth_rules.SIZE_CODE, synth_rules.SIZE_TWICE)
_ALL_TRIBES = "(all tribes)"
_WORDS_OF_KIND = re.compile(r" alone( or in (any )?combination( with one or more other races)?)?\b")


@dataclass(frozen=True, slots=True)
class PublishedSize:
    """One published national total. Figures quoted from articles may be rounded.

    Some groups were published without a number, because it was below 0 or did not agree with another. They have hardly
    anybody, and count 0 here.
    """

    code: str
    name: str
    count: int
    is_exact: bool
    source: str


@cache
def published_sizes() -> tuple[PublishedSize, ...]:
    """The published national totals of 2020."""
    folder = files("safetab.synth")
    where = dict(_rows(folder.joinpath("published-2020-sources.txt").read_text(encoding="utf-8")))
    rows = _rows(folder.joinpath("published-2020.txt").read_text(encoding="utf-8"))
    return tuple(
        PublishedSize(code, name, int(count or 0), precision == "exact", where[source])
        for code, name, count, precision, source in rows
    )


def _rows(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.splitlines()[1:]]


def published_sizes_of(catalogue: IterationCatalogue) -> dict[str, int]:
    """The published size of each iteration that has one: by its code where the name agrees, otherwise by its name."""
    by_code = {size.code: size for size in published_sizes()}
    by_name = {_key(size.name, _kind(size.name)): size for size in published_sizes()}
    found: dict[str, int] = {}
    for iteration in catalogue.iterations:
        key = _key(iteration.name, iteration.kind)
        size = by_code.get(iteration.code)
        if size is None or _key(size.name, _kind(size.name)) != key:
            # Some regional groups are named after one of their detailed groups.
            of_region = by_name.get((key[0], f"{key[1]} {_ALL_TRIBES}")) if iteration.level == 1 else None
            size = of_region or by_name.get(key)
        if size is not None:
            found[iteration.code] = size.count
    return found


def plain_name(iteration: Iteration) -> str:
    """The name of the group of an iteration in lower case, without the words for alone and in combination."""
    return _key(iteration.name, iteration.kind)[1]


def _kind(name: str) -> Kind:
    found = _WORDS_OF_KIND.search(name)
    if found is None:
        return Kind.ETHNICITY
    return Kind.COMBINATION if found[1] else Kind.ALONE


@cache
def _key(name: str, kind: Kind) -> tuple[Kind, str]:
    return kind, _WORDS_OF_KIND.sub("", name).strip().lower()


def own_sizes(source: str | Path | None, catalogue: IterationCatalogue) -> Mapping[str, int] | None:
    """The sizes that a user names: those of a table, or None for the published ones, in proportion to the country."""
    return None if source is None or str(source) == US_2020 else read_sizes(source, catalogue)


def read_sizes(path: str | Path, catalogue: IterationCatalogue) -> Mapping[str, int]:
    """The sizes of a user's table; raises with everything that is wrong with it."""
    findings: list[Finding] = []
    table = read_text(Path(path), (CODE, COUNT), findings)
    if table is not None:
        findings += size_findings(table, catalogue, _RULES)
    if table is None or findings:
        raise InputError(findings)
    counts = map(int, table.column(COUNT))
    return dict(zip(table.column(CODE), counts, strict=True))
