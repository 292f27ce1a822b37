"""What the page of a release says, as plain text: tables of numbers with intervals, and answers to questions.

In: an opened release, and the groups and regions that were picked. Out: frozen tables and answers of text. The promise:
nothing is computed here but words; every figure is one that `safetab.open` gives, to the digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from safetab.errors import UsageError
from safetab.population.iterations import Kind
from safetab.reading.answers import Estimate
from safetab.reading.groups import Group
from safetab.reading.release import Release
from safetab.reading.sums import Region
from safetab.rules import reading_rules

Row = tuple[str, ...]
Pair = tuple[Group, Region]
#: So many population groups can be picked at once: more do not fit on a page.
MOST_PAIRS = 40
#: So many hits of a search are shown.
MOST_HITS = 12


@dataclass(frozen=True, slots=True)
class Table:
    """Text in rows; the first cells of a row, `headings` of them, say what it is about."""

    caption: str
    head: Row
    rows: tuple[Row, ...]
    headings: int = 2
    note: str = ""
    #: How each row was computed, where that is not plain.
    how: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in words: the number, its interval, how it was computed, warnings. Or why there is none."""

    number: str
    interval: str = ""
    how: str = ""
    warnings: tuple[str, ...] = ()
    is_refused: bool = False


def label(release: Release, thing: Group | Region) -> str:
    """The name of a group or a region with its code or id."""
    if isinstance(thing, Group):
        return f"{thing.name} ({thing.code})"
    name = release.name_of(thing)
    return str(thing) if name == str(thing) else f"{name} ({thing})"


def hits(release: Release, kind: str, words: str, kept: Sequence[str]) -> dict[str, str]:
    """What can be picked: what is picked already, then what a search finds, by code or TYPE/ID."""
    keys = list(dict.fromkeys(kept))
    if words.strip():
        found = release.find(words.strip()).to_pylist()
        more = [hit["KEY"] for hit in found if hit["KIND"] == kind]
    else:
        every = release.groups if kind == "group" else map(str, _widest_first(release))
        more = [key for key, _ in zip(every, range(MOST_HITS + len(keys)), strict=False)]
    keys += [key for key in dict.fromkeys(more) if key not in kept][:MOST_HITS]
    return {key: label(release, release.group(key) if kind == "group" else release.region(key)) for key in keys}


def about_search(release: Release, kind: str, words: str) -> str:
    """What to say of a search that finds nothing, or more than is shown; empty otherwise."""
    wanted = words.strip()
    found = {hit["KEY"] for hit in release.find(wanted).to_pylist() if hit["KIND"] == kind} if wanted else None
    if found is None or 0 < len(found) <= MOST_HITS:
        return ""
    if not found:
        return f"No {kind} is called “{wanted}”."
    return f"{len(found):,} are found, and {MOST_HITS} are shown. Write more of the name."


def _widest_first(release: Release) -> list[Region]:
    """Regions of the levels with the fewest regions first."""
    sizes: dict[str, int] = {}
    for region in release.regions:
        sizes[region.type] = sizes.get(region.type, 0) + 1
    return sorted(release.regions, key=lambda region: sizes[region.type])


def first_picks(release: Release) -> tuple[list[str], list[str]]:
    """What a page begins with: the three largest groups that can be added, in the widest region."""
    for region in _widest_first(release):
        groups = [group for group in release.groups.values() if is_tabulated(release, group, region)]
        if groups:
            table = release.totals(groups, [region])
            order = sorted(range(len(groups)), key=lambda at: -table["ESTIMATE"][at].as_py())
            # Groups of people of one race alone can be added.
            alone = [at for at in order if groups[at].kind is Kind.ALONE] or order[:1]
            same = [at for at in alone if groups[at].iteration_level == groups[alone[0]].iteration_level]
            return [groups[at].code for at in same[:3]], [str(region)]
    return [], []


def is_tabulated(release: Release, group: Group, region: Region) -> bool:
    """Whether some run tabulates a group in a region."""
    here = (run for run in release.runs if release.regions_of_run(run).index(*region) is not None)
    return any(region.type in release.levels_of_group(run, group) for run in here)


def picked(release: Release, groups: Sequence[str], regions: Sequence[str]) -> list[Pair]:
    """The population groups of some groups in some regions that are tabulated, by region."""
    places = [release.region(region) for region in regions]
    people = [release.group(group) for group in groups]
    return [(group, place) for place in places for group in people if is_tabulated(release, group, place)]


def what_is_not_shown(release: Release, groups: Sequence[str], regions: Sequence[str], pairs: Sequence[Pair]) -> str:
    """Why some of what was picked has no number; empty where all has one."""
    if not groups or not regions:
        return "Pick at least one group and one region."
    if len(pairs) > MOST_PAIRS:
        return f"Only the first {MOST_PAIRS} of {len(pairs)} are shown. Pick fewer."
    known = {(group.code, str(region)) for group, region in pairs}
    missing = [(group, region) for region in regions for group in groups if (group, region) not in known]
    if not missing:
        return ""
    group, region = missing[0]
    more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"{label(release, release.group(group))} is not tabulated in {region}{more}."


def figure(value: float) -> str:
    """A whole number of people."""
    return f"{int(value):,}" if isfinite(value) else "unknown"


def percent(value: float) -> str:
    """A share."""
    return f"{100 * value:.2f} %" if isfinite(value) else "unknown"


def _ends(low: float, high: float, write: Callable[[float], str]) -> str:
    return f"{write(low)} to {write(high) if isfinite(high) else 'without bound'}"


def people_table(release: Release, pairs: Sequence[Pair]) -> Table:
    """The total of each population group with its interval."""
    found = release.totals([group for group, _ in pairs], [region for _, region in pairs], zipped=True).to_pylist()
    rows = [
        (
            *_names(release, pair),
            figure(row["ESTIMATE"]) if row["IS_PUBLISHED"] else "not published",
            _ends(row["LOW_95"], row["HIGH_95"], figure),
        )
        for pair, row in zip(pairs, found, strict=True)
    ]
    note = "A total that is not published is not 0: the interval says how many people it may have."
    return Table("People", ("Group", "Region", "People", "95 % interval"), tuple(rows), note=note)


def _names(release: Release, pair: Pair) -> Row:
    return label(release, pair[0]), label(release, pair[1])


def sum_answer(release: Release, pairs: Sequence[Pair], *, may_overlap: bool) -> Answer:
    """All that was picked, together."""
    sides = [(group, region) for group, region in pairs]
    try:
        found = _sum(release, sides, may_overlap)
    except UsageError as error:
        return refused(error)
    return Answer(figure(found.value), _ends(found.low, found.high, figure), found.how, found.warnings)


def _sum(release: Release, pairs: Sequence[Pair], may_overlap: bool) -> Estimate:
    from safetab.reading import questions

    return questions.total(release, pairs, overlap="allow" if may_overlap else "refuse")


def refused(error: UsageError) -> Answer:
    """Why there is no answer, and what to do."""
    (finding, *_) = error.findings
    seen = f" ({finding.seen})" if finding.seen else ""
    next_step = finding.rule.next_step
    if finding.rule is reading_rules.OVERLAP:
        next_step = "Pick groups and regions that do not overlap, or tick the box above."
    return Answer(f"No answer: {finding.rule.text}{seen}.", how=next_step, is_refused=True)


def shares_table(release: Release, pairs: Sequence[Pair], whole: Pair | None, *, may_overlap: bool) -> Table | Answer:
    """The share of each population group in another, or in all that was picked together where `whole` is None."""
    around = list(pairs) if whole is None else [whole]
    name = "all that is picked" if whole is None else " in ".join(_names(release, whole))
    rows: list[Row] = []
    answers: list[Estimate] = []
    try:
        for pair in pairs:
            found = release.share([pair], around, overlap="allow" if may_overlap else "refuse")
            rows.append((*_names(release, pair), percent(found.value), _ends(found.low, found.high, percent)))
            answers.append(found)
    except UsageError as error:
        return refused(error)
    note = " ".join(dict.fromkeys(words for one in answers for words in one.warnings))
    head = ("Group", "Region", "Share", "95 % interval")
    return Table(f"Shares of {name}", head, tuple(rows), note=note, how=tuple(one.how for one in answers))


def comparison_table(release: Release, pairs: Sequence[Pair], reference: Pair) -> Table | Answer:
    """Each population group minus one of them, with the probability that noise alone makes such a gap."""
    others = [pair for pair in pairs if pair != reference]
    if not others:
        return Answer("Pick at least two groups or two regions to compare.")
    try:
        found = release.compare([([pair], [reference]) for pair in others])
    except UsageError as error:
        return refused(error)
    rows = [
        (*_names(release, pair), f"{int(one.value):+,}", _ends(one.low, one.high, figure), _chance(one.p_value))
        for pair, one in zip(others, found, strict=True)
    ]
    head = ("Group", "Region", "Difference", "95 % interval", "By noise alone")
    several = " The column is adjusted for several comparisons (Holm)." if len(others) > 1 else ""
    note = f"By noise alone: the probability of a gap at least this large if there is none, at most.{several}"
    warnings = dict.fromkeys(words for one in found for words in one.warnings)
    return Table(
        f"Compared with {' in '.join(_names(release, reference))}",
        head,
        tuple(rows),
        note=" ".join([note, *warnings]),
        how=tuple(one.how for one in found),
    )


def _chance(p_value: float | None) -> str:
    if p_value is None:
        return "unknown"
    return "below 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def ages_table(release: Release, pair: Pair) -> Table | None:
    """The sex by age table of a population group; None where it has none."""
    found = release.sex_by_age(*pair).to_pylist()
    if not found:
        return None
    rows = [
        (age_name(row), row["SEX"], figure(row["ESTIMATE"]), _ends(row["LOW_95"], row["HIGH_95"], figure))
        for row in found
    ]
    return Table(
        f"Sex by age: {' in '.join(_names(release, pair))}", ("Ages", "Sex", "People", "95 % interval"), tuple(rows)
    )


def age_name(row: dict[str, str]) -> str:
    """The ages of a row of T2."""
    return row["AGESTART"] if row["AGESTART"] == row["AGEEND"] else f"{row['AGESTART']} to {row['AGEEND']}"
