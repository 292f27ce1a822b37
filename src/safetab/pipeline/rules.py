"""What a tabulation asks of its surroundings: where output goes, what may be spent, when noise may be left out."""

from __future__ import annotations

from safetab.errors import Rule

OUTPUT_EXISTS = Rule(
    "OUTPUT-001", "the output folder is there already", "Name another folder, or replace it with --overwrite."
)
OUTPUT_PARENT = Rule(
    "OUTPUT-002", "the folder that will hold the output must exist and be writable", "Create it, or name another."
)
OUTPUT_IS_A_FILE = Rule(
    "OUTPUT-003", "the output is a folder, and a file or a link has that name", "Name another folder."
)
OUTPUT_HOLDS_INPUT = Rule(
    "OUTPUT-004",
    "the output folder must not hold the parameters, the data or the registry",
    "Name a folder apart from all of them; it is published, and --overwrite replaces it.",
)
OUTPUT_NOT_OURS = Rule(
    "OUTPUT-005",
    "--overwrite replaces only a folder that SafeTab wrote, and this one has no ledger.json",
    "Name another folder, or remove this one by hand.",
)
UNKNOWN_ENGINE = Rule("OUTPUT-006", "the engine is `duckdb` or `spark`", "Write one of the two, or leave it out.")
OUTPUT_BUSY = Rule(
    "OUTPUT-007", "another run is writing to this output", "Wait until it has ended, or name another folder."
)
FOR_SPARK = Rule(
    "OUTPUT-008",
    "a master, a session, and records at an address such as s3a:// or hdfs:// are for the Spark engine",
    "Add --engine spark, or name a local file.",
)
NOT_PRIVATE = Rule(
    "PRIVACY-001",
    "noise may be switched off or seeded only for tests, in so many words",
    "Add --not-private if the records are not confidential.",
)
ALREADY_SPENT = Rule(
    "REGISTRY-001",
    "these confidential data have been released before, and every release adds to what is known about people",
    "If the total is acceptable, run again with --spend-again.",
)
REGISTRY_DAMAGED = Rule(
    "REGISTRY-002",
    "the registry has a line that is not one of its entries, so what was spent is not known",
    "Restore the registry from a copy; do not delete it.",
)
NOT_PRIVATE_IN_REGISTRY = Rule(
    "REGISTRY-003", "a release without private noise has no place in a registry", "Leave out --registry."
)
