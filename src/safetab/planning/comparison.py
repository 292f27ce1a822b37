"""Plans side by side: what they choose differently, what each costs, how accurate it is, what detail it gives.

In: the parameters of two or more releases, a delta and, optionally, the sizes of groups for each. Out: frozen figures
of each plan under the same names, and the choices in which they differ. The promise: each figure is the one that
`account` and `detail` report for that plan alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.events import Stage
from safetab.accounting.privacy_loss import ReleaseLoss, analyse
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters
from safetab.params.plan import PlannedLevel
from safetab.planning.detail import detail_rule, size_with_detail
from safetab.planning.expected import ExpectedNumbers, level_outlook
from safetab.planning.margins import TotalMargins, total_margins
from safetab.planning.sizes import Sizes

#: A run and a level of it.
LevelName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LevelFigures:
    """One level of a plan.

    `total_only_moe_95` is the margin of totals of groups that never have a table; `sizes_with_detail` are the least
    sizes from which a group gets stat level 1, 2, ... with a chance of 95 %. Each is None or empty where there are no
    such groups, and `expected` where no sizes are known.
    """

    budget: Fraction
    stability: int
    thresholds: tuple[int, ...]
    total_only_moe_95: int | None
    totals: tuple[TotalMargins, ...]
    sizes_with_detail: tuple[int, ...]
    expected: ExpectedNumbers | None


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """One plan: its privacy loss, and its levels by run and name."""

    parameters: Parameters = field(repr=False)
    loss: ReleaseLoss
    levels: Mapping[LevelName, LevelFigures]


@dataclass(frozen=True, slots=True)
class Difference:
    """A choice that is not the same in all plans, as text for each of them; None where a plan has no such level."""

    name: str
    values: tuple[str | None, ...]


def figures_of_plan(parameters: Parameters, delta: Fraction, sizes: Sizes | None = None) -> PlanFigures:
    """Everything that is compared of one plan."""
    levels = {
        (run.name, planned.name): _level(parameters, run.name, planned, sizes)
        for run in parameters.plan.runs
        for planned in run.measured
    }
    return PlanFigures(parameters, analyse(parameters.plan.noise_of_run, delta), levels)


def _level(parameters: Parameters, run: str, planned: PlannedLevel, sizes: Sizes | None) -> LevelFigures:
    rule, noise = detail_rule(parameters.release, planned), planned.noise
    known = None if sizes is None else sizes.of(run, planned.name)
    stat_levels = range(1, len(rule.cells)) if noise.has_two_stage else ()
    return LevelFigures(
        planned.budget,
        planned.stability,
        rule.thresholds,
        moe_95_of_sum(noise.event(Stage.TOTAL_ONLY).law, 1) if noise.has_total_only else None,
        total_margins(rule.noise, rule.cells) if noise.has_two_stage else (),
        tuple(size_with_detail(rule, stat_level) for stat_level in stat_levels),
        None if known is None else level_outlook(parameters, run, planned, known).total,
    )


def level_names(plans: Sequence[PlanFigures]) -> tuple[LevelName, ...]:
    """The levels that any of the plans measures, in the order in which they appear."""
    return tuple(dict.fromkeys(name for plan in plans for name in plan.levels))


def differences(plans: Sequence[PlanFigures]) -> tuple[Difference, ...]:
    """The choices in which the plans are not all alike. What their files are called is no choice."""
    choices = [dict(_choices(plan)) for plan in plans]
    names = dict.fromkeys(name for each in choices for name in each)
    found = [Difference(name, tuple(each.get(name) for each in choices)) for name in names]
    parts = [_long_choices(plan.parameters) for plan in plans]
    found += [Difference(name, _alike([each[name] for each in parts])) for name in parts[0]]
    return tuple(difference for difference in found if len(set(difference.values)) > 1)


def _choices(plan: PlanFigures) -> Iterator[tuple[str, str]]:
    """The choices that are short enough to be shown."""
    release = plan.parameters.release
    yield "privacy", release.privacy.value
    yield "stage_1_fraction", decimal_text(release.stage_1_fraction)
    chance = release.zero_suppression_chance
    yield "zero_suppression_chance", "off" if chance is None else decimal_text(chance)
    yield "allow_negative_counts", "true" if release.allow_negative_counts else "false"
    yield "max_race_codes", str(release.max_race_codes)
    yield "tables", release.detail or "none"
    bins_with_ages = [bins for bins in release.age_bins if bins.has_ages]
    yield "ages", "; ".join(" ".join(map(str, (*bins.starts, bins.oldest))) for bins in bins_with_ages)
    for (run, level), figures in plan.levels.items():
        yield f"run {run}, level {level}, budget", decimal_text(figures.budget)
        yield f"run {run}, level {level}, thresholds", " ".join(map(str, figures.thresholds))
        yield f"run {run}, level {level}, stability", str(figures.stability)


def _long_choices(parameters: Parameters) -> dict[str, object]:
    """Choices of which it is only said whether they are the same."""
    release, catalogue = parameters.release, parameters.catalogue
    return {
        "groups": (catalogue.codes, frozenset(catalogue.iterations)),
        "columns": release.columns,
        "records of each run": tuple((run.name, run.only) for run in release.runs),
        "geography": {level.geography.name: level.geography for run in release.runs for level in run.levels},
    }


def _alike(values: Sequence[object]) -> tuple[str, ...]:
    """For each value the number of the first plan that has the same."""
    return tuple(f"as in plan {list(values).index(value) + 1}" for value in values)
