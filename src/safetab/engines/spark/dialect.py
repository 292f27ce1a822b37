"""Spark's spelling of the logical plan."""

from __future__ import annotations

#: Spark's names for whole numbers; the last is what it makes of unsigned ones of 64 bits.
INTEGERS = {"tinyint", "smallint", "int", "bigint", "decimal(20,0)"}
#: Its names for floats.
FLOATS = {"float", "double"}


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
        return self.types[column] in INTEGERS

    def is_float(self, column: str) -> bool:
        return self.types[column] in FLOATS

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
