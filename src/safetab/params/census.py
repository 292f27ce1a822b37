"""The Bureau's `config.json`, read as the release document that it describes.

In: the parsed file. Out: the same choices in the shape of `release.toml`, and a way back from each place in it to the
Bureau's key, so that a fault is reported in the words of the user's own file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from safetab.errors import Finding, Rule
from safetab.params.document import ReleaseDocument
from safetab.params.key_help import meaning_of, with_keys, with_meaning
from safetab.params.release import Release
from safetab.params.validate import Path, key_path, validate
from safetab.rules import release_rules

PUERTO_RICO = "72"
_STATE, _COUNTY, _TRACT, _BLOCK = "TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"

GEOGRAPHY: dict[str, dict[str, Any]] = {
    "USA": {"region_id": "1"},
    "STATE": {"columns": [_STATE]},
    "COUNTY": {"columns": [_STATE, _COUNTY], "local": True},
    "TRACT": {"columns": [_STATE, _COUNTY, _TRACT], "local": True},
    "PLACE": {"columns": [_STATE, "PLACEFP"], "absent": {"PLACEFP": "99999"}, "local": True},
    "AIANNH": {"columns": ["AIANNHCE"], "absent": {"AIANNHCE": "9999"}, "local": True},
}
_PR_GEOGRAPHY = {f"PR-{name}": GEOGRAPHY[name] for name in ("STATE", "COUNTY", "TRACT", "PLACE")}
_ITERATION_LEVELS = (1, 2)

COLUMNS: dict[str, Any] = {
    "block": [_STATE, _COUNTY, _TRACT, _BLOCK],
    "age": "QAGE",
    "sex": "QSEX",
    "sexes": ["1", "2"],
    "race_codes": [f"QRACE{number}" for number in range(1, 9)],
    "ethnicity": "QSPAN",
    "no_code": "Null",
    "widths": {_STATE: 2, _COUNTY: 3, _TRACT: 6, _BLOCK: 4, "PLACEFP": 5, "AIANNHCE": 4},
}
AGES: dict[str, Any] = {
    "oldest": 115,
    "bins": [
        [0, 18, 45, 65],
        [0, 5, 18, 25, 35, 45, 55, 65, 75],
        [0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85],
    ],
}
#: The Bureau's users read its text files column by column.
OUTPUT: dict[str, Any] = {"columns": "bureau"}
#: Keys that are the same thing under another name.
_SAME = {
    "max_race_codes": "max_race_codes",
    "privacy_budget_p_stage_1_fraction": "stage_1_fraction",
    "zero_suppression_chance": "zero_suppression_chance",
    "allow_negative_counts": "allow_negative_counts",
    "privacy_defn": "privacy",
}
_OPTIONAL = {"zero_suppression_chance", "state_filter_us"}
#: Keys that only this file has, and what they mean.
_OTHERS = {
    "thresholds_p": 'The three thresholds of each population group level, by its name, such as "(COUNTY, 2)".',
    "run_us": "Whether the United States are tabulated: true or false.",
    "run_pr": "Whether Puerto Rico is tabulated: true or false.",
    "reader": "How the records are stored. SafeTab reads csv: text or Parquet.",
    "state_filter_us": 'The states to tabulate, such as ["01", "02"].',
}
_BUDGET_MEANING = "The budget of the population group level: rho for zcdp, epsilon for puredp. 0 switches it off."
_THRESHOLD_KEY = re.compile(r"\(\s*([A-Z-]+)\s*,\s*([0-9])\s*\)")


def budget_key(geography: str, iteration_level: int) -> str:
    """The Bureau's key for a level's budget: `privacy_budget_p_level_2_pr_state`."""
    return f"privacy_budget_p_level_{iteration_level}_{geography.lower().replace('-', '_')}"


_BUDGET_KEYS = {budget_key(name, level) for name in (*GEOGRAPHY, *_PR_GEOGRAPHY) for level in _ITERATION_LEVELS}


def _with_help(rule: Rule, key: str) -> Rule:
    """The rule in the words of this file: what a key means, or which keys there are."""
    if rule is release_rules.UNKNOWN_KEY:
        return with_keys(rule, [*_SAME, *_OTHERS, *sorted(_BUDGET_KEYS)])
    if rule not in (release_rules.MISSING_KEY, release_rules.WRONG_TYPE):
        return rule
    if key in _SAME:
        return with_meaning(rule, meaning_of((_SAME[key],)))
    return with_meaning(rule, _OTHERS.get(key.partition("[")[0], _BUDGET_MEANING))


class _Translation:
    """Builds the document and remembers which of the Bureau's keys each of its places came from."""

    def __init__(self, config: Mapping[str, Any], file: str, findings: list[Finding]) -> None:
        self.config, self.file, self.findings = config, file, findings
        self.document: dict[str, Any] = {
            "safetab": 1,
            "title": "Detailed DHC-A",
            "code_width": 4,
            "ages": AGES,
            "output": OUTPUT,
            "columns": COLUMNS,
            "geography": {},
            "run": [],
            "level": [],
        }
        self.key_of: dict[Path, str] = {}

    def report(self, rule: Rule, key: str, seen: str = "") -> None:
        self.findings.append(Finding(_with_help(rule, key), self.file, key=key, seen=seen))

    def put(self, path: Path, key: str, value: Any) -> Any:
        self.key_of[path] = key
        return value

    def translate(self) -> None:
        for key, ours in _SAME.items():
            # Where the document needs the key too, validation reports it, under the name that is put here.
            value = self.put((ours,), key, self.config.get(key))
            if key in self.config:
                self.document[ours] = value
            elif key not in _OPTIONAL and not ReleaseDocument.model_fields[ours].is_required():
                self.report(release_rules.MISSING_KEY, key)
        for key in self.config:
            if key not in _SAME and key not in _OTHERS and key not in _BUDGET_KEYS:
                self.report(release_rules.UNKNOWN_KEY, key)
        self._judge_reader()
        thresholds = self._thresholds()
        if self._is_switched_on("run_us"):
            self._add_run("us", self._states(), GEOGRAPHY, thresholds)
        if self._is_switched_on("run_pr"):
            self._add_run("pr", [PUERTO_RICO], _PR_GEOGRAPHY, thresholds)
        self.put(("run",), "run_us, run_pr", None)

    def _is_switched_on(self, key: str) -> bool:
        value = self.config.get(key)
        if key not in self.config:
            self.report(release_rules.MISSING_KEY, key)
        elif not isinstance(value, bool):
            self.report(release_rules.WRONG_TYPE, key, f"{value!r} (should be true or false)")
        return value is True

    def _judge_reader(self) -> None:
        if "reader" not in self.config:
            self.report(release_rules.MISSING_KEY, "reader")
        elif self.config["reader"] == "cef":
            self.report(release_rules.CEF_READER, "reader", '"cef"')
        elif self.config["reader"] != "csv":
            self.report(release_rules.READER, "reader", repr(self.config["reader"]))

    def _states(self) -> list[str]:
        if "state_filter_us" not in self.config:
            self.report(release_rules.MISSING_KEY, "state_filter_us")
            return []
        states = self.config["state_filter_us"]
        is_sound = (
            isinstance(states, list)
            and bool(states)
            and all(isinstance(state, str) and re.fullmatch(r"[0-9]{2}", state) for state in states)
            and len(set(states)) == len(states)
            and PUERTO_RICO not in states
        )
        if not is_sound:
            self.report(release_rules.STATE_FILTER, "state_filter_us")
        return states if is_sound else []

    def _thresholds(self) -> dict[tuple[str, int], tuple[str, Any]]:
        """The thresholds of each population group level, with the key they stand under."""
        if "thresholds_p" not in self.config:
            self.report(release_rules.MISSING_KEY, "thresholds_p")
            return {}
        if not isinstance(self.config["thresholds_p"], Mapping):
            self.report(release_rules.WRONG_TYPE, "thresholds_p", "not an object")
            return {}
        found: dict[tuple[str, int], tuple[str, Any]] = {}
        for key, value in self.config["thresholds_p"].items():
            match = _THRESHOLD_KEY.fullmatch(key.strip())
            place = f'thresholds_p["{key}"]'
            level = (match[1], int(match[2])) if match else ("", 0)
            if budget_key(*level) not in _BUDGET_KEYS or level in found:
                self.report(release_rules.THRESHOLD_KEY, place)
            else:
                found[level] = (place, value)
        return found

    def _add_run(
        self,
        name: str,
        states: list[str],
        geography: Mapping[str, dict[str, Any]],
        thresholds: Mapping[tuple[str, int], tuple[str, Any]],
    ) -> None:
        self.document["geography"].update(geography)
        number = len(self.document["run"])
        # An unsound filter is reported once, above; here any one value keeps the rest of the document sound.
        self.document["run"].append({"name": name, "where": {_STATE: states or ["00"]}})
        self.put(("run", number), "state_filter_us" if name == "us" else "run_pr", None)
        for geography_name in geography:
            for iteration_level in _ITERATION_LEVELS:
                self._add_level(
                    name, geography_name, iteration_level, thresholds.get((geography_name, iteration_level))
                )

    def _add_level(self, run: str, geography: str, iteration_level: int, thresholds: tuple[str, Any] | None) -> None:
        key = budget_key(geography, iteration_level)
        if key not in self.config:
            self.report(release_rules.MISSING_KEY, key)
        budget = self.config.get(key, 0)
        if thresholds is None and budget:
            self.report(release_rules.MISSING_KEY, f'thresholds_p["({geography}, {iteration_level})"]')
        threshold_key, values = thresholds or ("thresholds_p", [0, 0, 0])
        path: Path = ("level", len(self.document["level"]))
        self.document["level"].append(
            {
                "run": run,
                "geography": geography,
                "iteration_level": iteration_level,
                "budget": self.put((*path, "budget"), key, budget),
                "thresholds": self.put((*path, "thresholds"), threshold_key, values),
            }
        )

    def key_name(self, path: Path) -> str:
        """The Bureau's key for a place in the document: that of the nearest place above it that has one."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.key_of:
                return self.key_of[path[:length]] + key_path(path[length:])
        return key_path(path)


def release_of_config(config: Mapping[str, Any], file: str, findings: list[Finding]) -> Release | None:
    """The release that the Bureau's configuration describes."""
    translation = _Translation(config, file, findings)
    before = len(findings)
    translation.translate()
    release = validate(translation.document, file, findings, translation.key_name)
    return None if any(_errors(findings[before:])) else release


def document_of_config(config: Mapping[str, Any], file: str) -> dict[str, Any]:
    """The document that `release.toml` would be, of a configuration that has no faults."""
    translation = _Translation(config, file, [])
    translation.translate()
    return translation.document


def _errors(findings: list[Finding]) -> Iterator[Finding]:
    return (finding for finding in findings if finding.is_error)
