"""How many persons have each Hispanic origin, and which answers to the race question they give.

In: the group definitions, known sizes and the strands of the race codes. Out: `OriginSizes`, and for each strand how
many of its persons have each origin. Promise: the known sizes of origins come out, and so does every strand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.population.iterations import IterationCatalogue, Kind
from safetab.synth.code_sets import Answer, Strands
from safetab.synth.draws import Floats
from safetab.synth.group_sizes import RaceGroups, code_shares, group_levels, is_box, plain
from safetab.synth.known_groups import Major
from safetab.synth.known_origins import origin_sizes_by_name
from safetab.synth.published_sizes import plain_name

HISPANIC_SHARE, _MOST_HISPANIC = 0.187, 0.9
#: Share of Hispanic persons, before all are scaled to the right number: of those whose race is an origin, of the boxes
#: of major groups, of native peoples of Latin America, and of everybody else.
_ORIGIN_AS_RACE = 0.97
_BOX_SHARE = {
    Major.WHITE: 0.12, Major.BLACK: 0.05, Major.AIAN: 0.30, Major.ASIAN: 0.05, Major.NHPI: 0.08, Major.OTHER: 0.50,
}  # fmt: skip
_LATIN_AMERICAN_INDIAN, _LATIN_AMERICAN = 0.85, ("mexican", "central american", "south american", "mesoamerican")
_ELSE = {
    Major.WHITE: 0.03, Major.BLACK: 0.03, Major.AIAN: 0.08, Major.ASIAN: 0.02, Major.NHPI: 0.06, Major.OTHER: 0.15,
}  # fmt: skip
#: Strands smaller than this share of the country are Hispanic as a whole or not at all.
_LEAST_STRAND = 6e-5
#: What a strand and an origin share is left out below this share of the country, unless either has no larger part.
_LEAST_SHARED = 2e-6
#: How many times more likely an origin is that is named by the race code.
_SAME_ORIGIN = 60.0
_ROUNDS = 20


@dataclass(frozen=True, slots=True, eq=False)
class OriginSizes:
    """The detailed groups of Hispanic origins: their names, persons and codes, and the share of each code."""

    names: tuple[str, ...]
    persons: Floats
    codes: tuple[tuple[str, ...], ...]
    shares: tuple[Floats, ...]


def origin_sizes(
    catalogue: IterationCatalogue,
    codes: Collection[str],
    names: Mapping[str, str],
    known: Mapping[str, float],
    persons: float,
) -> OriginSizes:
    """The sizes of the origins of these codes. Unknown ones get what is left of all Hispanic people, or a guess."""
    origins = [it for it in catalogue.iterations if it.kind is Kind.ETHNICITY and it.level > 0]
    detailed, _ = group_levels(catalogue)
    members: dict[str, tuple[str, float]] = {}
    for it in sorted(origins, key=lambda it: -len(it.members)):
        size_of_group = known.get(it.code, np.nan) if it.level == detailed else np.nan
        members |= dict.fromkeys(it.members & set(codes), (plain_name(it), size_of_group))
    groups: dict[tuple[str, float], list[str]] = {}
    for code in sorted(members):
        groups.setdefault(members[code], []).append(code)
    remembered = origin_sizes_by_name()
    size = np.array([one for _, one in groups])
    left = np.isnan(size)
    guess = np.array([remembered.get(name, 60.0 / (3 + n)) for n, (name, _) in enumerate(groups)])
    have = float(size[~left].sum())
    size *= min(1.0, _MOST_HISPANIC * persons / max(have, 1e-9))
    rest = max(HISPANIC_SHARE * persons - have, _LEAST_SHARED * persons)
    size[left] = rest * guess[left] / max(guess[left].sum(), 1e-9)
    ordered = [_by_name(members_of, name, names) for (name, _), members_of in groups.items()]
    shares = tuple(code_shares(len(own)) for own in ordered)
    return OriginSizes(tuple(name for name, _ in groups), size, tuple(ordered), shares)


def _by_name(codes: list[str], group: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """The codes of an origin, the one with its name first."""
    return tuple(sorted(codes, key=lambda code: (plain(names.get(code, "")) != group, code)))


def origins_of_strands(
    origins: OriginSizes, strands: Strands, groups: RaceGroups, names: Mapping[str, str]
) -> npt.NDArray[np.float64]:
    """Persons of each strand (row) with no Hispanic origin (first column) and with each origin."""
    size = strands.persons.astype(np.float64)
    if not origins.names:
        return size[:, None]
    total = size.sum()
    hispanic = _hispanic(strands, groups, names, origins, total)
    seed = np.tile(origins.persons, (len(size), 1))
    names_of_group = [plain_name(pair[1]) if pair[1] else "" for pair in groups.group_iterations]
    group_names = np.array(names_of_group)[groups.group[strands.primary]]
    for number, name in enumerate(origins.names):
        seed[group_names == name, number] *= _SAME_ORIGIN
    seed = _raked(seed, hispanic, origins.persons)
    is_largest = (seed == seed.max(axis=1, keepdims=True)) | (seed == seed.max(axis=0))
    seed[(seed < _LEAST_SHARED * total) & ~is_largest] = 0.0
    seed = _raked(seed, hispanic, origins.persons)
    # The rows come out exactly, the columns nearly.
    sums = seed.sum(axis=1)
    seed *= np.where(sums > 0, np.minimum(hispanic, size) / np.where(sums > 0, sums, 1.0), 0.0)[:, None]
    return np.concatenate([(size - seed.sum(axis=1))[:, None], seed], axis=1)


def _hispanic(
    strands: Strands, groups: RaceGroups, names: Mapping[str, str], origins: OriginSizes, total: float
) -> Floats:
    """The Hispanic persons of each strand, so many that all origins together have enough."""
    is_origin = np.isin(groups.codes, [code for codes in origins.codes for code in codes])
    share = np.empty(len(strands.persons))
    for number, (primary, answer) in enumerate(zip(strands.primary.tolist(), strands.answer.tolist(), strict=True)):
        major, pair = groups.major[primary], groups.region_iterations[groups.region[primary]]
        if is_origin[primary] or answer == Answer.SEVERAL_WITH_AN_ORIGIN:
            share[number] = _ORIGIN_AS_RACE
        elif major is Major.AIAN and pair[1] and plain_name(pair[1]).startswith(_LATIN_AMERICAN):
            share[number] = _LATIN_AMERICAN_INDIAN
        elif is_box(names.get(groups.codes[primary], "")):
            share[number] = _BOX_SHARE[major]
        else:
            share[number] = _ELSE[major]
    is_small = strands.persons < _LEAST_STRAND * total
    share[is_small] = share[is_small] > 0.5
    return strands.persons * _scaled(share, strands.persons / max(total, 1.0), origins.persons.sum() / max(total, 1.0))


def _scaled(share: Floats, weight: Floats, wanted: float) -> Floats:
    """Shares whose odds all change by the same factor, so that their mean is as wanted."""
    low, high = 1e-9, 1e9
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = share / (1 - share)
        for _ in range(80):
            factor = np.sqrt(low * high)
            tried = np.where(share < 1, factor * odds / (1 + factor * odds), 1.0)
            low, high = (factor, high) if (tried * weight).sum() < wanted else (low, factor)
    return tried


def _raked(matrix: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale rows and columns in turn until both nearly have these sums."""
    for _ in range(_ROUNDS):
        matrix = matrix * (rows / np.maximum(matrix.sum(axis=1), 1e-300))[:, None]
        matrix = matrix * (columns / np.maximum(matrix.sum(axis=0), 1e-300))
    return matrix
