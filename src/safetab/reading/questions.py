"""The answers to questions about some population groups: totals, differences, ratios.

In: population groups of a release. Out: `Estimate`s. The promise: that of `release`. Rows are chosen by `sums`,
intervals come from `estimates.linear`; here both are brought together and put in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf, nan
from typing import Any, Literal

from safetab.arguments import refuse_other_than_number
from safetab.errors import Finding, UsageError
from safetab.estimates.linear import (
    CHANCE_OF_A_ROW,
    Weighted,
    chance_of_a_row,
    chance_of_noise,
    interval,
    ratio,
    whole,
)
from safetab.estimates.no_wider import LEAST_CONFIDENCE, OF_TRIMMING, Interval, added, is_near_nobody, no_wider
from safetab.estimates.settled import TWELVE
from safetab.reading.answers import Estimate
from safetab.reading.groups import Group, is_inside, reason_of_overlap
from safetab.reading.opened import Opened, is_pair
from safetab.reading.sums import Cells, Chosen, Region, Row, choose, pieces_of
from safetab.rules import reading_rules

Overlap = Literal["refuse", "allow"]
#: A pair (group, region) as people write it, or a list of such pairs.
Side = Any
Pairs = Sequence[tuple[Group, Region]]
#: A sum of more parts is not compared with them: so many intervals added are some 5 times as wide.
_MOST_PARTS = 30


def total(
    release: Opened,
    pairs: Pairs,
    *,
    sex: str | None = None,
    ages: tuple[int, int] | None = None,
    overlap: Overlap = "refuse",
    confidence: float = 0.95,
) -> Estimate:
    """The sum of some population groups."""
    judge(release, pairs, confidence, overlap)
    if sex is not None and sex not in set(release.dictionary["sexes"]) - {"*"}:
        raise UsageError(Finding(reading_rules.NO_SUCH_CELLS, str(release.folder), key=f"sex {sex}"), "")
    if ages is not None and not is_pair(ages):
        raise ValueError(f"ages is {ages!r}: it must be a pair, the first and the last age.")
    cells = None if sex is None and ages is None else Cells(sex, ages)
    chosen = choose(release, pairs, cells)
    how = _how(chosen, is_one=len(pairs) == 1)
    parts = _parts(release, pairs, cells, confidence)
    kept = 1 - (1 - confidence) * (1 - OF_TRIMMING) if _can_be_short(release, pairs, parts, cells) else confidence
    published = _published(release, chosen, how) if cells is None else None
    answer = published if kept == 0.95 else None
    if answer is None:
        terms = weighted(release, chosen.times, chosen.missing, chance_of_a_row(kept, len(chosen.times)))
        found = whole(interval(terms, kept), least=0)
        answer = _estimate(terms, found, confidence, how, chosen.n_missing)
        # The best number is the same at every confidence.
        answer = replace(answer, value=min(max(published.value, found.low), found.high)) if published else answer
    if not parts:
        return answer
    ends = no_wider(Interval(answer.low, answer.high), added([Interval(part.low, part.high) for part in parts]))
    return replace(answer, value=min(max(answer.value, ends.low), ends.high), low=ends.low, high=ends.high)


def _parts(release: Opened, pairs: Pairs, cells: Cells | None, confidence: float) -> list[Estimate]:
    """The answers to the parts of a question, if there are several, not too many, and all have one."""
    if not 1 < len(pairs) <= _MOST_PARTS or confidence < LEAST_CONFIDENCE:
        return []
    sex, ages = cells or (None, None)
    try:
        return [total(release, [pair], sex=sex, ages=ages, confidence=confidence) for pair in pairs]
    except UsageError:
        # The larger region has such cells, a smaller one has not.
        return []


def _can_be_short(release: Opened, pairs: Pairs, parts: Sequence[Estimate], cells: Cells | None) -> bool:
    """Whether a part is near 0 and not kept away from it by suppression, which drops totals alone."""
    if not release.ledger["has_noise"]:
        return False
    return any(
        is_near_nobody(Interval(part.low, part.high)) and (cells is not None or not _is_suppressible(release, *pair))
        for pair, part in zip(pairs, parts, strict=False)
    )


def _is_suppressible(release: Opened, group: Group, region: Region) -> bool:
    levels = (release.levels_of_group(run, group).get(region.type) for run in release.runs)
    return all(level.suppressed_up_to is not None for level in levels if level is not None)


def _published(release: Opened, chosen: Chosen, how: str) -> Estimate | None:
    """The estimate that the release itself has, where the answer is one row."""
    if chosen.missing or list(chosen.times.values()) != [1]:
        return None
    (row,) = chosen.times
    found = release.total_row(row)
    if found is None or found.estimate is None or found.low_95 is None or found.high_95 is None:
        return None
    level, group = release.level_of(row), release.groups[row.code]
    kind = level.row_kind(found.stat_level, is_total_only=group.is_total_only)
    variance = None if kind.published.least_sum is not None else kind.variance
    return Estimate(found.estimate, found.low_95, found.high_95, variance if level.has_noise else 0.0, 0.95, how)


def difference(first: Opened, a: Side, second: Opened, b: Side, *, overlap: Overlap, confidence: float) -> Estimate:
    """`a` in the first release minus `b` in the second, which may be the same."""
    chosen_a, pairs_a = _side(first, a, confidence, overlap)
    chosen_b, pairs_b = _side(second, b, confidence, overlap)
    if first is second:
        times, missing = Counter(chosen_a.times), Counter(chosen_a.missing)
        times.subtract(chosen_b.times)
        missing.subtract(chosen_b.missing)

    def terms(chance: float) -> list[Weighted]:
        if first is second:
            return weighted(first, times, missing, chance)
        others = weighted(second, chosen_b.times, chosen_b.missing, chance)
        return weighted(first, chosen_a.times, chosen_a.missing, chance) + [Weighted(-n, found) for n, found in others]

    settled = terms(chance_of_a_row(confidence, len(chosen_a.times) + len(chosen_b.times)))
    how = f"({_how(chosen_a, is_one=len(pairs_a) == 1)}) minus ({_how(chosen_b, is_one=len(pairs_b) == 1)})"
    n_missing = chosen_a.n_missing + chosen_b.n_missing
    answer = _estimate(settled, whole(interval(settled, confidence)), confidence, how, n_missing)
    return replace(answer, p_value=chance_of_noise(terms(CHANCE_OF_A_ROW)))


def ratio_of(release: Opened, a: Side, b: Side, *, is_share: bool, overlap: Overlap, confidence: float) -> Estimate:
    """`a` divided by `b`."""
    chosen_a, pairs_a = _side(release, a, confidence, overlap)
    chosen_b, pairs_b = _side(release, b, confidence, overlap)
    rows, missing = set(chosen_a.times) | set(chosen_b.times), set(chosen_a.missing) | set(chosen_b.missing)
    pieces = pieces_of(
        release,
        {row: (chosen_a.times[row], chosen_b.times[row]) for row in rows},
        {row: (chosen_a.missing[row], chosen_b.missing[row]) for row in missing},
        chance_of_a_row(confidence, len(rows)),
    )
    classes = [(in_a, in_b, of_class) for (in_a, in_b), of_class in pieces.items()]
    found = ratio(classes, confidence, 1.0 if is_share and _is_part(release, pairs_a, pairs_b) else inf)
    top = sum(in_a * of_class.value for in_a, _, of_class in classes)
    bottom = sum(in_b * of_class.value for _, in_b, of_class in classes)
    value = nan if bottom <= 0 else min(max(top / bottom, found.low), found.high)
    warnings = _warnings(len(missing))
    if found.high == inf:
        warnings = ("The denominator may be 0, so nothing bounds the ratio from above.", *warnings)
    sides = _how(chosen_a, is_one=len(pairs_a) == 1), _how(chosen_b, is_one=len(pairs_b) == 1)
    how = "({}) divided by ({}); interval by inverting the test of a - r b = 0 (Fieller)".format(*sides)
    return Estimate(value, found.low, found.high, None, confidence, how, warnings, len(missing))


def holm(chances: Sequence[float]) -> list[float]:
    """P-values adjusted by Holm's step-down method: those that are at most alpha are right together with 1 - alpha."""
    adjusted, largest = [0.0] * len(chances), 0.0
    for number, place in enumerate(sorted(range(len(chances)), key=lambda at: chances[at])):
        largest = max(largest, min(1.0, (len(chances) - number) * chances[place]))
        adjusted[place] = largest
    return adjusted


def judge(release: Opened, pairs: Pairs, confidence: float, overlap: Overlap) -> None:
    """Refuse a question that has no answer, or would count people twice."""
    if overlap not in ("refuse", "allow"):
        raise ValueError(f'overlap is {overlap!r}: it must be "refuse" or "allow".')
    refuse_other_than_number(confidence, "confidence", "a number above 0 and below 1, such as 0.95")
    if not pairs or not 0 < confidence < 1:
        seen = f"confidence {confidence}" if pairs else "no group or no region"
        raise UsageError(Finding(reading_rules.QUESTION_WORDS, str(release.folder), seen=seen), "")
    reason = _overlap(release, pairs) if overlap == "refuse" else None
    if reason:
        raise UsageError(Finding(reading_rules.OVERLAP, str(release.folder), seen=reason), "")


def _overlap(release: Opened, pairs: Pairs) -> str | None:
    """Why some people would be counted twice; None where nobody would."""
    if len(pairs) == 1:
        return None
    by_group: dict[str, list[Region]] = {}
    for group, region in pairs:
        if region in by_group.setdefault(group.code, []):
            return f"group {group.code} in {region} is named twice"
        by_group[group.code].append(region)
    most = int(release.dictionary["max_race_codes"])
    for run in release.runs:
        places = release.regions_of_run(run)
        covered = {code: places.covered(places.nodes(regions)) for code, regions in by_group.items()}
        for code, times in covered.items():
            if (times > 1).any():
                return f"regions of group {code} overlap"
        for one, other in combinations(by_group, 2):
            reason = reason_of_overlap(release.groups[one], release.groups[other], most)
            if reason and (covered[one] * covered[other]).any():
                return f"groups {one} and {other}: {reason}"
    return None


def comparisons(release: Opened, words: Any) -> list[tuple[Side, Side]]:
    """Several comparisons as people write them: a list of pairs of sides."""
    listed = list(words) if isinstance(words, list | tuple) else []
    if not listed or not all(is_pair(one) for one in listed):
        raise UsageError(Finding(reading_rules.SIDES, str(release.folder)), "")
    return [(one[0], one[1]) for one in listed]


def _side(release: Opened, side: Side, confidence: float, overlap: Overlap) -> tuple[Chosen, Pairs]:
    """The rows of one side of a comparison."""
    if not isinstance(side, list | tuple):
        raise UsageError(Finding(reading_rules.SIDES, str(release.folder)), "")
    words = [side] if is_pair(side) and isinstance(side[0], str | Group) else side
    if not all(is_pair(one) for one in words):
        raise UsageError(Finding(reading_rules.SIDES, str(release.folder)), "")
    pairs = [(release.group(group), release.region(region)) for group, region in words]
    judge(release, pairs, confidence, overlap)
    return choose(release, pairs, None), pairs


def weighted(release: Opened, times: Counter[Row], missing: Counter[Row], chance: float) -> list[Weighted]:
    """Rows as pieces, by how often they are added."""
    pieces = pieces_of(
        release,
        {row: (count,) for row, count in times.items() if count},
        {row: (count,) for row, count in missing.items() if count},
        chance,
    )
    return [Weighted(count, of_class) for (count,), of_class in pieces.items()]


def _estimate(terms: Sequence[Weighted], found: Interval, confidence: float, how: str, n_missing: int) -> Estimate:
    value = sum(factor * pieces.value for factor, pieces in terms) / TWELVE
    at_risk = any(pieces.at_risk for _, pieces in terms)
    variance = None if at_risk or n_missing else sum(factor**2 * pieces.variance for factor, pieces in terms)
    inside = float(round(min(max(value, found.low), found.high)))
    return Estimate(inside, found.low, found.high, variance, confidence, how, _warnings(n_missing), n_missing)


def _warnings(n_missing: int) -> tuple[str, ...]:
    if not n_missing:
        return ()
    what, they = ("1 total was", "it") if n_missing == 1 else (f"{n_missing} totals were", "they")
    return (f"{what} not published. The interval includes what {they} may hold.",)


def _how(chosen: Chosen, *, is_one: bool) -> str:
    """In words: which rows were added."""

    def words(some: Sequence[Row]) -> str:
        if len(some) == 1:
            return f"{some[0].region} group {some[0].code}"
        return f"{len(some)} rows of {', '.join(sorted({row.region.type for row in some}))}"

    rows = chosen.times
    added, taken = [row for row in rows if rows[row] > 0], [row for row in rows if rows[row] < 0]
    text = words(added) if added else "nothing that was published"
    text += f" minus {words(taken)}" if taken else ""
    text += f"; {chosen.n_missing} missing" if chosen.n_missing else ""
    cells = next((row.cells for row in rows if row.cells), None)
    text += f"; {cells}" if cells else ""
    is_row = is_one and len(rows) == 1 and not chosen.n_missing and not cells
    return f"the published row {text}" if is_row else f"the sum of {text}"


def _is_part(release: Opened, part: Iterable[tuple[Group, Region]], around: Pairs) -> bool:
    """Whether everybody in `part` is certainly in `around`: in a group that contains theirs, in regions that do."""
    for group, region in part:
        places_around = [place for other, place in around if is_inside(group, other)]
        for run in release.runs:
            places = release.regions_of_run(run)
            at = places.index(*region)
            if at is None:
                continue
            inside = places.region_of_block_set(region.type) == at
            if not (places.covered(places.nodes(places_around))[inside] > 0).all():
                return False
    return True
