"""A fault, and the finished country that it is made in.

In: the folder of a country. Out: ways to change one of its files. Promise: the rest stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from safetab.errors import Rule
from safetab.files.parquet import part_files
from safetab.params.load import CONFIG_FILE, RELEASE_FILE
from safetab.synth.parameters import config_json
from safetab.synth.records import Format, write_lines

TableEdit = Callable[[pa.Table], pa.Table]


@dataclass(frozen=True, slots=True)
class Site:
    """Where the files of a country are, and which states it has."""

    folder: Path
    table_format: Format
    states: tuple[str, ...]
    has_puerto_rico: bool

    @property
    def params(self) -> Path:
        return self.folder / "params"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def config(self) -> dict[str, Any]:
        """The configuration; one of the Bureau's format takes the place of the user's own `release.toml`."""
        path = self.params / CONFIG_FILE
        if not path.exists():
            (self.params / RELEASE_FILE).unlink()
            path.write_text(config_json(self.states, puerto_rico=self.has_puerto_rico), encoding="utf-8")
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return config

    def write_config(self, config: dict[str, Any] | str) -> None:
        text = config if isinstance(config, str) else json.dumps(config, indent=2) + "\n"
        (self.params / CONFIG_FILE).write_text(text, encoding="utf-8")

    def write_release(self, text: str) -> None:
        """Let a `release.toml` take the place of the configuration."""
        (self.params / CONFIG_FILE).unlink(missing_ok=True)
        (self.params / RELEASE_FILE).write_text(text, encoding="utf-8")

    def lines(self, name: str) -> list[str]:
        """The lines of a parameter file, without line ends and a blank one at the end."""
        return (self.params / name).read_text(encoding="utf-8-sig").rstrip("\r\n").splitlines()

    def write_lines(self, name: str, lines: Sequence[str]) -> None:
        (self.params / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def parts(self, stem: str) -> list[Path]:
        """The files of a data table, smallest first."""
        path = self.data / f"{stem}.{self.table_format.suffix}"
        return sorted(part_files(path), key=lambda part: part.stat().st_size)

    def edit_table(self, stem: str, edit: TableEdit, *, every_part: bool = False) -> None:
        """Change a data table: its smallest part, or all of them."""
        parts = self.parts(stem)
        for part in parts if every_part else parts[:1]:
            if self.table_format is Format.PARQUET:
                pq.write_table(edit(pq.read_table(part)), part)
            else:
                table = edit(read_lines(part))
                with part.open("wb") as file:
                    file.write(("|".join(table.column_names) + "\n").encode())
                    write_lines(file, table)


def read_lines(path: Path) -> pa.Table:
    """A whole text table, every column text."""
    with path.open(encoding="utf-8") as file:
        names = file.readline().rstrip("\n").split("|")
    return pa_csv.read_csv(
        path,
        parse_options=pa_csv.ParseOptions(delimiter="|", quote_char=False),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break a country: its name, what it does, and the rule that should catch it."""

    name: str
    rule: Rule
    summary: str
    make: Callable[[Site], None]

    @property
    def code(self) -> str:
        return self.rule.code
