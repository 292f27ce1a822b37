"""The population groups of one level: every region times every iteration, also where nobody lives.

In: public files only. Out: a `GroupDomain`, and how people's code sets map into it. The promise: the domain does not
depend on the records, so that which groups are published with a total says nothing about anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.accounting.events import LevelPlan
from safetab.engines.protocol import Members
from safetab.params.release import PopulationGroupLevel, Run
from safetab.population.geography import Geography
from safetab.population.iterations import Iteration, IterationCatalogue
from safetab.population.membership import CodeSets, membership


@dataclass(frozen=True, slots=True, eq=False)
class GroupDomain:
    """One population group level with its plan, its regions and its iterations."""

    level: PopulationGroupLevel
    plan: LevelPlan
    regions: tuple[str, ...]
    iterations: tuple[Iteration, ...]
    region_of_cell: npt.NDArray[np.int32]

    @property
    def is_total_only(self) -> npt.NDArray[np.bool_]:
        """For each iteration, whether its groups get a total and nothing else."""
        return np.array([iteration.is_total_only for iteration in self.iterations], dtype=np.bool_)

    @property
    def groups(self) -> int:
        return len(self.regions) * len(self.iterations)


def domains_of_run(
    run: Run, plans: tuple[LevelPlan, ...], geography: Geography, catalogue: IterationCatalogue
) -> list[GroupDomain]:
    """The domains of the levels that are planned, in the order of the release."""
    levels = {level.name: level for level in run.levels_on}
    domains: list[GroupDomain] = []
    for plan in plans:
        level = levels[plan.name]
        column = geography.level_index(level.geography.name)
        domains.append(
            GroupDomain(
                level,
                plan,
                geography.regions[column],
                catalogue.tabulated(level.iteration_level, local=level.geography.local),
                geography.cell_regions[:, column],
            )
        )
    return domains


class MembersOfRun:
    """The paper's g_i, for every distinct code set among the records and every ethnicity code there is.

    Levels that tabulate the same iterations share one; a run has four at the most with the Bureau's levels.
    """

    def __init__(self, catalogue: IterationCatalogue, code_sets: CodeSets) -> None:
        self._catalogue, self._code_sets = catalogue, code_sets
        self._known: dict[tuple[int, bool], Members] = {}

    def of(self, domain: GroupDomain) -> Members:
        key = (domain.level.iteration_level, domain.level.geography.local)
        if key not in self._known:
            function = membership(self._catalogue, key[0], local=key[1])
            every_code = np.arange(len(self._catalogue.codes), dtype=np.int16)
            self._known[key] = Members(function.of_race_codes(self._code_sets), function.of_ethnicity_codes(every_code))
        return self._known[key]
