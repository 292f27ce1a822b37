"""All breakages, and how to find one by its name or by its rule."""

from __future__ import annotations

from safetab.synth.breakages import definitions, person_records, release, tables
from safetab.synth.breakages.site import Breakage

BREAKAGES: tuple[Breakage, ...] = (
    *tables.BREAKAGES,
    *release.BREAKAGES,
    *definitions.BREAKAGES,
    *person_records.BREAKAGES,
)


def find_breakage(word: str) -> Breakage | None:
    """The breakage of this name, or the first that breaks the rule of this code; None if there is none."""
    return next((one for one in BREAKAGES if word == one.name or word.upper() == one.code), None)
