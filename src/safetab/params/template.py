"""New releases for people to start from: a commented `release.toml`.

The geography, columns and age bins are those of the Bureau's files, taken from the one place that knows them; the
comments are the descriptions of the keys. What comes out loads as it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from safetab.params.census import AGES, COLUMNS, GEOGRAPHY, PUERTO_RICO
from safetab.params.document import AgesPart, ColumnsPart, GeographyPart, LevelPart, ReleaseDocument, RunPart

#: The fifty states and the District of Columbia.
STATES = tuple(f"{code:02d}" for code in range(1, 57) if code not in {3, 7, 14, 43, 52})

_REGIONAL = (4971, 19971, 149971)
_DETAILED = (471, 971, 6971)
_DETAILED_LOCAL = (971, 4971, 19971)


@dataclass(frozen=True, slots=True)
class _Level:
    run: str
    geography: str
    iteration_level: int
    spending: str

    @property
    def thresholds(self) -> tuple[int, int, int]:
        if self.iteration_level == 1:
            return _REGIONAL
        return _DETAILED if self.geography in {"USA", "STATE", "PR-STATE"} else _DETAILED_LOCAL


def _moe(persons: int) -> str:
    return f"moe_95 = {persons}"


def _budget(text: str) -> str:
    return f'budget = "{text}"'


def _paper_levels() -> tuple[_Level, ...]:
    targets = (("USA", 2, 6), ("STATE", 2, 6), ("COUNTY", 2, 11), ("AIANNH", 2, 11), ("USA", 1, 50), ("STATE", 1, 50))
    return tuple(_Level("us", name, level, _moe(moe)) for name, level, moe in (*targets, ("COUNTY", 1, 50)))


def _census_levels() -> tuple[_Level, ...]:
    levels: list[_Level] = []
    for run, names in (
        ("us", tuple(GEOGRAPHY)),
        ("pr", ("PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE")),
    ):
        for name in names:
            detailed = "2.134" if name in {"USA", "STATE", "PR-STATE"} else "0.159"
            regional = "0" if name == "AIANNH" else "0.008"
            levels += [_Level(run, name, 1, _budget(regional)), _Level(run, name, 2, _budget(detailed))]
    return tuple(levels)


TITLES = {
    "paper": "The seven population group levels of the paper, with its margin of error targets",
    "census-2020": "Detailed DHC-A, 2020 Census production settings",
}


def release_toml(like: str) -> str:
    """A commented `release.toml` that loads as it stands; `like` is one of TITLES."""
    levels = _paper_levels() if like == "paper" else _census_levels()
    runs = {"us": list(STATES)} | ({"pr": [PUERTO_RICO]} if any(level.run == "pr" for level in levels) else {})
    geography_names = dict.fromkeys(level.geography for level in levels)
    lines = [
        "# A SafeTab release: everything that is chosen before any record is read.",
        "# Numbers in quotes are kept exactly as written. Every key is described in docs/reference/release.md;",
        "# `safetab schema` prints a schema for editors, `safetab check` says what is wrong.",
        "",
        *_settings(like),
        "",
        *_table("ages", AGES, AgesPart),
        "",
        *_columns(),
        "",
        f"# Geography levels. {_about(GeographyPart, 'columns')}",
        f"# absent: {_about(GeographyPart, 'absent')}",
        f"# local: {_about(GeographyPart, 'local')}",
        *(line for name in geography_names for line in ("", *_geography(name))),
        "",
        f"# Runs. {RunPart.__doc__}",
        *(line for name, states in runs.items() for line in ("", *_run(name, states))),
        "",
        "# Population group levels. " + _about(LevelPart, "budget"),
        f"# moe_95: {_about(LevelPart, 'moe_95')}",
        f"# thresholds: {_about(LevelPart, 'thresholds')}",
        *(line for level in levels for line in ("", *_level(level))),
    ]
    return "\n".join(lines) + "\n"


def _about(model: type[BaseModel], key: str) -> str:
    return model.model_fields[key].description or ""


def _value(value: Any) -> str:
    """A value as TOML writes it; for text, numbers, lists and switches that is what JSON writes."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def _wrapped(key: str, values: Sequence[Any], indent: str = "  ") -> list[str]:
    """A list over several lines where one would be too long."""
    line = f"{key} = {_value(list(values))}"
    if len(line) <= 110:
        return [line]
    per_line = 1 if isinstance(values[0], list) else 12
    rows = [values[start : start + per_line] for start in range(0, len(values), per_line)]
    return [f"{key} = [", *(f"{indent}{json.dumps(list(row))[1:-1]}," for row in rows), "]"]


def _settings(like: str) -> Iterator[str]:
    values: dict[str, Any] = {
        "safetab": 1,
        "title": TITLES[like],
        "privacy": "zcdp",
        "max_race_codes": 8,
        "stage_1_fraction": "0.1",
        "zero_suppression_chance": "0.9999",
        "allow_negative_counts": True,
        "code_width": 4,
    }
    for key, value in values.items():
        yield f"# {_about(ReleaseDocument, key)}"
        yield f"{key} = {_value(value)}"


def _table(name: str, values: Mapping[str, Any], model: type[BaseModel]) -> Iterator[str]:
    yield f"[{name}]"
    for key, value in values.items():
        if _about(model, key):
            yield f"# {_about(model, key)}"
        yield from _wrapped(key, value) if isinstance(value, list) else [f"{key} = {_value(value)}"]


def _columns() -> Iterable[str]:
    plain = {key: value for key, value in COLUMNS.items() if key != "widths"}
    yield from _table("columns", plain, ColumnsPart)
    yield f"# {_about(ColumnsPart, 'widths')}"
    yield f"widths = {_value(COLUMNS['widths'])}"


def _geography(name: str) -> Iterator[str]:
    yield f"[geography.{name}]"
    for key, value in GEOGRAPHY[name.removeprefix("PR-")].items():
        yield f"{key} = {_value(value)}"


def _run(name: str, states: list[str]) -> Iterator[str]:
    yield "[[run]]"
    yield f'name = "{name}"'
    yield from _wrapped("where.TABBLKST", states)


def _level(level: _Level) -> Iterator[str]:
    yield "[[level]]"
    yield f'run = "{level.run}"'
    yield f'geography = "{level.geography}"'
    yield f"iteration_level = {level.iteration_level}"
    yield level.spending
    yield f"thresholds = {_value(list(level.thresholds))}"
