"""Characteristic iterations: the groups people are counted in, and the codes that make them up.

In: the rows of the iteration files and of the code-to-iteration file. Out: an `IterationCatalogue`, from which
membership and stability are derived. Everything here is public.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """What makes a person a member of an iteration."""

    ALONE = "race alone"
    COMBINATION = "race alone or in combination"
    ETHNICITY = "ethnicity"


class Reach(Enum):
    """At which geography levels an iteration is tabulated, and whether its sex by age table may be."""

    COMMON = "common"
    DETAILED_ONLY = "detailed only"
    COARSE_ONLY = "coarse only"


@dataclass(frozen=True, slots=True)
class Iteration:
    """One characteristic iteration; `reach` is None for level 0, which is never tabulated."""

    code: str
    name: str
    level: int
    kind: Kind
    reach: Reach | None
    members: frozenset[str] = field(repr=False)

    def is_tabulated(self, *, local: bool) -> bool:
        """Whether groups of this iteration exist at geography levels that are local, or at those that are not."""
        if self.reach is None:
            return False
        return self.reach is not (Reach.DETAILED_ONLY if local else Reach.COARSE_ONLY)

    @property
    def is_total_only(self) -> bool:
        """Whether its groups get a total and never a sex by age table (the paper's TotalOnly)."""
        return self.reach is Reach.DETAILED_ONLY


@dataclass(frozen=True, slots=True)
class IterationCatalogue:
    """Every code and every iteration of a release, both in order of their codes."""

    codes: tuple[str, ...]
    iterations: tuple[Iteration, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", tuple(sorted(self.codes)))
        object.__setattr__(self, "iterations", tuple(sorted(self.iterations, key=lambda it: it.code)))

    def tabulated(self, iteration_level: int, *, local: bool) -> tuple[Iteration, ...]:
        """The iterations of one level that have groups at local (or at other) geography levels, by code."""
        return tuple(it for it in self.iterations if it.level == iteration_level and it.is_tabulated(local=local))

    def count(self, *kinds: Kind) -> int:
        return sum(it.kind in kinds for it in self.iterations)
