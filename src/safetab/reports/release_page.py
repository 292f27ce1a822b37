"""The report of a release: one page for those who decide about it and those who read it.

In: the folder that `safetab tabulate` wrote. Out: one HTML file. The promise: OUT alone is read, so the page may go
wherever the tables may; every figure of it is in OUT or counted from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from safetab.reading.opened import Opened
from safetab.reading.survey import Survey, TotalRow
from safetab.reports import markup, totals_table
from safetab.reports.charts import altair
from safetab.reports.limits import errata, how_to_read, limits
from safetab.reports.release_figures import detail, guarantee, spending, suppression
from safetab.reports.release_intervals import contradictions, extremes, margins


def write_report(out: Path, file: Path, *, everything: bool = False) -> None:
    """Write the report of the release in `out`; with all totals if `everything`, else the largest of each level."""
    altair()
    release = Opened(out)
    markup.refuse_file(file)
    with Survey(release) as survey:
        pieces = _pieces(release, survey, everything=everything)
        markup.write_page(file, pieces, for_everybody=release.is_private)


def _pieces(release: Opened, survey: Survey, *, everything: bool) -> Iterator[str]:
    ledger, top = release.ledger, survey.largest(totals_table.TOP)
    sections = [
        markup.Section("release", "What was released, and from what", (markup.facts("about", _about(release)),)),
        guarantee(release),
        spending(release),
        detail(release, survey),
        margins(release, survey),
        suppression(release, survey),
        extremes(release, survey),
        contradictions(survey),
        _search(release, top, everything=everything),
        markup.Section("how-to-read", "How to read the numbers", (markup.items(how_to_read(ledger)),)),
        markup.Section("limits", "Limits and errata that apply", tuple(_limits(release))),
        markup.Section("inputs", "Inputs and program", (markup.facts("hashes", _hashes(release)),)),
    ]
    text = markup.page(
        ledger["title"] or "Untitled release",
        "Report of a release",
        f"Finished {ledger['finished'].replace('T', ' ').replace('+00:00', ' UTC')}. Made from published files alone.",
        [markup.glance(_glance(release))],
        sections,
        f"Written by {ledger['program']} from {release.folder.name}. This page is one file: it needs no network.",
        ledger["warning"],
    )
    before, after = text.split(totals_table.PLACE)
    yield before
    yield from totals_table.data(release, survey.every() if everything else top)
    yield after


def _glance(release: Opened) -> Iterator[tuple[str, str, str]]:
    ledger = release.ledger
    groups = sum(level["groups"] for run in ledger["runs"] for level in run["levels"])
    rows = {name: sum(run["rows"][name] for run in ledger["runs"]) for name in ("t1", "t2")}
    left_out = sum(run["suppressed_rows"] for run in ledger["runs"])
    yield "Population groups", f"{groups:,}", "every region times every group"
    yield "Published totals", f"{rows['t1']:,}", "rows of T1"
    yield "Numbers in tables", f"{rows['t2']:,}", "rows of T2"
    yield "Left out", f"{left_out:,}", "small totals of local groups" if left_out else "no total was suppressed"
    if ledger["is_private"]:
        yield f"Budget, {ledger['budget_symbol']}", ledger["total_budget"], "what one person can lose at most"
    else:
        yield "Guarantee", "none", "NOT PRIVATE"


def _about(release: Opened) -> Iterator[tuple[str, str]]:
    ledger, dictionary = release.ledger, release.dictionary
    yield "Release", ledger["title"] or "untitled"
    yield "Runs", ", ".join(release.runs)
    yield "T1", dictionary["t1"]["description"]
    yield "T2", dictionary["t2"]["description"]
    places = {kind: len({region.id for region in release.regions if region.type == kind}) for kind in _kinds(release)}
    yield "Regions", ", ".join(f"{count:,} {kind}" for kind, count in places.items())
    kinds = [group.kind.value for group in release.groups.values()]
    words = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in dict.fromkeys(kinds))
    yield "Groups", f"{len(kinds):,} characteristic iterations: {words}"
    yield "Records", "counted by the engine " + ledger["engine"] + "; nothing of them is in this page"
    yield "Negative counts", "kept" if ledger["allow_negative_counts"] else "set to 0"


def _kinds(release: Opened) -> list[str]:
    return list(dict.fromkeys(level.geography for level in release.levels))


def _search(release: Opened, top: list[TotalRow], *, everything: bool) -> markup.Section:
    what = "every published total" if everything else f"the {totals_table.TOP} largest totals of each level"
    about = (
        f"Search {what}. Type words of a region or a group, or a code. Before a search the table shows the "
        f"{totals_table.PRINTED} largest of each level."
    )
    if not everything:
        about += " `safetab report --all` puts all of them into the page."
    return markup.Section(
        "search-totals",
        "Regions and groups",
        (markup.paragraph(about), totals_table.printed_table(release, top), totals_table.PLACE),
    )


def _limits(release: Opened) -> Iterator[str]:
    yield "<h3>Limits</h3>"
    yield markup.items(limits(release.ledger))
    found = list(errata(release.ledger))
    if found:
        yield "<h3>Where the paper of the method differs from this release</h3>"
        yield markup.items(found)


def _hashes(release: Opened) -> Iterator[tuple[str, str]]:
    ledger = release.ledger
    yield "Program", f"{ledger['program']}, engine {ledger['engine']}"
    yield "Ledger", f"`ledger.json`, {ledger['format']}"
    for kind in ("parameters", "geography"):
        for name, digest in ledger["inputs"].get(kind, {}).items():
            yield f"{kind.capitalize()}: {name}", f"SHA-256 `{digest}`"
    records = ledger["inputs"]["records"]
    yield "Records", f"keyed hash `{records}`" if records else "no fingerprint: there was no registry"
