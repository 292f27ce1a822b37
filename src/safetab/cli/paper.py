"""`safetab paper`: every numeric table of the paper, and the truth beside it."""

from __future__ import annotations

import click

from safetab.accounting.paper.tables import PaperTable, paper_tables
from safetab.cli.layout import unbroken
from safetab.cli.terminal import console, grid, print_report


@click.command("paper")
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON.")
def command(as_json: bool) -> int:
    """Print the tables of the SafeTab paper beside the exact figures.

    These are all numeric tables, including those that are commented out in its source. There are three columns for
    each figure: printed in the paper, by the paper's formula, exact. The notes below a table say
    where and why they differ.
    """
    tables = paper_tables()
    if as_json:
        print_report("paper", {"tables": [as_dict(table) for table in tables]})
        return 0
    out = console()
    for number, table in enumerate(tables):
        if number:
            out.print()
        rows = [[unbroken(f.row), f.column, f.printed or "-", f.formula or "-", f.exact or "-"] for f in table.figures]
        title = f"{table.title} [{', '.join(table.labels)}]"
        out.print(grid(title, ["", "Figure", "Printed", "By formula", "Exact"], rows, left=2, repeats=False))
        for note in table.notes:
            out.print(note)
    return 0


def as_dict(table: PaperTable) -> dict[str, object]:
    """A table for other programs."""
    return {
        "title": table.title,
        "labels": list(table.labels),
        "notes": list(table.notes),
        "figures": [
            {
                "row": figure.row,
                "column": figure.column,
                "printed": figure.printed or None,
                "formula": figure.formula or None,
                "exact": figure.exact or None,
            }
            for figure in table.figures
        ],
    }
