"""`safetab read`: questions about a finished release, answered with intervals that hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safetab.cli.terminal import console, facts, grid, number
from safetab.errors import Finding, UsageError
from safetab.reading.answers import Estimate, Rank, figure, percent
from safetab.rules import reading_rules

if TYPE_CHECKING:
    from safetab.reading.release import Release

FORMAT = "safetab read 1"
_PAIR: dict[str, Any] = {"nargs": 2, "multiple": True, "metavar": "GROUP REGION"}


@click.command("read")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("question", type=click.Choice(["total", "share", "difference", "rank"]))
@click.option("--group", "groups", multiple=True, help="total, rank: a group, its iteration code or its exact name.")
@click.option("--region", "regions", multiple=True, help="total, rank: a region, TYPE/ID or its exact name.")
@click.option("--part", **_PAIR, help="share: what is divided.")
@click.option("--whole", **_PAIR, help="share: what it is divided by.")
@click.option("--a", "first", **_PAIR, help="difference: what is counted.")
@click.option("--b", "second", **_PAIR, help="difference: what is taken away.")
@click.option("--sex", help="total: one sex, as in T2.")
@click.option("--ages", type=(int, int), metavar="FIRST LAST", help="total: ages from the first to the last.")
@click.option(
    "--overlap",
    type=click.Choice(["refuse", "allow"]),
    default="refuse",
    show_default=True,
    help="Whether people may be counted twice.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="The confidence of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(out: Path, question: str, *, confidence: float, as_json: bool, **words: Any) -> int:
    """Answer a question about the release in OUT, with an interval and how it was computed.

    Options that name a group or a region may be repeated. The question is then about their sum, or for `rank` about
    each group. For example: safetab read OUT share --part 4015 COUNTY/01001 --whole 4015 STATE/01
    """
    from safetab.reading import release as releases

    release = releases.open(out)
    _judge(out, question, words)
    answer = _QUESTIONS[question](release, words, confidence)
    ranks = answer if isinstance(answer, list) else []
    if as_json:
        content = {"ranks": [_rank_json(rank) for rank in ranks]} if ranks else _json(answer)
        about = {"format": FORMAT, "question": question, "is_private": release.is_private}
        click.echo(json.dumps(about | content, indent=2))
    elif ranks:
        _print_ranks(ranks, release, words["regions"][0], confidence)
    else:
        console().print(facts([*_lines(answer), *_not_private(release)]))
    return 0


def _judge(out: Path, question: str, words: dict[str, Any]) -> None:
    """Refuse options that would change nothing: who asks for the share of women must not get that of everybody."""
    needed, more = _OPTIONS[question]
    given = {name for name in _SPELLED if words[name]}
    foreign = [_SPELLED[name] for name in _SPELLED if name in given - {*needed, *more}]
    if foreign:
        seen = f"{question} with {', '.join(foreign)}"
        raise UsageError(Finding(reading_rules.OTHER_OPTIONS, str(out), seen=seen), "")
    lacking = [_SPELLED[name] for name in needed if name not in given]
    if lacking:
        seen = f"{question} without {' and '.join(lacking)}"
        raise UsageError(Finding(reading_rules.QUESTION_WORDS, str(out), seen=seen), "")


def _total(release: Release, words: dict[str, Any], confidence: float) -> Estimate:
    return release.total(
        groups=words["groups"],
        regions=words["regions"],
        sex=words["sex"],
        ages=words["ages"],
        overlap=words["overlap"],
        confidence=confidence,
    )


def _share(release: Release, words: dict[str, Any], confidence: float) -> Estimate:
    part, whole = list(words["part"]), list(words["whole"])
    return release.share(part, whole, overlap=words["overlap"], confidence=confidence)


def _difference(release: Release, words: dict[str, Any], confidence: float) -> Estimate:
    first, second = list(words["first"]), list(words["second"])
    return release.difference(first, second, overlap=words["overlap"], confidence=confidence)


def _rank(release: Release, words: dict[str, Any], confidence: float) -> list[Rank]:
    if len(words["regions"]) != 1:
        seen = f"{len(words['regions'])} regions; rank takes one"
        raise UsageError(Finding(reading_rules.QUESTION_WORDS, str(release.folder), seen=seen), "")
    return release.rank(words["groups"], words["regions"][0], confidence=confidence)


#: The options that each question must have, and those that it may have.
_OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "total": (("groups", "regions"), ("sex", "ages")),
    "share": (("part", "whole"), ()),
    "difference": (("first", "second"), ()),
    "rank": (("groups", "regions"), ()),
}
#: Options as they are written.
_SPELLED = {
    "groups": "--group",
    "regions": "--region",
    "part": "--part",
    "whole": "--whole",
    "first": "--a",
    "second": "--b",
    "sex": "--sex",
    "ages": "--ages",
}
_QUESTIONS: dict[str, Callable[[Release, dict[str, Any], float], Any]] = {
    "total": _total,
    "share": _share,
    "difference": _difference,
    "rank": _rank,
}


def _json(answer: Estimate) -> dict[str, Any]:
    return answer.as_json()


def _rank_json(rank: Rank) -> dict[str, Any]:
    return {
        "group": rank.group,
        "name": rank.name,
        "rank": rank.rank,
        "low": rank.low,
        "high": rank.high,
        "estimate": rank.estimate.as_json(),
    }


def _lines(answer: Estimate) -> list[tuple[str, str]]:
    lines = [("Answer", figure(answer.value)), ("Interval", _interval(answer))]
    if answer.p_value is not None:
        lines.append(("By noise", f"a gap at least this large has a probability of at most {answer.p_value:.2g}"))
    lines.append(("Computed", answer.how))
    return lines + [("Warning", warning) for warning in answer.warnings]


def _interval(answer: Estimate) -> str:
    high = figure(answer.high) if isfinite(answer.high) else "without bound"
    return f"{figure(answer.low)} to {high} with a probability of at least {percent(answer.confidence)}"


def _not_private(release: Release) -> list[tuple[str, str]]:
    return [] if release.is_private else [("Warning", release.ledger["warning"])]


def _print_ranks(ranks: Sequence[Rank], release: Release, region: str, confidence: float) -> None:
    place = release.region(region)
    rows = [
        [
            rank.name,
            rank.group,
            number(int(rank.estimate.value)),
            f"{number(int(rank.estimate.low))} to {number(int(rank.estimate.high))}",
            str(rank.low) if rank.low == rank.high else f"{rank.low} to {rank.high}",
        ]
        for rank in ranks
    ]
    # A region without a name is called by its type already.
    name = release.name_of(place)
    where = name if name == str(place) else f"{place.type} {name}"
    title = f"Ranks in {where}"
    screen = console()
    columns = ["Group", "Code", "People", "Interval", "Rank"]
    screen.print(grid(title, columns, rows, left=2))
    screen.print()
    screen.print(
        f"All ranks hold together with a probability of at least {percent(confidence)}, each interval by itself."
    )
    missing = [rank.group for rank in ranks if rank.estimate.missing]
    notes = [("Warning", f"not published: {', '.join(missing)}. The interval is what the total may be.")] * bool(
        missing
    )
    notes += _not_private(release)
    if notes:
        screen.print(facts(notes))
