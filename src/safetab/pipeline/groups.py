"""The population groups of one level: every region times every iteration, including empty groups.

In: public files only. Out: a `GroupDomain`, and how people's code sets map into it. The promise: the domain does not
depend on the records, so that which groups are published with a total says nothing about anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from safetab.engines.protocol import Members
from safetab.params.plan import PlannedLevel, PlannedRun
from safetab.population.geography import Geography
from safetab.population.iterations import Iteration, IterationCatalogue
from safetab.population.membership import CodeSets, Pairs, membership


@dataclass(frozen=True, slots=True, eq=False)
class GroupDomain:
    """One planned level and its regions; every region times every iteration is a group."""

    planned: PlannedLevel
    regions: tuple[str, ...]
    region_of_block_set: npt.NDArray[np.int32]
    #: For each iteration, whether its groups get a total and nothing else.
    is_total_only: npt.NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        is_total_only = [self.planned.is_total_only(iteration) for iteration in self.iterations]
        object.__setattr__(self, "is_total_only", np.array(is_total_only, dtype=np.bool_))

    @property
    def iterations(self) -> tuple[Iteration, ...]:
        return self.planned.iterations

    @property
    def groups(self) -> int:
        return len(self.regions) * len(self.iterations)

    @property
    def has_tables(self) -> bool:
        """Whether any group can get a sex by age table."""
        return self.planned.noise.has_two_stage


def domains_of_run(run: PlannedRun, geography: Geography) -> list[GroupDomain]:
    """The domains of the levels that are measured, in the order of the release."""
    domains: list[GroupDomain] = []
    for planned in run.measured:
        column = geography.level_index(planned.level.geography.name)
        domains.append(GroupDomain(planned, geography.regions[column], geography.block_set_regions[:, column]))
    return domains


class MembersOfRun:
    """The paper's g_i, for every distinct code set among the records and every ethnicity code there is.

    Levels that tabulate the same iterations share one; a run has four at the most with the Bureau's levels.
    """

    def __init__(self, catalogue: IterationCatalogue, code_sets: CodeSets, domains: Sequence[GroupDomain]) -> None:
        self._catalogue, self._code_sets = catalogue, code_sets
        known = {key: self._of_key(*key) for key in dict.fromkeys(map(_key, domains))}
        whole = _joined(list(known.values()))
        self._known = {key: replace(members, whole=whole) for key, members in known.items()}

    def of(self, domain: GroupDomain) -> Members:
        return self._known[_key(domain)]

    def _of_key(self, iteration_level: int, local: bool) -> Members:
        function = membership(self._catalogue, iteration_level, local=local)
        every_code = np.arange(len(self._catalogue.codes), dtype=np.int16)
        number_of = {iteration.code: number for number, iteration in enumerate(self._catalogue.iterations)}
        return Members(
            function.of_race_codes(self._code_sets),
            function.of_ethnicity_codes(every_code),
            np.array([number_of[iteration.code] for iteration in function.iterations], dtype=np.int64),
        )


def _key(domain: GroupDomain) -> tuple[int, bool]:
    """Levels with the same key tabulate the same iterations."""
    level = domain.planned.level
    return level.iteration_level, level.geography.local


def _joined(of_levels: Sequence[Members]) -> Members:
    """The membership of several levels together; an iteration has the same people at each, so one of them counts."""
    numbers = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(members.numbers for members in of_levels)]))
    is_new = np.ones(len(numbers), dtype=np.bool_)
    race, ethnicity = [], []
    for members in of_levels:
        position = np.searchsorted(numbers, members.numbers)
        position_of_new = np.where(is_new[position], position, -1)
        race.append(_renumbered(members.race, position_of_new))
        ethnicity.append(_renumbered(members.ethnicity, position_of_new))
        is_new[position] = False
    return Members(_concatenated(race), _concatenated(ethnicity), numbers)


def _renumbered(pairs: Pairs, number_of_iteration: npt.NDArray[np.int64]) -> Pairs:
    """Other numbers for the iterations; those that get a negative number are left out."""
    number = number_of_iteration[pairs.iteration]
    return Pairs(pairs.row[number >= 0], number[number >= 0].astype(np.int16))


def _concatenated(pairs: list[Pairs]) -> Pairs:
    return Pairs(
        np.concatenate([np.empty(0, dtype=np.int64), *(some.row for some in pairs)]),
        np.concatenate([np.empty(0, dtype=np.int16), *(some.iteration for some in pairs)]),
    )
