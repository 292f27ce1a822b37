"""Text records as Spark reads them: lines, joined where quoted fields have line breaks, and cut into fields.

In: part files of delimited text, at a local path or at any address that Spark reads. Out: DataFrames with the records'
columns, with the place of each record where that is asked for. Promise: a line that is not a record is a fault, never
people left out; a quotation mark is judged by RFC 4180, line by line. Spark's own CSV reader would mend and drop lines
in silence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from safetab.engines.faults import PART, ROW
from safetab.engines.layout import RecordLayout
from safetab.engines.logical_plan import identifier, quoted
from safetab.engines.spark.files import IDS_OF_A_PARTITION, PLAIN, WHOLE_FILES, addresses, name_of_part
from safetab.errors import LINES_SHOWN, UNSPENT, Finding, InputError
from safetab.files.delimited import QUOTE, TextForm, judged_form, looks_quoted, wrong_quotes
from safetab.files.parts import Part
from safetab.rules import record_rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: A byte-order mark may precede the header, and nothing else.
_MARK = "\ufeff"
#: As many lines are looked at for the end of a header with line breaks.
_HEADER_LINES = 100
#: The inside of a quoted field. Nothing here is ever tried in a second way, so that long lines cost no stack.
_INSIDE = '(?:[^"]++|"")*+'
_MARKS = f"(length(value) - length(replace(value, '{QUOTE}', '')))"
#: How many marks there are before a line of its file.
_MARKS_BEFORE = (
    f"COALESCE(sum(marks) OVER (PARTITION BY {PART} ORDER BY {ROW} "
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)"
)
#: The line that the record of a line begins on.
_FIRST_LINE = f"max(CASE WHEN NOT begins_inside THEN {ROW} END) OVER (PARTITION BY {PART} ORDER BY {ROW})"

#: Whether a line ends with a return, and the line without it.
_ENDS = ("endswith(value, '\r') AS has_return", r"regexp_replace(value, '\r\z', '') AS line")
PART_COLUMN = PART.strip('"')


class Lines:
    """Text records as lines cut at every delimiter."""

    def __init__(self, session: SparkSession, layout: RecordLayout, parts: list[Part]) -> None:
        self._session, self._layout, self._parts = session, layout, parts
        self._read = session.read.option("lineSep", "\n").text(addresses(parts))
        self._header = self._first_record()
        findings: list[Finding] = []
        form = judged_form(layout.name, self._header, layout.columns_read, layout.told, findings)
        if form is None:
            raise InputError(findings, state=UNSPENT)
        self._form: TextForm = form
        self._names = form.names(self._header)
        self._has_breaks = form.is_quoted and self._any(f"{_MARKS} % 2 = 1")

    def _first_record(self) -> str:
        """The header, which has several lines if a quoted name has."""
        lines = [row[0] for row in self._read.take(1)]
        header = lines[0].removeprefix(_MARK) if lines else ""
        if self._layout.told.is_quoted is not False and looks_quoted(header) and header.count(QUOTE) % 2:
            for row in self._read.take(_HEADER_LINES)[1:]:
                header += "\n" + row[0]
                if not header.count(QUOTE) % 2:
                    break
        return header.removesuffix("\r")

    def records(self, columns: list[str], *, with_places: bool = False) -> DataFrame:
        """The fields of every record."""
        fields = [f"{self._value(self._names.index(name))} AS {identifier(name)}" for name in columns]
        if with_places:
            fields += [PART, ROW]
        lines = self._records(with_places=with_places).where(f"line <> '' AND NOT {self._is_header}")
        return lines.selectExpr("*", f"{self._fields} AS fields").selectExpr(*fields)

    def refuse_broken(self) -> int:
        """Raise unless every line is a header that begins a file, a record, or a blank that ends a file; how many."""
        if self._form.is_quoted:
            self._refuse_wrong_quotes()
        counted = (
            self._records(with_places=False)
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
            self._refuse(self._first_places(self._records(with_places=True).where(self._is_broken)), counted["broken"])
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
        raise InputError(Finding(record_rules.NOT_A_TABLE, part, lines=lines, count=broken), state=UNSPENT)

    def _refuse_wrong_quotes(self) -> None:
        """Raise where a mark is in a wrong place, before lines are joined: an open quote would join all that follow."""
        lines = self._quoted_lines() if self._has_breaks else self._lines(with_places=True).selectExpr(
            "*", "FALSE AS begins_inside", "marks % 2 = 1 AS ends_inside"
        )  # fmt: skip
        delimiter = quoted(self._form.delimiter)
        text = f"CASE WHEN begins_inside THEN {delimiter} || '{QUOTE}' || line ELSE {delimiter} || line END"
        closed = rf"\A(?:{self._field_pattern})++\z"
        opened = rf'\A(?:{self._field_pattern})*+{self._cut}"{_INSIDE}\z'
        is_right = (
            f"CASE WHEN ends_inside THEN regexp_like(padded, {quoted(opened)}) "
            f"ELSE regexp_like(padded, {quoted(closed)}) END"
        )
        wrong = self._first_places(lines.selectExpr("*", f"{text} AS padded").where(f"NOT ({is_right})"))
        if not wrong and self._has_breaks:
            unclosed = lines.groupBy(PART_COLUMN).agg({"marks": "sum"}).where('"sum(marks)" % 2 = 1')
            marked = lines.where("marks > 0").join(unclosed, on=PART_COLUMN, how="left_semi")
            wrong = self._first_places(marked, last=True)
        if wrong:
            raise InputError(wrong_quotes(*wrong[0], self._layout.told), state=UNSPENT)

    def _first_places(self, lines: DataFrame, *, last: bool = False) -> list[tuple[str, int]]:
        """The parts and numbers of the first of some lines, or of the last one."""
        from pyspark.sql.functions import desc, expr

        row = desc(ROW.strip('"')) if last else expr(ROW)
        found = lines.selectExpr(PART, ROW).orderBy(expr(PART), row).limit(LINES_SHOWN).collect()
        return [(name_of_part(part, self._parts), line) for part, line in found]

    @property
    def _cut(self) -> str:
        """The delimiter in a pattern."""
        return re.escape(self._form.delimiter)

    @property
    def _field_pattern(self) -> str:
        """A delimiter and the field after it, quoted or not."""
        return f'{self._cut}(?:"{_INSIDE}"|(?!")[^{self._cut}"]*+)'

    @property
    def _fields(self) -> str:
        """SQL for the fields of a line, quotes and all."""
        if not self._form.is_quoted:
            return f"split(line, {quoted(f'[{self._cut}]')}, -1)"
        line = f"{quoted(self._form.delimiter)} || line"
        return f"regexp_extract_all({line}, {quoted(self._field_pattern)}, 0)"

    def _value(self, number: int) -> str:
        """SQL for what a field says; a quoted line has fields that begin with their delimiter."""
        field = f"fields[{number}]"
        if not self._form.is_quoted:
            return field
        return (
            f"CASE WHEN substring({field}, 2, 1) = '{QUOTE}' "
            f"THEN replace(substring({field}, 3, length({field}) - 3), '{QUOTE * 2}', '{QUOTE}') "
            f"ELSE substring({field}, 2) END"
        )

    @property
    def _is_header(self) -> str:
        return f"line IN ({quoted(self._header)}, {quoted(_MARK + self._header)})"

    @property
    def _is_broken(self) -> str:
        return f"line <> '' AND (NOT is_utf8 OR size({self._fields}) <> {len(self._names)})"

    def _records(self, *, with_places: bool) -> DataFrame:
        """Every record as one line, with the number of its first line where that is asked for."""
        if not self._has_breaks:
            return self._lines(with_places=with_places)
        from pyspark.sql.functions import expr

        lines = self._quoted_lines().selectExpr("*", f"{_FIRST_LINE} AS first_line")
        joined = "array_join(transform(array_sort(collect_list(struct(number, value))), x -> x.value), '\n')"
        records = lines.groupBy(PART_COLUMN, "first_line").agg(
            expr(joined).alias("value"), expr("bool_and(is_utf8)").alias("is_utf8")
        )
        return records.selectExpr(PART, f"first_line AS {ROW}", "is_utf8", *_ENDS)

    def _quoted_lines(self) -> DataFrame:
        """Every line with its number, and whether it begins and ends inside a quoted field."""
        lines = self._lines(with_places=True).selectExpr("*", f"{ROW} AS number", f"{_MARKS_BEFORE} AS marks_before")
        return lines.selectExpr(
            "*", "marks_before % 2 = 1 AS begins_inside", "(marks_before + marks) % 2 = 1 AS ends_inside"
        )

    def _lines(self, *, with_places: bool) -> DataFrame:
        """Every line, with its number where that is asked for, which costs a file being read by a single task."""
        columns = [f"{PLAIN} AS {PART}", "is_valid_utf8(value) AS is_utf8", f"{_MARKS} AS marks", "value", *_ENDS]
        if with_places:
            for key, value in WHOLE_FILES.items():
                self._session.conf.set(key, value)
            columns.append(f"monotonically_increasing_id() % {IDS_OF_A_PARTITION} + 1 AS {ROW}")
        return self._read.selectExpr(*columns)

    def _any(self, condition: str) -> bool:
        return bool(self._read.where(condition).take(1))
