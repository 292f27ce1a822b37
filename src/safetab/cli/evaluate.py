"""`safetab evaluate`: how accurate a release will be, measured on records inside the secure area."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pyarrow.parquet as pq

from safetab.cli.terminal import alarm, console, facts, number, plural, print_findings
from safetab.errors import Finding, UsageError
from safetab.pipeline.evaluate import Evaluation, evaluate
from safetab.pipeline.progress_report import ProgressReport
from safetab.pipeline.publish import NOT_PRIVATE_MARK
from safetab.rules import output_rules, usage_rules

PAGE, TABLE = f"evaluation.{NOT_PRIVATE_MARK}.html", f"evaluation.{NOT_PRIVATE_MARK}.parquet"


@click.command("evaluate")
@click.argument("params", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--trials",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How often the noise of the release is drawn.",
)
def command(params: Path, data: Path, folder: Path, trials: int) -> int:
    """Measure how accurate a release would be: count the records once and draw its noise many times.

    The result compares noisy numbers with true ones. It is NOT PRIVATE and must not leave the secure area, unless the
    people are synthetic. FOLDER gets evaluation.NOT-PRIVATE.html and evaluation.NOT-PRIVATE.parquet, which only their
    owner can read. Nothing is published and no budget is spent.
    """
    from safetab.reports.charts import altair
    from safetab.reports.evaluation_page import write_evaluation_page

    altair()
    _refuse(folder)
    with ProgressReport(print_warnings=print_findings) as watcher:
        found = evaluate(params, data, trials=trials, watcher=watcher)
    folder.mkdir(mode=0o700, exist_ok=True)
    write_evaluation_page(folder / PAGE, found.title, found.trials, found.figures)
    _write_table(folder / TABLE, found)
    _summarise(found, folder)
    return 0


def _refuse(folder: Path) -> None:
    """Raise if the results cannot or may not be written there."""
    from safetab.reports.markup import refuse_file, refuse_inside_release

    refuse_inside_release(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(Finding(usage_rules.NOT_A_FOLDER, str(folder)))
    parent = folder if folder.exists() else folder.absolute().parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise UsageError(Finding(output_rules.OUTPUT_PARENT, str(parent)))
    if folder.exists():
        refuse_file(folder / PAGE)


def _write_table(file: Path, found: Evaluation) -> None:
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            pq.write_table(found.figures, out, compression="zstd")
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _summarise(found: Evaluation, folder: Path) -> None:
    whole = [row for row in found.figures.to_pylist() if row["KIND"] == "T1" and row["SIZE_FROM"] is None]
    rows = sum(row["ROWS"] for row in whole)
    covered = sum(row["COVERAGE"] * row["ROWS"] for row in whole if row["ROWS"])
    lines = [
        ("Release", found.title),
        ("Trials", f"{plural(found.trials, 'trial')}; nothing was published and no budget was spent"),
        ("Groups", number(sum(row["GROUPS"] for row in whole))),
    ]
    if rows:
        lines.append(("Coverage", f"{covered / rows:.2%} of the intervals of totals hold".replace("%", " %", 1)))
    lines.append(("Written", f"{folder / PAGE} and {TABLE}"))
    screen = console()
    screen.print(facts(lines))
    screen.print(
        alarm(
            "Both files are NOT PRIVATE: they are made from true counts without noise. They must not leave the secure "
            "area, unless the people are synthetic."
        )
    )
