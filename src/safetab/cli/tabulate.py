"""`safetab tabulate`: the main job, from records to T1 and T2."""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections.abc import Sequence
from decimal import ROUND_UP, Decimal
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import click
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from safetab.cli.show import console, facts, number, plural, print_findings, print_json
from safetab.errors import Finding
from safetab.pipeline.publish import NOT_PRIVATE_MARK
from safetab.pipeline.run import TabulatedRelease, tabulate


@click.command("tabulate")
@click.argument("params", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(["duckdb", "spark"]),
    default="duckdb",
    show_default=True,
    help="What counts the records: duckdb on this machine, or spark here or on a cluster.",
)
@click.option("--master", metavar="URL", help="Where Spark runs; without it as Spark is set up, else this machine.")
@click.option(
    "--records",
    metavar="PLACE",
    help="Where the records are, if not in DATA: a path or, with spark, an address such as s3a://bucket/records.",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier release in OUT, in one step.")
@click.option(
    "--registry",
    type=click.Path(path_type=Path),
    help="A file that remembers every release from these confidential data; keep it in the secure area.",
)
@click.option("--spend-again", is_flag=True, help="Release again although the registry holds an earlier release.")
@click.option("--noise", type=click.Choice(["on", "off"]), default="on", help="off: true counts, for tests only.")
@click.option("--not-private", is_flag=True, help="Needed with --noise off: the output protects nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print the ledger as JSON at the end.")
def command(
    params: Path,
    data: Path,
    out: Path,
    engine: str,
    master: str | None,
    records: str | None,
    overwrite: bool,
    registry: Path | None,
    spend_again: bool,
    noise: str,
    not_private: bool,
    as_json: bool,
) -> int:
    """Tabulate the records in DATA as the release in PARAMS says, and write T1 and T2 to the new folder OUT.

    OUT appears whole or not at all. It holds t1/ and t2/ (text and Parquet), data-dictionary.json and ledger.json.
    """
    start = time.monotonic()
    # A polite end is an interrupt like any other: everything temporary is removed on the way out.
    signal.signal(signal.SIGTERM, _interrupt)
    with _Terminal() as watcher:
        release = tabulate(
            params,
            data,
            out,
            engine=engine,
            master=master,
            records=records,
            overwrite=overwrite,
            registry=registry,
            spend_again=spend_again,
            noise=noise == "on",
            not_private=not_private,
            watcher=watcher,
        )
    if as_json:
        print_json(release.ledger)
    else:
        _summarise(release, time.monotonic() - start)
    return 0


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise KeyboardInterrupt


class _Terminal:
    """Progress for people: a bar on a terminal, plain lines in a log."""

    def __init__(self) -> None:
        self._console = console(to_stderr=True)
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task("reading records", total=None)

    def __enter__(self) -> _Terminal:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def note(self, text: str) -> None:
        if self._bar is None:
            self._log(text)

    def warn(self, findings: Sequence[Finding]) -> None:
        print_findings(findings)

    def advance(self, done: int, planned: int, what: str) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=f"tabulating {what}", completed=done, total=planned)
        elif what:
            self._log(f"tabulating {what}: {done:,} of {planned:,} groups done")

    def _log(self, text: str) -> None:
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")


def _summarise(release: TabulatedRelease, seconds: float) -> None:
    content = release.ledger
    levels = [level for run in content["runs"] for level in run["levels"]]
    drawn = sum(measured["counts"] for level in levels for measured in level["measurements"])
    rows = {name: sum(run["rows"][name] for run in content["runs"]) for name in ("t1", "t2")}
    suppressed = sum(run["suppressed_rows"] for run in content["runs"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    out = console()
    out.print(
        facts(
            [
                ("Release", f"{content['title'] or 'untitled'}, in {release.folder}"),
                ("Groups", number(sum(level["groups"] for level in levels))),
                ("Counts", f"{number(drawn)} noisy counts" if content["is_private"] else f"{number(drawn)} counts"),
                ("Rows", f"T1 {number(rows['t1'])}, T2 {number(rows['t2'])}; {plural(suppressed, 'row')} suppressed"),
                ("Guarantee", _guarantee(content)),
                ("Cost", f"{seconds:.1f} seconds, {peak:,.0f} MiB of memory at the most"),
            ]
        )
    )
    if not content["is_private"]:
        print_mark = (
            f"This release is {NOT_PRIVATE_MARK.replace('-', ' ')}: it protects nobody and must not be published."
        )
        out.print(print_mark, style="bold red")


def _guarantee(content: dict[str, Any]) -> str:
    if not content["is_private"]:
        return "none"
    kind = "zero-concentrated differential privacy" if content["privacy"] == "zcdp" else "pure differential privacy"
    bound = content["analyses"]
    return (
        f"{content['budget_symbol']} {content['total_budget']} of {kind}, and with it epsilon "
        f"{_upwards(bound['epsilon'])} at delta {bound['delta']}: adding or removing any one person changes the "
        "chances of what is published by no more"
    )


def _upwards(bound: float) -> Decimal:
    """An upper bound to two places, never rounded down."""
    return Decimal(bound).quantize(Decimal("0.01"), rounding=ROUND_UP)
