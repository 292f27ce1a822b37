"""Writes docs/reference from the code: commands, keys of release.toml and of JSON, columns, rules, Python names.

Run as `make docs`. A test fails when a page and the code differ.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

import safetab.rules
from safetab.cli.main import cli
from safetab.errors import Rule, Severity
from safetab.params.document import json_schema
from safetab.params.release import TextColumns
from safetab.pipeline.columns import ALL_COLUMNS, MEANING, text_columns
from tools import python_names
from tools.json_keys import OUTPUTS

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"


def rule_modules() -> list[ModuleType]:
    """Every module of rules, in order of its name."""
    found = pkgutil.iter_modules(safetab.rules.__path__, "safetab.rules.")
    return [importlib.import_module(info.name) for info in found]


def pages() -> dict[str, str]:
    """The generated pages, by file name."""
    schema = json_schema()
    return {
        "columns.md": "\n".join(_columns()) + "\n",
        "commands.md": "\n".join(_commands()) + "\n",
        "errors.md": "\n".join(_errors()) + "\n",
        "json.md": "\n".join(_json_outputs()) + "\n",
        "python.md": "\n".join(python_names.page()) + "\n",
        "release.md": "\n".join(_release(schema)) + "\n",
        "release.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
    }


def _columns() -> Iterator[str]:
    yield from ("# Columns of T1 and T2", "", "*For people who read the tables of a release.*", "")
    yield "T1 has one row for each population group that was published. T2 has one row for each cell of its sex by age"
    yield "table, and one for each sum over all ages. The text files are in `OUT/t1` and `OUT/t2`, separated by `|`."
    yield "The Parquet files in `OUT/parquet/t1` and `OUT/parquet/t2` have all columns. The `data-dictionary.json` of"
    yield "each release says the same. [Estimates](../explanation/estimates.md) says what you may conclude."
    yield from ("", "| column | type | tables | in the Bureau's text format |", "| --- | --- | --- | --- |")
    bureau = {name: set(text_columns(name, TextColumns.BUREAU).names) for name in ALL_COLUMNS}
    for column in MEANING:
        tables = [name for name, schema in ALL_COLUMNS.items() if column in schema.names]
        kind = ALL_COLUMNS[tables[0]].field(column).type
        is_there = "yes" if any(column in bureau[name] for name in tables) else ""
        named = " and ".join(table.upper() for table in tables)
        yield f"| [{column}](#{column.lower()}) | {kind} | {named} | {is_there} |"
    for column, meaning in MEANING.items():
        yield from ("", f"## {column}", "", meaning)


def _commands() -> Iterator[str]:
    yield from ("# Commands", "", "*For people who type commands.*", "")
    yield "Exit status: 0 the work was done, 1 the files break rules, 2 the command is wrong, 3 the machine failed, 130"
    yield "somebody stopped it."
    context = click.Context(cli, info_name="safetab")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is None:
            continue
        inner = click.Context(command, info_name=name, parent=context, terminal_width=100, max_content_width=100)
        yield from ("", f"## safetab {name}", "", "```text", command.get_help(inner), "```")


def _errors() -> Iterator[str]:
    yield from ("# Errors and warnings", "", "*For people who got a message.*", "")
    yield "Every message begins with a code. It says the place, the rule that is broken there, and what to do."
    for module in rule_modules():
        rules = [rule for rule in vars(module).values() if isinstance(rule, Rule)]
        if not rules:
            continue
        yield ""
        yield f"## {(module.__doc__ or '').splitlines()[0].rstrip('.')}"
        yield ""
        yield "| code | rule | what to do |"
        yield "| --- | --- | --- |"
        for rule in sorted(rules, key=lambda rule: rule.code):
            mark = " (warning)" if rule.severity is Severity.WARNING else ""
            yield f"| `{rule.code}`{mark} | {_cell(rule.text)} | {_cell(rule.next_step)} |"


def _json_outputs() -> Iterator[str]:
    yield from ("# JSON outputs", "", "*For people who write programs that read what SafeTab writes.*", "")
    yield "The first key of an output, `format`, ends with the version of its keys. The version changes when a key"
    yield "changes its name or meaning, or is removed; keys may be added without a new version. A bound on privacy loss"
    yield 'is always rounded up. *Decimal text* is a number in quotes, such as `"0.159"`, so that no digit is lost.'
    yield ""
    yield "`[]` is any element of a list, and `*` is a name that the release chooses. The columns of T1 and T2 have"
    yield "[a page of their own](columns.md). `safetab schema` prints a JSON schema, which has no version."
    for output in OUTPUTS:
        yield from ("", f"## {output.name}", "", output.source, "", "| key | value | meaning |", "| --- | --- | --- |")
        for key, (kind, meaning) in output.keys.items():
            yield f"| `{key}` | {kind} | {_cell(meaning)} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _release(schema: dict[str, Any]) -> Iterator[str]:
    yield from ("# release.toml", "", "*For people who choose what a release publishes.*", "")
    yield "Everything you choose for a release, before any record is read. Budgets, fractions and probabilities are"
    yield 'decimal text such as `"0.159"`, and every digit is used. `safetab init DIR` writes a commented file to'
    yield "start from. [release.schema.json](release.schema.json) is for editors."
    yield from ("", "## At the top", "", *_table(schema))
    for name, part in schema["$defs"].items():
        yield from ("", f"## {_heading(name)}", "", part["description"], "", *_table(part))


def _heading(name: str) -> str:
    return {
        "AgesSection": "[ages]",
        "ColumnsSection": "[columns]",
        "FilesSection": "[files]",
        "GeographySection": "[geography.NAME]",
        "LevelSection": "[[level]]",
        "OutputSection": "[output]",
        "RunSection": "[[run]]",
    }[name]


def _table(part: dict[str, Any]) -> Iterator[str]:
    yield "| key | meaning | needed | default |"
    yield "| --- | --- | --- | --- |"
    needed = set(part.get("required", ()))
    for key, entry in part["properties"].items():
        default = entry.get("default")
        shown = "" if default in (None, "", [], {}) or isinstance(default, dict) else f"`{json.dumps(default)}`"
        meaning = entry.get("description", "See the table below.")
        yield f"| `{key}` | {_cell(meaning)} | {'yes' if key in needed else ''} | {shown} |"


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
