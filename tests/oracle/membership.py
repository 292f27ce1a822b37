"""Who belongs to which iterations, for one person at a time, in the plainest words. Imports nothing from safetab."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Group:
    """One line of an iteration file with its codes; the flags as they stand in the file."""

    code: str
    level: int
    alone: str  # "True", "False", or "" for an ethnicity iteration
    detailed_only: str
    coarse_only: str
    members: frozenset[str]


def exists_at(group: Group, local: bool) -> bool:
    """Whether the group is tabulated at local geography levels, or at the others."""
    if group.level == 0:
        return False
    if local:
        return group.detailed_only == "False"
    return group.coarse_only == "False"


def groups_of_person(
    race_codes: Iterable[str], ethnicity_code: str, groups: Iterable[Group], level: int, local: bool
) -> set[str]:
    """The codes of all iterations one person is counted in."""
    codes = set(race_codes)
    found = set()
    for group in groups:
        if group.level != level or not exists_at(group, local):
            continue
        if group.alone == "":
            belongs = ethnicity_code in group.members
        elif group.alone == "True":
            belongs = all(code in group.members for code in codes)
        else:
            belongs = any(code in group.members for code in codes)
        if belongs:
            found.add(group.code)
    return found


def most_groups_of_anybody(
    codes: Collection[str], groups: Collection[Group], level: int, local: bool, max_race_codes: int
) -> int:
    """The largest number of iterations any conceivable person is in, by trying every person."""
    most = 0
    for count in range(1, max_race_codes + 1):
        for race_codes in combinations(sorted(codes), count):
            for ethnicity_code in codes:
                most = max(most, len(groups_of_person(race_codes, ethnicity_code, groups, level, local)))
    return most
