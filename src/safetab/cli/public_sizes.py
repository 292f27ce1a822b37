"""The sizes of groups that a command was told to plan with: a table, the published ones of 2020, or a release's own.

In: `--sizes` and `--like`. Out: the sizes and the words that say where they are from. The promise: they are public
input and every output says so; those of a release that is not private are marked as such.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from safetab.errors import Finding, InputError, UsageError
from safetab.params.load import Parameters
from safetab.planning.sizes import Sizes, national_sizes, published_sizes, read_sizes
from safetab.rules import planning_rules, usage_rules

US_2020 = "us-2020"
_OF_US_2020 = "published for the United States in 2020, with the noise of that release"
_T1_COLUMNS = ("REGION_TYPE", "REGION_ID", "ITERATION_CODE", "COUNT", "ESTIMATE")


@dataclass(frozen=True, slots=True)
class PublicSizes:
    """Sizes, in words where they are from, and what a reader must be warned of; empty where of nothing."""

    sizes: Sizes
    words: str
    warning: str = ""

    def as_dict(self) -> dict[str, object]:
        return {
            "source": self.sizes.source,
            "words": self.words,
            "warning": self.warning or None,
            "groups": sum(len(level) for level in self.sizes.of_level.values()),
            "left_out": self.sizes.left_out,
        }


def sizes_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options --sizes and --like."""
    for option in (
        click.option(
            "--like",
            type=click.Path(path_type=Path),
            metavar="OUT",
            help="Expect the sizes that the release in OUT published, for example one of a synthetic country.",
        ),
        click.option(
            "--sizes",
            metavar="FILE",
            help=f"Expect the public sizes in this table: ITERATION_CODE and COUNT for the nation, REGION_TYPE and "
            f"REGION_ID too for other regions. `{US_2020}`: as published for the United States in 2020.",
        ),
    ):
        command = option(command)
    return command


def chosen_sizes(parameters: Parameters, sizes: str | None, like: Path | None) -> PublicSizes | None:
    """The sizes of the groups of a release, as the two options say; None without them."""
    if sizes is not None and like is not None:
        raise UsageError(Finding(usage_rules.SIZES_TWICE, "--sizes", seen="with --like"))
    if like is not None:
        found = _of_release(parameters, like)
    elif sizes == US_2020:
        # synth keeps the published table, because it invents countries from it.
        from safetab.synth.published_sizes import published_sizes_of

        found = PublicSizes(national_sizes(parameters, published_sizes_of(parameters.catalogue), US_2020), _OF_US_2020)
    elif sizes is not None:
        found = PublicSizes(read_sizes(Path(sizes), parameters), f"the table {sizes}")
    else:
        return None
    if not found.sizes.of_level:
        raise InputError(Finding(planning_rules.NO_SIZES, found.sizes.source))
    return found


def _of_release(parameters: Parameters, out: Path) -> PublicSizes:
    from safetab.pipeline.publish import file_stem, tables_of_runs
    from safetab.pipeline.workspace import LEDGER_FILE

    if not (out / LEDGER_FILE).is_file():
        raise InputError(Finding(usage_rules.NOT_A_RELEASE, str(out)))
    ledger = json.loads((out / LEDGER_FILE).read_text(encoding="utf-8"))
    tables = tables_of_runs(out, "t1")
    rows = {
        run["name"]: tables[stem].select([name for name in _T1_COLUMNS if name in tables[stem].column_names])
        for run in ledger["runs"]
        if (stem := file_stem(run["name"], is_private=ledger["is_private"])) in tables
    }
    return PublicSizes(
        published_sizes(parameters, rows, out.name),
        f"published by the release in {out}; groups that it suppressed have none",
        ledger["warning"] or "",
    )
