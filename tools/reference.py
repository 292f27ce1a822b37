"""Writes docs/reference from the code: every command, every key of release.toml, every rule.

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

import safetab
from safetab.cli.main import cli
from safetab.errors import Rule, Severity
from safetab.params.document import json_schema

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"


def rule_modules() -> list[ModuleType]:
    """Every module called `rules`, in order of its name."""
    found = pkgutil.walk_packages(safetab.__path__, "safetab.")
    return [importlib.import_module(info.name) for info in found if info.name.endswith(".rules")]


def pages() -> dict[str, str]:
    """The generated pages, by file name."""
    schema = json_schema()
    return {
        "commands.md": "\n".join(_commands()) + "\n",
        "errors.md": "\n".join(_errors()) + "\n",
        "release.md": "\n".join(_release(schema)) + "\n",
        "release.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
    }


def _commands() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "Exit status: 0 the work was done, 1 the files break rules, 2 the command is wrong, 3 the machine failed."
    context = click.Context(cli, info_name="safetab")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is None:
            continue
        inner = click.Context(command, info_name=name, parent=context, terminal_width=100, max_content_width=100)
        yield from ("", f"## safetab {name}", "", "```text", command.get_help(inner), "```")


def _errors() -> Iterator[str]:
    yield "# Errors and warnings"
    yield ""
    yield "Every message begins with a code. The rule is what must hold; the last column is what to do."
    for module in rule_modules():
        rules = [rule for rule in vars(module).values() if isinstance(rule, Rule)]
        yield ""
        yield f"## {(module.__doc__ or '').splitlines()[0].rstrip('.')}"
        yield ""
        yield "| code | rule | what to do |"
        yield "| --- | --- | --- |"
        for rule in sorted(rules, key=lambda rule: rule.code):
            mark = " (warning)" if rule.severity is Severity.WARNING else ""
            yield f"| {rule.code}{mark} | {_cell(rule.text)} | {_cell(rule.next_step)} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _release(schema: dict[str, Any]) -> Iterator[str]:
    yield "# release.toml"
    yield ""
    yield "Everything a release chooses, before any record is read. Budgets, fractions and chances are decimal text"
    yield 'such as `"0.159"` and are kept exactly. `safetab init DIR` writes a commented file to start from;'
    yield "`release.schema.json` beside this page is for editors."
    yield from ("", "## At the top", "", *_table(schema))
    for name, part in schema["$defs"].items():
        yield from ("", f"## {_heading(name)}", "", part["description"], "", *_table(part))


def _heading(name: str) -> str:
    return {
        "AgesPart": "[ages]",
        "ColumnsPart": "[columns]",
        "FilesPart": "[files]",
        "GeographyPart": "[geography.NAME]",
        "LevelPart": "[[level]]",
        "RunPart": "[[run]]",
    }[name]


def _table(part: dict[str, Any]) -> Iterator[str]:
    yield "| key | needed | default | meaning |"
    yield "| --- | --- | --- | --- |"
    needed = set(part.get("required", ()))
    for key, entry in part["properties"].items():
        default = entry.get("default")
        shown = "" if default in (None, "", [], {}) or isinstance(default, dict) else f"`{json.dumps(default)}`"
        meaning = entry.get("description", "A table of its own, below.")
        yield f"| `{key}` | {'yes' if key in needed else ''} | {shown} | {_cell(meaning)} |"


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
