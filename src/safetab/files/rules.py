"""What every table on disk must satisfy, whatever it holds."""

from __future__ import annotations

from safetab.errors import Rule, Severity

MISSING_FILE = Rule(
    "FILE-001",
    "this file is needed and is not there",
    "Put the file in place, or name the right folder; `safetab check --help` says which files are read.",
)
EMPTY_FILE = Rule("FILE-002", "the file is empty; a header line is needed", "Write the file again from its source.")
NOT_UTF8 = Rule("FILE-003", "text must be UTF-8", "Convert the file, for example with `iconv -f latin1 -t utf-8`.")
WRONG_DELIMITER = Rule(
    "FILE-004", "fields are separated by `|`, without quoting", "Export the table with `|` between the fields."
)
MISSING_COLUMN = Rule(
    "FILE-005",
    "the header must name this column; columns are found by name, in any order",
    "Add the column, or correct its name in the header line.",
)
REPEATED_COLUMN = Rule("FILE-006", "the header names a column twice", "Remove or rename one of the two columns.")
FIELD_COUNT = Rule(
    "FILE-007",
    "every line must have as many fields as the header",
    "Look for a missing or an extra `|`, or a line that was cut off.",
)
BLANK_LINE = Rule("FILE-008", "blank lines may stand only at the end of the file", "Remove the blank lines.")
EMPTY_VALUE = Rule("FILE-009", "this column must have a value on every line", "Fill in the value, or remove the line.")
NO_ROWS = Rule("FILE-010", "the table has a header and no lines below it", "Write the file again from its source.")
UNREADABLE = Rule(
    "FILE-011",
    "the file cannot be read by this user",
    "Check that it is a file, not a folder, and that its permissions allow reading.",
)
NOT_PARQUET = Rule(
    "FILE-012",
    "the file is not readable as Parquet: damaged, cut off, or of another format",
    "Write the file again from its source.",
)
MISSING_VALUE = Rule(
    "FILE-013", "a Parquet column that is read here must hold no nulls", "Fill in the values, or remove the rows."
)
COLUMN_TYPE = Rule(
    "FILE-014", "a Parquet column that is read here holds text or whole numbers", "Cast the column to text."
)
TWO_FORMS = Rule(
    "FILE-015",
    "the table is there both as text and as Parquet",
    "Keep one of the two, so that it is clear which counts.",
)
PARTS_DIFFER = Rule(
    "FILE-016", "the part files of one table must have the same columns and types", "Write the parts again in one job."
)
NUL_BYTE = Rule("FILE-017", "text must not hold NUL bytes", "The file may be UTF-16 or damaged: convert or rewrite it.")
MIXED_LINE_ENDS = Rule(
    "FILE-018",
    "all lines of a file end alike, in LF or in CRLF",
    "Write the file again from its source; it may be joined from several files.",
)
UNREAD_COLUMN = Rule(
    "FILE-019",
    "these columns are not read",
    "Nothing, if that is meant; otherwise name them in the release.",
    Severity.WARNING,
)
