"""Every deliberate fault there is, and finding one by its name or by its rule."""

from __future__ import annotations

from safetab.errors import Finding, UsageError
from safetab.synth import rules
from safetab.synth.faults import definitions, records, release, tables
from safetab.synth.faults.site import Fault

FAULTS: tuple[Fault, ...] = (*tables.FAULTS, *release.FAULTS, *definitions.FAULTS, *records.FAULTS)


def find_fault(word: str) -> Fault:
    """The fault of this name, or the first that breaks the rule of this code."""
    for fault in FAULTS:
        if word == fault.name or word.upper() == fault.code:
            return fault
    raise UsageError(Finding(rules.UNKNOWN_BREAK, "safetab synth", key="--break", seen=f'"{word}"'))
