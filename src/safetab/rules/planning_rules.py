"""What a table of expected sizes must satisfy (PLAN)."""

from __future__ import annotations

from safetab.errors import Rule

SIZE_COUNT = Rule(
    "PLAN-001",
    "an expected size must be a whole number of persons, without a sign and with at most 11 digits",
    "Write the number of persons as digits, such as 1513326.",
)
SIZE_CODE = Rule(
    "PLAN-002",
    "an expected size must belong to an iteration of the group definitions",
    "Correct the code, or leave the line out.",
)
SIZE_TWICE = Rule("PLAN-003", "a group can have one expected size only", "Keep one of the lines.")
SIZE_REGION = Rule(
    "PLAN-004",
    "the type of a region must be a geography level of the release",
    "Correct REGION_TYPE, or leave the line out.",
)
NO_NATION = Rule(
    "PLAN-005",
    "sizes without regions belong to the geography level that is one region, and the release has no such level",
    "Add the columns REGION_TYPE and REGION_ID.",
)
NO_SIZES = Rule(
    "PLAN-006",
    "none of these sizes belongs to a group that the release tabulates",
    "Use sizes of the groups and geography levels of this release.",
)
