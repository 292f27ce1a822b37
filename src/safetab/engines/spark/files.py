"""The record files as Spark finds them: at a local path, or at any address that Spark reads.

In: a `RecordLayout`. Out: DataFrames with the records' columns, with the place of each record where that is asked for.
Promise: a line that is not a record is a fault, never people left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa

from safetab.engines.faults import PART, ROW
from safetab.engines.layout import RecordLayout, is_address
from safetab.engines.logical_plan import identifier
from safetab.errors import UNSPENT, Finding, InputError
from safetab.files.parts import (
    Part,
    list_parts,
    partition_columns,
    partition_of,
    sort_names,
    stranger_findings,
)
from safetab.rules import record_rules
from safetab.rules.file_rules import MISSING_FILE, NO_ROWS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: monotonically_increasing_id gives each partition so many numbers.
IDS_OF_A_PARTITION = 1 << 33
#: With files this dear to open and partitions this large, every file is one partition.
WHOLE_FILES = {"spark.sql.files.maxPartitionBytes": 1 << 50, "spark.sql.files.openCostInBytes": 1 << 50}
#: The column with the part file that the values in the names of folders belong to.
_FOLDER = "safetab folder"
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:/+")
#: The file of a record, spelled as `plain` does.
PLAIN = f"regexp_replace(_metadata.file_path, '{_SCHEME.pattern}', '/')"
_GLOB = re.compile(r"([\\{}\[\]*?])")
#: As many files that Spark passes over are named.
_FILES_SHOWN = 8


def with_places(layout: RecordLayout, parts: list[Part], found: DataFrame) -> DataFrame:
    """Records in Parquet, each with its file and its row there, and with what the names of its folders say of it."""
    placed = found.selectExpr(f"{PLAIN} AS {PART}", f"_metadata.row_index + 1 AS {ROW}", "*")
    given = partition_columns(parts, layout.columns_read)
    if not given:
        return placed
    spelled = {unquote(plain(file)): plain(file) for file in found.inputFiles()}
    rows = [(spelled[plain(part.address)], *layout.values_of_folders(part, given)) for part in parts]
    texts = [pa.array(values, pa.string()) for values in zip(*rows, strict=True)]
    folders = found.sparkSession.createDataFrame(pa.table(texts, names=[_FOLDER, *given])).hint("broadcast")
    joined = placed.join(folders, on=placed[PART.strip('"')] == folders[_FOLDER], how="left")
    # A path that Spark spells otherwise must not become a null, which may mean that there is no race code.
    known = [
        f"CASE WHEN {identifier(_FOLDER)} IS NULL THEN raise_error('unknown part') ELSE {name} END AS {name}"
        for name in map(identifier, given)
    ]
    return joined.selectExpr(*map(identifier, placed.columns), *known)


def addresses(parts: list[Part]) -> list[str]:
    """What Spark is asked to read: each file by its scheme, whatever the cluster's own is."""
    return [("" if is_address(part.address) else "file://") + escaped(part.address) for part in parts]


def escaped(path: str) -> str:
    """A path in which nothing is a pattern."""
    return _GLOB.sub(r"\\\1", path)


def plain(address: str) -> str:
    """An address without its scheme, which Spark spells in more than one way."""
    return _SCHEME.sub("/", address)


def find_parts(session: SparkSession, layout: RecordLayout) -> list[Part]:
    """The files with records, at any depth; raises where a file is neither that nor a known marker."""
    if layout.is_address:
        parts, findings = _at_address(session, layout)
    else:
        parts, findings = list_parts(Path(layout.path).absolute())
    # A folder has no such parts; a file may have any name.
    passed_over = [part.name for part in parts if part.name.startswith(("_", "."))]
    findings += [Finding(record_rules.PASSED_OVER, name) for name in passed_over[:_FILES_SHOWN]]
    if not parts and not findings:
        findings.append(Finding(NO_ROWS, layout.name, seen="a folder without part files"))
    if findings:
        raise InputError(findings, state=UNSPENT)
    return parts


def _at_address(session: SparkSession, layout: RecordLayout) -> tuple[list[Part], list[Finding]]:
    """The files at an address, which may be a pattern, as the file system behind it lists them.

    Spark itself would read no folder in a folder, and would pass over other files in silence.
    """
    pattern: Any = session._jvm.org.apache.hadoop.fs.Path(layout.path)  # type: ignore[union-attr]
    system = pattern.getFileSystem(session._jsc.hadoopConfiguration())
    parts: list[Part] = []
    strangers: list[str] = []
    found = list(system.globStatus(pattern) or [])
    for status in found:
        root = status.getPath().toString()
        if not status.isDirectory():
            parts.append(Part(root, root.rsplit("/", 1)[-1]))
            continue
        names, odd = sort_names(_files_below(system, status.getPath()), is_parquet=layout.is_parquet)
        parts += [Part(f"{root}/{name}", name, partition_of(name)) for name in names]
        strangers += odd
    findings = [] if found else [Finding(MISSING_FILE, layout.name, seen="nothing there")]
    return parts, findings + stranger_findings(layout.name, strangers)


def _files_below(system: Any, folder: Any) -> Iterator[str]:
    """The names of all files in a folder, at any depth."""
    before = len(folder.toString()) + 1
    files = system.listFiles(folder, True)
    while files.hasNext():
        yield files.next().getPath().toString()[before:]


def name_of_part(address: str, parts: list[Part]) -> str:
    """What findings call the part that a record is in."""
    names = {plain(part.address): part.name for part in parts}
    return names[unquote(address)]
