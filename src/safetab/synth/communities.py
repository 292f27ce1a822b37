"""Communities: the kinds of people a country is made of.

In: the group definitions of a release. Out: `Communities`, one for each race code and, for Hispanic origins, for each
origin and some race codes that go with it; each has a share of the nation, a pyramid of ages and states where it is at
home. Promise: works for any group definitions, those of the Bureau included; groups that are not known by name share
what is left, the first listed most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from safetab.errors import Finding, InputError
from safetab.files.text import read_text
from safetab.params.load import Parameters
from safetab.population.iterations import IterationCatalogue, Kind
from safetab.synth import rules
from safetab.synth.draws import Floats
from safetab.synth.known_groups import Major, sizes_by_name
from safetab.synth.known_origins import HOMES, origin_sizes_by_name


class Pyramid(IntEnum):
    """Which ages a community has."""

    OLDER = 0
    MIDDLE = 1
    WORKING = 2
    YOUNGER = 3
    YOUNGEST = 4


#: Share of the nation whose first answer is of this major group and who are not Hispanic.
MAJOR_SHARES: Mapping[Major, float] = {
    Major.WHITE: 0.603,
    Major.BLACK: 0.124,
    Major.ASIAN: 0.061,
    Major.AIAN: 0.005,
    Major.NHPI: 0.003,
    Major.OTHER: 0.017,
}
HISPANIC_SHARE = 0.187
#: Of a major group: the share that ticked its box and wrote nothing, and the share of groups not known by name.
_CHECKBOX = {
    Major.WHITE: 0.42, Major.BLACK: 0.20, Major.ASIAN: 0.02, Major.AIAN: 0.18, Major.NHPI: 0.05, Major.OTHER: 0.10,
}  # fmt: skip
_UNKNOWN = {
    Major.WHITE: 0.010, Major.BLACK: 0.015, Major.ASIAN: 0.015, Major.AIAN: 0.38, Major.NHPI: 0.06, Major.OTHER: 0.08,
}  # fmt: skip
_PYRAMIDS = {
    Major.WHITE: Pyramid.OLDER, Major.BLACK: Pyramid.MIDDLE, Major.ASIAN: Pyramid.WORKING,
    Major.AIAN: Pyramid.YOUNGER, Major.NHPI: Pyramid.YOUNGER, Major.OTHER: Pyramid.YOUNGER,
}  # fmt: skip
#: What Hispanic people answer to the race question: their origin again, a box, or a code of a major group.
_OWN_ORIGIN = 0.44
_RACES_OF_HISPANICS = {Major.WHITE: 0.33, Major.OTHER: 0.12, Major.BLACK: 0.05, Major.AIAN: 0.06}
#: How uneven the sizes of groups are that are not known by name: Zipf's exponent, and the rank it starts from.
_TAIL_EXPONENT, _TAIL_START = 1.25, 4
_PUERTO_RICAN_SHARE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Communities:
    """Arrays with one entry a community; codes are indices into `race_codes` and `ethnicity_codes`."""

    race_codes: tuple[str, ...]
    ethnicity_codes: tuple[str, ...]
    #: The major group of each race code.
    major_of_code: tuple[Major, ...]
    race: npt.NDArray[np.int16]
    ethnicity: npt.NDArray[np.int16]
    major: npt.NDArray[np.int8]
    pyramid: npt.NDArray[np.int8]
    share: Floats
    #: Whether the race code is in some detailed group; the boxes of major groups are not.
    is_detailed: npt.NDArray[np.bool_]
    homes: tuple[frozenset[str], ...]

    def __len__(self) -> int:
        return len(self.share)

    def most_common(self, major: Major) -> npt.NDArray[np.int64]:
        """The detailed groups of a major group that are not Hispanic, largest first."""
        is_wanted = (self.major == list(Major).index(major)) & self.is_detailed & (self.ethnicity == 0)
        members = np.flatnonzero(is_wanted)
        return members[np.argsort(-self.share[members], kind="stable")]

    def puerto_rican_shares(self, names: Mapping[str, str]) -> Floats:
        """The shares in Puerto Rico: nearly everyone is Puerto Rican by origin."""
        origin = np.array([_plain(names.get(code, "")) == "puerto rican" for code in self.ethnicity_codes])
        is_there = origin[self.ethnicity]
        if not is_there.any():
            return self.share
        inside, outside = self.share * is_there, self.share * ~is_there
        shares: Floats = (
            _PUERTO_RICAN_SHARE * inside / inside.sum() + (1 - _PUERTO_RICAN_SHARE) * outside / outside.sum()
        )
        return shares


def code_names(parameters: Parameters) -> dict[str, str]:
    """The names of the codes, from the code list of a parameters folder that loads."""
    path: Path = parameters.folder / parameters.release.files.codes
    table = read_text(path, ("RACE_ETH_CODE", "RACE_ETH_NAME"), [])
    return {} if table is None else dict(zip(table.column("RACE_ETH_CODE"), table.column("RACE_ETH_NAME"), strict=True))


def communities_of(catalogue: IterationCatalogue, names: Mapping[str, str]) -> Communities:
    """The communities of some group definitions."""
    race = {code for it in catalogue.iterations if it.kind is not Kind.ETHNICITY for code in it.members}
    origins = {code for it in catalogue.iterations if it.kind is Kind.ETHNICITY and it.level > 0 for code in it.members}
    neither = [code for code in catalogue.codes if code not in origins and code not in race] or [
        code for code in catalogue.codes if code not in origins
    ]
    if not race or not neither:
        raise InputError(Finding(rules.NO_RACE_CODES, "the group definitions"))
    race_codes = tuple(sorted(race))
    ethnicity_codes = (neither[-1], *sorted(origins))
    majors = _majors(catalogue, race_codes)
    rows = [
        *_not_hispanic(race_codes, majors, origins, names),
        *_hispanic(race_codes, majors, ethnicity_codes, names),
    ]
    share = np.array([row[3] for row in rows])
    detailed = {
        code for it in catalogue.iterations if it.kind is Kind.COMBINATION and it.level == 2 for code in it.members
    }
    order = list(Major)
    return Communities(
        race_codes,
        ethnicity_codes,
        majors,
        np.array([row[0] for row in rows], dtype=np.int16),
        np.array([row[1] for row in rows], dtype=np.int16),
        np.array([order.index(majors[row[0]]) for row in rows], dtype=np.int8),
        np.array([row[2] for row in rows], dtype=np.int8),
        share / share.sum(),
        np.array([race_codes[row[0]] in detailed for row in rows]),
        tuple(row[4] for row in rows),
    )


_Row = tuple[int, int, Pyramid, float, frozenset[str]]


def _majors(catalogue: IterationCatalogue, race_codes: tuple[str, ...]) -> tuple[Major, ...]:
    """The major group of each race code: by the name of the largest level 0 iteration that holds it."""
    found: dict[str, Major] = {}
    level_0 = [it for it in catalogue.iterations if it.level == 0 and it.kind is Kind.ALONE]
    for iteration in sorted(level_0, key=lambda it: len(it.members)):
        major = next((m for m in Major if iteration.name.startswith(m.value)), Major.OTHER)
        found |= dict.fromkeys(iteration.members, major)
    return tuple(found.get(code, Major.OTHER) for code in race_codes)


@cache
def _plain(name: str) -> str:
    """A name for comparing: lower case, without what stands in brackets, and without a leading Yes."""
    name = re.sub(r"\([^)]*\)", "", name).strip().lower()
    return re.sub(r"^yes, ([^,]*).*", r"\1", name).strip()


def _is_checkbox(name: str) -> bool:
    return "(checkbox)" in name.lower()


def _homes(name: str) -> frozenset[str]:
    return frozenset(HOMES.get(_plain(name), "").split())


def _not_hispanic(
    race_codes: tuple[str, ...], majors: tuple[Major, ...], origins: set[str], names: Mapping[str, str]
) -> list[_Row]:
    sizes = sizes_by_name()
    rows: list[_Row] = []
    for major in Major:
        members = [number for number, code in enumerate(race_codes) if majors[number] is major and code not in origins]
        texts = {number: names.get(race_codes[number], "") for number in members}
        boxes = [number for number in members if _is_checkbox(texts[number])]
        known = [n for n in members if n not in boxes and _plain(texts[n]) in sizes]
        unknown = [n for n in members if n not in boxes and n not in known]
        weights = dict.fromkeys(boxes, _CHECKBOX[major] / max(1, len(boxes)))
        total = sum(sizes[_plain(texts[n])] for n in known)
        named = 1 - _CHECKBOX[major] - _UNKNOWN[major]
        weights |= {n: named * sizes[_plain(texts[n])] / total for n in known}
        tail = [(rank + _TAIL_START) ** -_TAIL_EXPONENT for rank in range(len(unknown))]
        weights |= {n: _UNKNOWN[major] * size / sum(tail) for n, size in zip(unknown, tail, strict=True)}
        whole = sum(weights.values()) or 1.0
        rows += [
            (n, 0, _PYRAMIDS[major], MAJOR_SHARES[major] * weight / whole, _homes(texts[n]))
            for n, weight in weights.items()
        ]
    return rows


def _hispanic(
    race_codes: tuple[str, ...], majors: tuple[Major, ...], ethnicity_codes: tuple[str, ...], names: Mapping[str, str]
) -> list[_Row]:
    """Each origin with its own code as a race code, and with the boxes and most common codes of major groups."""
    sizes = origin_sizes_by_name()
    index = {code: number for number, code in enumerate(race_codes)}
    partners = {major: _partners(race_codes, majors, major, set(ethnicity_codes), names) for major in Major}
    # Variants of an origin (unknown names) are rare: together as many as a small origin.
    weights = [sizes.get(_plain(names.get(code, "")), 60.0 / (3 + n)) for n, code in enumerate(ethnicity_codes[1:])]
    rows: list[_Row] = []
    for ethnicity, (code, weight) in enumerate(zip(ethnicity_codes[1:], weights, strict=True), start=1):
        share = HISPANIC_SHARE * weight / sum(weights)
        homes = _homes(names.get(code, ""))
        if code in index:
            rows.append((index[code], ethnicity, Pyramid.YOUNGEST, share * _OWN_ORIGIN, homes))
        for major, part in _RACES_OF_HISPANICS.items():
            chosen = partners[major]
            ranks = [1.0 / (1 + rank) ** 2 for rank in range(len(chosen))]
            rows += [
                (number, ethnicity, Pyramid.YOUNGEST, share * part * rank / sum(ranks), homes)
                for number, rank in zip(chosen, ranks, strict=True)
            ]
    return rows


def _partners(
    race_codes: tuple[str, ...], majors: tuple[Major, ...], major: Major, origins: set[str], names: Mapping[str, str]
) -> list[int]:
    """The codes of a major group that go with Hispanic origins: its box, then its largest groups."""
    sizes = sizes_by_name()
    texts = {n: names.get(code, "") for n, code in enumerate(race_codes) if majors[n] is major and code not in origins}
    boxes = [n for n, text in texts.items() if _is_checkbox(text)]
    others = sorted(
        (n for n in texts if n not in boxes), key=lambda n: (-sizes.get(_plain(texts[n]), 0.0), race_codes[n])
    )
    return [*boxes[:1], *others[:5]]
