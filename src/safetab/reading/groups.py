"""The groups of a release: their names, and whether one person can be in two of them.

In: the data dictionary. Out: `Group`s. The promise: two groups are disjoint exactly if no person that the release
allows can be in both; so what is added without a warning counts nobody twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from safetab.population.iterations import Kind, Reach


@dataclass(frozen=True, slots=True)
class Group:
    """A characteristic iteration."""

    code: str
    name: str
    kind: Kind
    iteration_level: int
    reach: Reach | None
    codes: frozenset[str] = field(repr=False)

    @property
    def is_total_only(self) -> bool:
        return self.reach is Reach.DETAILED_ONLY

    def is_tabulated(self, *, is_local: bool) -> bool:
        if self.reach is None:
            return False
        return self.reach is not (Reach.DETAILED_ONLY if is_local else Reach.COARSE_ONLY)


def read_groups(dictionary: Mapping[str, Any]) -> dict[str, Group]:
    """The groups that are tabulated somewhere, by code."""
    names = dictionary["iterations"]
    groups = {
        code: Group(
            code,
            names.get(code, code),
            Kind(entry["kind"]),
            entry["iteration_level"],
            None if entry["reach"] is None else Reach(entry["reach"]),
            frozenset(entry["codes"]),
        )
        for code, entry in dictionary["groups"].items()
    }
    return {code: group for code, group in groups.items() if group.reach is not None}


def reason_of_overlap(one: Group, other: Group, max_race_codes: int) -> str | None:
    """Why a person can be in both groups; None where nobody can."""
    if one.code == other.code:
        return "it is the same group"
    shared = one.codes & other.codes
    if (one.kind is Kind.ETHNICITY) != (other.kind is Kind.ETHNICITY):
        return "every person has race codes and an ethnicity code"
    if shared:
        return f"both contain code {min(shared)}"
    if one.kind is other.kind is Kind.COMBINATION and max_race_codes > 1:
        return "a person with several race codes is in both"
    return None


def is_inside(part: Group, whole: Group) -> bool:
    """Whether everybody in `part` is in `whole`."""
    if (part.kind is Kind.ETHNICITY) != (whole.kind is Kind.ETHNICITY) or not part.codes <= whole.codes:
        return False
    return part.kind is whole.kind or (part.kind is Kind.ALONE and whole.kind is Kind.COMBINATION)
