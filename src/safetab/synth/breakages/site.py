"""A breakage, and the finished country that it changes.

In: the folder of a country. Out: ways to change one of its files. Promise: the rest stays as it is.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from safetab.errors import Rule
from safetab.files.durable import write_json
from safetab.files.parts import part_files
from safetab.params.load import CONFIG_FILE, RELEASE_FILE
from safetab.synth.parameters import config_json
from safetab.synth.write_data import Format, write_text_table

#: The names of the Bureau's data files, without their endings.
GEOGRAPHY_STEM, RECORDS_STEM = "GRF-C", "person-records"

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
        """The configuration. A `release.toml` of the user is replaced by a `config.json` first."""
        path = self.params / CONFIG_FILE
        if not path.exists():
            (self.params / RELEASE_FILE).unlink()
            path.write_text(config_json(self.states, puerto_rico=self.has_puerto_rico), encoding="utf-8")
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return config

    def edit_config(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the parsed configuration."""
        config = self.config()
        change(config)
        write_json(self.params / CONFIG_FILE, config)

    def edit_config_text(self, change: Callable[[str], str]) -> None:
        """Change the text of the configuration."""
        self.config()
        path = self.params / CONFIG_FILE
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")

    def write_release(self, text: str) -> None:
        """Replace the configuration by a `release.toml`."""
        (self.params / CONFIG_FILE).unlink(missing_ok=True)
        (self.params / RELEASE_FILE).write_text(text, encoding="utf-8")

    def lines(self, name: str) -> list[str]:
        """The lines of a parameter file, without line ends and without a blank line at the end."""
        return (self.params / name).read_text(encoding="utf-8-sig").rstrip("\r\n").splitlines()

    def write_lines(self, name: str, lines: Sequence[str]) -> None:
        (self.params / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def rows(self, name: str) -> tuple[list[str], list[dict[str, str]]]:
        """The columns of a parameter file, and its rows."""
        header, *lines = self.lines(name)
        columns = header.split("|")
        return columns, [dict(zip(columns, line.split("|"), strict=True)) for line in lines]

    def write_rows(self, name: str, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
        lines = ["|".join(row[column] for column in columns) for row in rows]
        self.write_lines(name, ["|".join(columns), *lines])

    def place(self, stem: str) -> Path:
        """The file or folder of a data table."""
        return self.data / f"{stem}.{self.table_format.suffix}"

    def part_files(self, stem: str) -> list[Path]:
        """The files of a data table, smallest first."""
        return sorted(part_files(self.place(stem)), key=lambda file: file.stat().st_size)

    def read_table(self, file: Path) -> pa.Table:
        return pq.read_table(file) if self.table_format is Format.PARQUET else read_text_table(file)

    def edit_table(self, stem: str, edit: TableEdit, *, every_file: bool = False) -> None:
        """Change a data table: its smallest file, or all of them."""
        files = self.part_files(stem)
        for file in files if every_file else files[:1]:
            table = edit(self.read_table(file))
            if self.table_format is Format.PARQUET:
                pq.write_table(table, file)
            else:
                write_text_table(file, table.column_names, [table])

    def remove_table(self, stem: str) -> None:
        place = self.place(stem)
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()


def read_text_table(path: Path) -> pa.Table:
    """A whole text table; every column is text."""
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
class Breakage:
    """One deliberate fault: its name, the rule that catches it, a summary in words, and how it is made."""

    name: str
    rule: Rule
    summary: str
    apply: Callable[[Site], None]

    @property
    def code(self) -> str:
        return self.rule.code


def with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The table with one of its columns replaced."""
    return table.set_column(table.column_names.index(name), name, values)
