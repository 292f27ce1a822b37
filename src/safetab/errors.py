"""What can go wrong, in one shape.

A `Rule` says what must hold in the user's files or words; it has a stable code and the next step for someone who broke
it. A `Finding` is one place where a rule is broken. Code that judges input returns findings; code that cannot continue
raises one `SafetabError` with all of them. The command line prints them and chooses the exit status; nothing else does.

Values from confidential files never enter a finding: `seen` quotes parameter files, the geography and the user's own
words only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

#: The state of the world when something is refused before any noise is drawn.
UNSPENT = "No noise was drawn and no budget was spent."
#: After the registry has the entry of a release that was not published.
COUNTED = (
    "Nothing was published, but the registry counts the budget of this release as spent: noise may have been drawn, "
    "and nobody can be sure that none of it was seen. The next tabulation is refused unless you add --spend-again "
    "(spend_again=True from Python); the registry then counts both."
)
#: The same without a registry.
UNCOUNTED = (
    "Nothing was published, but noise may have been drawn: count the budget of this release as spent. No registry was "
    "named, so nothing else counts it."
)
#: The same where the noise protects nobody.
NOT_COUNTED = "Nothing was published. This tabulation was not private, so there is no budget to count."
#: When something fails after the output is in its place.
PUBLISHED = "The output is complete and in its place, and its budget is spent. Do not tabulate again."
_STATES = (UNSPENT, COUNTED, UNCOUNTED, NOT_COUNTED, PUBLISHED)
NOTHING_WRITTEN = "Nothing was written."
#: How many line numbers a finding shows; the rest are counted.
LINES_SHOWN = 5


class Severity(Enum):
    """Whether a finding stops the work."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Rule:
    """What must hold (`text`), and what to do where it does not (`next_step`)."""

    code: str
    text: str
    next_step: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule broken in one place: a file, perhaps a key path in it, perhaps lines of it."""

    rule: Rule
    file: str
    key: str = ""
    lines: tuple[int, ...] = ()
    count: int = 0
    seen: str = ""
    unit: str = "line"

    @classmethod
    def at_lines(cls, rule: Rule, file: str, lines: Sequence[int], key: str = "", seen: str = "") -> Finding:
        """A finding on many lines: the first few are named, all are counted."""
        return cls(rule, file, key=key, lines=tuple(lines[:LINES_SHOWN]), count=len(lines), seen=seen)

    @property
    def is_error(self) -> bool:
        return self.rule.severity is Severity.ERROR

    @property
    def place(self) -> str:
        parts = [self.file]
        if self.key:
            parts.append(self.key)
        if self.lines:
            shown = ", ".join(str(line) for line in self.lines)
            more = self.count - len(self.lines)
            tail = f" and {more} more" if more > 0 else ""
            plural = "s" if len(self.lines) + max(more, 0) > 1 else ""
            parts.append(f"{self.unit}{plural} {shown}{tail}")
        return ", ".join(part for part in parts if part)

    def sentence(self) -> str:
        """Place, what was seen and the rule, as one sentence."""
        verb = "are" if max(self.count, len(self.lines)) > 1 else "is"
        seen = f" {verb} {self.seen}" if self.seen and self.key else f" ({self.seen})" if self.seen else ""
        return f"{self.place}{seen}: {self.rule.text}."

    def as_json(self) -> dict[str, object]:
        return {
            "code": self.rule.code,
            "severity": self.rule.severity.value,
            "file": self.file,
            "key": self.key,
            self.unit + "s": list(self.lines),
            "count": self.count,
            "seen": self.seen,
            "rule": self.rule.text,
            "next_step": self.rule.next_step,
        }


class SafetabError(Exception):
    """SafeTab could not do what was asked. The error has every finding, and the state that files and budget are in.

        SafetabError
        |-- InputError    the user's files break rules                            exit status 1
        |-- UsageError    the request is refused: an option, an output folder     exit status 2
        `-- MachineError  disk, memory, an engine or the source of noise failed   exit status 3

    Its text says, for each finding, the code, the place, the rule, the state and the next step. UsageError is also a
    ValueError. Other wrong arguments from Python raise a plain TypeError or ValueError.
    """

    exit_status: ClassVar[int] = 3

    def __init__(self, findings: Iterable[Finding] | Finding, state: str = NOTHING_WRITTEN) -> None:
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        super().__init__()
        self.restate(state)

    def restate(self, state: str) -> None:
        """Say another state: whoever raises an error does not always know what was done before."""
        self.state = state
        self.args = ("\n".join(map(self._paragraph, self.findings)),)

    def as_json(self) -> dict[str, object]:
        return {"state": self.state, "findings": [finding.as_json() for finding in self.findings]}

    def _paragraph(self, finding: Finding) -> str:
        code = finding.rule.code
        what_next = f"{self.state} {finding.rule.next_step}".strip()
        return f"{code}  {finding.sentence()}\n{' ' * len(code)}  {what_next}"


class InputError(SafetabError):
    """The user's files, or tables passed from Python in their place, break one or more rules."""

    exit_status = 1


class UsageError(SafetabError, ValueError):
    """The request is refused: an option or argument of the command, or an output folder that must not be touched."""

    exit_status = 2


class MachineError(SafetabError):
    """The machine failed: disk, memory, an engine, or the source of randomness."""

    exit_status = 3


def tell_state(error: BaseException, state: str) -> None:
    """Make any error say in which state it left files and budget."""
    if isinstance(error, SafetabError):
        error.restate(state)
    else:
        error.add_note(state)


def state_told(error: BaseException) -> str:
    """The state that an error says. Other notes are left out: they may quote a record."""
    if isinstance(error, SafetabError):
        return error.state
    return next((note for note in getattr(error, "__notes__", ()) if note in _STATES), NOTHING_WRITTEN)
