"""What the records must satisfy; findings say how many records break a rule, never their values (RECORDS)."""

from __future__ import annotations

from safetab.errors import Rule, Severity

UNKNOWN_BLOCK = Rule(
    "RECORDS-001",
    "the block of every record must be in the geography file",
    "Add the block to the geography file, or correct the record. SafeTab never leaves people out silently.",
)
AGE = Rule("RECORDS-002", "an age must be a whole number from 0 to the oldest age of the release", "Correct the ages.")
SEX = Rule(
    "RECORDS-003",
    "a sex must be one of the values that the release lists",
    "Correct the values, or add them to `sexes`.",
)
UNKNOWN_CODE = Rule(
    "RECORDS-004",
    "a race code must be in the code list",
    "Correct the record, or add the code to the code list. If `safetab init` wrote that list, add the code to your "
    "table of groups and run it again.",
)
CODE_AFTER_GAP = Rule(
    "RECORDS-005",
    "there must be no race code after the first empty race column",
    "Move the codes to the first columns.",
)
TOO_MANY_CODES = Rule(
    "RECORDS-006",
    "a record must have at most `max_race_codes` race codes, because the guarantee depends on it",
    "Raise `max_race_codes`, or correct the records.",
)
NO_RACE_CODE = Rule(
    "RECORDS-007", "a record must have at least one race code", "Add one, for example a code for `not stated`."
)
ETHNICITY = Rule(
    "RECORDS-008", "an ethnicity code must be in the code list", "Add the code to the code list, or correct the record."
)
NOT_A_TABLE = Rule(
    "RECORDS-009",
    "every line of the records must have the fields of the header, in UTF-8, with the same kind of line end",
    "Write the file again from its source. It may be incomplete, or joined from several files.",
)
NO_RECORDS = Rule(
    "RECORDS-010",
    "a run without any record is tabulated like all others: each of its counts is noise added to 0",
    "If that is not what you mean, name the right file, or switch the run off.",
    Severity.WARNING,
)
PASSED_OVER = Rule(
    "RECORDS-011",
    "the name of a file with records must not begin with `_` or `.`, because Spark ignores such files",
    "Rename the file, or move it out of the folder if it contains no records.",
)
LEADING_ZEROS = Rule(
    "RECORDS-012",
    "a value must have the leading zeros that it has in the code list or in the geography file; these values differ in "
    "leading zeros alone",
    "A spreadsheet removes leading zeros. Export the table that lacks them again, with this column as text. If the "
    "column has numbers, say how wide they are: `code_width` or `widths` in the release.",
)
#: The faults of a record, in the order of the bits that mark them.
FAULTS = (UNKNOWN_BLOCK, AGE, SEX, UNKNOWN_CODE, CODE_AFTER_GAP, TOO_MANY_CODES, NO_RACE_CODE, ETHNICITY)
