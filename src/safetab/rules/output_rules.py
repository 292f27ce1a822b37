"""What the output, the spending and the noise of a tabulation must satisfy (OUTPUT, PRIVACY, REGISTRY)."""

from __future__ import annotations

from safetab.errors import Rule

OUTPUT_EXISTS = Rule(
    "OUTPUT-001",
    "the output folder already exists",
    "Name another folder, or add --overwrite (overwrite=True from Python) to replace it.",
)
OUTPUT_PARENT = Rule(
    "OUTPUT-002",
    "the folder in which the output is written must exist and be writable",
    "Create it, or name another one.",
)
OUTPUT_IS_A_FILE = Rule(
    "OUTPUT-003", "the output must be a folder; a file or a link already has this name", "Name another folder."
)
OUTPUT_HOLDS_INPUT = Rule(
    "OUTPUT-004",
    "the output folder must not contain the parameters, the data or the registry",
    "Name a separate folder. The output is published, and --overwrite replaces it.",
)
OUTPUT_NOT_OURS = Rule(
    "OUTPUT-005",
    "--overwrite replaces only a folder that SafeTab wrote, and this one has no ledger.json",
    "Name another folder, or remove this one yourself.",
)
OUTPUT_BUSY = Rule(
    "OUTPUT-007",
    "another tabulation is writing to this output folder",
    "Wait until it has ended, or name another folder.",
)
FOR_SPARK = Rule(
    "OUTPUT-008",
    "only the Spark engine takes a master, and records at an address such as s3a:// or hdfs://",
    'Add --engine spark (engine="spark" from Python), or name a local file.',
)
NOT_FOR_SPARK = Rule(
    "OUTPUT-009",
    "the Spark engine reads records where the cluster finds them, not in the memory of this process",
    'Write the table as Parquet where the cluster finds it and name its path, or use engine="duckdb".',
)
NOT_PRIVATE = Rule(
    "PRIVACY-001",
    "noise may be switched off or seeded only for tests, and you must confirm it",
    "Add --not-private (not_private=True from Python) if the records are not confidential.",
)
ALREADY_SPENT = Rule(
    "REGISTRY-001",
    "these confidential data were released before, and every release reveals more about people",
    "If the total is acceptable, run the command again with --spend-again (spend_again=True from Python).",
)
REGISTRY_DAMAGED = Rule(
    "REGISTRY-002",
    "every line of the registry must be one of its entries; otherwise it is not known what was spent",
    "Restore the registry from a backup. Do not delete it.",
)
NOT_PRIVATE_IN_REGISTRY = Rule(
    "REGISTRY-003",
    "a release without private noise must not be entered in a registry",
    "Leave out --registry (registry from Python).",
)
