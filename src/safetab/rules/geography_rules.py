"""What the geography file must satisfy besides the rules for every table (GEO)."""

from __future__ import annotations

from safetab.errors import Rule, Severity

WRONG_WIDTH = Rule(
    "GEO-001",
    "the values of this column must have a fixed number of characters, including leading zeros",
    "A spreadsheet removes leading zeros: export the table again, with this column as text. Or correct the width in "
    "the release.",
)
REPEATED_BLOCK = Rule(
    "GEO-002",
    "a block must appear once in the geography file",
    "Keep one line for each block. A block is in at most one region of a geography level.",
)
RUN_WITHOUT_BLOCKS = Rule(
    "GEO-003",
    "every run must have at least one block in the geography file",
    "Switch the run off, or correct its `where`.",
)
LEVEL_WITHOUT_REGIONS = Rule(
    "GEO-004",
    "no block is in any region of this geography level, so the budget is wasted",
    "Set the budget to 0, or correct the columns of the geography level.",
    Severity.WARNING,
)
VALUE_WITHOUT_BLOCKS = Rule(
    "GEO-005",
    "the run names a value of this column that no block has",
    "Correct the value. Do nothing if the geography file is meant to cover only some of the country.",
    Severity.WARNING,
)
VALUE_IN_NO_RUN = Rule(
    "GEO-007",
    "blocks with this value of the column are in no run, so everybody there is left out of all tables",
    "Add the value to a run. Do nothing if these people are meant to be left out.",
    Severity.WARNING,
)
LABEL = Rule(
    "GEO-006",
    "the values of this column must not have `|`, quotation marks or control characters",
    "Remove these characters. Region ids are published as they are, and text tables have no way to write them.",
)
TWO_NAMES = Rule(
    "GEO-010",
    "a region must have one name; on these lines it has another name than above",
    "Correct the names, or the columns of the geography level: two regions may have the same id.",
)
