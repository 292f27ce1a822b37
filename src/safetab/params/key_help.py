"""What to do about a key, in words: an installed SafeTab has no pages to refer to, so the message says it itself.

In: a rule about a key, and the place of the key in the document. Out: the same rule with a next step that says what the
key means, or which keys there are. The promise: the words are those of the reference page and of `safetab schema`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from inspect import getdoc

from pydantic import BaseModel

from safetab.errors import Rule
from safetab.params.document import (
    AgesSection,
    ColumnsSection,
    GeographySection,
    LevelSection,
    OutputSection,
    ReleaseDocument,
    RunSection,
)
from safetab.params.files_section import FilesSection

Path = tuple[int | str, ...]

#: Each section of the document, and how many steps of a path lead to its keys: `level[3].budget` has two.
_SECTIONS: dict[str | int, tuple[type[BaseModel], int]] = {
    "ages": (AgesSection, 1),
    "columns": (ColumnsSection, 1),
    "files": (FilesSection, 1),
    "geography": (GeographySection, 2),
    "level": (LevelSection, 2),
    "output": (OutputSection, 1),
    "run": (RunSection, 2),
}


def with_meaning(rule: Rule, meaning: str) -> Rule:
    """The rule with a next step that says what the key means."""
    return replace(rule, next_step=f"{rule.next_step} Meaning of the key: {meaning}") if meaning else rule


def with_keys(rule: Rule, keys: Iterable[str]) -> Rule:
    """The rule with a next step that lists the keys there are."""
    return replace(rule, next_step=f"{rule.next_step} The keys here are {', '.join(keys)}.")


def keys_beside(path: Path) -> list[str]:
    """Every key of the section that a place of the document is in."""
    section, _ = _section(path)
    return list(section.model_fields)


def meaning_of(path: Path) -> str:
    """What the key at a place of the document means."""
    section, key = _section(path)
    field = section.model_fields.get(str(key))
    if field is not None and field.description:
        return field.description
    # A section as a whole is described where its keys are.
    return getdoc(_SECTIONS[key][0]) or "" if section is ReleaseDocument and key in _SECTIONS else ""


def _section(path: Path) -> tuple[type[BaseModel], str | int]:
    """The section that a place is in, and the key of it that leads to the place."""
    section, steps = _SECTIONS.get(path[0], (ReleaseDocument, 0)) if path else (ReleaseDocument, 0)
    return (section, path[steps]) if len(path) > steps else (ReleaseDocument, path[0] if path else "")
