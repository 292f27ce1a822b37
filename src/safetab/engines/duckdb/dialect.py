"""DuckDB's spelling of the logical plan."""

from __future__ import annotations

#: DuckDB's names for floats.
FLOATS = {"FLOAT", "DOUBLE"}


class DuckDbDialect:
    """DuckDB's spelling."""

    def __init__(self, types: dict[str, str]) -> None:
        self.types = types

    def code_index(self, text: str) -> str:
        return f"CAST(enum_code(TRY_CAST({text} AS code)) AS SMALLINT)"

    def whole_number(self, text: str) -> str:
        return f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,4}}') THEN CAST({text} AS SMALLINT) END"

    def is_integer(self, column: str) -> bool:
        return "INT" in self.types[column].upper()

    def is_float(self, column: str) -> bool:
        return self.types[column].upper() in FLOATS
