"""`safetab init`: a release to start from."""

from __future__ import annotations

from pathlib import Path

import click

from safetab.cli import rules
from safetab.cli.show import console
from safetab.errors import Finding, UsageError
from safetab.params.document import FilesPart
from safetab.params.load import RELEASE_FILE
from safetab.params.template import TITLES, release_toml


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--like",
    type=click.Choice(sorted(TITLES)),
    default="paper",
    show_default=True,
    help="paper: the paper's seven levels with margin of error targets. census-2020: the production budgets.",
)
def command(folder: Path, like: str) -> int:
    """Write a commented release.toml into DIR, to be edited by hand."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(Finding(rules.NOT_A_FOLDER, str(folder)))
    target = folder / RELEASE_FILE
    if target.exists():
        raise UsageError(Finding(rules.EXISTS, str(target)))
    folder.mkdir(parents=True, exist_ok=True)
    # "x": another process may have written the file since we looked.
    with target.open("x", encoding="utf-8") as file:
        file.write(release_toml(like))
    files = FilesPart()
    out = console()
    out.print(f"Wrote {target}.", markup=False, soft_wrap=True)
    out.print("Put the group definitions beside it:")
    for name in (files.codes, files.race_iterations, files.ethnicity_iterations, files.code_to_iteration):
        out.print(f"  {name}", markup=False)
    out.print(f"Then: safetab check {folder}", markup=False, soft_wrap=True)
    return 0
