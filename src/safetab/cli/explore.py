"""`safetab explore`: a page in the browser, served by this machine alone."""

from __future__ import annotations

from pathlib import Path

import click

from safetab.cli.public_sizes import US_2020, chosen_sizes, sizes_options
from safetab.cli.terminal import as_it_is, console
from safetab.explorer.page import Page
from safetab.explorer.serve import require_packages, serve
from safetab.explorer.starts import SizeSource
from safetab.params.load import Parameters, load
from safetab.planning.sizes import Sizes


@click.command("explore")
@click.argument("params", type=click.Path(path_type=Path), required=False)
@click.option("--release", "out", type=click.Path(path_type=Path), help="Read the finished release in this folder.")
@sizes_options
@click.option("--port", type=click.IntRange(1, 65535), help="Serve at this port. Otherwise a free one is chosen.")
@click.option("--no-browser", is_flag=True, help="Only print the address; open no browser.")
def command(
    params: Path | None, out: Path | None, sizes: str | None, like: Path | None, port: int | None, no_browser: bool
) -> int:
    """Plan a release on a page in your browser, or read one.

    PARAMS is a folder with release.toml or the Bureau's config.json, or one of these two files; without it the page
    starts with the production settings of 2020. The page is for this machine alone and uses no network. Its address
    works once, in one browser. Ctrl-C stops it. No record is read.
    """
    require_packages()
    serve(_page(params, out, sizes, like), port, _announce, opens_browser=not no_browser)
    return 0


def _page(params: Path | None, out: Path | None, sizes: str | None, like: Path | None) -> Page:
    """The page that the arguments ask for."""
    if out is not None:
        from safetab.explorer.release_page import release_page
        from safetab.reading import release

        if params is not None:
            raise click.UsageError("give PARAMS to plan a release, or --release OUT to read one, not both.")
        if sizes is not None or like is not None:
            raise click.UsageError("--sizes and --like are for planning; a finished release needs none.")
        return release_page(release.open(out))
    from safetab.explorer.plan_page import plan_page

    parameters = None if params is None else load(params)
    return plan_page(parameters, _given_sizes(parameters, sizes, like))


def _given_sizes(parameters: Parameters | None, sizes: str | None, like: Path | None) -> SizeSource | None:
    """The sizes that the options name; those of 2020 are on the page anyway."""
    if like is None and sizes in {None, US_2020}:
        return None

    def find(plan: Parameters) -> Sizes | None:
        found = chosen_sizes(plan, sizes, like)
        return None if found is None else found.sizes

    given = None if parameters is None else chosen_sizes(parameters, sizes, like)
    words, warning = ("", "") if given is None else (given.words, given.warning)
    return SizeSource(str(like or sizes), words or f"the table {sizes}", find, warning)


def _announce(address: str) -> None:
    # The address on a line of its own, so that another program finds it.
    out = console()
    out.print(as_it_is(address))
    out.print("Open this address in a browser of this machine. Ctrl-C stops the page.")
