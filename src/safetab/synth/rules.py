"""What a synthetic country that is asked for must satisfy."""

from __future__ import annotations

from safetab.errors import Rule

PERSONS = Rule(
    "SYNTH-001",
    "the number of persons is a whole number from 2, one for each run, to 10,000,000,000",
    "Name a size that fits the disk; a person takes some 6 bytes as Parquet and 80 as text.",
)
SEED = Rule("SYNTH-002", "a seed is a whole number from 0 to 2^63 - 1", "Leave --seed out, or write another number.")
EXISTS = Rule(
    "SYNTH-003", "this is there already and nothing is ever overwritten", "Name another folder, or move it away."
)
NO_SPACE = Rule(
    "SYNTH-004",
    "the disk has too little room for a country of this size",
    "Free some space, name a folder on another disk, or ask for fewer persons.",
)
UNKNOWN_BREAK = Rule(
    "SYNTH-005", "no fault has this name or rule", "`safetab synth --break list` lists the faults that can be made."
)
FOREIGN_COLUMNS = Rule(
    "SYNTH-006",
    "the release must read the columns of the Bureau's data files, which are the ones that are written",
    "Use the column names and values of `safetab init --like census-2020`.",
)
FOREIGN_STATES = Rule(
    "SYNTH-007",
    "the release must take records of at least one of the fifty states, the District of Columbia or Puerto Rico",
    "Correct `state_filter_us` or the `where` of the runs: state codes are two digits, such as 06.",
)
NO_RACE_CODES = Rule(
    "SYNTH-008",
    "the group definitions must have race codes, and an ethnicity code for people who are not Hispanic",
    "Map some codes to race iterations, and keep one code, such as 9950, out of every tabulated iteration.",
)
NO_PARENT = Rule(
    "SYNTH-009", "the folder in which the country is to be made must be there", "Make the folder, or name another one."
)
