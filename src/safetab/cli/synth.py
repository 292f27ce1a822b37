"""`safetab synth`: a synthetic country to try things on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from safetab.cli.show import console, grid, number, plural
from safetab.synth.country import DEFAULT_SEED, Country, CountryFacts, make_country
from safetab.synth.faults.catalogue import FAULTS, find_fault
from safetab.synth.records import Format
from safetab.synth.shapes import SHAPES

_LIST = "list"


@click.command("synth")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path), required=False)
@click.option(
    "--like",
    type=click.Choice(list(SHAPES)),
    default="town",
    show_default=True,
    help="tiny: 400 persons. town: 40,000. state: 10 million. nation: the United States and Puerto Rico, 335 million.",
)
@click.option("--persons", type=int, help="How many persons; the areas stay those of --like.")
@click.option(
    "--params",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Your own release and group definitions, instead of generated ones.",
)
@click.option(
    "--format",
    "table_format",
    type=click.Choice([one.value for one in Format]),
    default=Format.PARQUET.value,
    show_default=True,
    help="parquet: a file a state. text: `|` between the fields, one file.",
)
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="The same seed gives the same bytes.")
@click.option(
    "--break",
    "fault",
    metavar="RULE",
    help="Make one deliberate fault, by its name or the code of a rule; `--break list` lists them.",
)
@click.pass_context
def command(
    ctx: click.Context,
    folder: Path | None,
    like: str,
    persons: int | None,
    params: Path | None,
    table_format: str,
    seed: int,
    fault: str | None,
) -> int:
    """Make a synthetic country in DIR: DIR/params and DIR/data, as `safetab check` takes them.

    Nobody in it is real. DIR must not be there yet, and appears only when the country is complete.
    """
    if fault == _LIST:
        _list_faults()
        return 0
    if folder is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'DIR'", param_type="argument")
    shape = SHAPES[like] if persons is None else SHAPES[like].with_persons(persons)
    country = Country(shape, seed, Format(table_format), params, None if fault is None else find_fault(fault))
    with _progress(shape.persons) as on_progress:
        facts = make_country(country, folder, on_progress=on_progress)
    _tell(facts, country, folder)
    return 0


@contextmanager
def _progress(persons: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal; nothing where nobody watches."""
    out = console(to_stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.completed:,} persons"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("persons", total=persons)
        yield lambda more: bar.advance(task, more)


def _tell(facts: CountryFacts, country: Country, folder: Path) -> None:
    areas = [plural(facts.states, "state")] if facts.states else []
    areas += ["Puerto Rico"] if facts.has_puerto_rico else []
    out = console()
    out.print(
        f"Made {folder}: {plural(facts.persons, 'synthetic person')} in {plural(facts.blocks, 'block')} of "
        f"{' and '.join(areas)}, {facts.bytes / 2**20:,.1f} MiB, seed {country.seed}.",
        markup=False,
        soft_wrap=True,
    )
    if country.fault is not None:
        code = f", which breaks {country.fault.code}" if country.fault.code else ""
        out.print(f"One fault was made on purpose: {country.fault.summary}{code}.", markup=False, soft_wrap=True)
    out.print(f"Then: safetab check {folder / 'params'} {folder / 'data'}", markup=False, soft_wrap=True)


def _list_faults() -> None:
    rows = [[fault.name, fault.code or "records", fault.summary] for fault in FAULTS]
    console().print(grid(f"{number(len(FAULTS))} faults", ["Name", "Rule", "What it does"], rows, left=3))
