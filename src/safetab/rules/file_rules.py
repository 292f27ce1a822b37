"""What every table on disk must satisfy, whatever it contains (FILE)."""

from __future__ import annotations

from safetab.errors import Rule, Severity

MISSING_FILE = Rule(
    "FILE-001",
    "this file or folder is needed and does not exist",
    "Put it in its place, or correct its name. `safetab check --help` says which files are read.",
)
EMPTY_FILE = Rule("FILE-002", "the file is empty; it must have a header line", "Write the file again from its source.")
NOT_UTF8 = Rule(
    "FILE-003",
    "text must be in UTF-8",
    "In a spreadsheet, save the table as `CSV UTF-8`. Or convert the file, for example with `iconv -f latin1 -t "
    "utf-8`.",
)
MISSING_COLUMN = Rule(
    "FILE-005",
    "the header must name this column; the order of columns does not matter",
    "Add the column, or use the name that the header has; capital letters and spaces count. The first line of a file "
    "must be its header.",
)
REPEATED_COLUMN = Rule(
    "FILE-006",
    "each column must be named once, in the header or in the names of folders",
    "Remove or rename one of the two columns.",
)
FIELD_COUNT = Rule(
    "FILE-007",
    "every line must have as many fields as the header",
    "Look for a missing or an extra delimiter, or an incomplete line. A field that contains the delimiter must be in "
    'quotation marks, and `quote` in [files] must not be "".',
)
BLANK_LINE = Rule("FILE-008", "blank lines are allowed only at the end of the file", "Remove the blank lines.")
EMPTY_VALUE = Rule("FILE-009", "this column must have a value on every line", "Fill in the value, or remove the line.")
NO_ROWS = Rule(
    "FILE-010", "the table must have at least one line below its header", "Write the file again from its source."
)
UNREADABLE = Rule(
    "FILE-011",
    "SafeTab must be allowed to read the file",
    "Check that it is a file, not a folder, and that its permissions allow reading.",
)
NOT_PARQUET = Rule(
    "FILE-012",
    "the file must be readable as Parquet; this one is damaged, incomplete or in another format",
    "Write the file again from its source.",
)
MISSING_VALUE = Rule(
    "FILE-013",
    "a column of Parquet, or of a table in memory, that is read must not contain nulls",
    "Fill in the values, or remove the rows.",
)
COLUMN_TYPE = Rule(
    "FILE-014",
    "a column of Parquet, or of a table in memory, that is read must contain text or whole numbers",
    "Cast the column to text, or to a type of whole numbers. Write a file again after that.",
)
TWO_FORMS = Rule(
    "FILE-015",
    "a table must exist once: as text, as compressed text or as Parquet",
    "Keep one of them.",
)
PARTS_DIFFER = Rule(
    "FILE-016",
    "the part files of one table must have the same columns and types",
    "Write the part files again in one job.",
)
NUL_BYTE = Rule(
    "FILE-017",
    "text must not contain NUL bytes",
    "The file may be a spreadsheet: save the table as `CSV UTF-8`. Or it is in UTF-16, or damaged: convert it, or "
    "write it again from its source.",
)
MIXED_LINE_ENDS = Rule(
    "FILE-018",
    "all lines of a file must end in the same way, with LF or with CRLF",
    "Write the file again from its source. It may be joined from several files.",
)
UNREAD_COLUMN = Rule(
    "FILE-019",
    "these columns are not read",
    "Do nothing if this is intended. Otherwise name them in the release.",
    Severity.WARNING,
)
NOT_A_PART = Rule(
    "FILE-020",
    "everything in a folder of part files must be a part file, which ends in `.parquet`, `.parq` or `.pq`, or a marker "
    "such as `_SUCCESS`; no name begins with `_` or `.`, or has a backslash, control characters or bytes that are not "
    "UTF-8, and no folder is a link",
    "Rename the file if it is a part file. Otherwise move it out of the folder. Join several text files into one.",
)
DAMAGED_COMPRESSION = Rule(
    "FILE-021",
    "a compressed text file must be whole, and its name must end in `.gz` (gzip) or `.zst` (Zstandard)",
    "Name the file as it is compressed, or write it again from its source, compressed in one of these two ways or not "
    "at all.",
)
CONTINUED_LINE = Rule(
    "FILE-022",
    "these lines continue the line before, because a quoted field contains a line break",
    "Do nothing if this is intended. If these lines are records of people, correct the quotation marks above them. "
    "Otherwise nobody on these lines is counted.",
    Severity.WARNING,
)
AMBIGUOUS_DELIMITER = Rule(
    "FILE-030",
    "the header line does not show which delimiter separates the fields",
    'Name the delimiter in [files] in release.toml, for example with `delimiter = { geography = "," }`.',
)
OTHER_DELIMITER = Rule(
    "FILE-031",
    "fields must be separated by `|`, a comma, a semicolon or a tab, and by `delimiter` if the release has it",
    "Export the table with one of these delimiters. The first line of a file must be its header.",
)
WRONG_QUOTES = Rule(
    "FILE-032",
    "a quotation mark must begin or end a field, and be doubled inside a quoted one (RFC 4180)",
    "Correct the line. A quoted field may lack its end.",
)
NOT_ARROW = Rule(
    "FILE-033",
    "a table in memory must be one that Arrow can read, with values of one type in each column",
    'Cast the column to text, for example with `frame["Age"].astype("string")`. Of tables of another kind make a '
    "DataFrame of pandas or polars, a pyarrow table or dataset, or a DuckDB relation.",
)
