"""Coverage of every question through the whole program: records in, `safetab.open` and its answers out.

A release of many counties that are all alike is as many trials. The noise has a fixed seed, so a test is right or wrong
for good.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import safetab
from safetab.noise.source import SeededSourceNotPrivate
from safetab.reading.answers import Estimate
from safetab.reading.sums import Cells, Region, Row
from tests.oracle.reading import rank_of
from tests.profile import size
from tests.worlds import many_counties
from tests.worlds.many_counties import ALPINE, truth

TRIALS = size(quick=6, long=2_100)
TRACTS = tuple(ALPINE)
#: A ratio takes a hundred times as long as a sum; `test_reading` tries them more often.
RATIOS = size(quick=2, long=400)
Question = tuple[Callable[[safetab.Release, str], Estimate], float]


def least(trials: int) -> float:
    """A coverage of 95 % falls below this with a chance of 1e-7 (5.2 standard errors)."""
    return float(0.95 - 5.2 * (0.05 * 0.95 / trials) ** 0.5)


LEAST = least(TRIALS)


def tract(county: str, number: int) -> str:
    return f"TRACT/{county}{TRACTS[number]}"


def total(code: str, *numbers: int) -> Question:
    """The sum of some tracts, by their own rows or by better ones."""
    regions = tuple(TRACTS[number] for number in numbers)
    return lambda release, at: release.total(code, regions=[tract(at, n) for n in numbers]), truth(code, regions)


def share(number: int) -> Question:
    def ask(release: safetab.Release, at: str) -> Estimate:
        return release.share(("2001", tract(at, number)), ("2001", f"COUNTY/{at}"))

    return ask, truth("2001", (TRACTS[number],)) / truth("2001")


def share_by_parts(number: int) -> Question:
    """The whole is the sum of two tracts, one of which is the part: its noise is on both sides."""

    def ask(release: safetab.Release, at: str) -> Estimate:
        return release.share([("2001", tract(at, number))], [("2001", tract(at, n)) for n in (number, number + 1)])

    part, rest = (truth("2001", (TRACTS[n],)) for n in (number, number + 1))
    return ask, part / (part + rest)


def difference(one: int, other: int) -> Question:
    def ask(release: safetab.Release, at: str) -> Estimate:
        return release.difference(("2001", tract(at, one)), ("2001", tract(at, other)))

    return ask, truth("2001", (TRACTS[one],)) - truth("2001", (TRACTS[other],))


QUESTIONS: dict[str, Question] = {
    "a county": (lambda release, at: release.total("2001", f"COUNTY/{at}"), truth("2001")),
    "all tracts of a county": total("2001", 0, 1, 2, 3),
    "tracts at a threshold": total("2001", 0, 1),
    "a tract at a threshold and one near suppression": total("2002", 1, 2),
    "tracts that may be left out": total("2001", 2, 3),
    "small tracts, another group": total("4001", 0, 2, 3),
    "a group and its part": (
        lambda release, at: release.total(groups=["2001", "4001"], region=f"COUNTY/{at}", overlap="allow"),
        truth("2001") + truth("4001"),
    ),
    "one sex": (lambda release, at: release.total("2001", f"COUNTY/{at}", sex="1"), many_counties.of_sex(1)),
    "some ages": (
        lambda release, at: release.total("2001", f"COUNTY/{at}", ages=(18, 64)),
        many_counties.of_age(18, 64),
    ),
    "share of a tract": share(0),
    "share of a tract that may be left out": share(2),
    "share in a sum that has the part": share_by_parts(2),
    "ratio of two small tracts": (
        lambda release, at: release.ratio(("2001", tract(at, 2)), ("2001", tract(at, 3))),
        ALPINE[TRACTS[2]] / ALPINE[TRACTS[3]],
    ),
    "difference at a threshold": difference(0, 1),
    "difference of small tracts": difference(2, 3),
}


@pytest.fixture(scope="module", params=["zcdp", "puredp"])
def releases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[safetab.Release]:
    """Two releases of the same people by one mechanism."""
    folder = many_counties.write(tmp_path_factory.mktemp(request.param), TRIALS, request.param)
    found = []
    for seed in (1, 2):
        source = SeededSourceNotPrivate(seed)
        out = folder / f"out-{seed}"
        safetab.tabulate(folder / "params", folder / "data", out, not_private=True, source=source)
        release = safetab.open(out)
        every = [region for region in release.regions if region.type in {"COUNTY", "TRACT"}]
        # One query for all that will be asked.
        release.fetch([Row("us", region, code, None) for region in every for code in ("2001", "2002", "4001")])
        release.fetch(
            [Row("us", Region("COUNTY", at), "2001", Cells("1", None)) for at in many_counties.counties(TRIALS)]
        )
        found.append(release)
    return found


def is_right(answer: Estimate, true: float) -> bool:
    return answer.low - 1e-9 <= true <= answer.high + 1e-9


@pytest.mark.parametrize("name", QUESTIONS)
def test_intervals_hold(releases: list[safetab.Release], name: str) -> None:
    ask, true = QUESTIONS[name]
    trials = RATIOS if name.startswith(("share", "ratio")) else TRIALS
    answers = [ask(releases[0], at) for at in many_counties.counties(trials)]
    assert sum(is_right(answer, true) for answer in answers) >= least(trials) * trials


def test_sums_are_never_wider_than_their_parts(releases: list[safetab.Release]) -> None:
    for at in many_counties.counties(TRIALS):
        for numbers in ((0, 1), (2, 3), (0, 1, 2, 3)):
            parts = [releases[0].total("2001", tract(at, n)) for n in numbers]
            found = releases[0].total("2001", regions=[tract(at, n) for n in numbers])
            assert found.high - found.low <= sum(part.high - part.low for part in parts)


def test_changes_between_releases_hold(releases: list[safetab.Release]) -> None:
    """Both are of the same people, so nothing changed."""
    earlier, later = releases
    for code, region in (("2001", "COUNTY/{}"), ("4001", "TRACT/{}000300")):
        answers = [safetab.change(earlier, later, code, region.format(at)) for at in many_counties.counties(TRIALS)]
        assert sum(is_right(answer, 0) for answer in answers) >= LEAST * TRIALS
        # And what says "this is hardly noise" does so as seldom as it says.
        rejected = sum((answer.p_value or 0.0) <= 0.05 for answer in answers)
        assert rejected <= (1 - LEAST) * TRIALS


def test_several_comparisons_are_wrong_together_as_seldom_as_one(releases: list[safetab.Release]) -> None:
    """Three gaps that are not there, with Holm's adjustment: some is found with a chance of at most 5 %."""
    every = many_counties.counties(TRIALS)
    wrong = 0
    for at, other in zip(every, every[1:] + every[:1], strict=True):
        pairs = [(("2001", tract(at, number)), ("2001", tract(other, number))) for number in (0, 1, 2)]
        wrong += any((answer.p_value or 0.0) <= 0.05 for answer in releases[0].compare(pairs))
    assert wrong <= (1 - LEAST) * TRIALS


def test_ranks_hold_together(releases: list[safetab.Release]) -> None:
    codes = ["2001", "2002", "4001"]
    truths = [truth(code) for code in codes]
    right = 0
    for at in many_counties.counties(TRIALS):
        found = {rank.group: rank for rank in releases[0].rank(codes, f"COUNTY/{at}")}
        bounds = [rank_of(truths, place) for place in range(len(codes))]
        right += all(
            found[code].low <= best and worst <= found[code].high
            for code, (best, worst) in zip(codes, bounds, strict=True)
        )
    assert right >= LEAST * TRIALS


def test_adding_rows_by_hand_does_not_hold(releases: list[safetab.Release]) -> None:
    """The wrong way of readers: published counts, margins as if independent, and what is missing taken as 0."""
    table = releases[0].table("t1").to_pandas()
    small = table[(table.REGION_TYPE == "TRACT") & (table.ITERATION_CODE == "4001")]
    small = small[small.REGION_ID.str[5:].isin(TRACTS[1:])]
    by_county = small.groupby(small.REGION_ID.str[:5])
    sums, margins = by_county.COUNT.sum(), by_county.MOE_95.apply(lambda moes: float((moes**2).sum() ** 0.5))
    true = truth("4001", TRACTS[1:])
    covered = ((sums - margins <= true) & (true <= sums + margins)).sum()
    assert covered < max(LEAST, 0.9) * TRIALS
