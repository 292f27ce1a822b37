"""Group definitions with the dimensions of the real ones: codes, iterations, and the codes of each iteration.

In: the tables of known groups. Out: `GroupDefinitions`, the rows of the four group definition files. They are the same
on every machine; nothing is random. Promise: alone groups and combination groups have the same codes, and a code is in
at most one detailed and one regional group, so that the stability of every level is 9 with eight codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from safetab.synth.known_groups import REGIONS, Major, Region, parse
from safetab.synth.known_origins import ORIGINS, ORIGINS_DETAILED_ONLY

#: How many detailed groups are detailed only: of the combination groups, and of the alone groups.
DETAILED_ONLY_COMBINATION, DETAILED_ONLY_ALONE = 354, 437
NOT_HISPANIC = "9950"
_FIRST_CODE = {
    Major.WHITE: 1000, Major.BLACK: 3000, Major.ASIAN: 4000, Major.AIAN: 5000, Major.NHPI: 7500, Major.OTHER: 8000,
}  # fmt: skip
#: Codes of each major group, without those of Hispanic origins (which are also answers to the race question).
_CODES = {
    Major.WHITE: 120, Major.BLACK: 78, Major.ASIAN: 74, Major.AIAN: 1245, Major.NHPI: 40, Major.OTHER: 35,
}  # fmt: skip
_FIRST_ORIGIN_CODE = 2000
_ORIGIN_CODES = 162
_MEXICAN_CODES = 47
#: Origins that are a detailed race group of their own; the others share one.
_ORIGINS_AS_RACE = ("Mexican", "Puerto Rican", "Cuban", "Salvadoran", "Dominican", "Guatemalan")
#: Regional groups without a group for all other answers, so that there are as many groups as in the real files.
_WITHOUT_OTHERS = {"Mesoamerican Indian", "Caribbean Indian", "East Asian"}


@dataclass(frozen=True, slots=True)
class Group:
    """A race group of any level: its name, its codes, and whether it has totals only (None for level 0)."""

    name: str
    level: int
    codes: tuple[str, ...]
    detailed_only_alone: bool | None = None
    detailed_only_combination: bool | None = None


@dataclass(frozen=True, slots=True)
class GroupDefinitions:
    """The rows of the four group definition files, headers not included."""

    codes: list[tuple[str, str]] = field(default_factory=list)
    race_iterations: list[tuple[str, ...]] = field(default_factory=list)
    ethnicity_iterations: list[tuple[str, ...]] = field(default_factory=list)
    mapping: list[tuple[str, str]] = field(default_factory=list)


def invented_names() -> Iterator[str]:
    """Invented names, none of them twice."""
    middles = ("ra", "lo", "mi", "ne", "su", "ka", "to", "vi", "da", "pe", "wa", "shu", "bri", "gol", "tan", "zu", "fe")
    for end in ("n", "ka", "wen", "sh", "lit", "mar", "dok"):
        for start in ("Ta", "Be", "Ko", "Mu", "Ya", "Wi", "Na", "Sho", "Pa", "Ke", "Li", "Cha", "Ho", "Ni", "Wa", "Tu"):
            for middle in middles:
                yield start + middle + end


def generate() -> GroupDefinitions:
    """All groups, with the dimensions of the 2020 files: 1,755 codes, 3,016 race and 38 ethnicity iterations."""
    definitions = GroupDefinitions()
    groups = [*_major_groups(definitions), *_origin_race_groups(definitions)]
    iteration = count(1001)
    for alone in (True, False):
        for group in groups:
            flag = group.detailed_only_alone if alone else group.detailed_only_combination
            code = str(next(iteration))
            words = "alone" if alone else "alone or in any combination"
            names = (code, f"{group.name} {words}")
            definitions.race_iterations.append((*names, str(group.level), str(alone), *_flags(flag)))
            definitions.mapping.extend((code, member) for member in group.codes)
    for group in _ethnicity_groups(definitions):
        code = str(next(iteration))
        flags = _flags(group.detailed_only_combination)
        definitions.ethnicity_iterations.append((code, group.name, str(group.level), *flags))
        definitions.mapping.extend((code, member) for member in group.codes)
    definitions.codes.sort()
    return definitions


def _flags(detailed_only: bool | None) -> tuple[str, str]:
    """The two flags of an iteration; level 0 has none, and no group is coarse only."""
    return ("Null", "Null") if detailed_only is None else (str(detailed_only), "False")


def _major_groups(definitions: GroupDefinitions) -> list[Group]:
    """The six major groups, their regional groups and then all detailed groups."""
    names = invented_names()
    upper: list[Group] = []
    detailed: list[tuple[Group, float]] = []
    for major in Major:
        regions = [region for region in REGIONS if region.major is major]
        codes = count(_FIRST_CODE[major])
        members = [_define(definitions, next(codes), f"{major.value} (checkbox)")]
        spare = _CODES[major] - 1 - sum(region.groups for region in regions)
        for region in regions:
            # The first region with a group for other answers gets all spare codes.
            extra, spare = (spare, 0) if _has_others(region) else (0, spare)
            groups = list(_region_groups(definitions, region, extra, codes, names, members[0]))
            own = tuple(code for group, _ in groups for code in group.codes)
            members += [code for code in own if code != members[0]]
            detailed += groups
            if _has_others(region):
                upper.append(Group(f"{groups[-1][0].name} (local areas)", 0, groups[-1][0].codes))
            if region.name:
                # Multiracial answers have totals only, as in the real files.
                totals_only = region.name.startswith("Multiracial")
                upper.append(Group(region.name, 1, own, totals_only, totals_only))
        upper.append(Group(major.value, 0, tuple(members)))
    return [*upper, *_with_flags(detailed)]


def _has_others(region: Region) -> bool:
    """Whether the last detailed group of a region takes all answers that have no group of their own."""
    return bool(region.name) and region.name not in _WITHOUT_OTHERS and region.groups > len(parse(region.known))


def _region_groups(
    definitions: GroupDefinitions, region: Region, extra: int, codes: Iterator[int], names: Iterator[str], box: str
) -> Iterator[tuple[Group, float]]:
    """The detailed groups of a region, with their sizes; the last one may have some extra codes.

    Those who only ticked the box of the major group are in the group that is not specified, as in the real files.
    """
    known = parse(region.known)
    for number in range(region.groups):
        if number < len(known):
            name, size = known[number]
            own = (_define(definitions, next(codes), name),)
            yield (
                Group(
                    name,
                    2,
                    (box, *own) if name.endswith(", not specified") and region.name.startswith("Other") else own,
                ),
                size,
            )
        elif _has_others(region) and number == region.groups - 1:
            name = f"{region.name}, not elsewhere classified"
            texts = [name, *(f"{next(names)}, {region.name}" for _ in range(extra))]
            yield Group(name, 2, tuple(_define(definitions, next(codes), text) for text in texts)), 0.0
        else:
            name = region.invented.format(next(names))
            yield Group(name, 2, (_define(definitions, next(codes), name),)), 1.0 / (1 + number)


def _with_flags(detailed: Sequence[tuple[Group, float]]) -> list[Group]:
    """Give the smallest groups totals only. The seven origin race groups have totals only too, and are counted."""
    origins = len(_ORIGINS_AS_RACE) + 1
    by_size = sorted(range(len(detailed)), key=lambda number: detailed[number][1])
    alone = set(by_size[: DETAILED_ONLY_ALONE - origins])
    combination = set(by_size[: DETAILED_ONLY_COMBINATION - origins])
    return [
        Group(group.name, group.level, group.codes, number in alone, number in combination)
        for number, (group, _) in enumerate(detailed)
    ]


def _define(definitions: GroupDefinitions, code: int, name: str) -> str:
    definitions.codes.append((f"{code:04d}", name))
    return f"{code:04d}"


def _origins() -> Iterator[tuple[str, str, bool]]:
    """Regional group, detailed group and whether it has totals only, for every Hispanic origin."""
    for regional, known in ORIGINS:
        yield from ((regional, name, False) for name, _ in parse(known))
    yield from (("", name, True) for name, _ in parse(ORIGINS_DETAILED_ONLY))


def _origin_codes() -> dict[str, tuple[str, ...]]:
    """The codes of each origin: one each, more for Mexican, and the rest spread over the others."""
    names = [name for _, name, _ in _origins()]
    code = count(_FIRST_ORIGIN_CODE)
    spread, more = divmod(_ORIGIN_CODES - _MEXICAN_CODES, len(names) - 1)
    codes: dict[str, tuple[str, ...]] = {}
    for number, name in enumerate(names):
        many = _MEXICAN_CODES if name == "Mexican" else spread + (number <= more)
        codes[name] = tuple(f"{next(code):04d}" for _ in range(many))
    return codes


def _origin_race_groups(definitions: GroupDefinitions) -> list[Group]:
    """Hispanic origins as answers to the race question: a regional group and seven detailed ones, totals only."""
    codes = _origin_codes()
    for name, own in codes.items():
        definitions.codes.extend((code, name if not number else f"{name}, {number}") for number, code in enumerate(own))
    everything = tuple(code for own in codes.values() for code in own)
    others = tuple(code for name, own in codes.items() if name not in _ORIGINS_AS_RACE for code in own)
    major = Group("Hispanic responses (local areas)", 0, everything)
    regional = Group("Hispanic responses", 1, everything, True, True)
    detailed = [Group(name, 2, codes[name], True, True) for name in _ORIGINS_AS_RACE]
    return [major, regional, *detailed, Group("Other Hispanic responses", 2, others, True, True)]


def _ethnicity_groups(definitions: GroupDefinitions) -> Iterator[Group]:
    definitions.codes.append((NOT_HISPANIC, "Not Hispanic"))
    codes = _origin_codes()
    everything = tuple(code for own in codes.values() for code in own)
    yield Group("Not Hispanic or Latino", 0, (NOT_HISPANIC,))
    yield Group("Hispanic or Latino", 0, everything)
    for regional in dict.fromkeys(regional for regional, _, _ in _origins() if regional):
        own = tuple(code for name_of, name, _ in _origins() if name_of == regional for code in codes[name])
        yield Group(regional, 1, own, False, False)
    for _, name, totals_only in _origins():
        yield Group(name, 2, codes[name], totals_only, totals_only)
        if totals_only and name != "Hispanic":
            yield Group(f"{name} (local areas)", 0, codes[name])
