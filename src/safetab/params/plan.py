"""The plan of a release: every noisy count it will make, from its parameters alone.

In: a `Release` and the iterations it counts. Out: one tree, built once and carried everywhere: `ReleasePlan`, its
`PlannedRun`s, their `PlannedLevel`s, each with the choices of the release, the iterations, the stability, the exact
budget and the events that follow. The promise: no record is read, and a level that asks for a margin of error gets the
least budget that certainly keeps it. Algorithm 1 of the paper, its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from safetab.accounting.accuracy.calibration import level_budget
from safetab.accounting.events import LevelEvents
from safetab.errors import Finding
from safetab.noise.laws import Mechanism
from safetab.noise.sampler import can_draw
from safetab.params.release import PopulationGroupLevel, PrivacyDefinition, Release, Run
from safetab.population.iterations import Iteration, IterationCatalogue
from safetab.population.stability import stability
from safetab.rules.noise_rules import LAW_FITS

MECHANISM_OF = {
    PrivacyDefinition.ZCDP: Mechanism.DISCRETE_GAUSSIAN,
    PrivacyDefinition.PURE_DP: Mechanism.GEOMETRIC,
}


@dataclass(frozen=True, slots=True)
class PlannedLevel:
    """A population group level: what the release chose, which iterations it has, and the noise that follows."""

    level: PopulationGroupLevel
    iterations: tuple[Iteration, ...] = field(repr=False)
    noise: LevelEvents

    @property
    def name(self) -> str:
        return self.level.name

    @property
    def budget(self) -> Fraction:
        """What the level spends: as stated, or as calibrated to its margin of error."""
        return self.noise.budget

    @property
    def stability(self) -> int:
        return self.noise.stability

    def is_total_only(self, iteration: Iteration) -> bool:
        """Whether the groups of an iteration get a total and nothing else."""
        return iteration.is_total_only or not self.noise.has_two_stage

    @property
    def is_measured(self) -> bool:
        """Whether anything is measured: the level is switched on and has iterations."""
        return self.level.is_on and self.stability > 0


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run over records that no other run sees: its levels compose sequentially."""

    run: Run
    #: All levels of the run in the order of the release, including those that are off or empty.
    levels: tuple[PlannedLevel, ...]

    @property
    def name(self) -> str:
        return self.run.name

    @property
    def measured(self) -> tuple[PlannedLevel, ...]:
        """The levels that are tabulated, in the order of the release."""
        return tuple(level for level in self.levels if level.is_measured)

    @property
    def noise(self) -> tuple[LevelEvents, ...]:
        """The noise of the levels that are tabulated: what the run costs is a question about these alone."""
        return tuple(level.noise for level in self.measured)

    @property
    def budget(self) -> Fraction:
        return sum((level.budget for level in self.measured), Fraction(0))


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """All runs of a release. A record is in at most one run, so the release costs what its costliest run does."""

    runs: tuple[PlannedRun, ...]

    @property
    def budget(self) -> Fraction:
        """What the release spends of any one person's privacy."""
        return max((run.budget for run in self.runs), default=Fraction(0))

    @property
    def noise_of_run(self) -> dict[str, tuple[LevelEvents, ...]]:
        """What accounting asks for: the noise of each run's levels."""
        return {run.name: run.noise for run in self.runs}


def plan_release(release: Release, catalogue: IterationCatalogue) -> ReleasePlan:
    """What each run will measure."""

    # Levels that tabulate the same iterations share them and their stability, which takes a while to find.
    @cache
    def groups(iteration_level: int, local: bool) -> tuple[tuple[Iteration, ...], int]:
        iterations = catalogue.tabulated(iteration_level, local=local)
        return iterations, stability(iterations, release.max_race_codes)

    def planned(level: PopulationGroupLevel) -> PlannedLevel:
        return _planned(level, release, *groups(level.iteration_level, level.geography.local))

    return ReleasePlan(tuple(PlannedRun(run, tuple(map(planned, run.levels))) for run in release.runs))


def _planned(
    level: PopulationGroupLevel, release: Release, iterations: tuple[Iteration, ...], most_groups: int
) -> PlannedLevel:
    mechanism = MECHANISM_OF[release.privacy]
    # Where there is nothing to tabulate by, no group needs a stage to choose its detail.
    has_two_stage = release.has_tables and not all(iteration.is_total_only for iteration in iterations)
    budget = level.budget
    if budget is None:
        # Where every group gets a total and nothing else, nothing is set aside for stage 1.
        set_aside = release.stage_1_fraction if has_two_stage else Fraction(0)
        budget = level_budget(mechanism, level.moe_95 or 0, most_groups, set_aside) if most_groups else Fraction(0)
    noise = LevelEvents(
        level.name,
        mechanism,
        budget,
        most_groups,
        release.stage_1_fraction,
        has_total_only=not release.has_tables or any(iteration.is_total_only for iteration in iterations),
        has_two_stage=has_two_stage,
    )
    return PlannedLevel(level, iterations, noise)


def noise_findings(plan: ReleasePlan, cells: int, file: str) -> Iterator[Finding]:
    """One finding for each level whose noise cannot be drawn, so that it is known before a record is read.

    `cells` is the largest number of cells of a table: T1 has sums of so many.
    """
    for run in plan.runs:
        for level in run.measured:
            if not all(can_draw(event.law, cells) for event in level.noise.events):
                yield Finding(LAW_FITS, file, key=f"run {run.name}, level {level.name}")
