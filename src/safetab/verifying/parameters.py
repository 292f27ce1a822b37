"""A parameters folder against the ledger that names it.

In: the ledger and the parameters. Out: findings. The promise: the files are those whose hashes the ledger has, and what
it says of levels, budgets, noise, thresholds and suppression is what follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from safetab.accounting.events import Stage
from safetab.errors import Finding
from safetab.files.seals import LEDGER_FILE, hash_file
from safetab.params.definitions import group_definitions
from safetab.params.load import Parameters, load
from safetab.params.plan import PlannedLevel
from safetab.reading.levels import ledger_number
from safetab.reading.opened import DICTIONARY_FILE
from safetab.rules import seal_rules


def check_parameters(path: Path, ledger: Mapping[str, Any], dictionary: Mapping[str, Any]) -> Iterator[Finding]:
    """The folder, or the file in it, that describes the release."""
    parameters = load(path)
    named: dict[str, str] = ledger["inputs"]["parameters"]
    if parameters.file not in named or list(_runs(ledger)) != [run.name for run in parameters.plan.runs]:
        # They are of another release, and hardly anything is the same.
        seen = f'title "{parameters.release.title}", and that of the ledger is "{ledger["title"]}"'
        yield Finding(seal_rules.OTHER_PARAMETERS, str(path), seen=seen)
        return
    for name, digest in named.items():
        file = parameters.folder / name
        if not file.is_file() or hash_file(file) != digest:
            yield Finding(seal_rules.OTHER_PARAMETERS, name)
    yield from (Finding(seal_rules.OTHER_PARAMETERS, LEDGER_FILE, key=key) for key in _differences(parameters, ledger))
    found = _differences_of_dictionary(parameters, dictionary)
    yield from (Finding(seal_rules.OTHER_PARAMETERS, DICTIONARY_FILE, key=key) for key in found)


def _differences(parameters: Parameters, ledger: Mapping[str, Any]) -> Iterator[str]:
    release = parameters.release
    stated = {
        "title": release.title,
        "privacy": release.privacy.value,
        "allow_negative_counts": release.allow_negative_counts,
    }
    yield from (key for key, value in stated.items() if ledger[key] != value)
    if ledger_number(ledger["stage_1_fraction"]) != release.stage_1_fraction:
        yield "stage_1_fraction"
    runs = _runs(ledger)
    for number, run in enumerate(parameters.plan.runs):
        levels = runs[run.name]["levels"]
        if [level["level"] for level in levels] != [level.name for level in run.measured]:
            yield f"runs[{number}].levels"
            continue
        for position, (entry, planned) in enumerate(zip(levels, run.measured, strict=True)):
            for key in _differences_of_level(entry, planned, parameters, has_noise=ledger["has_noise"]):
                yield f"runs[{number}].levels[{position}].{key}"


def _runs(ledger: Mapping[str, Any]) -> dict[str, Any]:
    return {run["name"]: run for run in ledger["runs"]}


def _differences_of_dictionary(parameters: Parameters, dictionary: Mapping[str, Any]) -> Iterator[str]:
    release, iterations = parameters.release, parameters.catalogue.iterations
    stated: dict[str, object] = {
        "iterations": {iteration.code: iteration.name for iteration in iterations},
        **group_definitions(release, iterations),
    }
    yield from (key for key, value in stated.items() if dictionary[key] != value)


def _differences_of_level(
    entry: Mapping[str, Any], planned: PlannedLevel, parameters: Parameters, *, has_noise: bool
) -> Iterator[str]:
    level, chance = planned.level, parameters.release.zero_suppression_chance
    if ledger_number(entry["budget"]) != planned.budget:
        yield "budget"
    stated = {
        "stability": planned.stability,
        "is_local": level.geography.local,
        "thresholds": list(level.thresholds),
    }
    yield from (key for key, value in stated.items() if entry[key] != value)
    for measured, event in zip(entry["measurements"], planned.noise.events, strict=False):
        left_out = None
        if chance is not None and level.geography.local and event.stage is not Stage.STAGE_1:
            left_out = event.law.quantile(chance) if has_noise else 0
        if measured["suppressed_up_to"] != left_out:
            yield "measurements[].suppressed_up_to"
