"""The parameters folder of a synthetic country: generated, or the user's own.

In: the states of the country, and optionally a folder of parameters. Out: a folder that can be loaded. Promise: the
user's group definitions are copied byte for byte, and so is the release, except for the two keys of a `config.json`
that describe the data: `reader`, because only text and Parquet are written, and `state_filter_us`, because a small
country has fewer states.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from safetab.errors import Finding, InputError
from safetab.files.durable import json_text
from safetab.files.parquet import locate_text
from safetab.params.census import COLUMNS, GEOGRAPHY, PUERTO_RICO, budget_key
from safetab.params.files_section import FilesSection
from safetab.params.load import CONFIG_FILE, RELEASE_FILE, Parameters, load
from safetab.rules import synth_rules
from safetab.synth.definitions import GroupDefinitions, generate
from safetab.synth.record_form import RecordForm
from safetab.synth.shapes import STATES

_LEVELS = (1, 2)
_ABOVE_LOCAL = {"USA", "STATE", "PR-STATE"}
_REGIONAL_THRESHOLDS = [4971, 19971, 149971]
_DETAILED_THRESHOLDS = [471, 971, 6971]
_LOCAL_THRESHOLDS = [971, 4971, 19971]

CODE_HEADER = ("RACE_ETH_CODE", "RACE_ETH_NAME")
RACE_HEADER = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL", "ALONE", "DETAILED_ONLY", "COARSE_ONLY")
ETHNICITY_HEADER = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL", "DETAILED_ONLY", "COARSE_ONLY")
MAPPING_HEADER = ("ITERATION_CODE", "RACE_ETH_CODE")


def config_json(states: Sequence[str], *, puerto_rico: bool) -> str:
    """A configuration in the Bureau's format with the production budgets and thresholds of 2020."""
    names = [*GEOGRAPHY, *(f"PR-{name}" for name in ("STATE", "COUNTY", "TRACT", "PLACE"))]
    config: dict[str, object] = {"max_race_codes": 8}
    for name in names:
        config[budget_key(name, 1)] = 0 if name == "AIANNH" else 0.008
        config[budget_key(name, 2)] = 2.134 if name in _ABOVE_LOCAL else 0.159
    config["privacy_budget_p_stage_1_fraction"] = 0.1
    config["thresholds_p"] = {f"({name}, {level})": _thresholds(name, level) for name in names for level in _LEVELS}
    config |= {
        "zero_suppression_chance": 0.9999,
        "allow_negative_counts": True,
        "run_us": bool(states),
        "run_pr": puerto_rico,
        "reader": "csv",
        "state_filter_us": list(states),
        "privacy_defn": "zcdp",
    }
    return json_text(config)


def _thresholds(geography: str, iteration_level: int) -> list[int]:
    if iteration_level == 1:
        return _REGIONAL_THRESHOLDS
    return _DETAILED_THRESHOLDS if geography in _ABOVE_LOCAL else _LOCAL_THRESHOLDS


def write_generated(folder: Path, states: Sequence[str], *, puerto_rico: bool) -> None:
    """Write a configuration and generated group definitions."""
    (folder / CONFIG_FILE).write_text(config_json(states, puerto_rico=puerto_rico), encoding="utf-8")
    write_definitions(folder, generate())


def write_definitions(folder: Path, definitions: GroupDefinitions) -> None:
    """Write the four group definition files."""
    files = FilesSection()
    for name, header, rows in (
        (files.codes, CODE_HEADER, definitions.codes),
        (files.race_iterations, RACE_HEADER, definitions.race_iterations),
        (files.ethnicity_iterations, ETHNICITY_HEADER, definitions.ethnicity_iterations),
        (files.code_to_iteration, MAPPING_HEADER, definitions.mapping),
    ):
        (folder / name).write_text(_lines([header, *rows]), encoding="utf-8")


def _lines(rows: Iterable[Sequence[str]]) -> str:
    return "".join("|".join(row) + "\n" for row in rows)


def states_of_release(parameters: Parameters, wanted: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The states of a country for this release, and whether it has Puerto Rico.

    The states are the wanted ones that the release covers; if it covers none of them, as many others.
    """
    covered: set[str] = set()
    for run in parameters.release.runs:
        covered |= {*STATES, PUERTO_RICO} if run.only is None else set(run.only.values)
    states = tuple(state for state in wanted if state in covered)
    if not states:
        states = tuple(state for state in STATES if state in covered)[: len(wanted)]
    if not states and PUERTO_RICO not in covered:
        raise InputError(Finding(synth_rules.FOREIGN_STATES, parameters.file))
    return states, PUERTO_RICO in covered


def load_own(path: Path, *, breaks: bool) -> Parameters:
    """Load the user's parameters, and raise if the release cannot read the geography file that is written here.

    A breakage knows the Bureau's files and columns only.
    """
    parameters = load(path)
    release = parameters.release
    columns = {column for run in release.runs for level in run.levels for column in level.geography.columns}
    is_bureau = RecordForm.of(release).is_bureau and (release.files.geography, release.files.records) == (
        FilesSection().geography,
        FilesSection().records,
    )
    if not columns | set(release.columns.block) <= set(COLUMNS["widths"]) or (breaks and not is_bureau):
        raise InputError(Finding(synth_rules.FOREIGN_COLUMNS, parameters.file))
    return parameters


def copy_own(parameters: Parameters, folder: Path, states: Sequence[str] = ()) -> None:
    """Copy the user's parameters, and adapt the keys that describe the data; without states, they stay as they are."""
    files = parameters.release.files
    names = [files.codes, files.race_iterations, files.code_to_iteration]
    if parameters.release.columns.ethnicity is not None:
        names.append(files.ethnicity_iterations)
    for name in names:
        source = locate_text(parameters.folder, name, []) or parameters.folder / name
        shutil.copyfile(source, folder / source.name)
    source = parameters.folder / parameters.file
    if source.suffix == ".json":
        target = folder / CONFIG_FILE
        target.write_text(_for_this_country(source.read_text(encoding="utf-8-sig"), states), encoding="utf-8")
    else:
        shutil.copyfile(source, folder / RELEASE_FILE)


def _for_this_country(config: str, states: Sequence[str]) -> str:
    # The text is edited, not parsed and written again, so that every budget keeps its digits.
    config = re.sub(r'("reader"\s*:\s*)"[^"]*"', r'\1"csv"', config)
    if not states:
        return config
    return re.sub(r'("state_filter_us"\s*:\s*)\[[^\]]*\]', lambda match: match[1] + json.dumps(list(states)), config)
