"""What is told of faults that the first pass counted and the second could not find again."""

from __future__ import annotations

from safetab.engines.faults import counted_faults
from safetab.errors import Finding
from safetab.rules import record_rules


def test_each_broken_rule_is_reported_with_its_records() -> None:
    first, second = record_rules.FAULTS[:2]
    found = counted_faults("people", {0b00: 7, 0b01: 2, 0b11: 3})
    assert found == [Finding(first, "people", count=5), Finding(second, "people", count=3)]


def test_sound_records_have_no_fault() -> None:
    assert counted_faults("people", {0: 7}) == []
