"""T1 and T2 without noise, person by person, from the specification alone. Imports nothing from safetab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.oracle.membership import Group, exists_at, groups_of_person

Key = tuple[str, str, str]
CellKey = tuple[str, str, str, str, str, str]


@dataclass(frozen=True)
class Person:
    block: tuple[str, ...]
    age: int
    sex: str
    race_codes: tuple[str, ...]
    ethnicity: str


@dataclass(frozen=True)
class Level:
    """A population group level: `regions` gives each block's region, or None."""

    name: str
    local: bool
    iteration_level: int
    thresholds: tuple[int, ...]
    regions: Mapping[tuple[str, ...], str | None]


def tabulate(
    people: Iterable[Person],
    levels: Iterable[Level],
    groups: Sequence[Group],
    age_starts: Sequence[Sequence[int]],
    oldest: int,
    sexes: Sequence[str],
    suppress: bool,
) -> tuple[dict[Key, int], dict[CellKey, int]]:
    """Every row of T1 and of T2, by its key. A release without ages has no `age_starts`, one without sex no `sexes`."""
    people = list(people)
    t1: dict[Key, int] = {}
    t2: dict[CellKey, int] = {}
    known: dict[tuple[object, ...], set[str]] = {}
    for level in levels:
        members: dict[tuple[str, str], list[Person]] = {}
        for person in people:
            region = level.regions[person.block]
            if region is None:
                continue
            codes = (person.race_codes, person.ethnicity, level.iteration_level, level.local)
            if codes not in known:
                known[codes] = groups_of_person(
                    person.race_codes, person.ethnicity, groups, level.iteration_level, level.local
                )
            for iteration in known[codes]:
                members.setdefault((region, iteration), []).append(person)
        for region in {region for region in level.regions.values() if region is not None}:
            for group in groups:
                if group.level == level.iteration_level and exists_at(group, level.local):
                    belonging = members.get((region, group.code), [])
                    key = (region, level.name, group.code)
                    tabulate_group(belonging, key, group, level, age_starts, oldest, sexes, suppress, t1, t2)
    return t1, t2


def tabulate_group(
    people: Sequence[Person],
    key: Key,
    group: Group,
    level: Level,
    age_starts: Sequence[Sequence[int]],
    oldest: int,
    sexes: Sequence[str],
    suppress: bool,
    t1: dict[Key, int],
    t2: dict[CellKey, int],
) -> None:
    """One population group."""
    total = len(people)
    reached = sum(1 for threshold in level.thresholds if threshold <= total)
    has_table = group.detailed_only != "True" and (age_starts or sexes)
    if not has_table or reached == 0:
        if not (suppress and level.local and total <= 0):
            t1[key] = total
        return
    t1[key] = total
    starts = list(age_starts[reached - 1]) if age_starts else []
    ends = [start - 1 for start in starts[1:]] + [oldest]
    for sex in sexes or ["*"]:
        ages = Counter(person.age for person in people if sex == "*" or person.sex == sex)
        for start, end in zip(starts, ends, strict=False):
            t2[(*key, str(start), str(end), sex)] = sum(ages[age] for age in range(start, end + 1))
        if sexes:
            t2[(*key, "*", "*", sex)] = sum(ages.values())
