"""What a command must satisfy (USAGE)."""

from __future__ import annotations

from safetab.errors import Rule

WRONG_WORDS = Rule(
    "USAGE-001",
    "SafeTab does not understand this command",
    "`safetab COMMAND --help` describes a command.",
)
EXISTS = Rule("USAGE-002", "this already exists and would be overwritten", "Name another folder, or move it away.")
NOT_A_FOLDER = Rule("USAGE-003", "this must be a folder", "Name a folder, not a file.")
NOT_A_NUMBER = Rule(
    "USAGE-010", "this option takes a decimal number", "Write it like 0.001 or 1e-10. Every digit is kept."
)
MOE_WORDS = Rule(
    "USAGE-011",
    "a target must be a level of the release and a margin of error, joined by =",
    "Write it like `USA,2=6`: geography level, iteration level, persons.",
)
UNKNOWN_LEVEL = Rule("USAGE-012", "the release has no such level", "Name one of its levels.")
MOE_OF_NOTHING = Rule(
    "USAGE-013",
    "a target must be a whole number of persons, 1 or more",
    "Write 1 or more. A margin of error of 0 would publish 95 % of the counts without any noise.",
)
TWO_TARGETS = Rule(
    "USAGE-014",
    "a level can have one target: --moe, --total-moe or --budget",
    "Keep one of the options for this level.",
)
BUDGET_WORDS = Rule(
    "USAGE-015",
    "a budget must be a level of the release and a decimal number above 0, joined by =",
    "Write it like `USA,2=0.5`: geography level, iteration level, rho or epsilon.",
)
SIZES_TWICE = Rule(
    "USAGE-016",
    "sizes come from one place: a table (--sizes) or a release (--like)",
    "Leave one of the options out.",
)
SIZES_OF_ONE_PLAN = Rule(
    "USAGE-017",
    "with one release, `safetab account` uses no sizes of groups",
    "Use `safetab detail`, or name the releases to compare.",
)
CROSS_CHECK_OF_ONE_PLAN = Rule(
    "USAGE-018",
    "a cross-check needs exactly one release",
    "Leave out --cross-check, or name one release.",
)
NOT_A_RELEASE = Rule(
    "USAGE-004", "this is not a folder that `safetab tabulate` wrote", "Name the OUT folder of a tabulation."
)
NO_SUCH_REGION = Rule(
    "USAGE-005",
    "the release has no rows for this region",
    "Look up the region id in t1, or its name in data-dictionary.json.",
)
REGION_OF_SEVERAL_TYPES = Rule(
    "USAGE-006",
    "several regions have this id or name; an id is unique within a type only",
    "Name one of them as TYPE/ID.",
)
MISSING_OPTIONS = Rule(
    "USAGE-030",
    "a release for your own files needs these options too",
    "Add them. On a terminal `safetab init` asks for what is missing; `safetab init --help` describes every option.",
)
OPTION_WORDS = Rule(
    "USAGE-031",
    "this option must have the form that `safetab init --help` shows",
    'Write it like `--region NATION`, `--region REGION=RegionCode:"Region name"`, `--group-levels Code1:Name1,Code2`, '
    '`--sexes F,M`, `--no-group 999` or `--delimiter geography=";"`.',
)
NOT_TOGETHER = Rule(
    "USAGE-032",
    "a release is written from a template (--like), from another release (--from) or for your own files",
    "Use the options of one of these ways.",
)
TWO_COUNTRIES = Rule(
    "USAGE-034",
    "a geography level without a column is the whole country, and there can be only one such level",
    "Add the column of its region codes, like `--region REGION=RegionCode`.",
)
LEVEL_TWICE = Rule(
    "USAGE-035",
    "a geography level can be named once only",
    "Give each --region a name of its own, or leave one of the two out.",
)
GROUP_LEVEL_TWICE = Rule(
    "USAGE-036",
    "a column of codes is one level of groups",
    "Name the columns of each level once, coarse to fine, like `--group-levels Code1:Name1,Code2:Name2`.",
)
MANY_CODES = Rule(
    "USAGE-037",
    "a record has at most 8 columns of codes",
    "Name 8 columns or fewer. Codes in other columns are not counted.",
)
LEVELS_OUT_OF_ORDER = Rule(
    "USAGE-038",
    "geography levels are named coarse to fine, because the country and its largest regions are not local and all "
    "others are",
    "Name the larger regions first, like `--region NATION --region REGION=RegionCode --region AREA=AreaCode`.",
)
MANY_SEXES = Rule(
    "USAGE-033",
    "the values of the sex column are written into release.toml, which is public; a column with so many different "
    "values may be another one",
    "Name the right column with --sex, or list its values with --sexes.",
)
