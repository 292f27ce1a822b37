"""What the ledger states, recomputed: stabilities, groups, noise scales, budgets, privacy loss, numbers of counts.

In: the ledger, the data dictionary, and how many groups have each stat level. Out: findings. The promise: every scale
follows exactly from the budget of its level, every sum is a sum, and no stated privacy loss is below that of the noise.
Only what was chosen, such as the budgets themselves, cannot be recomputed from OUT; parameters or a signature show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from safetab.accounting.events import CountEvent, LevelEvents
from safetab.accounting.privacy_loss import PrivacyLoss, costliest, loss_of
from safetab.errors import Finding
from safetab.files.seals import LEDGER_FILE
from safetab.noise.laws import DiscreteGaussian, Mechanism
from safetab.population.iterations import Iteration
from safetab.population.stability import stability
from safetab.reading.groups import Group
from safetab.reading.levels import ledger_number
from safetab.rules import seal_rules
from safetab.verifying.domain import RunDomain

_MECHANISM = {"zcdp": (Mechanism.DISCRETE_GAUSSIAN, "rho"), "puredp": (Mechanism.GEOMETRIC, "epsilon")}
#: A figure may be below ours by this much: computers round differently.
_ROUNDING = 1e-9
#: Other programs may read any other value of these as no.
_YES_OR_NO = ("is_private", "has_noise", "allow_negative_counts")
_FIGURES = ("epsilon_zcdp_analytic", "epsilon_renyi", "epsilon_loss_distribution")


def check_release(ledger: Mapping[str, Any], domains: list[RunDomain]) -> Iterator[Finding]:
    """What the ledger states of the whole release."""
    mechanism, symbol = _MECHANISM[ledger["privacy"]]
    if ledger["budget_symbol"] != symbol:
        yield _finding("budget_symbol")
    yield from (_finding(key) for key in _YES_OR_NO if not isinstance(ledger[key], bool))
    if ledger["is_private"] and not ledger["has_noise"]:
        yield _finding("is_private")
    if bool(ledger["is_private"]) != (ledger["warning"] is None):
        yield _finding("warning")
    losses = []
    for number, domain in enumerate(domains):
        events = _events(domain, mechanism, ledger)
        place = f"runs[{number}]"
        yield from _check_run(domain, events, place)
        loss = loss_of(domain.name, events, ledger_number(ledger["analyses"]["delta"]))
        losses.append(loss)
        yield from _check_loss(domain.entry["analyses"], loss, ledger["analyses"]["delta"], f"{place}.analyses")
    total = costliest(losses)
    if ledger_number(ledger["total_budget"]) != total.budget:
        yield _finding("total_budget")
    yield from _check_loss(ledger["analyses"], total, ledger["analyses"]["delta"], "analyses")


def _events(domain: RunDomain, mechanism: Mechanism, ledger: Mapping[str, Any]) -> tuple[LevelEvents, ...]:
    """The noise of each level of a run, from its budget and the groups of the data dictionary."""
    found = []
    for entry, level in zip(domain.entry["levels"], domain.levels, strict=True):
        groups = domain.groups_of(level)
        iterations = [_iteration(group) for group in groups]
        has_two_stage = domain.detail.has_tables and not all(group.is_total_only for group in groups)
        found.append(
            LevelEvents(
                entry["level"],
                mechanism,
                ledger_number(entry["budget"]),
                stability(iterations, domain.release.dictionary["max_race_codes"]),
                ledger_number(ledger["stage_1_fraction"]),
                has_total_only=not domain.detail.has_tables or any(group.is_total_only for group in groups),
                has_two_stage=has_two_stage,
            )
        )
    return tuple(found)


def _iteration(group: Group) -> Iteration:
    return Iteration(group.code, group.name, group.iteration_level, group.kind, group.reach, group.codes)


def _check_run(domain: RunDomain, events: tuple[LevelEvents, ...], place: str) -> Iterator[Finding]:
    run = domain.entry
    if ledger_number(run["budget"]) != sum((level.budget for level in events), Fraction(0)):
        yield _finding(f"{place}.budget")
    for number, (entry, level, planned) in enumerate(zip(run["levels"], domain.levels, events, strict=True)):
        here = f"{place}.levels[{number}]"
        if entry["level"] != level.name:
            yield _finding(f"{here}.level")
        if entry["stability"] != planned.stability:
            yield _finding(f"{here}.stability")
        if entry["groups"] != len(domain.regions_of(level)) * len(domain.groups_of(level)):
            yield _finding(f"{here}.groups")
        if entry["thresholds"] != sorted(entry["thresholds"]):
            yield _finding(f"{here}.thresholds")
        stages = [measured["stage"] for measured in entry["measurements"]]
        if stages != [event.stage.value for event in planned.events]:
            yield _finding(f"{here}.measurements")
            continue
        for position, (measured, event) in enumerate(zip(entry["measurements"], planned.events, strict=True)):
            for key, value in _scale(event).items():
                if measured.get(key) != value:
                    yield _finding(f"{here}.measurements[{position}].{key}")


def _scale(event: CountEvent) -> dict[str, str]:
    """The noise of an event, in the words of the ledger."""
    law = event.law
    scale = {"mechanism": event.mechanism.value, "budget_of_one_count": str(event.budget)}
    if isinstance(law, DiscreteGaussian):
        return scale | {"sigma_squared": str(law.sigma_squared)}
    return scale | {"scale": str(1 / law.rate)}


def _check_loss(stated: Mapping[str, Any], loss: PrivacyLoss, delta: str, place: str) -> Iterator[Finding]:
    """No figure is below what the noise costs. Later versions may know a smaller bound, which makes none wrong."""
    ours = loss.as_json()
    for key in ("budget", "pure_epsilon", "rho", "rho_quoted"):
        if stated[key] != ours[key]:
            yield _finding(f"{place}.{key}")
    for key in _FIGURES:
        least = ours[key]
        if stated[key] is not None and least is not None and stated[key] < float(least) * (1 - _ROUNDING):
            yield _finding(f"{place}.{key}")
    known = [stated[key] for key in _FIGURES if stated[key] is not None]
    known += [] if loss.pure_epsilon is None else [float(loss.pure_epsilon)]
    if stated["delta"] != delta or stated["epsilon"] < min(known) * (1 - _ROUNDING):
        yield _finding(f"{place}.epsilon")


def check_counts(domain: RunDomain, tables_of: Mapping[tuple[int, int], int], place: str) -> Iterator[Finding]:
    """How many counts of each stage there are; `tables_of` has the groups of each level and stat level above 0."""
    for number, (entry, level) in enumerate(zip(domain.entry["levels"], domain.levels, strict=True)):
        regions, groups = len(domain.regions_of(level)), domain.groups_of(level)
        totals = regions * sum(domain.is_total_only(level, group) for group in groups)
        two_stage = regions * len(groups) - totals
        with_tables = {stat: tables_of.get((number, stat), 0) for stat in range(1, len(level.thresholds) + 1)}
        cells = sum(count * domain.detail.cells[stat - 1] for stat, count in with_tables.items())
        expected = {
            "total only": totals,
            "stage 1": two_stage,
            "stage 2": two_stage - sum(with_tables.values()) + cells,
        }
        for position, measured in enumerate(entry["measurements"]):
            if measured["counts"] != expected[measured["stage"]]:
                yield _finding(f"{place}.levels[{number}].measurements[{position}].counts")


def _finding(key: str) -> Finding:
    return Finding(seal_rules.SPENDING, LEDGER_FILE, key=key)
