"""Communities: the kinds of people a country is made of.

In: the group definitions of a release, the sizes that are known, and a number of persons. Out: `Communities`, whole
numbers of persons for each strand of race codes and, within a strand, each Hispanic origin or none. Promise: works for
any group definitions, including the Bureau's, and the persons add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from safetab.errors import Finding, InputError
from safetab.files.parquet import locate_text
from safetab.files.text import read_text
from safetab.params.load import Parameters
from safetab.population.iterations import IterationCatalogue, Kind
from safetab.rules import synth_rules
from safetab.synth.code_sets import CodeSetPool, build_pool
from safetab.synth.dealing import Indices, whole
from safetab.synth.draws import Floats, Stream
from safetab.synth.group_sizes import RaceGroups, race_groups, race_sizes
from safetab.synth.known_groups import Major
from safetab.synth.origin_sizes import OriginSizes, origin_sizes, origins_of_strands
from safetab.synth.published_sizes import PUBLISHED_PERSONS, published_sizes_of


class Pyramid(IntEnum):
    """Which ages a community has."""

    OLDER = 0
    MIDDLE = 1
    WORKING = 2
    YOUNGER = 3
    YOUNGEST = 4


_PYRAMIDS = {
    Major.WHITE: Pyramid.OLDER, Major.BLACK: Pyramid.MIDDLE, Major.ASIAN: Pyramid.WORKING,
    Major.AIAN: Pyramid.YOUNGER, Major.NHPI: Pyramid.YOUNGER, Major.OTHER: Pyramid.YOUNGER,
}  # fmt: skip
_PUERTO_RICAN_SHARE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Communities:
    """Arrays with one entry per community, in the order of their strands; `ethnicity` is an index into the codes.

    `first` is the number of the first person of the community within the strand.
    """

    groups: RaceGroups
    origins: OriginSizes
    ethnicity_codes: tuple[str, ...]
    pool: CodeSetPool
    strand: Indices
    ethnicity: npt.NDArray[np.int16]
    #: The detailed race group, or the number of race groups plus that of the origin: those who live alike.
    people: Indices
    pyramid: npt.NDArray[np.int8]
    persons: Indices
    first: Indices

    def __len__(self) -> int:
        return len(self.persons)

    @property
    def race_codes(self) -> tuple[str, ...]:
        return self.groups.codes

    @property
    def is_detailed(self) -> npt.NDArray[np.bool_]:
        """Whether the rarest code is the only one of a detailed group."""
        groups = self.groups
        has_one = np.bincount(groups.group) == 1
        has_one &= np.array([pair[1] is not None for pair in groups.group_iterations])
        is_one: npt.NDArray[np.bool_] = has_one[groups.group[self.pool.strands.primary[self.strand]]]
        return is_one

    def puerto_rican(self, persons: int, seed: int) -> Indices:
        """So many persons of Puerto Rico: nearly everyone is Puerto Rican by origin."""
        number = self.origins.names.index("puerto rican") if "puerto rican" in self.origins.names else -1
        is_there = self.people == len(self.groups.group_iterations) + number
        inside, outside = self.persons * is_there, self.persons * ~is_there
        shares = self.persons / max(1, self.persons.sum())
        if number >= 0 and inside.any() and outside.any():
            shares = _PUERTO_RICAN_SHARE * inside / inside.sum() + (1 - _PUERTO_RICAN_SHARE) * outside / outside.sum()
        return whole(shares * persons, Stream(seed, "Puerto Rico"))


def code_names(parameters: Parameters) -> dict[str, str]:
    """The names of the codes, from the code list of the parameters folder."""
    files = parameters.release.files
    path = locate_text(parameters.folder, files.codes, []) or parameters.folder / files.codes
    table = read_text(path, ("RACE_ETH_CODE", "RACE_ETH_NAME"), [], files.told("codes"))
    return {} if table is None else dict(zip(table.column("RACE_ETH_CODE"), table.column("RACE_ETH_NAME"), strict=True))


def communities_of(
    parameters: Parameters, persons: int, seed: int, sizes: Mapping[str, int] | None = None
) -> Communities:
    """The communities of a country of so many persons, with the sizes published in 2020 or those that are given.

    Published sizes are scaled to the persons of the country; given ones are the persons of the country itself.
    """
    catalogue, names = parameters.catalogue, code_names(parameters)
    race, ethnicity_codes = _codes(catalogue, has_ethnicity=parameters.release.columns.ethnicity is not None)
    known: dict[str, float] = dict(sizes or {})
    if sizes is None:
        known = {code: size * persons / PUBLISHED_PERSONS for code, size in published_sizes_of(catalogue).items()}
    groups = race_groups(catalogue, _majors(catalogue, race))
    most = parameters.release.max_race_codes
    pool = build_pool(race_sizes(groups, names, known, persons), ethnicity_codes[1:], persons, most, seed)
    origins = origin_sizes(catalogue, ethnicity_codes[1:], names, known, persons)
    shared = origins_of_strands(origins, pool.strands, groups, names)
    return _communities(groups, origins, ethnicity_codes, pool, shared, Stream(seed, "communities"))


def _codes(catalogue: IterationCatalogue, *, has_ethnicity: bool) -> tuple[set[str], tuple[str, ...]]:
    """The race codes, and the ethnicity codes with that of people of no ethnicity group first.

    Without an ethnicity column, codes of no group, such as "not stated", are answers to the race question. If every
    ethnicity code is in a group, the first one is that of most people.
    """
    race = {code for it in catalogue.iterations if it.kind is not Kind.ETHNICITY for code in it.members}
    origins = {code for it in catalogue.iterations if it.kind is Kind.ETHNICITY and it.level > 0 for code in it.members}
    if not has_ethnicity:
        return race | set(catalogue.codes), ("",)
    neither = [code for code in catalogue.codes if code not in origins and code not in race] or [
        code for code in catalogue.codes if code not in origins
    ]
    if not race or not (neither or origins):
        raise InputError(Finding(synth_rules.NO_RACE_CODES, "the group definitions"))
    common = max(neither, key=lambda code: (_alike(code, origins), code)) if neither else min(origins)
    return race, (common, *sorted(origins - {common}))


def _alike(code: str, others: set[str]) -> int:
    """How many characters a code begins with as one of some others does."""
    return max(n for n in range(len(code) + 1) if not n or any(other.startswith(code[:n]) for other in others))


def _majors(catalogue: IterationCatalogue, race: set[str]) -> dict[str, Major]:
    """The major group of each race code: by the name of the largest level 0 iteration that contains it."""
    found: dict[str, Major] = dict.fromkeys(race, Major.OTHER)
    level_0 = [it for it in catalogue.iterations if it.level == 0 and it.kind is Kind.ALONE]
    for iteration in sorted(level_0, key=lambda it: len(it.members)):
        major = next((m for m in Major if iteration.name.startswith(m.value)), Major.OTHER)
        found |= dict.fromkeys(iteration.members, major)
    return found


def _communities(
    groups: RaceGroups,
    origins: OriginSizes,
    ethnicity_codes: tuple[str, ...],
    pool: CodeSetPool,
    shared: Floats,
    stream: Stream,
) -> Communities:
    """One community for each strand and origin that share people; rarer codes of an origin are where it is largest."""
    index = {code: number for number, code in enumerate(ethnicity_codes)}
    largest = shared.argmax(axis=0)
    strands, columns = np.nonzero(shared)
    strand: list[int] = []
    ethnicity: list[int] = []
    size: list[float] = []
    people: list[int] = []
    race_people = groups.group[pool.strands.primary]
    for row, column in zip(strands.tolist(), columns.tolist(), strict=True):
        value, origin = float(shared[row, column]), column - 1
        codes, shares = (
            (ethnicity_codes[:1], np.ones(1)) if origin < 0 else (origins.codes[origin], origins.shares[origin])
        )
        others = np.zeros(len(codes) - 1)
        if origin >= 0 and largest[column] == row:
            # All persons of the rarer codes, but not more than half of the people here.
            others = shares[1:] * min(origins.persons[origin], value / 2 / max(shares[1:].sum(), 1e-9))
        for code, part in zip(codes, [value - others.sum(), *others], strict=True):
            if part > 0:
                strand.append(row)
                ethnicity.append(index[code])
                size.append(part)
                people.append(int(race_people[row]) if origin < 0 else len(groups.group_iterations) + origin)
    return _counted(
        groups,
        origins,
        ethnicity_codes,
        pool,
        np.array(strand, dtype=np.int64),
        np.array(ethnicity),
        np.array(size),
        np.array(people, dtype=np.int64),
        stream,
    )


def _counted(
    groups: RaceGroups,
    origins: OriginSizes,
    ethnicity_codes: tuple[str, ...],
    pool: CodeSetPool,
    strand: Indices,
    ethnicity: Indices,
    size: Floats,
    people: Indices,
    stream: Stream,
) -> Communities:
    """Whole numbers of persons, exact for every strand; communities without persons are left out."""
    before = np.concatenate([[0], np.cumsum(pool.strands.persons)])
    running = np.cumsum(size)
    # Sums within a strand start at a whole number, so that rounding does not move persons between strands.
    is_last = np.diff(strand, append=-1) != 0
    offset = float(stream.uniforms(1)[0])
    edges = np.floor(running + offset).astype(np.int64)
    edges[is_last] = before[strand[is_last] + 1]
    edges = np.clip(edges, before[strand], before[strand + 1])
    persons = np.diff(edges, prepend=0)
    kept = np.flatnonzero(persons > 0)
    strand, ethnicity, people, persons = strand[kept], ethnicity[kept], people[kept], persons[kept]
    first = np.cumsum(persons) - persons - before[strand]
    pyramid = [_PYRAMIDS[groups.major[code]] for code in pool.strands.primary[strand].tolist()]
    return Communities(
        groups,
        origins,
        ethnicity_codes,
        pool,
        strand,
        ethnicity.astype(np.int16),
        people,
        np.where(ethnicity > 0, Pyramid.YOUNGEST, pyramid).astype(np.int8),
        persons,
        first,
    )
