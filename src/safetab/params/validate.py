"""From a parsed document to a release, or to everything that is wrong with it.

In: nested dicts and lists with exact numbers. Out: a `Release` or None, and findings with key paths. All faults are
found in one go: sound sections are checked against each other even if others are not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from safetab.errors import Finding, Rule
from safetab.params.document import (
    AgesSection,
    ColumnsSection,
    GeographySection,
    LevelSection,
    ReleaseDocument,
    RunSection,
)
from safetab.params.key_help import keys_beside, meaning_of, with_keys, with_meaning
from safetab.params.release import Release, build
from safetab.rules import release_rules
from safetab.rules.labels import is_label

Path = tuple[int | str, ...]
KeyName = Callable[[Path], str]
Fault = tuple[Path, Rule, str]
_Model = TypeVar("_Model", bound=BaseModel)

_RULES = {rule.code: rule for rule in vars(release_rules).values() if isinstance(rule, Rule)}
_RULE_OF_KEY = {
    "privacy": release_rules.PRIVACY_DEFINITION,
    "safetab": release_rules.FORMAT_VERSION,
    "name": release_rules.RUN_NAME,
}


def key_path(path: Path) -> str:
    """A key as people write it: `level[3].budget`."""
    text = ""
    for step in path:
        # A name that cannot be shown as it is would tear the message apart.
        name = step if isinstance(step, int) or (step and step.isprintable()) else json.dumps(step)
        text += f"[{step}]" if isinstance(step, int) else f".{name}" if text else str(name)
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


_ERROR = release_rules.NO_RELEASE.severity


def _fault(detail: ErrorDetails) -> Fault:
    path = detail["loc"]
    last_key = next((step for step in reversed(path) if isinstance(step, str)), "")
    kind = detail["type"]
    if kind in _RULES:
        return path, _RULES[kind], _show(detail["input"])
    if kind == "missing":
        return path, with_meaning(release_rules.MISSING_KEY, meaning_of(path)), ""
    if kind == "extra_forbidden":
        return path, with_keys(release_rules.UNKNOWN_KEY, keys_beside(path)), ""
    if kind in {"literal_error", "string_pattern_mismatch"} and last_key in _RULE_OF_KEY:
        return path, _RULE_OF_KEY[last_key], _show(detail["input"])
    rule = with_meaning(release_rules.WRONG_TYPE, meaning_of(path))
    return path, rule, f"{_show(detail['input'])} ({detail['msg']})"


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
    """Faults between sections of the document, found among the sections that are sound by themselves."""
    columns = _sound(ColumnsSection, raw.get("columns"))
    raw_geography = raw.get("geography")
    named: Mapping[str, Any] = raw_geography if isinstance(raw_geography, Mapping) else {}
    runs = {number: run for number, item in _items(raw.get("run")) if (run := _sound(RunSection, item))}
    levels = {number: level for number, item in _items(raw.get("level")) if (level := _sound(LevelSection, item))}
    run_names = {item.get("name") for _, item in _items(raw.get("run")) if isinstance(item, Mapping)}

    yield from _level_faults(levels, run_names, set(named))
    yield from _table_faults(raw, columns, levels)
    yield from _run_faults(raw, runs, columns)
    for name, item in named.items():
        if not name or "/" in name or not is_label(name):
            yield ("geography", name), release_rules.GEOGRAPHY_NAME, _show(name)
        part = _sound(GeographySection, item)
        if part and columns and len(part.columns) > 1:
            unknown = [column for column in part.columns if column not in columns.widths]
            if unknown:
                yield ("geography", name, "columns"), release_rules.REGION_WIDTHS, ", ".join(unknown)
        if not any(
            isinstance(level, Mapping) and level.get("geography") == name for _, level in _items(raw.get("level"))
        ):
            yield ("geography", name), release_rules.UNUSED_GEOGRAPHY, ""
    yield from _columns_alike(columns, filter(None, (_sound(GeographySection, item) for item in named.values())))
    limit = raw.get("max_race_codes")
    if columns and isinstance(limit, int) and limit > len(columns.race_codes):
        yield ("max_race_codes",), release_rules.MAX_RACE_CODES, f"{limit}, with {len(columns.race_codes)} columns"


def _columns_alike(columns: ColumnsSection | None, geography: Iterable[GeographySection]) -> Iterator[Fault]:
    """Columns of one file whose names differ in capitals alone."""
    if columns is None:
        return
    optional = filter(None, [columns.age, columns.sex, columns.ethnicity])
    in_records = [*columns.block, *columns.race_codes, *optional]
    parts = list(geography)
    in_geography = [*columns.block, *(name for part in parts for name in part.columns)]
    in_geography += [part.name_column for part in parts if part.name_column]
    for file, names in (("columns", in_records), ("geography", in_geography)):
        spelled: dict[str, str] = {}
        for name in names:
            first = spelled.setdefault(name.lower(), name)
            if first != name:
                yield (file,), release_rules.COLUMNS_ALIKE, f"{_show(first)} and {_show(name)}"


def _level_faults(
    levels: Mapping[int, LevelSection], run_names: set[Any], geography_names: set[str]
) -> Iterator[Fault]:
    taken: set[tuple[str, str, int]] = set()
    for number, level in levels.items():
        if level.run not in run_names:
            yield ("level", number, "run"), release_rules.UNKNOWN_RUN, _show(level.run)
        if level.geography not in geography_names:
            yield ("level", number, "geography"), release_rules.UNKNOWN_GEOGRAPHY, _show(level.geography)
        key = (level.run, level.geography, level.iteration_level)
        if key in taken:
            yield ("level", number), release_rules.REPEATED_LEVEL, f"({level.geography}, {level.iteration_level})"
        taken.add(key)


def _table_faults(
    raw: Mapping[str, Any], columns: ColumnsSection | None, levels: Mapping[int, LevelSection]
) -> Iterator[Fault]:
    """Ages without their column, and thresholds that are more or fewer than the kinds of tables."""
    ages = _sound(AgesSection, raw.get("ages"))
    if columns is None or ("ages" in raw and ages is None):
        return
    if (ages is None) != (columns.age is None):
        yield ("ages",) if ages else ("columns", "age"), release_rules.AGES_AND_COLUMN, ""
        return
    tables = len(ages.bins) if ages else 1 if columns.sex else 0
    for number, level in levels.items():
        path = ("level", number, "thresholds")
        if level.thresholds is None and tables:
            yield path, with_meaning(release_rules.MISSING_KEY, meaning_of(path)), ""
        elif len(level.thresholds or ()) != tables:
            yield path, release_rules.THRESHOLDS, f"{level.thresholds}, for {tables} stat level{'s' * (tables != 1)}"


def _run_faults(
    raw: Mapping[str, Any], runs: Mapping[int, RunSection], columns: ColumnsSection | None
) -> Iterator[Fault]:
    if isinstance(raw.get("run"), list) and not raw["run"]:
        yield ("run",), release_rules.NO_RUNS, ""
    names: set[str] = set()
    taken: set[str] = set()
    column_in_use = ""
    for number, run in runs.items():
        if run.name in names:
            yield ("run", number, "name"), release_rules.RUN_NAME, _show(run.name)
        names.add(run.name)
        if not any(
            isinstance(level, Mapping) and level.get("run") == run.name for _, level in _items(raw.get("level"))
        ):
            yield ("run", number), release_rules.NO_LEVELS, ""
        where = run.where or {}
        if run.where is not None and (len(where) != 1 or not all(where.values())):
            yield ("run", number, "where"), release_rules.RUN_FILTER, ""
            continue
        if columns and not set(where) <= set(columns.block):
            yield ("run", number, "where"), release_rules.RUN_FILTER, ", ".join(where)
        column = next(iter(where), "")
        values = {value for listed in where.values() for value in listed}
        if len(runs) > 1 and (not where or (column_in_use and column != column_in_use) or values & taken):
            yield ("run", number, "where"), release_rules.RUNS_OVERLAP, ", ".join(sorted(values & taken)[:5])
        taken |= values
        column_in_use = column_in_use or column
