"""Finding and parsing a release: a folder or a file in, a `Release` and its group definitions out.

Numbers are parsed as decimals, keys that appear twice are refused, and no fault hides another.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from safetab.arguments import as_path
from safetab.errors import Finding, InputError
from safetab.files.text import read_bytes
from safetab.params.census import document_of_config, release_of_config
from safetab.params.exact import decimal_text
from safetab.params.groups import read_groups
from safetab.params.plan import ReleasePlan, noise_findings, plan_release
from safetab.params.release import Release, unequal_parts
from safetab.params.validate import validate
from safetab.population.iterations import IterationCatalogue
from safetab.rules import release_rules
from safetab.rules.file_rules import EMPTY_FILE, MISSING_FILE, NOT_UTF8

RELEASE_FILE = "release.toml"
CONFIG_FILE = "config.json"


@dataclass(frozen=True, slots=True, repr=False)
class Parameters:
    """A release, the groups it counts and the plan that follows: all that is fixed before any record is read."""

    #: The parameters folder.
    folder: Path
    #: The name of the file in it that describes the release.
    file: str
    #: Everything that the release chooses.
    release: Release
    #: The codes and the iterations.
    catalogue: IterationCatalogue
    #: What follows from the two above; it cannot differ from them.
    plan: ReleasePlan = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plan", plan_release(self.release, self.catalogue))

    def __repr__(self) -> str:
        levels = sum(len(run.measured) for run in self.plan.runs)
        return (
            f"Parameters({str(self.folder / self.file)!r}, {self.release.title!r}, {levels} levels, "
            f"{self.release.privacy.budget_symbol} {decimal_text(self.plan.budget)})"
        )


def load(path: str | Path) -> Parameters:
    """Load a parameters folder, a `release.toml` or a `config.json`; raises `InputError` with every fault."""
    findings: list[Finding] = []
    parameters = read_parameters(as_path(path, "path"), findings)
    errors = [finding for finding in findings if finding.is_error]
    if errors or parameters is None:
        raise InputError(errors, state="No data was read.")
    return parameters


def read_parameters(path: Path, findings: list[Finding]) -> Parameters | None:
    """Load a parameters folder as far as it is sound, and say everything that is not."""
    file = locate_release(path, findings)
    release = None if file is None else read_release(file, findings)
    if file is None or release is None:
        return None
    catalogue = read_groups(file.parent, release, findings)
    if catalogue is None:
        return None
    parameters = Parameters(file.parent, file.name, release, catalogue)
    findings.extend(noise_findings(parameters.plan, release.most_cells, file.name))
    return parameters


def locate_release(path: Path, findings: list[Finding]) -> Path | None:
    """The file that describes the release, given it or its folder."""
    if path.is_file():
        if path.suffix in {".toml", ".json"}:
            return path
        findings.append(Finding(release_rules.NO_RELEASE, path.name))
        return None
    if not path.is_dir():
        findings.append(Finding(MISSING_FILE, str(path)))
        return None
    present = [path / name for name in (RELEASE_FILE, CONFIG_FILE) if (path / name).exists()]
    if len(present) == 1:
        return present[0]
    if len(present) == 2 and _are_equal(*present):
        findings.append(Finding(release_rules.EQUAL_RELEASES, str(path)))
        return present[0]
    findings.append(Finding(release_rules.TWO_RELEASES if present else release_rules.NO_RELEASE, str(path)))
    return None


def _are_equal(one: Path, other: Path) -> bool:
    """Whether two files of a folder describe the same release without a fault."""
    first, second = read_release(one, []), read_release(other, [])
    return first is not None and second is not None and not unequal_parts(first, second)


def differences(one: Parameters, other: Parameters) -> list[str]:
    """The parts of two releases that are not equal: their choices, codes and iterations. File names do not matter."""
    found = unequal_parts(one.release, other.release)
    found += ["codes"] if one.catalogue.codes != other.catalogue.codes else []
    return found + (["iterations"] if set(one.catalogue.iterations) != set(other.catalogue.iterations) else [])


def read_release(file: Path, findings: list[Finding]) -> Release | None:
    """The release a file describes, without its group definitions."""
    raw = _parse(file, findings)
    accept = release_of_config if file.suffix == ".json" else validate
    return None if raw is None else accept(raw, file.name, findings)


def read_document(file: Path) -> dict[str, Any]:
    """The document of a release that has been read without faults, in the shape of `release.toml`."""
    raw = _parse(file, []) or {}
    return document_of_config(raw, file.name) if file.suffix == ".json" else raw


def _parse(file: Path, findings: list[Finding]) -> dict[str, Any] | None:
    data = read_bytes(file, findings)
    if data is None:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        findings.append(Finding(NOT_UTF8, file.name, lines=(data.count(b"\n", 0, error.start) + 1,)))
        return None
    if not text.strip():
        findings.append(Finding(EMPTY_FILE, file.name))
        return None
    return (_parse_json if file.suffix == ".json" else _parse_toml)(text, file.name, findings)


def _parse_json(text: str, file: str, findings: list[Finding]) -> dict[str, Any] | None:
    repeated: list[str] = []
    try:
        raw = json.loads(
            text,
            parse_float=Decimal,
            parse_constant=Decimal,
            object_pairs_hook=_collect_pairs(repeated),
        )
    except json.JSONDecodeError as error:
        findings.append(Finding(release_rules.NOT_JSON, file, lines=(error.lineno,), seen=error.msg))
        return None
    except (RecursionError, ValueError):
        findings.append(Finding(release_rules.NOT_JSON, file))
        return None
    findings.extend(Finding(release_rules.REPEATED_KEY, file, key=key) for key in repeated)
    if not isinstance(raw, dict):
        findings.append(Finding(release_rules.NOT_JSON, file, seen="not an object"))
        return None
    return raw


def _collect_pairs(repeated: list[str]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        repeated.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return dict(pairs)

    return collect


def _parse_toml(text: str, file: str, findings: list[Finding]) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        # tomllib puts the place in its message, and says nothing of the value.
        findings.append(Finding(release_rules.NOT_TOML, file, seen=str(error)))
        return None
