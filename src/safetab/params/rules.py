"""What a release's choices must satisfy (PARAMS) and what its group definitions must (GROUPS)."""

from __future__ import annotations

from safetab.errors import Rule, Severity

NO_RELEASE = Rule(
    "PARAMS-001",
    "a parameters folder holds `release.toml` or the Bureau's `config.json`",
    "Name the right folder, or write a release with `safetab init DIR`.",
)
TWO_RELEASES = Rule(
    "PARAMS-002",
    "the folder holds both `release.toml` and `config.json`",
    "Keep one of the two, or name the file itself instead of the folder.",
)
NOT_JSON = Rule("PARAMS-003", "the file is not JSON", "Correct the line named; a JSON editor shows what is missing.")
NOT_TOML = Rule("PARAMS-004", "the file is not TOML", "Correct the line named; text values stand in quotes.")
REPEATED_KEY = Rule("PARAMS-005", "a key stands twice in the same object", "Keep one of the two.")
UNKNOWN_KEY = Rule(
    "PARAMS-006", "this key has no meaning here", "Remove it, or correct its spelling; see docs/reference/release.md."
)
MISSING_KEY = Rule("PARAMS-007", "this key is needed and is not there", "Add it; see docs/reference/release.md.")
WRONG_TYPE = Rule("PARAMS-008", "the value has another type than this key takes", "See docs/reference/release.md.")
NOT_A_DECIMAL = Rule(
    "PARAMS-009",
    "this is a number, written in decimals, so that it can be kept exactly",
    'Write it as decimal text, for example "0.159".',
)
NEGATIVE_BUDGET = Rule(
    "PARAMS-010",
    "a budget is 0 or more; 0 switches the level off",
    'Write it as decimal text, for example "0.159".',
)
STAGE_1_FRACTION = Rule(
    "PARAMS-011",
    "the stage 1 fraction lies between 0 and 1, both excluded",
    'Write the share of the budget spent on choosing the detail, for example "0.1".',
)
SUPPRESSION_CHANCE = Rule(
    "PARAMS-012",
    "the zero suppression chance is 0 (off) or lies between 0 and 1",
    'Write the chance with which an empty group is dropped, for example "0.9999".',
)
THREE_THRESHOLDS = Rule(
    "PARAMS-013",
    "a level has exactly three thresholds, whole numbers",
    "Write the noisy totals from which the three kinds of sex by age table are published.",
)
FALLING_THRESHOLDS = Rule(
    "PARAMS-014", "thresholds never decrease; equal ones are allowed", "Put the three thresholds in order."
)
BUDGET_OR_MOE = Rule(
    "PARAMS-015",
    "a level has either a `budget` or a target `moe_95`",
    "Keep one of the two; `budget` is exact, `moe_95` is turned into a budget.",
)
MOE_TARGET = Rule(
    "PARAMS-016", "a target `moe_95` is a whole number, 1 or more", "Write the margin of error in persons."
)
PRIVACY_DEFINITION = Rule(
    "PARAMS-017",
    "the privacy definition is `zcdp` (discrete Gaussian noise) or `puredp` (two-sided geometric noise)",
    "Write one of the two.",
)
MAX_RACE_CODES = Rule(
    "PARAMS-018",
    "`max_race_codes` is a whole number from 1 to the number of race code columns, 8 at the most",
    "Write the most race codes a record can have.",
)
AGE_BINS = Rule(
    "PARAMS-019",
    "there are three lists of age bins; each starts at 0, rises, and starts no later than the oldest age",
    "Write the first age of each bin, coarsest list first.",
)
UNKNOWN_RUN = Rule("PARAMS-020", "a level names a run that is not defined", "Correct the name, or add a [[run]].")
UNKNOWN_GEOGRAPHY = Rule(
    "PARAMS-021", "a level names a geography level that is not defined", "Correct the name, or add a [geography.NAME]."
)
REPEATED_LEVEL = Rule(
    "PARAMS-022",
    "a population group level stands twice in one run",
    "Keep one of the two; each would spend its budget.",
)
NO_LEVELS = Rule(
    "PARAMS-023", "a run has at least one population group level", "Add [[level]] entries, or remove the run."
)
NO_RUNS = Rule("PARAMS-024", "nothing is switched on", "Define at least one run; in config.json, set run_us or run_pr.")
RUN_NAME = Rule(
    "PARAMS-025",
    "a run's name is its file name: lower-case letters, digits and dashes, and different from the other runs'",
    "Choose a short name such as `us`.",
)
RUNS_OVERLAP = Rule(
    "PARAMS-026",
    "runs take disjoint records: each has `where` on the same column, with values no other run has",
    "Give each run its own values; otherwise their budgets add up and no ledger would say so.",
)
RUN_FILTER = Rule(
    "PARAMS-027",
    "`where` names one column that is part of a block's name, and at least one value, each once",
    'Write it as for example `where = { STATE = ["01", "02"] }`.',
)
REGION_COLUMNS = Rule(
    "PARAMS-028",
    "a geography level has `columns`, or a `region_id` for the one region that holds everything",
    "Give one of the two.",
)
REGION_WIDTHS = Rule(
    "PARAMS-029",
    "a region id put together from several columns needs the width of each, or two regions could share an id",
    "Add the column to [columns.widths].",
)
ABSENT_COLUMN = Rule(
    "PARAMS-030", "`absent` speaks of the columns of its own geography level", "Name one of the level's columns."
)
LEVEL_NUMBER = Rule(
    "PARAMS-031", "an iteration level is a whole number, 1 or more; level 0 is never tabulated", "Write 1, 2, ..."
)
STATE_FILTER = Rule(
    "PARAMS-032",
    "`state_filter_us` lists two-digit state codes, each once, without 72 (Puerto Rico is a run of its own)",
    'Write it as for example ["01", "02"].',
)
THRESHOLD_KEY = Rule(
    "PARAMS-033", "thresholds stand under keys like `(COUNTY, 2)`", "Correct the geography level or iteration level."
)
READER = Rule("PARAMS-034", "`reader` is `csv` or `cef`", "Write `csv`.")
CEF_READER = Rule(
    "PARAMS-035",
    "the Bureau's internal record format is not read; text and Parquet files are",
    "Export the records as text or Parquet; write `csv` to silence this.",
    Severity.WARNING,
)
FORMAT_VERSION = Rule(
    "PARAMS-036", "`safetab` at the top gives the version of this file's format, which is 1", "Write `safetab = 1`."
)
UNUSED_GEOGRAPHY = Rule(
    "PARAMS-037", "no level uses this geography level", "Remove it, or add a level.", Severity.WARNING
)
FILE_NAME = Rule("PARAMS-038", "a file name is a plain name inside its folder", "Write the name without slashes.")
REPEATED_NAME = Rule("PARAMS-039", "a list of columns or values names one twice", "Keep one of the two.")
EMPTY_TEXT = Rule("PARAMS-040", "this text must not be empty", "Write a name or value.")

REPEATED_CODE = Rule("GROUPS-001", "a race or ethnicity code is defined once", "Keep one of the lines.")
CODE_WIDTH = Rule(
    "GROUPS-002",
    "race, ethnicity and iteration codes have a fixed number of characters, leading zeros included",
    "Restore the leading zeros, or correct `code_width` in the release.",
)
REPEATED_ITERATION = Rule(
    "GROUPS-003",
    "an iteration code is defined once, in the race file or in the ethnicity file",
    "Give one of the two iterations another code.",
)
ITERATION_WITHOUT_CODES = Rule(
    "GROUPS-004",
    "an iteration has at least one code in the code-to-iteration file",
    "Add its codes, or remove the iteration.",
)
UNKNOWN_CODE = Rule(
    "GROUPS-005",
    "the code-to-iteration file maps codes that the code list defines",
    "Add the code to the code list, or correct the line.",
)
UNKNOWN_ITERATION = Rule(
    "GROUPS-006",
    "the code-to-iteration file maps to iterations that an iteration file defines",
    "Add the iteration, or correct the line.",
)
REPEATED_MAPPING = Rule(
    "GROUPS-007",
    "a line stands once in the code-to-iteration file",
    "Remove the repeated lines; the Bureau's own program would double the noise for them.",
)
BOTH_FLAGS = Rule(
    "GROUPS-008", "an iteration is not both DETAILED_ONLY and COARSE_ONLY", "Set one of the two flags to False."
)
LEVEL_0_FLAGS = Rule(
    "GROUPS-009",
    "level 0 has `Null` in DETAILED_ONLY and COARSE_ONLY, and every other level has True or False",
    "Correct the flags or the level.",
)
FLAG = Rule("GROUPS-010", "flags are `True`, `False` or, for level 0, `Null`", "Correct the spelling.")
ITERATION_LEVEL = Rule(
    "GROUPS-011",
    "LEVEL is 0 or an iteration level that some population group level names",
    "Correct the level, or add population group levels for it.",
)
OVERLAP = Rule(
    "GROUPS-012",
    "within one iteration level, aloneness and kind of geography, a code belongs to at most one iteration",
    "Take the code out of all but one of the iterations, or change their flags.",
)
EMPTY_LEVEL = Rule(
    "GROUPS-013",
    "a population group level with a budget has no iterations, so its budget buys nothing",
    "Set the budget to 0, or correct the levels and flags of the iterations.",
    Severity.WARNING,
)
