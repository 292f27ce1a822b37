"""`safetab synth`: make a synthetic country to try a release on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource

from safetab.cli.terminal import as_it_is, console, grid, number, plural
from safetab.errors import Finding, Rule, UsageError
from safetab.pipeline.progress_bar import ProgressBar
from safetab.rules import synth_rules
from safetab.synth.breakages.catalogue import BREAKAGES, find_breakage
from safetab.synth.breakages.site import Breakage
from safetab.synth.country import DEFAULT_SEED, MOST_SEED, Country, CountryFacts, make_country
from safetab.synth.own_country import OwnCountry, make_own_country, prepare_own_country
from safetab.synth.shapes import LEAST_PERSONS, MOST_PERSONS, SHAPES
from safetab.synth.write_data import Format

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
@click.option("--persons", type=int, help="The number of persons. The areas stay those of --like.")
@click.option(
    "--params",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Use your own release and group definitions instead of generated ones.",
)
@click.option(
    "--geography",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Use your own geography file too: invent people for its blocks, with the columns of the release of --params. "
    "Without --persons, 40 for each block and at least 10,000.",
)
@click.option(
    "--sizes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Use your own sizes of groups: a file with the columns ITERATION_CODE and COUNT. Without it, or "
    "with the word us-2020, groups have the sizes published for the United States in 2020, in proportion.",
)
@click.option(
    "--format",
    "table_format",
    type=click.Choice([one.value for one in Format]),
    default=Format.PARQUET.value,
    show_default=True,
    help="parquet: one file for each state. text: one file, with `|` between the fields.",
)
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="The same seed gives the same bytes.")
@click.option(
    "--break",
    "breakage",
    metavar="BREAKAGE",
    help="Put one deliberate fault into the country: the name of a breakage, or the code of the rule to break. "
    "`--break list` lists them all.",
)
@click.pass_context
def command(
    ctx: click.Context,
    folder: Path | None,
    like: str,
    persons: int | None,
    params: Path | None,
    geography: Path | None,
    sizes: Path | None,
    table_format: str,
    seed: int,
    breakage: str | None,
) -> int:
    """Make a synthetic country in the new folder DIR.

    The country is in DIR/params and DIR/data, ready for `safetab check`. Nobody in it is real. DIR must not exist yet.
    It appears only when the country is complete.
    """
    if breakage == _LIST:
        _list_breakages()
        return 0
    if folder is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'DIR'", param_type="argument")
    if persons is not None and not LEAST_PERSONS <= persons <= MOST_PERSONS:
        raise _wrong_option("--persons", str(persons), synth_rules.PERSONS)
    if not 0 <= seed <= MOST_SEED:
        raise _wrong_option("--seed", str(seed), synth_rules.SEED)
    broken = None if breakage is None else _breakage(breakage)
    if geography is not None:
        chosen = [
            name for name in ("like", "breakage") if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        ]
        own = OwnCountry(_with_own_land(params, chosen), geography, persons, seed, Format(table_format), sizes)
        _rehearse(own, folder)
        return 0
    shape = SHAPES[like] if persons is None else SHAPES[like].with_persons(persons)
    country = Country(shape, seed, Format(table_format), params, sizes, broken)
    with _progress(shape.persons) as on_progress:
        facts = make_country(country, folder, on_progress=on_progress)
    areas = [plural(facts.states, "state")] if facts.states else []
    areas += ["Puerto Rico"] if facts.has_puerto_rico else []
    _report(facts, " and ".join(areas), seed, folder, broken)
    return 0


def _with_own_land(params: Path | None, chosen: list[str]) -> Path:
    """The parameters that a geography file needs; raises if options do not go together with it."""
    if params is None:
        raise _wrong_option("--geography", "without --params", synth_rules.GEOGRAPHY_ALONE)
    if chosen:
        option = "--like" if "like" in chosen else "--break"
        raise _wrong_option(option, "with --geography", synth_rules.OWN_LAND)
    return params


def _rehearse(own: OwnCountry, folder: Path) -> None:
    """Make people for the user's own geography."""
    prepared = prepare_own_country(own)
    with _progress(prepared.persons) as on_progress:
        facts = make_own_country(prepared, folder, on_progress=on_progress)
    _report(facts, Path(own.geography).name, own.seed, folder)


def _breakage(word: str) -> Breakage:
    found = find_breakage(word)
    if found is None:
        raise _wrong_option("--break", f'"{word}"', synth_rules.UNKNOWN_BREAKAGE)
    return found


def _wrong_option(option: str, seen: str, rule: Rule) -> UsageError:
    return UsageError(Finding(rule, "safetab synth", key=option, seen=seen))


@contextmanager
def _progress(persons: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        bar.update(done, persons, f"{done:,} persons")

    with ProgressBar(sys.stderr, "0 persons") as bar:
        yield advance


def _report(facts: CountryFacts, areas: str, seed: int, folder: Path, broken: Breakage | None = None) -> None:
    out = console()
    made = f"{plural(facts.persons, 'synthetic person')} in {plural(facts.blocks, 'block')} of {areas}"
    out.print(as_it_is(f"Made {folder}: {made}, {facts.bytes / 2**20:,.1f} MiB, seed {seed}."))
    if broken is not None:
        out.print(as_it_is(f"Broken on purpose: {broken.summary}, which breaks {broken.code}."))
    params, data = (shlex.quote(str(folder / name)) for name in ("params", "data"))
    out.print(as_it_is(f"Next: safetab check {params} {data}"))


def _list_breakages() -> None:
    rows = [[breakage.name, breakage.code, breakage.summary] for breakage in BREAKAGES]
    console().print(grid(f"{number(len(BREAKAGES))} breakages", ["Name", "Rule", "Fault"], rows, left=3))
