"""What can go wrong, in one shape.

A `Rule` is a promise about the user's files or words, with a stable code and the step that mends it. A `Finding` is one
place where a rule is broken. Code that judges input returns findings; code that cannot go on raises one
`SafetabError` that carries all of them. The command line prints them and picks the exit status; nothing else does.

Values from confidential files never enter a finding: `seen` quotes parameter files and the user's own words only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

#: The state of the world when something is refused before any noise is drawn.
UNSPENT = "No noise was drawn and no budget was spent."
#: How many line numbers a finding shows; the rest are counted.
LINES_SHOWN = 5


class Severity(Enum):
    """Whether a finding stops the work."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Rule:
    """A promise about input: what must hold (`text`) and what to do where it does not (`next_step`)."""

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
        seen = f" is {self.seen}" if self.seen and self.key else f" ({self.seen})" if self.seen else ""
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
    """Work that was asked for could not be done; carries every finding, and the state the world is left in.

    SafetabError
    |-- InputError    the user's files break a rule             exit status 1
    |-- UsageError    the command or call itself is wrong        exit status 2
    `-- MachineError  disk, memory, engine or entropy failed     exit status 3
    """

    exit_status: ClassVar[int] = 3

    def __init__(self, findings: Iterable[Finding] | Finding, state: str = "Nothing was written.") -> None:
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        self.state = state
        super().__init__("\n".join(f"{f.rule.code}  {f.sentence()}" for f in self.findings))


class InputError(SafetabError):
    """The user's files, or values handed in from Python, break one or more rules."""

    exit_status = 1


class UsageError(SafetabError):
    """The command line, or a call from Python, asks for something that has no meaning."""

    exit_status = 2


class MachineError(SafetabError):
    """The machine failed: disk, memory, an engine, or the source of randomness."""

    exit_status = 3
