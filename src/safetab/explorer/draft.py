"""A plan that is being edited: the document of a release, field by field, always sound.

In: a release, and what people type into fields. Out: the next draft, or why there is none. The promise: a draft is what
`safetab check` accepts and `safetab account` reports on, because every edit goes through the same document and the same
rules as a file; `release.toml` is written from that document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from safetab.accounting.accuracy.calibration import CONFIDENCE_95
from safetab.errors import Finding
from safetab.noise.laws import Law
from safetab.params.document_text import document_toml
from safetab.params.exact import decimal_text, exact
from safetab.params.load import Parameters, read_document
from safetab.params.plan import PlannedLevel, noise_findings
from safetab.params.validate import validate
from safetab.rules import release_rules
from safetab.rules.accounting_rules import DELTA_IS_A_CHANCE
from safetab.rules.noise_rules import LAW_FITS
from safetab.rules.usage_rules import NOT_A_NUMBER

MOE, BUDGET, THRESHOLDS = "moe_95", "budget", "thresholds"
#: Fields of the whole release; `delta` is not of the release but of the question about its cost.
TITLE, FRACTION, SUPPRESSION, DELTA = "title", "stage_1_fraction", "zero_suppression_chance", "delta"
_LEVEL_FIELD = re.compile(rf"level-([0-9]+)-({MOE}|{BUDGET}|{THRESHOLDS})")
_LONGEST = 200
#: Rules whose text speaks of keys and options, in words for fields.
_ON_THE_PAGE = {
    release_rules.MOE_TARGET: "a margin must be a whole number, 1 or more",
    NOT_A_NUMBER: "this must be a decimal number",
}


class WrongFieldError(ValueError):
    """What was typed is not accepted; the text says why and what to write instead."""


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One level as the fields show it: its margin and its budget, of which one is given and the other follows."""

    number: int
    run: str
    name: str
    is_margin_given: bool
    margin: str
    budget: str
    thresholds: str
    planned: PlannedLevel = field(repr=False)


@dataclass(frozen=True, slots=True)
class Draft:
    """A sound plan, and the delta that its cost is stated at."""

    document: Mapping[str, Any] = field(repr=False)
    parameters: Parameters = field(repr=False)
    delta_text: str = "1e-10"

    @property
    def delta(self) -> Fraction:
        return exact(self.delta_text)

    @property
    def toml(self) -> str:
        """The plan as `release.toml`."""
        return document_toml(self.document)

    @property
    def levels(self) -> tuple[LevelRow, ...]:
        """All levels in the order of the document, including those that are off."""
        of_run = {run.name: iter(run.levels) for run in self.parameters.plan.runs}
        return tuple(_row(number, raw, next(of_run[raw["run"]])) for number, raw in enumerate(self.document["level"]))

    def fields(self) -> dict[str, str]:
        """What every field shows."""
        shown = {key: str(self.document.get(key, "")) for key in (TITLE, FRACTION, SUPPRESSION)}
        shown[DELTA] = self.delta_text
        for row in self.levels:
            shown[level_field(row.number, MOE)] = row.margin
            shown[level_field(row.number, BUDGET)] = row.budget
            shown[level_field(row.number, THRESHOLDS)] = row.thresholds
        return shown


def level_field(number: int, key: str) -> str:
    """The name of a field of a level."""
    return f"level-{number}-{key}"


def draft_of(parameters: Parameters) -> Draft:
    """The plan of files that were loaded."""
    return Draft(read_document(parameters.folder / parameters.file), parameters)


def edited(draft: Draft, name: str, text: str) -> Draft:
    """The draft with what was typed into a field; raises `WrongFieldError` where that is not accepted."""
    text = text.strip()
    if len(text) > _LONGEST:
        raise WrongFieldError(f"This is too long: {_LONGEST} characters at the most.")
    if name == DELTA:
        return Draft(draft.document, draft.parameters, _delta(text))
    document = dict(draft.document)
    found = _LEVEL_FIELD.fullmatch(name)
    if found is not None and int(found[1]) < len(document["level"]):
        levels = deepcopy(document["level"])
        _change_level(levels[int(found[1])], found[2], text)
        document["level"] = levels
    elif name in {TITLE, FRACTION, SUPPRESSION}:
        document[name] = text
        if name == SUPPRESSION and not text:
            del document[name]
    else:
        raise WrongFieldError("There is no such field.")
    return _checked(document, draft)


def _checked(document: Mapping[str, Any], before: Draft) -> Draft:
    parameters, findings = before.parameters, list[Finding]()
    release = validate(document, parameters.file, findings)
    if release is not None:
        parameters = Parameters(parameters.folder, parameters.file, release, parameters.catalogue)
        findings.extend(noise_findings(parameters.plan, release.most_cells, parameters.file))
    errors = [finding for finding in findings if finding.is_error]
    if errors or release is None:
        raise WrongFieldError(_sentences(errors[0], len(before.parameters.release.table_cells)))
    return Draft(document, parameters, before.delta_text)


def _sentences(finding: Finding, tables: int = 0) -> str:
    """What is wrong, in the words of the rule, and what to type: a field takes no quotes and no names of keys."""
    text = _ON_THE_PAGE.get(finding.rule, finding.rule.text)
    next_step = finding.rule.next_step
    if finding.rule is release_rules.THRESHOLDS and tables:
        numbers = ", ".join(str(5**number * 100) for number in range(tables))
        next_step = f"Write {tables} whole number{'s' if tables > 1 else ''}, such as {numbers}."
    elif finding.rule is LAW_FITS:
        next_step = "Its noise is larger than any number of people: write a smaller margin or a larger budget."
    return f"{text[0].upper()}{text[1:]}. {next_step}".replace('"', "").replace("`", "")


def _change_level(level: dict[str, Any], key: str, text: str) -> None:
    if key == THRESHOLDS:
        words = re.split(r"[,;\s]+", text) if text else []
        level[key] = [int(word) if re.fullmatch(r"-?[0-9]+", word) else word for word in words]
        return
    del level[BUDGET if BUDGET in level else MOE]
    # A margin is a whole number; other words stay as they are, for the rule to refuse them.
    level[key] = int(text) if key == MOE and re.fullmatch(r"[0-9]+", text) else text


def _delta(text: str) -> str:
    try:
        is_chance = 0 < exact(text) <= 1
    except ValueError:
        raise WrongFieldError(_sentences(Finding(NOT_A_NUMBER, DELTA))) from None
    if not is_chance:
        raise WrongFieldError(_sentences(Finding(DELTA_IS_A_CHANCE, DELTA)))
    return text


@lru_cache(maxsize=1024)
def _margin(law: Law) -> int:
    """The margin of a count; a change leaves that of most levels as it was."""
    return law.two_sided_quantile(CONFIDENCE_95)


def _row(number: int, raw: Mapping[str, Any], planned: PlannedLevel) -> LevelRow:
    is_margin_given = raw.get(MOE) is not None
    margin, budget = str(raw.get(MOE, "")), str(raw.get(BUDGET, ""))
    if is_margin_given:
        budget = decimal_text(planned.budget)
    elif planned.is_measured:
        noise = planned.noise
        margin = str(_margin(noise.event(noise.target_stage).law))
    thresholds = ", ".join(map(str, raw.get(THRESHOLDS) or ()))
    return LevelRow(number, raw["run"], planned.name, is_margin_given, margin, budget, thresholds, planned)
