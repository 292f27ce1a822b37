"""The plan of a release: every noisy count it will make, from its parameters alone.

In: the public parameters. Out: a `ReleasePlan` with the stability and the exact budget of each level that is on, in
the order of the release. The promise: no record is read, and a level that asks for a margin of error gets the least
budget that certainly meets it. Algorithm 1 of the paper, its inputs.
"""

from __future__ import annotations

from fractions import Fraction

from safetab.accounting.calibration import level_budget
from safetab.accounting.events import LevelPlan, ReleasePlan, RunPlan
from safetab.noise.laws import Mechanism
from safetab.noise.sampler import sampler_for
from safetab.params.load import Parameters
from safetab.params.release import PopulationGroupLevel, PrivacyDefinition
from safetab.population.stability import stability

MECHANISM_OF = {
    PrivacyDefinition.ZCDP: Mechanism.DISCRETE_GAUSSIAN,
    PrivacyDefinition.PURE_DP: Mechanism.GEOMETRIC,
}


def plan_release(parameters: Parameters) -> ReleasePlan:
    """What each run will measure; a level that is off, or that has no iterations, is not in it."""
    return ReleasePlan(
        tuple(
            RunPlan(
                run.name,
                tuple(plan for plan in (plan_level(level, parameters) for level in run.levels_on) if plan is not None),
            )
            for run in parameters.release.runs
        )
    )


def prepare_noise(plan: ReleasePlan) -> None:
    """Build every sampler now: noise that cannot be drawn is found before a record is read or a budget spent."""
    for run in plan.runs:
        for level in run.levels:
            for event in level.events:
                sampler_for(event.law)


def plan_level(level: PopulationGroupLevel, parameters: Parameters) -> LevelPlan | None:
    """One level's plan; None where it has no iterations, so that nothing would be measured."""
    release = parameters.release
    iterations = parameters.catalogue.tabulated(level.iteration_level, local=level.geography.local)
    most_groups = stability(iterations, release.max_race_codes)
    if most_groups == 0:
        return None
    mechanism = MECHANISM_OF[release.privacy]
    has_two_stage = not all(iteration.is_total_only for iteration in iterations)
    budget = level.budget
    if budget is None:
        # Where every group gets a total and nothing else, nothing is set aside for stage 1.
        set_aside = release.stage_1_fraction if has_two_stage else Fraction(0)
        budget = level_budget(mechanism, level.moe_95 or 0, most_groups, set_aside)
    return LevelPlan(
        level.name,
        mechanism,
        budget,
        most_groups,
        release.stage_1_fraction,
        has_total_only=any(iteration.is_total_only for iteration in iterations),
        has_two_stage=has_two_stage,
    )
