"""What a command must satisfy, and what can fail around it."""

from __future__ import annotations

from safetab.errors import Rule

WRONG_WORDS = Rule(
    "USAGE-001", "the command cannot be understood", "`safetab --help` lists the commands and their options."
)
EXISTS = Rule("USAGE-002", "this is there already and would be overwritten", "Name another folder, or move it away.")
NOT_A_FOLDER = Rule("USAGE-003", "this must be a folder", "Name a folder, not a file.")

DISK = Rule("MACHINE-001", "the operating system refused a file operation", "Check the disk, the path and permissions.")
MEMORY = Rule("MACHINE-002", "the memory of this machine did not suffice", "Free memory, or use a larger machine.")
FAULT = Rule(
    "MACHINE-003",
    "a fault in SafeTab itself",
    "Run again with --debug before the command, inside the secure area only, and report the trace without any data.",
)
INTERRUPTED = Rule("MACHINE-004", "the command was interrupted", "Run it again; nothing half-done is left to clean up.")
