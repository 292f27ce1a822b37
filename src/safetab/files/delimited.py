"""How the fields of a text table are separated: as the release says, or as the header line shows.

In: a header line, the columns wanted, and what was told about the file. Out: a `TextForm`, or a finding that shows the
line to add. Promise: without a word from anybody a form is chosen only where no other delimiter fits the header as
well; bars without quotes around the names are read without quoting, as the Bureau writes them.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from safetab.errors import Finding, Rule
from safetab.rules import file_rules

#: Every delimiter that is read, and what people call it.
DELIMITERS = {"|": "bars", ",": "commas", ";": "semicolons", "\t": "tabs"}
QUOTE = '"'
_QUOTED_NAME = re.compile(r'(?:^|[|,;\t])"')


@dataclass(frozen=True, slots=True)
class TextForm:
    """The delimiter, and whether fields may be quoted as in RFC 4180. Without quoting a quotation mark is a letter."""

    delimiter: str = "|"
    is_quoted: bool = False

    def names(self, header: str) -> list[str]:
        """The columns that a header names; none where its quotation marks are wrong."""
        if not self.is_quoted:
            return header.split(self.delimiter)
        try:
            return next(csv.reader(io.StringIO(header, newline=""), delimiter=self.delimiter, strict=True), [])
        except csv.Error:
            return []


#: The Bureau's files.
BARS = TextForm()


@dataclass(frozen=True, slots=True)
class ToldForm:
    """What was told about the form of one file, None where nothing was, and how to tell more."""

    delimiter: str | None = None
    is_quoted: bool | None = None
    #: The key of the file in [files].
    file_key: str = ""
    #: Whether it is told by options of a command, because there is no release yet.
    by_options: bool = False

    def delimiter_line(self, delimiter: str) -> str:
        """What to write so that the file is read with a delimiter."""
        if self.by_options:
            return f"--delimiter {self.file_key}={'TAB' if delimiter == chr(9) else json.dumps(delimiter)}"
        return f"delimiter = {{ {self.file_key} = {json.dumps(delimiter)} }}"

    def no_quote_line(self) -> str:
        """What to write so that the file is read without quoting."""
        return f"--no-quotes {self.file_key}" if self.by_options else f'quote = {{ {self.file_key} = "" }}'

    @property
    def place(self) -> str:
        """Where to write it."""
        return "the command" if self.by_options else "[files] in release.toml"


NOTHING_TOLD = ToldForm()


def looks_quoted(header: str) -> bool:
    """Whether a name in a header begins with a quotation mark."""
    return _QUOTED_NAME.search(header) is not None


def judged_form(
    file: str, header: str, columns: Sequence[str], told: ToldForm, findings: list[Finding]
) -> TextForm | None:
    """The form of a file whose header names every wanted column once; otherwise findings."""
    form = form_of_header(header, columns, told)
    if form is None:
        findings.append(_ambiguous(file, header, told))
        return None
    names = form.names(header)
    if told.delimiter is not None and told.delimiter not in header and len(columns) > 1:
        findings.append(_other_delimiter(file, header, told))
        return None
    if not names:
        findings.append(wrong_quotes(file, 1, told))
        return None
    missing = [name for name in columns if name not in names]
    if missing and len(names) == 1 and len(columns) > 1:
        findings.append(_other_delimiter(file, header, told))
        return None
    findings.extend(Finding(file_rules.MISSING_COLUMN, file, key=name) for name in missing)
    repeated = [name for name in columns if names.count(name) > 1]
    findings.extend(Finding(file_rules.REPEATED_COLUMN, file, key=name) for name in repeated)
    return None if missing or repeated else form


def form_of_header(header: str, columns: Sequence[str], told: ToldForm) -> TextForm | None:
    """The form that was told, or the only one that fits the header; None where several fit."""

    def with_delimiter(delimiter: str) -> TextForm:
        is_quoted = delimiter != BARS.delimiter or looks_quoted(header)
        return TextForm(delimiter, is_quoted if told.is_quoted is None else told.is_quoted)

    if told.delimiter is not None:
        return with_delimiter(told.delimiter)
    forms = [with_delimiter(delimiter) for delimiter in DELIMITERS if delimiter in header]
    fitting = {form: len(set(columns) & set(names)) for form in forms if len(names := form.names(header)) > 1}
    if not fitting:
        return forms[0] if len(forms) == 1 else with_delimiter(BARS.delimiter)
    if len(fitting) == 1:
        return next(iter(fitting))
    most = max(fitting.values())
    best = [form for form, wanted in fitting.items() if wanted == most]
    return best[0] if most and len(best) == 1 else None


def wrong_quotes(file: str, line: int, told: ToldForm) -> Finding:
    """A finding on a quotation mark that RFC 4180 has no place for."""
    rule = file_rules.WRONG_QUOTES
    advice = f"{rule.next_step} If the file has no quoting, add `{told.no_quote_line()}` to {told.place}."
    return Finding(replace(rule, next_step=advice), file, lines=(line,))


def _ambiguous(file: str, header: str, told: ToldForm) -> Finding:
    rule = file_rules.AMBIGUOUS_DELIMITER
    found = [delimiter for delimiter in DELIMITERS if delimiter in header]
    lines = " or ".join(f"`{told.delimiter_line(delimiter)}`" for delimiter in found)
    return Finding(_advising(rule, f"Add {lines} to {told.place}."), file, lines=(1,), seen=_words(found))


def _other_delimiter(file: str, header: str, told: ToldForm) -> Finding:
    rule = file_rules.OTHER_DELIMITER
    found = [delimiter for delimiter in DELIMITERS if delimiter in header and delimiter != told.delimiter]
    if told.delimiter is None or not found:
        return Finding(rule, file, lines=(1,))
    lines = " or ".join(f"`{told.delimiter_line(delimiter)}`" for delimiter in found)
    return Finding(_advising(rule, f"Write {lines} in {told.place}."), file, lines=(1,), seen=_words(found))


def _advising(rule: Rule, next_step: str) -> Rule:
    return replace(rule, next_step=next_step)


def _words(delimiters: Sequence[str]) -> str:
    return "with " + " and ".join(DELIMITERS[delimiter] for delimiter in delimiters)
