"""What `safetab calibrate` is asked for: targets of levels, and the release that keeps them.

In: options such as `--moe USA,2=6`, and parameters. Out: parameters whose levels have the budgets asked for, and what
was asked of each. The promise: a level has one target at the most, and levels that nobody named stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from safetab.errors import Finding, InputError, UsageError
from safetab.params.exact import decimal_text, exact
from safetab.params.load import Parameters
from safetab.params.plan import PlannedLevel, noise_findings
from safetab.params.release import PopulationGroupLevel, PrivacyDefinition
from safetab.planning.budgets import Scaling, budget_for_total_moe, largest_scaling
from safetab.planning.detail import detail_rule
from safetab.rules.accounting_rules import NO_FACTOR
from safetab.rules.usage_rules import BUDGET_WORDS, MOE_OF_NOTHING, MOE_WORDS, TWO_TARGETS, UNKNOWN_LEVEL

MOE, TOTAL_MOE, BUDGET = "--moe", "--total-moe", "--budget"
#: A geography level and an iteration level.
LevelKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Target:
    """What one option asks of a level: a margin in persons, or a budget."""

    option: str
    value: Fraction

    @property
    def words(self) -> str:
        text = decimal_text(self.value)
        return {
            MOE: f"moe_95 {text}",
            TOTAL_MOE: f"margin of the estimate {text} at the finest stat level",
            BUDGET: f"budget {text}",
        }[self.option]


def level_key(level: PopulationGroupLevel) -> LevelKey:
    return level.geography.name, level.iteration_level


def parse_targets(options: Mapping[str, Sequence[str]], parameters: Parameters) -> dict[LevelKey, Target]:
    """The targets of all levels that have one."""
    found: dict[LevelKey, Target] = {}
    for option, texts in options.items():
        for text in texts:
            key, target = _parse(option, text, parameters)
            if key in found:
                raise UsageError(Finding(TWO_TARGETS, option, seen=repr(text)))
            found[key] = target
    return found


def _parse(option: str, text: str, parameters: Parameters) -> tuple[LevelKey, Target]:
    name, _, value = text.partition("=")
    geography, _, iteration_level = name.strip().strip("()").rpartition(",")
    try:
        key = geography.strip(), int(iteration_level)
        number = exact(value) if option == BUDGET else Fraction(int(value))
    except ValueError:
        raise UsageError(Finding(BUDGET_WORDS if option == BUDGET else MOE_WORDS, option, seen=repr(text))) from None
    known = list(dict.fromkeys(level_key(level) for run in parameters.release.runs for level in run.levels))
    if key not in known:
        levels = " ".join(f"{geography},{number}" for geography, number in known)
        raise UsageError(Finding(UNKNOWN_LEVEL, option, seen=f"{text!r}; the levels are {levels}"))
    if number <= 0 or (option != BUDGET and number < 1):
        raise UsageError(Finding(BUDGET_WORDS if option == BUDGET else MOE_OF_NOTHING, option, seen=repr(text)))
    return key, Target(option, number)


def with_targets(parameters: Parameters, targets: Mapping[LevelKey, Target], privacy: str | None) -> Parameters:
    """The release with the budgets that keep its targets; with another privacy definition where one is named."""
    definition = parameters.release.privacy if privacy is None else PrivacyDefinition(privacy)
    changed = replace(parameters, release=replace(parameters.release, privacy=definition))
    return _with_levels(changed, lambda planned: _with_target(changed, planned, targets.get(level_key(planned.level))))


def _with_target(parameters: Parameters, planned: PlannedLevel, target: Target | None) -> PopulationGroupLevel:
    if target is None:
        return planned.level
    if target.option == MOE:
        return replace(planned.level, budget=None, moe_95=int(target.value))
    budget = target.value
    if target.option == TOTAL_MOE:
        cells = detail_rule(parameters.release, planned).cells[-1]
        # A level without iterations measures nothing, whatever its budget.
        budget = budget_for_total_moe(planned.noise, int(target.value), cells) if planned.stability else Fraction(0)
    return replace(planned.level, budget=budget, moe_95=None)


def _with_levels(parameters: Parameters, change: Callable[[PlannedLevel], PopulationGroupLevel]) -> Parameters:
    runs = tuple(replace(run.run, levels=tuple(map(change, run.levels))) for run in parameters.plan.runs)
    return replace(parameters, release=replace(parameters.release, runs=runs))


def scaled(
    parameters: Parameters, epsilon: Fraction, delta: Fraction, words: Iterable[str]
) -> tuple[Parameters, Scaling]:
    """The release with every budget times the largest factor that keeps it within (epsilon, delta)."""
    scaling = largest_scaling(parameters.plan.noise_of_run, epsilon, delta)
    if scaling is None:
        raise UsageError(Finding(NO_FACTOR, "--epsilon", seen=" and ".join(words)))
    factor = scaling.factor

    def times(planned: PlannedLevel) -> PopulationGroupLevel:
        return (
            replace(planned.level, budget=planned.budget * factor, moe_95=None)
            if planned.is_measured
            else planned.level
        )

    return _with_levels(parameters, times), scaling


def refuse_impossible_noise(parameters: Parameters) -> None:
    """Raise where a budget needs noise that cannot be drawn."""
    found = list(noise_findings(parameters.plan, parameters.release.most_cells, parameters.file))
    if found:
        raise InputError(found, state="No data was read.")
