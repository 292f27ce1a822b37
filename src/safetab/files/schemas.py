"""The one judge of the schemas of Parquet files and of tables in memory, whoever has read them.

In: for each part file of a table its columns and their types, and the columns wanted. Out: findings. Promise: a table
without findings has every wanted column once in each part or in the names of its folders, of one and the same type, and
that type holds text or numbers. Column names that differ in capitals alone count as the same, because engines do not
tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.errors import Finding
from safetab.files.parts import Part
from safetab.rules import file_rules


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a part file: its name, its type in words, and whether that type holds text or numbers."""

    name: str
    type: str
    is_readable: bool


@dataclass(frozen=True, slots=True)
class PartSchema:
    """The columns of one part file."""

    part: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def schema_findings(table: str, schemas: Sequence[PartSchema], wanted: Sequence[str]) -> list[Finding]:
    """Everything that keeps the wanted columns from being read."""
    findings: list[Finding] = []
    for name in wanted:
        first_of_type: dict[str, str] = {}
        for schema in schemas:
            alike = [column for column in schema.columns if column.name.lower() == name.lower()]
            if [column.name for column in alike] != [name]:
                rule = file_rules.REPEATED_COLUMN if name in schema.names else file_rules.MISSING_COLUMN
                findings.append(Finding(rule, schema.part, key=name))
                continue
            first_of_type.setdefault(alike[0].type, schema.part)
            if not alike[0].is_readable:
                findings.append(Finding(file_rules.COLUMN_TYPE, schema.part, key=name, seen=f"of type {alike[0].type}"))
        if len(first_of_type) > 1:
            types = ", ".join(f"{kind} in {part}" for kind, part in sorted(first_of_type.items()))
            findings.append(Finding(file_rules.PARTS_DIFFER, table, key=name, seen=f"of types {types}"))
    return findings


def read_schemas(parts: Sequence[Part], findings: list[Finding]) -> list[PartSchema]:
    """The schemas of part files on this machine; a part that is no Parquet is a finding."""
    schemas: list[PartSchema] = []
    for part in parts:
        try:
            fields = pq.read_schema(part.path)
        except (pa.ArrowException, OSError):
            findings.append(Finding(file_rules.NOT_PARQUET, part.name))
            continue
        schemas.append(PartSchema(part.name, (*columns_of(fields), *columns_in_folders(part))))
    return schemas


def columns_in_folders(part: Part) -> list[Column]:
    """The columns that the names of a part's folders give."""
    return [Column(name, "text in the names of folders", is_readable=True) for name, _ in part.partition]


def columns_of(schema: pa.Schema) -> tuple[Column, ...]:
    """The columns of an Arrow schema."""
    return tuple(map(_column, schema))


def _column(field: pa.Field) -> Column:
    # Whether values are kept in a dictionary is no difference.
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    is_number = pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)
    return Column(field.name, str(kind), is_text(kind) or is_number)


def is_text(kind: pa.DataType) -> bool:
    """Whether a type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def damaged_parts(parts: Sequence[Part]) -> list[Finding]:
    """The parts that cannot be read to their end; asked only when an engine has failed."""
    damaged: list[Finding] = []
    for part in parts:
        try:
            with pq.ParquetFile(part.path) as file:
                for _ in file.iter_batches():
                    pass
        except (pa.ArrowException, OSError):
            damaged.append(Finding(file_rules.NOT_PARQUET, part.name))
    return damaged
