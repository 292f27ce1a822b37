"""From a parsed document to a release, or to everything that is wrong with it.

In: nested dicts and lists with exact numbers. Out: a `Release` or None, and findings with key paths. All faults are
found in one go: the parts that are sound are checked against each other even where others are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from safetab.errors import Finding, Rule
from safetab.params import rules
from safetab.params.document import ColumnsPart, GeographyPart, LevelPart, ReleaseDocument, RunPart
from safetab.params.release import Release, build

Path = tuple[int | str, ...]
KeyName = Callable[[Path], str]
Fault = tuple[Path, Rule, str]
_Model = TypeVar("_Model", bound=BaseModel)

_RULES = {rule.code: rule for rule in vars(rules).values() if isinstance(rule, Rule)}
_RULE_OF_KIND = {"missing": rules.MISSING_KEY, "extra_forbidden": rules.UNKNOWN_KEY}
_RULE_OF_KEY = {"privacy": rules.PRIVACY_DEFINITION, "safetab": rules.FORMAT_VERSION, "name": rules.RUN_NAME}


def key_path(path: Path) -> str:
    """A key as people write it: `level[3].budget`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def validate(
    raw: Mapping[str, Any], file: str, findings: list[Finding], key_name: KeyName = key_path
) -> Release | None:
    """The release a parsed document describes; `key_name` turns paths in the document into keys of the file."""
    faults: list[Fault] = []
    document = None
    try:
        document = ReleaseDocument.model_validate(raw)
    except ValidationError as error:
        faults.extend(_fault(detail) for detail in error.errors(include_url=False))
    faults.extend(_disagreements(raw))
    # A repeated path and rule would say the same twice.
    seen_before: set[tuple[Path, str]] = set()
    for path, rule, seen in faults:
        if (path, rule.code) not in seen_before:
            seen_before.add((path, rule.code))
            findings.append(Finding(rule, file, key=key_name(path), seen=seen))
    is_sound = document is not None and not any(rule.severity is _ERROR for _, rule, _ in faults)
    return build(document) if is_sound and document is not None else None


_ERROR = rules.NO_RELEASE.severity


def _fault(detail: ErrorDetails) -> Fault:
    path = detail["loc"]
    last_key = next((step for step in reversed(path) if isinstance(step, str)), "")
    kind = detail["type"]
    if kind in _RULES:
        return path, _RULES[kind], _show(detail["input"])
    if kind in _RULE_OF_KIND:
        return path, _RULE_OF_KIND[kind], ""
    if kind in {"literal_error", "string_pattern_mismatch"} and last_key in _RULE_OF_KEY:
        return path, _RULE_OF_KEY[last_key], _show(detail["input"])
    return path, rules.WRONG_TYPE, f"{_show(detail['input'])} ({detail['msg']})"


def _show(value: object) -> str:
    """A value of a parameter file, short enough for a message."""
    if isinstance(value, Mapping):
        return ""
    text = str(value) if isinstance(value, Decimal) else repr(value).replace("'", '"')
    return text if len(text) <= 60 else text[:57] + "..."


def _sound(model: type[_Model], raw: object) -> _Model | None:
    try:
        return model.model_validate(raw)
    except ValidationError:
        return None


def _items(raw: object) -> list[tuple[int, Any]]:
    return list(enumerate(raw)) if isinstance(raw, list) else []


def _disagreements(raw: Mapping[str, Any]) -> Iterator[Fault]:
    """Faults that lie between parts of the document, found among the parts that are sound by themselves."""
    columns = _sound(ColumnsPart, raw.get("columns"))
    raw_geography = raw.get("geography")
    named: Mapping[str, Any] = raw_geography if isinstance(raw_geography, Mapping) else {}
    runs = {number: run for number, item in _items(raw.get("run")) if (run := _sound(RunPart, item))}
    levels = {number: level for number, item in _items(raw.get("level")) if (level := _sound(LevelPart, item))}
    run_names = {item.get("name") for _, item in _items(raw.get("run")) if isinstance(item, Mapping)}

    yield from _level_faults(levels, run_names, set(named))
    yield from _run_faults(raw, runs, columns)
    for name, item in named.items():
        part = _sound(GeographyPart, item)
        if part and columns and len(part.columns) > 1:
            unknown = [column for column in part.columns if column not in columns.widths]
            if unknown:
                yield ("geography", name, "columns"), rules.REGION_WIDTHS, ", ".join(unknown)
        if not any(
            isinstance(level, Mapping) and level.get("geography") == name for _, level in _items(raw.get("level"))
        ):
            yield ("geography", name), rules.UNUSED_GEOGRAPHY, ""
    limit = raw.get("max_race_codes")
    if columns and isinstance(limit, int) and limit > len(columns.race_codes):
        yield ("max_race_codes",), rules.MAX_RACE_CODES, f"{limit}, with {len(columns.race_codes)} columns"


def _level_faults(levels: Mapping[int, LevelPart], run_names: set[Any], geography_names: set[str]) -> Iterator[Fault]:
    taken: set[tuple[str, str, int]] = set()
    for number, level in levels.items():
        if level.run not in run_names:
            yield ("level", number, "run"), rules.UNKNOWN_RUN, _show(level.run)
        if level.geography not in geography_names:
            yield ("level", number, "geography"), rules.UNKNOWN_GEOGRAPHY, _show(level.geography)
        key = (level.run, level.geography, level.iteration_level)
        if key in taken:
            yield ("level", number), rules.REPEATED_LEVEL, f"({level.geography}, {level.iteration_level})"
        taken.add(key)


def _run_faults(raw: Mapping[str, Any], runs: Mapping[int, RunPart], columns: ColumnsPart | None) -> Iterator[Fault]:
    if isinstance(raw.get("run"), list) and not raw["run"]:
        yield ("run",), rules.NO_RUNS, ""
    names: set[str] = set()
    taken: set[str] = set()
    column_in_use = ""
    for number, run in runs.items():
        if run.name in names:
            yield ("run", number, "name"), rules.RUN_NAME, _show(run.name)
        names.add(run.name)
        if not any(
            isinstance(level, Mapping) and level.get("run") == run.name for _, level in _items(raw.get("level"))
        ):
            yield ("run", number), rules.NO_LEVELS, ""
        where = run.where or {}
        if run.where is not None and (len(where) != 1 or not all(where.values())):
            yield ("run", number, "where"), rules.RUN_FILTER, ""
            continue
        if columns and not set(where) <= set(columns.block):
            yield ("run", number, "where"), rules.RUN_FILTER, ", ".join(where)
        column = next(iter(where), "")
        values = {value for listed in where.values() for value in listed}
        if len(runs) > 1 and (not where or (column_in_use and column != column_in_use) or values & taken):
            yield ("run", number, "where"), rules.RUNS_OVERLAP, ", ".join(sorted(values & taken)[:5])
        taken |= values
        column_in_use = column_in_use or column
