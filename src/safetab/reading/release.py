"""`safetab.open(OUT)`: a release, and the questions that can be asked of it.

In: the folder that `safetab tabulate` wrote; groups and regions as people write them. Out: `Estimate`s. The promise:
every interval holds with at least its confidence, noise that two numbers share is counted once, and nobody is counted
twice without having been asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

import pyarrow as pa

from safetab.arguments import as_list, as_path, refuse_other_than_bool
from safetab.reading import questions
from safetab.reading.answers import Estimate, Rank
from safetab.reading.many import many_totals, ranks_of
from safetab.reading.opened import GroupWords, Opened, RegionWords
from safetab.reading.questions import Overlap, Side


def open(out: str | Path) -> Release:  # noqa: A001
    """Open a release to read it; `out` is the folder that `safetab tabulate` wrote."""
    return Release(as_path(out, "out"))


class Release(Opened):
    """A published release. A group is an iteration code or its exact name; a region is "COUNTY/01001", a pair of type
    and id, or an exact name that one region alone has.
    """

    def total(
        self,
        group: GroupWords | None = None,
        region: RegionWords | None = None,
        *,
        groups: Sequence[GroupWords] = (),
        regions: Sequence[RegionWords] = (),
        sex: str | None = None,
        ages: tuple[int, int] | None = None,
        overlap: Overlap = "refuse",
        confidence: float = 0.95,
    ) -> Estimate:
        """How many people of a group are in a region, or of several groups in several regions together.

        `sex` is a value of the column SEX, `ages` a first and a last age; both only where T2 has such numbers.
        """
        all_groups = [*([] if group is None else [group]), *as_list(groups, "groups")]
        all_regions = [*([] if region is None else [region]), *as_list(regions, "regions")]
        pairs = self.pairs(all_groups, all_regions)
        return questions.total(self, pairs, sex=sex, ages=ages, overlap=overlap, confidence=confidence)

    def totals(self, groups: Sequence[GroupWords], regions: Sequence[RegionWords], *, zipped: bool = False) -> pa.Table:
        """Many single totals at once: each group in each region, or with `zipped` the first in the first, and so on.

        Each row is an answer of its own at 95 %: ESTIMATE, LOW_95, HIGH_95, and whether it was published. One that was
        left out has the interval of what it may hold.
        """
        refuse_other_than_bool(zipped=zipped)
        if zipped:
            all_groups, all_regions = as_list(groups, "groups"), as_list(regions, "regions")
            if len(all_groups) != len(all_regions):
                counted = f"{len(all_groups)} groups and {len(all_regions)} regions"
                raise ValueError(f"zipped=True with {counted}: pass as many groups as regions.")
            words = zip(all_groups, all_regions, strict=True)
            return many_totals(self, [(self.group(group), self.region(region)) for group, region in words])
        return many_totals(self, self.pairs(as_list(groups, "groups"), as_list(regions, "regions")))

    def difference(self, a: Side, b: Side, *, overlap: Overlap = "refuse", confidence: float = 0.95) -> Estimate:
        """How many more people are in `a` than in `b`; each is a pair (group, region) or a list of pairs."""
        return questions.difference(self, a, self, b, overlap=overlap, confidence=confidence)

    @overload
    def compare(self, a: Side, b: Side, *, overlap: Overlap = ..., confidence: float = ...) -> Estimate: ...
    @overload
    def compare(
        self, a: Sequence[tuple[Side, Side]], *, overlap: Overlap = ..., confidence: float = ...
    ) -> list[Estimate]: ...
    def compare(
        self, a: Side, b: Side | None = None, *, overlap: Overlap = "refuse", confidence: float = 0.95
    ) -> Estimate | list[Estimate]:
        """`a` minus `b`, with the probability that noise alone makes a gap this large; or a list of such pairs.

        Each of several comparisons `[(a, b), (c, d)]` is answered, with probabilities adjusted by Holm's method.
        """
        if b is not None:
            return self.difference(a, b, overlap=overlap, confidence=confidence)
        found = [
            self.difference(one, other, overlap=overlap, confidence=confidence)
            for one, other in questions.comparisons(self, a)
        ]
        adjusted = questions.holm([1.0 if one.p_value is None else one.p_value for one in found])
        more = "; adjusted by Holm" if len(found) > 1 else ""
        return [replace(one, p_value=p, how=one.how + more) for one, p in zip(found, adjusted, strict=True)]

    def ratio(self, a: Side, b: Side, *, overlap: Overlap = "refuse", confidence: float = 0.95) -> Estimate:
        """How many times as many people are in `a` as in `b`."""
        return questions.ratio_of(self, a, b, is_share=False, overlap=overlap, confidence=confidence)

    def share(self, part: Side, whole: Side, *, overlap: Overlap = "refuse", confidence: float = 0.95) -> Estimate:
        """Which share of the people in `whole` are in `part`; at most 1 where everybody in `part` is in `whole`."""
        return questions.ratio_of(self, part, whole, is_share=True, overlap=overlap, confidence=confidence)

    def rank(self, groups: Sequence[GroupWords], region: RegionWords, *, confidence: float = 0.95) -> list[Rank]:
        """Where groups stand by size in a region: all intervals of ranks hold together with the confidence."""
        return ranks_of(
            self, [self.group(group) for group in as_list(groups, "groups")], self.region(region), confidence
        )


def change(
    earlier: Release, later: Release, group: GroupWords, region: RegionWords, *, confidence: float = 0.95
) -> Estimate:
    """By how many people a group in a region grew between two releases of different records.

    Their noise is independent. The group and the region must mean the same in both.
    """
    for name, release in (("earlier", earlier), ("later", later)):
        if not isinstance(release, Release):
            raise TypeError(f"{name} is of type {type(release).__name__}: pass a release from safetab.open.")
    side = (group, region)
    return questions.difference(later, side, earlier, side, overlap="refuse", confidence=confidence)
