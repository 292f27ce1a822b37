"""The records as Spark finds them: text or Parquet, at a local path or at any address that Spark reads.

In: a `RecordLayout`. Out: a DataFrame with the records' columns, and Spark's spelling of the logical plan. Promise: a
line that is not a record, a part that lacks a column and a file that cannot be read are faults, never people left out.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote

from safetab.engines import rules
from safetab.engines.protocol import RecordLayout
from safetab.engines.queries import identifier, quoted
from safetab.errors import LINES_SHOWN, UNSPENT, Finding, InputError
from safetab.files.parquet import part_files
from safetab.files.rules import COLUMN_TYPE, MISSING_COLUMN, NO_ROWS, PARTS_DIFFER, REPEATED_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Where a record is: the file, and its line or row in it. Names with a blank, as no column of the records has them.
PART, ROW = '"safetab part"', '"safetab row"'
#: monotonically_increasing_id gives each partition so many numbers.
_IDS_OF_A_PARTITION = 1 << 33
#: With files this dear to open and partitions this large, every file is one partition.
_WHOLE_FILES = {"spark.sql.files.maxPartitionBytes": 1 << 50, "spark.sql.files.openCostInBytes": 1 << 50}
_GLOB = re.compile(r"([\\{}\[\]*?])")
#: Spark's names for whole numbers; the last is what it makes of unsigned ones of 64 bits.
_INTEGERS = {"tinyint", "smallint", "int", "bigint", "decimal(20,0)"}
_READERS = 8
#: A byte-order mark may stand before the header, and nowhere else.
_MARK = "\ufeff"
_FIELDS = "split(line, '[|]', -1)"


class SparkDialect:
    """Spark's spelling; codes are looked up by joins, which `with_code_positions` adds."""

    def __init__(self, types: dict[str, str]) -> None:
        self.types = types
        self._looked_up: list[str] = []

    def code_index(self, text: str) -> str:
        if text not in self._looked_up:
            self._looked_up.append(text)
        return _position(self._looked_up.index(text))

    def whole_number(self, text: str) -> str:
        return rf"CASE WHEN regexp_like({text}, '\A[0-9]{{1,4}}\z') THEN TRY_CAST({text} AS SMALLINT) END"

    def is_integer(self, column: str) -> bool:
        return self.types[column] in _INTEGERS

    def with_code_positions(self) -> str:
        """SQL for `records` with the position in `code_list` of every text that the plan looks up."""
        numbers = range(len(self._looked_up))
        hint = f"/*+ BROADCAST({', '.join(f'list_{n}' for n in numbers)}) */"
        positions = ", ".join(f'list_{n}."safetab position" AS {_position(n)}' for n in numbers)
        joins = " ".join(
            f'LEFT JOIN code_list AS list_{n} ON {text} = list_{n}."safetab code"'
            for n, text in enumerate(self._looked_up)
        )
        return f"SELECT {hint} records.*, {positions} FROM records {joins}"


def _position(number: int) -> str:
    # Names with a blank, so that no column of the records is likely to have them.
    return f'"safetab position {number}"'


def read_records(session: SparkSession, layout: RecordLayout, columns: list[str]) -> tuple[DataFrame, int]:
    """The records with the columns wanted, as they are, and how many they are at the most.

    Raises where a file is no table of such records.
    """
    _refuse_parts_passed_over(layout)
    if layout.is_parquet:
        found = session.read.parquet(*_addresses(layout))
        _refuse_missing(layout, columns, found.columns)
        _refuse_parts_that_differ(session, layout, columns, found)
        _refuse_other_types(layout, columns, found)
        rows = found.count()
    else:
        lines = _Lines(session, layout)
        _refuse_missing(layout, columns, lines.names)
        rows = lines.refuse_broken()
        found = lines.records(columns)
    return found.selectExpr(*map(identifier, columns)), rows


def read_with_places(session: SparkSession, layout: RecordLayout, columns: list[str]) -> DataFrame:
    """The records again, now that some are known to be broken, each with its file and its line or row there."""
    if layout.is_parquet:
        part, row = "_metadata.file_path", "_metadata.row_index + 1"
        found = session.read.parquet(*_addresses(layout))
        return found.selectExpr(f"{part} AS {PART}", f"{row} AS {ROW}", *map(identifier, columns))
    return _Lines(session, layout).records(columns, with_places=True)


def _addresses(layout: RecordLayout) -> list[str]:
    """What Spark is asked to read: an address untouched; a local path by its scheme, whatever the cluster's own is."""
    if layout.is_address:
        return [layout.path]
    parts = _local_parts(layout)
    if not parts:
        raise InputError(Finding(NO_ROWS, layout.name, seen="a folder without .parquet files"))
    return ["file://" + _GLOB.sub(r"\\\1", str(part)) for part in parts]


def _local_parts(layout: RecordLayout) -> list[Path]:
    path = Path(layout.path).absolute()
    return part_files(path) if layout.is_parquet else [path]


def _refuse_parts_passed_over(layout: RecordLayout) -> None:
    """Spark passes in silence over files whose names begin with `_` or `.`; the people in them must not get lost."""
    if layout.is_address:
        return
    passed_over = [part.name for part in _local_parts(layout) if part.name.startswith(("_", "."))]
    if passed_over:
        raise InputError([Finding(rules.PASSED_OVER, name) for name in passed_over[:_READERS]], state=UNSPENT)


def _refuse_other_types(layout: RecordLayout, columns: list[str], found: DataFrame) -> None:
    kinds = dict(found.dtypes)
    others = [name for name in columns if kinds[name] != "string" and kinds[name] not in _INTEGERS]
    if others:
        findings = [Finding(COLUMN_TYPE, layout.name, key=name, seen=f"of type {kinds[name]}") for name in others]
        raise InputError(findings, state=UNSPENT)


def _refuse_parts_that_differ(session: SparkSession, layout: RecordLayout, columns: list[str], all_: DataFrame) -> None:
    """Spark takes the columns of one part for those of all, and reads a column that a part lacks as empty."""
    # Spark lists them with blanks and the like encoded, and wants them plain when it reads.
    parts = [unquote(part) for part in all_.inputFiles()]
    if len(parts) < 2:
        return
    # A column that comes from the folders' names (STATE=01/part.parquet) is in no part, and right for all of them.
    inside = [name for name in columns if name in _schema(session, parts[0]).names]
    with ThreadPoolExecutor(_READERS) as pool:
        schemas = list(pool.map(lambda part: _schema(session, part), parts))
    for name in inside:
        kinds = {schema[name].dataType.simpleString() if name in schema.names else "missing" for schema in schemas}
        if "missing" in kinds:
            raise InputError(Finding(MISSING_COLUMN, layout.name, key=name))
        if len(kinds) > 1:
            seen = f"of types {', '.join(sorted(kinds))}"
            raise InputError(Finding(PARTS_DIFFER, layout.name, key=name, seen=seen))


def _schema(session: SparkSession, part: str) -> StructType:
    return session.read.parquet(_GLOB.sub(r"\\\1", part)).schema


class _Lines:
    """Text records as lines cut at every `|`; Spark's own CSV reader would mend and drop lines in silence."""

    def __init__(self, session: SparkSession, layout: RecordLayout) -> None:
        self._session, self._layout = session, layout
        self._read = session.read.option("lineSep", "\n").text(_addresses(layout)[0])
        first = self._read.first()
        self._header = "" if first is None else first[0].removeprefix(_MARK).removesuffix("\r")
        self.names = self._header.split("|")

    def records(self, columns: list[str], *, with_places: bool = False) -> DataFrame:
        """The fields of every line that is a record."""
        fields = [f"fields[{self.names.index(name)}] AS {identifier(name)}" for name in columns]
        if with_places:
            fields += [PART, ROW]
        lines = self._lines(with_places=with_places).where(f"line <> '' AND NOT {self._is_header}")
        return lines.selectExpr("*", f"{_FIELDS} AS fields").selectExpr(*fields)

    def refuse_broken(self) -> int:
        """Raise unless every line is a header that begins a file, a record, or a blank that ends a file; how many."""
        counted = (
            self._lines(with_places=False)
            .selectExpr(
                f"count(DISTINCT {PART}) AS files",
                f"count_if({self._is_header}) AS headers",
                "count_if(line = '') AS blanks",
                f"count_if({self._is_broken}) AS broken",
                "count_if(has_return) AS returns",
                "count(*) AS lines",
            )
            .first()
        )
        if counted is None:
            return 0
        if counted["broken"]:
            self._refuse(self._broken_lines(), counted["broken"])
        # The last line of a file may lack the line end that all others have.
        without_return = counted["lines"] - counted["returns"]
        is_mixed = counted["returns"] > 0 and without_return > counted["files"]
        if counted["headers"] != counted["files"] or counted["blanks"] > counted["files"] or is_mixed:
            self._refuse([], 0)
        return int(counted["lines"])

    def _refuse(self, places: list[tuple[str, int]], broken: int) -> NoReturn:
        """Name lines of the file that has the first of them; how many there are goes for all files."""
        part = places[0][0] if places else self._layout.name
        lines = tuple(line for name, line in places if name == part)
        raise InputError(Finding(rules.NOT_A_TABLE, part, lines=lines, count=broken), state=UNSPENT)

    def _broken_lines(self) -> list[tuple[str, int]]:
        from pyspark.sql.functions import expr

        first = self._lines(with_places=True).where(self._is_broken).selectExpr(PART, ROW)
        found = first.orderBy(expr(PART), expr(ROW)).limit(LINES_SHOWN).collect()
        return [(name_of_part(part), line) for part, line in found]

    @property
    def _is_header(self) -> str:
        return f"line IN ({quoted(self._header)}, {quoted(_MARK + self._header)})"

    @property
    def _is_broken(self) -> str:
        return f"line <> '' AND (NOT is_utf8 OR size({_FIELDS}) <> {len(self.names)})"

    def _lines(self, *, with_places: bool) -> DataFrame:
        """Every line, with its number where that is asked for, which costs a file being read by a single task."""
        columns = [
            f"_metadata.file_path AS {PART}",
            "endswith(value, '\r') AS has_return",
            "is_valid_utf8(value) AS is_utf8",
            r"regexp_replace(value, '\r\z', '') AS line",
        ]
        if with_places:
            for key, value in _WHOLE_FILES.items():
                self._session.conf.set(key, value)
            columns.append(f"monotonically_increasing_id() % {_IDS_OF_A_PARTITION} + 1 AS {ROW}")
        return self._read.selectExpr(*columns)


def name_of_part(address: str) -> str:
    """The name of a part file, as its folder lists it."""
    return unquote(address.rsplit("/", 1)[-1])


def _refuse_missing(layout: RecordLayout, wanted: list[str], present: list[str]) -> None:
    findings = [Finding(MISSING_COLUMN, layout.name, key=name) for name in wanted if name not in present]
    findings += [Finding(REPEATED_COLUMN, layout.name, key=name) for name in wanted if present.count(name) > 1]
    if findings:
        raise InputError(findings)
