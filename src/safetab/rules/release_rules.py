"""What the choices of a release must satisfy (PARAMS)."""

from __future__ import annotations

from safetab.errors import Rule, Severity

NO_RELEASE = Rule(
    "PARAMS-001",
    "a parameters folder must contain `release.toml` or the Bureau's `config.json`",
    "Name the right folder, or write a release with `safetab init DIR`.",
)
TWO_RELEASES = Rule(
    "PARAMS-002",
    "a parameters folder must contain `release.toml` or `config.json`, or both if they are equal; these two differ",
    "Keep one of the two, or name the file instead of the folder.",
)
NOT_JSON = Rule("PARAMS-003", "the file must be valid JSON", "Correct the line. A JSON editor shows what is missing.")
NOT_TOML = Rule("PARAMS-004", "the file must be valid TOML", "Correct the line. Text values need quotes.")
REPEATED_KEY = Rule("PARAMS-005", "a key must appear once in an object", "Keep one of the two.")
UNKNOWN_KEY = Rule("PARAMS-006", "this key does not exist here", "Remove it, or correct its spelling.")
MISSING_KEY = Rule("PARAMS-007", "this key is needed and is missing", "Add it.")
WRONG_TYPE = Rule("PARAMS-008", "the value has the wrong type for this key", "Correct the value.")
NOT_A_DECIMAL = Rule(
    "PARAMS-009",
    "this must be a decimal number, so that every digit is kept",
    'Write it as decimal text, for example "0.159".',
)
NEGATIVE_BUDGET = Rule(
    "PARAMS-010",
    "a budget must be 0 or more; 0 switches the level off",
    'Write it as decimal text, for example "0.159".',
)
STAGE_1_FRACTION = Rule(
    "PARAMS-011",
    "the stage 1 fraction must be greater than 0 and less than 1",
    'Write the share of the budget that is spent on choosing the detail, for example "0.1".',
)
SUPPRESSION_CHANCE = Rule(
    "PARAMS-012",
    "the zero suppression chance must be 0 (off) or between 0 and 1",
    'Write the probability with which an empty group is suppressed, for example "0.9999".',
)
THRESHOLDS = Rule(
    "PARAMS-013",
    "a level must have a threshold for each stat level above 0, which is a whole number of at most 15 digits",
    "Write the noisy total from which a group gets the table of each list of age bins, coarse to fine. A release with "
    "sex and without ages has one threshold. One without both has none: leave `thresholds` out.",
)
FALLING_THRESHOLDS = Rule(
    "PARAMS-014", "thresholds must not decrease; equal ones are allowed", "Put the thresholds in order."
)
BUDGET_OR_MOE = Rule(
    "PARAMS-015",
    "a level must have either a `budget` or a target `moe_95`",
    "Keep one of the two. `budget` is used as it is; `moe_95` is turned into a budget.",
)
MOE_TARGET = Rule(
    "PARAMS-016", "a target `moe_95` must be a whole number, 1 or more", "Write the margin of error in persons."
)
PRIVACY_DEFINITION = Rule(
    "PARAMS-017",
    "the privacy definition must be `zcdp` (discrete Gaussian noise) or `puredp` (two-sided geometric noise)",
    "Write one of the two.",
)
MAX_RACE_CODES = Rule(
    "PARAMS-018",
    "`max_race_codes` must be a whole number from 1 to the number of race code columns, at most 8",
    "Write the largest number of race codes that a record can have.",
)
AGE_BINS = Rule(
    "PARAMS-019",
    "there must be one, two or three lists of age bins; each starts at 0, increases, and has no age above the oldest",
    "Write the first age of each bin. The coarsest list comes first.",
)
UNKNOWN_RUN = Rule("PARAMS-020", "the run of a level must be defined", "Correct the name, or add a [[run]].")
UNKNOWN_GEOGRAPHY = Rule(
    "PARAMS-021", "the geography level of a level must be defined", "Correct the name, or add a [geography.NAME]."
)
REPEATED_LEVEL = Rule(
    "PARAMS-022",
    "a population group level must appear once in a run",
    "Keep one of the two. Each would spend its budget.",
)
NO_LEVELS = Rule(
    "PARAMS-023", "a run must have at least one population group level", "Add [[level]] entries, or remove the run."
)
NO_RUNS = Rule(
    "PARAMS-024", "at least one run must be switched on", "Define a run. In config.json, set run_us or run_pr."
)
RUN_NAME = Rule(
    "PARAMS-025",
    "the name of a run is also its file name: it must have lower-case letters, digits and dashes only, at most 100 of "
    "them, and be unique",
    "Choose a short name such as `us`.",
)
RUNS_OVERLAP = Rule(
    "PARAMS-026",
    "no record may be in two runs: every run needs `where` on the same column, with values that no other run has",
    "Give each run its own values. Otherwise the budgets of the runs add up, and the ledger would not show it.",
)
RUN_FILTER = Rule(
    "PARAMS-027",
    "`where` must name one of the block columns, and at least one value, each value once",
    'Write it like `where = { STATE = ["01", "02"] }`.',
)
REGION_COLUMNS = Rule(
    "PARAMS-028",
    "a geography level must have `columns`, or a `region_id` for one region that contains everything",
    "Give one of the two.",
)
REGION_WIDTHS = Rule(
    "PARAMS-029",
    "every column of a region id made of several columns needs a width, or two regions could have the same id",
    "Add the column to [columns.widths].",
)
ABSENT_COLUMN = Rule(
    "PARAMS-030", "`absent` must name columns of the same geography level", "Name one of the columns of this level."
)
LEVEL_NUMBER = Rule(
    "PARAMS-031", "an iteration level must be a whole number, 1 or more; level 0 is never tabulated", "Write 1, 2, ..."
)
STATE_FILTER = Rule(
    "PARAMS-032",
    "`state_filter_us` must list two-digit state codes, each once, without 72 (Puerto Rico has its own run)",
    'Write it like ["01", "02"].',
)
THRESHOLD_KEY = Rule(
    "PARAMS-033",
    "the keys of the thresholds must look like `(COUNTY, 2)`",
    "Correct the geography level or the iteration level.",
)
READER = Rule("PARAMS-034", "`reader` must be `csv` or `cef`", "Write `csv`.")
CEF_READER = Rule(
    "PARAMS-035",
    "the Bureau's internal record format is not supported; text and Parquet files are",
    "Export the records as text or Parquet. Write `csv` to remove this warning.",
    Severity.WARNING,
)
FORMAT_VERSION = Rule(
    "PARAMS-036", "the key `safetab` must give the version of the file format, which is 1", "Write `safetab = 1`."
)
UNUSED_GEOGRAPHY = Rule(
    "PARAMS-037", "no level uses this geography level", "Remove it, or add a level.", Severity.WARNING
)
FILE_NAME = Rule(
    "PARAMS-038",
    "a file name must be a plain name of at most 200 bytes, without a folder and without control characters",
    "Write a short name without slashes.",
)
REPEATED_NAME = Rule("PARAMS-039", "a list of columns or values must name each one once", "Keep one of the two.")
EMPTY_TEXT = Rule("PARAMS-040", "this text must not be empty", "Write a name or value.")
LABEL = Rule(
    "PARAMS-041",
    "this text is published as it is: it must not have `|`, quotation marks, line ends or other control characters",
    "Choose another label. The text tables have no way to write it.",
)
CONTROL_CHARACTERS = Rule(
    "PARAMS-042", "a name or value must not have line ends or other control characters", "Remove these characters."
)
GEOGRAPHY_NAME = Rule(
    "PARAMS-043",
    "the name of a geography level is published: it must not be empty, nor have `/`, `|`, quotation marks, line ends "
    "or other control characters",
    "Choose a short name such as `COUNTY`.",
)
COLUMNS_ALIKE = Rule(
    "PARAMS-044",
    "the names of two columns must differ in more than capitals, or an engine does not tell them apart",
    "Rename one of the columns, in the release and in the file.",
)
TOO_MANY_SEXES = Rule(
    "PARAMS-045",
    "there must be at most 1,000 values of the sex column",
    "List the values of the sex column, which are published unchanged.",
)
DELIMITER = Rule(
    "PARAMS-060",
    'a `delimiter` must be "|", ",", ";" or "\\t", or a table that gives one of them to some of the files',
    'Write it like `delimiter = ","` or `delimiter = { geography = ";", records = "," }`.',
)
QUOTE = Rule(
    "PARAMS-061",
    """`quote` must be '"' (fields may be quoted as in RFC 4180) or "" (never), or a table that gives one of them to """
    "some of the files",
    """Write it like `quote = '"'` or `quote = { records = "" }`.""",
)
NAME_COLUMN = Rule(
    "PARAMS-062",
    "only a geography level with `columns` can have a `name_column`",
    "Remove `name_column`, or give the level its `columns`.",
)
EQUAL_RELEASES = Rule(
    "PARAMS-063",
    "the folder has `release.toml` and `config.json`, and the two are equal; `release.toml` is read",
    "Do nothing, or remove one of them before you change the other.",
    Severity.WARNING,
)
DIFFERENT_RELEASES = Rule(
    "PARAMS-064",
    "the two releases must be equal, and these parts of them are not",
    "Change one of the two, or do nothing if they are meant to differ.",
)
AGES_AND_COLUMN = Rule(
    "PARAMS-065",
    "`[ages]` and the column `age` must be there together, or neither",
    "Write both, or leave both out: T2 is then by sex alone.",
)
SEX_AND_SEXES = Rule(
    "PARAMS-066",
    "`sex` and `sexes` must be there together, or neither",
    "Write both, or leave both out: T2 is then by age alone.",
)
