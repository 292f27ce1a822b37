"""`safetab init`: a release to start from, after a template, after another release or for files of one's own."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from safetab.cli.own_files import own_texts
from safetab.cli.terminal import as_it_is, console
from safetab.errors import Finding, InputError, UsageError
from safetab.files.parquet import locate_text
from safetab.params.document_text import document_toml
from safetab.params.files_section import FilesSection
from safetab.params.load import RELEASE_FILE, Parameters, differences, load, read_document
from safetab.params.template import TITLES, release_toml
from safetab.rules import release_rules, usage_rules

_Command = Callable[..., int]


def _own_options(command: _Command) -> _Command:
    """The options for files of one's own, in the order of the help."""
    options = [
        click.option(
            "--records", type=click.Path(), metavar="FILE", help="Your records. Only the header line is read."
        ),
        click.option("--geography", type=click.Path(), metavar="FILE", help="Your blocks and their regions."),
        click.option("--groups", type=click.Path(), metavar="FILE", help="Your groups: a line for each code."),
        click.option(
            "--group-levels",
            metavar="CODE:NAME,...",
            help="A pair of columns of --groups for each level, coarse to fine. The last has the codes in the records.",
        ),
        click.option("--block", metavar="COLUMN", help="The block, in the records and in the geography."),
        click.option("--age", metavar="COLUMN", help="The age, in the records."),
        click.option("--sex", metavar="COLUMN", help="The sex, in the records."),
        click.option("--no-age", is_flag=True, help="Instead of --age: a release without ages."),
        click.option("--no-sex", is_flag=True, help="Instead of --sex: a release without sex."),
        click.option("--codes", metavar="COLUMN,...", help="The codes of a person, in the records; up to 8 columns."),
        click.option(
            "--region",
            multiple=True,
            metavar="LEVEL[=CODE[:NAME]]",
            help="A geography level, the column of its codes and the column of its names. Without columns it is the "
            "whole country. Repeat the option for every level, coarse to fine.",
        ),
        click.option("--sexes", metavar="VALUE,...", help="The values of the sex column."),
        click.option(
            "--look", is_flag=True, help="Read the values of the sex column from the records. They are confidential."
        ),
        click.option(
            "--no-group", multiple=True, metavar="CODE,...", help="Codes that are not groups, such as `not stated`."
        ),
        click.option(
            "--no-code", default="", metavar="VALUE", help="The value of an unused code column. [default: nothing]"
        ),
        click.option(
            "--delimiter",
            multiple=True,
            metavar="FILE=CHARACTER",
            help="What separates the fields of records, geography or groups, if the header does not show it.",
        ),
        click.option(
            "--no-quotes",
            multiple=True,
            type=click.Choice(["records", "geography", "groups"]),
            help="A file in which quotation marks have no meaning.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--like",
    type=click.Choice(sorted(TITLES)),
    help="paper (default): the seven levels of the paper, with margin of error targets. census-2020: the production "
    "budgets.",
)
@click.option(
    "--from",
    "other",
    type=click.Path(path_type=Path),
    metavar="OTHER",
    help="Write the release of this folder or file, such as the Bureau's config.json, as release.toml.",
)
@_own_options
def command(folder: Path, like: str | None, other: Path | None, **options: Any) -> int:
    """Write a commented release.toml into DIR, for you to edit.

    With --records and the options below it, SafeTab writes a release for your own files, with its group files. Each
    group of each level appears twice: alone, and alone or in combination. On a terminal SafeTab asks for what is
    missing.
    """
    is_own = any(options.values())
    for key in ("age", "sex"):
        if options[key] and options[f"no_{key}"]:
            raise click.UsageError(f"--{key} and --no-{key} exclude each other", click.get_current_context())
    if (like is not None) + (other is not None) + is_own > 1:
        raise UsageError(Finding(usage_rules.NOT_TOGETHER, "safetab init"))
    if folder.exists() and not folder.is_dir():
        raise UsageError(Finding(usage_rules.NOT_A_FOLDER, str(folder)))
    _refuse_to_overwrite(folder, [RELEASE_FILE])
    if other is not None:
        return _from_other(folder, other)
    if is_own:
        texts, own = own_texts(folder, options)
        _write(folder, {name: text.encode() for name, text in texts.items()})
        out = console()
        out.print("Choose margins of error or budgets in release.toml; each level has one to start from.")
        data = own.geography.parent
        if own.records.parent.resolve() != data.resolve():
            out.print("The records are not beside the geography: name them with --records in `safetab tabulate`.")
        out.print(as_it_is(f"Next: safetab check {shlex.quote(str(folder))} {shlex.quote(str(data))}"))
        return 0
    _write(folder, {RELEASE_FILE: release_toml(like or "paper").encode()})
    files = FilesSection()
    out = console()
    out.print("Put the group definitions beside it:")
    for name in (files.codes, files.race_iterations, files.ethnicity_iterations, files.code_to_iteration):
        out.print(f"  {name}")
    out.print("Or start from your own files: `safetab init DIR --records FILE` asks for the rest on a terminal.")
    out.print(as_it_is(f"Next: safetab check {shlex.quote(str(folder))}"))
    return 0


def _from_other(folder: Path, other: Path) -> int:
    """Write the release of another file, copy its group files, and say that both are equal."""
    before = load(other)
    source = before.folder / before.file
    contents = {RELEASE_FILE: document_toml(read_document(source)).encode()}
    if not folder.is_dir() or not folder.samefile(before.folder):
        contents |= {path.name: path.read_bytes() for path in _group_files(before)}
    _write(folder, contents)
    unequal = differences(before, load(folder / RELEASE_FILE))
    if unequal:
        raise InputError(Finding(release_rules.DIFFERENT_RELEASES, str(folder), seen=", ".join(unequal)))
    console().print(as_it_is(f"{folder / RELEASE_FILE} and {source} are equal."))
    console().print(as_it_is(f"Next: safetab check {shlex.quote(str(folder))} --same-as {shlex.quote(str(source))}"))
    return 0


def _group_files(parameters: Parameters) -> list[Path]:
    files = parameters.release.files
    names = [files.codes, files.race_iterations, files.code_to_iteration]
    names += [files.ethnicity_iterations] if parameters.release.columns.ethnicity else []
    return [path for name in names if (path := locate_text(parameters.folder, name, []))]


def _refuse_to_overwrite(folder: Path, names: list[str]) -> None:
    present = [Finding(usage_rules.EXISTS, str(folder / name)) for name in names if (folder / name).exists()]
    if present:
        raise UsageError(present)


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write all the files, or none where one cannot be written."""
    _refuse_to_overwrite(folder, list(contents))
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for name, content in contents.items():
            # "x": another process may have written the file since we looked.
            with (folder / name).open("xb") as file:
                written.append(folder / name)
                file.write(content)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    for path in written:
        console().print(as_it_is(f"Wrote {path}."))
