"""What `safetab synth` needs to make a country (SYNTH)."""

from __future__ import annotations

from safetab.errors import Rule

PERSONS = Rule(
    "SYNTH-001",
    "the number of persons must be a whole number from 2 to 10,000,000,000",
    "Choose a number that fits on the disk: a person takes about 6 bytes as Parquet and 80 as text.",
)
SEED = Rule(
    "SYNTH-002", "a seed must be a whole number from 0 to 2^63 - 1", "Leave out --seed, or write another number."
)
EXISTS = Rule(
    "SYNTH-003",
    "the folder exists already, and nothing is ever overwritten",
    "Name another folder, or move this one away.",
)
NO_SPACE = Rule(
    "SYNTH-004",
    "the disk does not have enough space for a country of this size",
    "Free some space, name a folder on another disk, or ask for fewer persons.",
)
UNKNOWN_BREAKAGE = Rule(
    "SYNTH-005", "no breakage has this name or breaks this rule", "`safetab synth --break list` lists all breakages."
)
FOREIGN_COLUMNS = Rule(
    "SYNTH-006",
    "without --geography the blocks and regions must have the Bureau's columns, with --break the records too",
    "Name your own geography file with --geography, or use the columns of `safetab init --like census-2020`.",
)
FOREIGN_STATES = Rule(
    "SYNTH-007",
    "the release must include at least one of the fifty states, the District of Columbia or Puerto Rico",
    "Correct `state_filter_us` or the `where` of the runs: a state code has two digits, such as 06.",
)
NO_RACE_CODES = Rule(
    "SYNTH-008",
    "the group definitions must contain race codes and, if there is an ethnicity column, an ethnicity code",
    "Map codes to race iterations, and add a code for people of no ethnicity group, such as 9950.",
)
NO_PARENT = Rule(
    "SYNTH-009", "the folder that will contain the country must exist", "Create it, or name another folder."
)
SIZE_COUNT = Rule(
    "SYNTH-010",
    "the size of a group must be a whole number of persons, without a sign and with at most 11 digits",
    "Write the number of persons as digits, such as 1513326.",
)
SIZE_CODE = Rule(
    "SYNTH-011",
    "a size must belong to an iteration of the group definitions",
    "Correct the code, or leave the line out: groups without a size get one that fits the others.",
)
SIZE_TWICE = Rule("SYNTH-012", "a group can have one size only", "Keep one of the lines.")
GEOGRAPHY_ALONE = Rule(
    "SYNTH-013",
    "a geography file needs a release that says what its columns are",
    "Name the parameters folder with --params. `safetab init` writes one for your own files.",
)
OWN_LAND = Rule(
    "SYNTH-014",
    "this option is for a country whose land is invented",
    "Leave it out, or leave out --geography. --persons says how many people your own country has.",
)
