"""Finding and parsing a release: a folder or a file in, a `Release` and its group definitions out.

Numbers are parsed as decimals, keys that stand twice are refused, and no fault hides another.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from safetab.errors import Finding, InputError
from safetab.files.rules import EMPTY_FILE, MISSING_FILE, NOT_UTF8
from safetab.files.text import read_bytes
from safetab.params import rules
from safetab.params.census import release_of_config
from safetab.params.groups import read_groups
from safetab.params.release import Release
from safetab.params.validate import validate
from safetab.population.iterations import IterationCatalogue

RELEASE_FILE = "release.toml"
CONFIG_FILE = "config.json"


@dataclass(frozen=True, slots=True)
class Parameters:
    """A release and the groups it counts: all that is public and fixed before any record is read."""

    folder: Path
    file: str
    release: Release
    catalogue: IterationCatalogue


def load(path: str | Path) -> Parameters:
    """Load a parameters folder, a `release.toml` or a `config.json`; raises `InputError` with every fault."""
    findings: list[Finding] = []
    parameters = read_parameters(Path(path), findings)
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
    return None if catalogue is None else Parameters(file.parent, file.name, release, catalogue)


def locate_release(path: Path, findings: list[Finding]) -> Path | None:
    """The file that describes the release, given it or its folder."""
    if path.is_file():
        if path.suffix in {".toml", ".json"}:
            return path
        findings.append(Finding(rules.NO_RELEASE, path.name))
        return None
    if not path.is_dir():
        findings.append(Finding(MISSING_FILE, str(path)))
        return None
    present = [path / name for name in (RELEASE_FILE, CONFIG_FILE) if (path / name).exists()]
    if len(present) == 1:
        return present[0]
    findings.append(Finding(rules.TWO_RELEASES if present else rules.NO_RELEASE, str(path)))
    return None


def read_release(file: Path, findings: list[Finding]) -> Release | None:
    """The release a file describes, without its group definitions."""
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
    parse, accept = (_parse_json, release_of_config) if file.suffix == ".json" else (_parse_toml, validate)
    raw = parse(text, file.name, findings)
    return None if raw is None else accept(raw, file.name, findings)


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
        findings.append(Finding(rules.NOT_JSON, file, lines=(error.lineno,), seen=error.msg))
        return None
    except (RecursionError, ValueError):
        findings.append(Finding(rules.NOT_JSON, file))
        return None
    findings.extend(Finding(rules.REPEATED_KEY, file, key=key) for key in repeated)
    if not isinstance(raw, dict):
        findings.append(Finding(rules.NOT_JSON, file, seen="not an object"))
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
        findings.append(Finding(rules.NOT_TOML, file, seen=str(error)))
        return None
