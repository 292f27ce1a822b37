"""What the group definitions must satisfy (GROUPS)."""

from __future__ import annotations

from safetab.errors import Rule, Severity

REPEATED_CODE = Rule("GROUPS-001", "a race or ethnicity code must be defined once", "Keep one of the lines.")
CODE_WIDTH = Rule(
    "GROUPS-002",
    "race, ethnicity and iteration codes must have a fixed number of characters, including leading zeros",
    "Restore the leading zeros, or correct `code_width` in the release.",
)
REPEATED_ITERATION = Rule(
    "GROUPS-003",
    "an iteration code must be defined once, in the race file or in the ethnicity file",
    "Give one of the two iterations another code.",
)
ITERATION_WITHOUT_CODES = Rule(
    "GROUPS-004",
    "an iteration must have at least one code in the code-to-iteration file",
    "Add its codes, or remove the iteration.",
)
UNKNOWN_CODE = Rule(
    "GROUPS-005",
    "every code in the code-to-iteration file must be in the code list",
    "Add the code to the code list, or correct the line.",
)
UNKNOWN_ITERATION = Rule(
    "GROUPS-006",
    "every iteration in the code-to-iteration file must be in an iteration file",
    "Add the iteration to its file, or correct the line.",
)
REPEATED_MAPPING = Rule(
    "GROUPS-007",
    "a line must appear once in the code-to-iteration file",
    "Remove the repeated lines. The Bureau's own program would double the noise for them.",
)
BOTH_FLAGS = Rule(
    "GROUPS-008", "an iteration must not be both DETAILED_ONLY and COARSE_ONLY", "Set one of the two flags to False."
)
LEVEL_0_FLAGS = Rule(
    "GROUPS-009",
    "level 0 must have `Null` in DETAILED_ONLY and COARSE_ONLY, and every other level True or False",
    "Correct the flags or the level.",
)
FLAG = Rule("GROUPS-010", "a flag must be `True`, `False` or, for level 0, `Null`", "Correct the spelling.")
ITERATION_LEVEL = Rule(
    "GROUPS-011",
    "LEVEL must be 0 or the iteration level of a population group level of the release",
    "Correct the level, or add population group levels for it.",
)
OVERLAP = Rule(
    "GROUPS-012",
    "at one iteration level and one kind of geography, a code must be in at most one iteration of each kind",
    "Remove the code from all but one of the iterations, or change their flags.",
)
EMPTY_LEVEL = Rule(
    "GROUPS-013",
    "this population group level has a budget but no iterations, so the budget is wasted",
    "Set the budget to 0, or correct the levels and flags of the iterations.",
    Severity.WARNING,
)
CODE_LABEL = Rule(
    "GROUPS-014",
    "a code must not have `|`, quotation marks or control characters",
    "Remove these characters. Iteration codes are published as they are, and text tables have no way to write them.",
)
NO_CODE_IS_A_CODE = Rule(
    "GROUPS-015",
    "the code list must not contain the value that marks a record without a code",
    "Choose another `no_code` in the release, or another code. Otherwise nobody with this code would be counted.",
)
TOO_MANY_GROUPS = Rule(
    "GROUPS-016",
    "there must be at most 32,767 codes, and as many iterations",
    "Leave out codes and iterations that nobody needs.",
)
CODE_ON_TWO_LINES = Rule(
    "GROUPS-020",
    "the last level of a table of groups must have each code on one line",
    "Keep one line for each code. The last pair of --group-levels names the codes that are in the records.",
)
TWO_NAMES = Rule(
    "GROUPS-021",
    "a group must have one name; on these lines it has another name than above",
    "Correct the names, or name the right columns in --group-levels.",
)
NO_GROUP_OF_CODES = Rule(
    "GROUPS-022",
    "--no-group takes the codes that records have, those of the last level of the table of groups; this is the code of "
    "a larger group",
    "Name the codes of this group, for example `--no-group 998,999`.",
)
NO_GROUP_SPELLING = Rule(
    "GROUPS-024",
    "--no-group must write a code as the table of groups does; a code of its last level differs from this one in "
    "leading zeros alone",
    "Write the code with the leading zeros that it has in the table.",
)
NO_GROUPS_LEFT = Rule(
    "GROUPS-023",
    "at least one code of the table of groups must be in a group",
    "Name fewer codes with --no-group.",
)
