"""New releases for people to start from: a commented `release.toml`.

The geography, columns and age bins are those of the Bureau's files, taken from the one place that knows them; the
comments are the descriptions of the keys. The result loads without changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safetab.params.census import AGES, COLUMNS, GEOGRAPHY, OUTPUT, PUERTO_RICO
from safetab.params.document_text import document_toml

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
    #: Its budget, or the margin of error in its place.
    spending: Mapping[str, Any]

    @property
    def thresholds(self) -> tuple[int, int, int]:
        if self.iteration_level == 1:
            return _REGIONAL
        return _DETAILED if self.geography in {"USA", "STATE", "PR-STATE"} else _DETAILED_LOCAL

    def as_document(self) -> dict[str, Any]:
        """The level as `release.toml` has it."""
        return {
            "run": self.run,
            "geography": self.geography,
            "iteration_level": self.iteration_level,
            **self.spending,
            "thresholds": list(self.thresholds),
        }


def _paper_levels() -> tuple[_Level, ...]:
    targets = (("USA", 2, 6), ("STATE", 2, 6), ("COUNTY", 2, 11), ("AIANNH", 2, 11), ("USA", 1, 50), ("STATE", 1, 50))
    return tuple(_Level("us", name, level, {"moe_95": moe}) for name, level, moe in (*targets, ("COUNTY", 1, 50)))


def _census_levels() -> tuple[_Level, ...]:
    levels: list[_Level] = []
    for run, names in (
        ("us", tuple(GEOGRAPHY)),
        ("pr", ("PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE")),
    ):
        for name in names:
            detailed = "2.134" if name in {"USA", "STATE", "PR-STATE"} else "0.159"
            regional = "0" if name == "AIANNH" else "0.008"
            levels += [_Level(run, name, 1, {"budget": regional}), _Level(run, name, 2, {"budget": detailed})]
    return tuple(levels)


TITLES = {
    "paper": "The seven population group levels of the paper, with its margin of error targets",
    "census-2020": "Detailed DHC-A, 2020 Census production settings",
}


def release_toml(like: str) -> str:
    """A commented `release.toml` that loads without changes; `like` is one of TITLES."""
    levels = _paper_levels() if like == "paper" else _census_levels()
    runs = {"us": list(STATES)} | ({"pr": [PUERTO_RICO]} if any(level.run == "pr" for level in levels) else {})
    document = {
        "safetab": 1,
        "title": TITLES[like],
        "privacy": "zcdp",
        "max_race_codes": 8,
        "stage_1_fraction": "0.1",
        "zero_suppression_chance": "0.9999",
        "allow_negative_counts": True,
        "code_width": 4,
        "ages": AGES,
        "output": OUTPUT if like == "census-2020" else {"columns": "all"},
        "columns": COLUMNS,
        "geography": {level.geography: GEOGRAPHY[level.geography.removeprefix("PR-")] for level in levels},
        "run": [{"name": name, "where": {"TABBLKST": states}} for name, states in runs.items()],
        "level": [level.as_document() for level in levels],
    }
    return document_toml(document)
