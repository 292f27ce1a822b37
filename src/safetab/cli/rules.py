"""What a command must satisfy, and what can fail around it."""

from __future__ import annotations

from safetab.errors import Rule

WRONG_WORDS = Rule(
    "USAGE-001", "the command cannot be understood", "`safetab --help` lists the commands and their options."
)
EXISTS = Rule("USAGE-002", "this is there already and would be overwritten", "Name another folder, or move it away.")
NOT_A_FOLDER = Rule("USAGE-003", "this must be a folder", "Name a folder, not a file.")
NOT_A_NUMBER = Rule(
    "USAGE-010", "this option takes a number in decimals", "Write it like 0.001 or 1e-10; it is kept exactly."
)
MOE_WORDS = Rule(
    "USAGE-011",
    "a target is a level and a margin of error, joined by =",
    "Write it like `USA,2=6`: geography level, iteration level, persons; the level must be one of the release.",
)

NOT_A_RELEASE = Rule(
    "USAGE-004", "this is not a folder that `safetab tabulate` wrote", "Name the OUT folder of a tabulation."
)
NO_SUCH_REGION = Rule("USAGE-005", "the release has no rows for this region", "Look the region id up in t1.")

DISK = Rule("MACHINE-001", "the operating system refused a file operation", "Check the disk, the path and permissions.")
MEMORY = Rule("MACHINE-002", "the memory of this machine did not suffice", "Free memory, or use a larger machine.")
FAULT = Rule(
    "MACHINE-003",
    "a fault in SafeTab itself",
    "Run again with --debug before the command, inside the secure area only, and report the trace without any data.",
)
INTERRUPTED = Rule("MACHINE-004", "the command was interrupted", "Run it again; nothing half-done is left to clean up.")
