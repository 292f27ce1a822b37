"""What the geography file must satisfy beyond being a readable table."""

from __future__ import annotations

from safetab.errors import Rule, Severity

WRONG_WIDTH = Rule(
    "GEO-001",
    "values of this column have a fixed number of characters, leading zeros included",
    "Restore the leading zeros, or correct the width in the release.",
)
REPEATED_BLOCK = Rule(
    "GEO-002",
    "a block stands once in the geography file",
    "Keep one line for each block; it lies in one area of a level.",
)
RUN_WITHOUT_BLOCKS = Rule(
    "GEO-003",
    "every run needs at least one block in the geography file",
    "Switch the run off, or correct which records it takes.",
)
LEVEL_WITHOUT_REGIONS = Rule(
    "GEO-004",
    "no block lies in any region of this geography level, so its budget buys nothing",
    "Set the budget to 0, or correct the columns of the geography level.",
    Severity.WARNING,
)
VALUE_WITHOUT_BLOCKS = Rule(
    "GEO-005",
    "the run names a value of this column that no block has",
    "Correct the value, or leave it if the geography file is meant to hold only part of the country.",
    Severity.WARNING,
)
