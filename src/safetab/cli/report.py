"""`safetab report`: a finished release as one page."""

from __future__ import annotations

from pathlib import Path

import click

from safetab.cli.terminal import alarm, as_it_is, console


@click.command("report")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path), default=Path("report.html"))
@click.option(
    "--all", "everything", is_flag=True, help="Put every published total into the page, not only the largest."
)
def command(out: Path, file: Path, everything: bool) -> int:
    """Write a report of the release in OUT: one HTML file with pictures.

    FILE is report.html in the current folder unless you name another one. It must not be in OUT. The report is made
    from OUT alone, so it may be published wherever OUT may. It opens without a network, and prints.
    """
    from safetab.reading.opened import Opened
    from safetab.reports.release_page import write_report

    write_report(out, file, everything=everything)
    screen = console()
    screen.print(as_it_is(f"The report is in {file}."))
    if not Opened(out).is_private:
        screen.print(alarm("The release is NOT PRIVATE, and so is its report: do not publish it."))
    return 0
