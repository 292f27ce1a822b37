"""How many persons have each race code: alone, and together with other codes.

In: the group definitions and the sizes that are known. Out: `RaceSizes`, real numbers of persons for a whole country.
Promise: every known size of a detailed or regional group is kept, as far as the known sizes agree with each other.
Groups without a size get one that fits their region, and the number of persons comes out. Works for any definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.population.iterations import Iteration, IterationCatalogue, Kind
from safetab.synth.draws import Floats
from safetab.synth.known_groups import Major, sizes_by_name
from safetab.synth.published_sizes import plain_name

Indices = npt.NDArray[np.int64]

#: Codes in all answers together, for each person: what the published sizes of 2020 add up to.
CODES_FOR_EACH_PERSON = 1.358
#: Regions in the answer of a person whose codes are of several regions, on average.
REGIONS_OF_A_MIXED_PERSON = 2.12
#: Codes of the region in the answer of a person with several of them, where groups overlap much, as European ones do.
_CODES_WITHIN, _MUCH_OVERLAP = 2.4, 1.2
#: Of persons with several codes of a region, the share without any code of another region.
_ONLY_WITHIN = 0.9
#: Share of a group that has no other code, where that is not known: of the boxes of major groups, and of all others.
_BOX_ALONE = {
    Major.WHITE: 0.81, Major.BLACK: 0.84, Major.AIAN: 0.33, Major.ASIAN: 0.60, Major.NHPI: 0.35, Major.OTHER: 0.55,
}  # fmt: skip
_ALONE = {
    Major.WHITE: 0.45, Major.BLACK: 0.80, Major.AIAN: 0.40, Major.ASIAN: 0.82, Major.NHPI: 0.40, Major.OTHER: 0.55,
}  # fmt: skip
#: Share of the nation: of everyone in a major group, of those who only tick its box, and of groups nobody knows.
_MAJOR = {
    Major.WHITE: 0.71, Major.BLACK: 0.14, Major.AIAN: 0.029, Major.ASIAN: 0.072, Major.NHPI: 0.005, Major.OTHER: 0.15,
}  # fmt: skip
_BOX = {
    Major.WHITE: 0.290, Major.BLACK: 0.051, Major.AIAN: 0.0054, Major.ASIAN: 0.0025, Major.NHPI: 0.0008,
    Major.OTHER: 0.010,
}  # fmt: skip
_UNKNOWN = {
    Major.WHITE: 0.010, Major.BLACK: 0.015, Major.AIAN: 0.38, Major.ASIAN: 0.015, Major.NHPI: 0.06, Major.OTHER: 0.08,
}  # fmt: skip
#: How uneven the sizes of unknown groups are: the exponent of Zipf's law, and the rank at which it starts.
_TAIL_EXPONENT, _TAIL_START = 1.25, 4
#: How uneven the codes of a group are: the exponent of Zipf's law.
_CODE_EXPONENT = 2.0
_ROUNDS = 60


@dataclass(frozen=True, slots=True, eq=False)
class RaceGroups:
    """Race codes with their detailed group, regional group and major group. Codes without a group are one each."""

    codes: tuple[str, ...]
    group: Indices
    region: Indices
    major: tuple[Major, ...]
    #: The iterations of each detailed group and each region, alone and in combination; None where there is none.
    group_iterations: tuple[tuple[Iteration | None, Iteration | None], ...]
    region_iterations: tuple[tuple[Iteration | None, Iteration | None], ...]

    @property
    def first_codes(self) -> Indices:
        """The first code of each detailed group."""
        found: Indices = np.unique(self.group, return_index=True)[1].astype(np.int64)
        return found

    @property
    def region_of_group(self) -> Indices:
        return self.region[self.first_codes]

    def codes_of_group(self, group: int) -> list[int]:
        return np.flatnonzero(self.group == group).tolist()


@dataclass(frozen=True, slots=True, eq=False)
class RaceSizes:
    """Persons with each code and no other, with each code and others, and how regions are mixed.

    `together` and `within` count persons with several codes: those with a code of the region, and those whose codes are
    all of the region.
    """

    groups: RaceGroups
    alone: Floats
    combined: Floats
    together: Floats
    within: Floats


def race_groups(catalogue: IterationCatalogue, majors: Mapping[str, Major]) -> RaceGroups:
    """The detailed and the regional group of each race code; `majors` has every race code."""
    codes = tuple(sorted(majors))
    detailed, regional = group_levels(catalogue)
    group, group_iterations = _partition(catalogue, codes, detailed, list(codes))
    of_major = tuple(majors[code] for code in codes)
    region, region_iterations = _partition(catalogue, codes, regional, [major.value for major in of_major])
    return RaceGroups(codes, group, region, of_major, group_iterations, region_iterations)


def group_levels(catalogue: IterationCatalogue) -> tuple[int, int]:
    """The iteration levels of detailed and of regional groups: the finest and the coarsest that the release has."""
    levels = {it.level for it in catalogue.iterations if it.level > 0} or {1}
    # With one level there are no regions; level 0 is never tabulated, and its groups are too large to matter.
    return max(levels), min(levels) if len(levels) > 1 else 0


def _partition(
    catalogue: IterationCatalogue, codes: tuple[str, ...], level: int, otherwise: list[str]
) -> tuple[Indices, tuple[tuple[Iteration | None, Iteration | None], ...]]:
    """The group of each code at one level; codes without one share a group if they share a word of `otherwise`."""
    alone = {it.members: it for it in catalogue.iterations if it.level == level and it.kind is Kind.ALONE}
    combined = {it.members: it for it in catalogue.iterations if it.level == level and it.kind is Kind.COMBINATION}
    of_code: dict[str, frozenset[str]] = {}
    for members in sorted({*alone, *combined}, key=lambda members: (-len(members), sorted(members))):
        of_code |= dict.fromkeys(members, members)
    numbers: dict[object, int] = {}
    of = [numbers.setdefault(of_code.get(c, word), len(numbers)) for c, word in zip(codes, otherwise, strict=True)]
    pairs = [(alone.get(m), combined.get(m)) if isinstance(m, frozenset) else (None, None) for m in numbers]
    return np.array(of, dtype=np.int64), tuple(pairs)


def race_sizes(groups: RaceGroups, names: Mapping[str, str], known: Mapping[str, float], persons: float) -> RaceSizes:
    """The sizes of a country of so many persons; `known` has sizes by iteration code, as they are in this country."""
    everyone = _group_sizes(groups, names, known, persons)
    alone, is_free = _alone_sizes(groups, names, known, everyone)
    alone = _balanced(groups, known, everyone, alone, is_free, persons)
    together, within = _Mixing(groups, known).of(everyone, alone)
    share = _shares_within_groups(groups, names)
    return RaceSizes(groups, alone[groups.group] * share, (everyone - alone)[groups.group] * share, together, within)


def _known(
    iterations: tuple[tuple[Iteration | None, Iteration | None], ...], side: int, known: Mapping[str, float]
) -> Floats:
    """The known sizes of groups, alone (0) or in combination (1); not a number where there is none."""
    found = [pair[side] for pair in iterations]
    return np.array([np.nan if it is None else known.get(it.code, np.nan) for it in found])


def is_box(name: str) -> bool:
    """Whether a code is the box of a major group."""
    return "(checkbox)" in name.lower()


def _group_sizes(groups: RaceGroups, names: Mapping[str, str], known: Mapping[str, float], persons: float) -> Floats:
    """The persons of each detailed group, alone or in combination."""
    sizes = _known(groups.group_iterations, 1, known)
    # Where people have one code, there may be groups of one kind only.
    is_single = np.array([pair[1] is None for pair in groups.group_iterations])
    sizes[is_single] = _known(groups.group_iterations, 0, known)[is_single]
    region = groups.region_of_group
    total = _known(groups.region_iterations, 1, known)
    guesses = _guesses(groups, names, persons)
    left = np.isnan(sizes)
    for number in np.flatnonzero(~np.isnan(total)):
        members = left & (region == number)
        rest = 1.02 * total[number] - sizes[(region == number) & ~left].sum()
        if members.any():
            weights = guesses[members]
            sizes[members] = max(rest, 0.005 * total[number]) * weights / weights.sum()
    left = np.isnan(sizes)
    if not left.any():
        return sizes
    have, wanted = float(sizes[~left].sum()), CODES_FOR_EACH_PERSON * persons
    if have > 0.98 * wanted:
        sizes, have = sizes * (0.98 * wanted / have), 0.98 * wanted
    sizes[left] = (wanted - have) * guesses[left] / guesses[left].sum()
    return sizes


def _guesses(groups: RaceGroups, names: Mapping[str, str], persons: float) -> Floats:
    """A rough size of every detailed group: as remembered, as that of a box, or by Zipf's law."""
    remembered = sizes_by_name()
    guesses = np.full(len(groups.group_iterations), np.nan)
    major_of: list[Major] = []
    for number, pair in enumerate(groups.group_iterations):
        members = groups.codes_of_group(number)
        major_of.append(groups.major[members[0]])
        name = plain_name(pair[1]) if pair[1] else plain(names.get(groups.codes[members[0]], ""))
        if any(is_box(names.get(groups.codes[code], "")) for code in members):
            guesses[number] = _BOX[major_of[-1]] * persons
        elif name in remembered:
            guesses[number] = remembered[name] * 1000 * persons / 331_449_000
    for major in Major:
        tail = [n for n, one in enumerate(major_of) if one is major and np.isnan(guesses[n])]
        shares = (np.arange(len(tail)) + _TAIL_START) ** -_TAIL_EXPONENT
        guesses[tail] = _UNKNOWN[major] * _MAJOR[major] * persons * shares / shares.sum()
    return guesses


def plain(name: str) -> str:
    """The name of a code in lower case, without text in brackets and without a leading Yes."""
    name = name.split("(")[0].strip().lower()
    return name.removeprefix("yes, ").split(",")[0].strip() if name.startswith("yes, ") else name


def _alone_sizes(
    groups: RaceGroups, names: Mapping[str, str], known: Mapping[str, float], everyone: Floats
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The persons of each group who have no other group, and whether that may still be changed."""
    alone = np.minimum(_known(groups.group_iterations, 0, known), everyone)
    region = groups.region_of_group
    is_free = np.isnan(alone)
    for number in np.flatnonzero(is_free).tolist():
        members = groups.codes_of_group(number)
        major = groups.major[members[0]]
        shares = _BOX_ALONE if any(is_box(names.get(groups.codes[c], "")) for c in members) else _ALONE
        alone[number] = shares[major] * everyone[number]
    totals, totals_alone = (_known(groups.region_iterations, side, known) for side in (1, 0))
    for number in range(len(groups.region_iterations)):
        mine = region == number
        wanted = 0.985 * totals_alone[number]
        if np.isnan(wanted) and everyone[mine].sum() > _MUCH_OVERLAP * totals[number]:
            wanted = (_CODES_WITHIN * totals[number] - everyone[mine].sum()) / (_CODES_WITHIN - 1)
        free = mine & is_free
        # A region of nobody has groups of nobody, whatever their shares.
        if not np.isnan(wanted) and alone[free].any():
            factor = (wanted - alone[mine & ~is_free].sum()) / alone[free].sum()
            alone[free] = np.minimum(max(factor, 0.05) * alone[free], 0.98 * everyone[free])
            is_free[free] = False
    return alone, is_free


def _balanced(
    groups: RaceGroups,
    known: Mapping[str, float],
    everyone: Floats,
    alone: Floats,
    is_free: npt.NDArray[np.bool_],
    persons: float,
) -> Floats:
    """Change the free shares of persons with one code until the whole country has the right number of persons."""
    low, high = 0.0, 4.0
    is_free = is_free if is_free.any() else np.ones_like(is_free)
    mixing = _Mixing(groups, known)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        tried = np.where(is_free, np.minimum(middle * alone, 0.98 * everyone), alone)
        together, within = mixing.of(everyone, tried)
        mixed = (together - within).sum() / REGIONS_OF_A_MIXED_PERSON
        low, high = (middle, high) if tried.sum() + within.sum() + mixed < persons else (low, middle)
    return tried


class _Mixing:
    """Which persons with several codes have only codes of one region; what does not change is looked up once."""

    def __init__(self, groups: RaceGroups, known: Mapping[str, float]) -> None:
        self._region, self._regions = groups.region_of_group, len(groups.region_iterations)
        self._total, self._total_alone = (_known(groups.region_iterations, side, known) for side in (1, 0))

    def of(self, everyone: Floats, alone: Floats) -> tuple[Floats, Floats]:
        """Persons with several codes: those with a code of each region, and those whose codes are all of it."""
        alone_sum = np.bincount(self._region, weights=alone, minlength=self._regions)
        answers = np.bincount(self._region, weights=np.maximum(everyone - alone, 0), minlength=self._regions)
        wanted = np.where(np.isnan(self._total), 0.98 * answers, self._total - alone_sum)
        together = wanted.clip(answers / _CODES_WITHIN, answers)
        surplus = answers - together
        guessed = np.minimum(surplus / (_CODES_WITHIN - 1), together) * _ONLY_WITHIN
        within = np.where(np.isnan(self._total_alone), guessed, self._total_alone - alone_sum)
        return together, np.minimum(within, surplus).clip(0, together)


def code_shares(codes: int) -> Floats:
    """The shares of the codes of a group, the most common one first: Zipf's law."""
    weights = (np.arange(codes) + 1.0) ** -_CODE_EXPONENT
    shares: Floats = weights / weights.sum()
    return shares


def _shares_within_groups(groups: RaceGroups, names: Mapping[str, str]) -> Floats:
    """The share of each code in its group: one code has most of it."""
    share = np.empty(len(groups.codes))
    for number, pair in enumerate(groups.group_iterations):
        members = groups.codes_of_group(number)
        name = plain_name(pair[1]) if pair[1] else ""
        texts = [names.get(groups.codes[code], "") for code in members]
        order = sorted(
            range(len(members)), key=lambda n: (plain(texts[n]) != name, "checkbox" not in texts[n].lower(), n)
        )
        share[[members[n] for n in order]] = code_shares(len(members))
    return share
