"""`safetab view`: a finished release, in tables people can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Group

from safetab.cli import rules
from safetab.cli.show import console, facts, grid, number
from safetab.errors import Finding, InputError
from safetab.pipeline.workspace import LEDGER_FILE


@click.command("view")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--region", help="The region to show; the largest one by default.")
@click.option("--rows", type=click.IntRange(1, 1000), default=12, show_default=True, help="How many groups to show.")
def command(out: Path, region: str | None, rows: int) -> int:
    """Show a sample of the release in OUT: the largest groups of a region, and the sex by age table of one of them."""
    if not (out / LEDGER_FILE).is_file():
        raise InputError(Finding(rules.NOT_A_RELEASE, str(out)))
    ledger = json.loads((out / LEDGER_FILE).read_text(encoding="utf-8"))
    names = json.loads((out / "data-dictionary.json").read_text(encoding="utf-8"))["iterations"]
    t1 = _read(out / "t1", region)
    if not t1.num_rows:
        raise InputError(Finding(rules.NO_SUCH_REGION, str(out), key=region or "", seen="without rows"))
    chosen = region or _largest_region(t1)
    of_region = t1.filter(pc.equal(t1["REGION_ID"], chosen)).sort_by([("COUNT", "descending")])
    screen = console()
    screen.print(facts(_about(ledger)))
    screen.print()
    screen.print(_totals(of_region, chosen, names, rows))
    screen.print()
    table = _sex_by_age(_read(out / "t2", chosen), of_region, names)
    screen.print(table if table is not None else f"No group of {chosen} has a sex by age table.")
    return 0


def _read(folder: Path, region: str | None) -> pa.Table:
    only = None if region is None else [("REGION_ID", "=", region)]
    return pa.concat_tables([pq.read_table(part, filters=only) for part in sorted(folder.glob("*.parquet"))])


def _largest_region(t1: pa.Table) -> str:
    # The largest single count lies in the region that holds all others, where there is one.
    row = int(pc.index(t1["COUNT"], pc.max(t1["COUNT"])).as_py())
    return str(t1["REGION_ID"][row].as_py())


def _about(ledger: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Release", ledger["title"] or "untitled"
    if ledger["is_private"]:
        yield "Guarantee", f"{ledger['budget_symbol']} {ledger['total_budget']} ({ledger['privacy']})"
    else:
        yield "Guarantee", ledger["warning"]


def _totals(rows: pa.Table, region: str, names: dict[str, str], most: int) -> Group:
    kind = rows["REGION_TYPE"][0].as_py()
    title = f"T1, total population: {kind} {region}, the largest of {number(rows.num_rows)} groups"
    return grid(
        title,
        ["Group", "Code", "People", "95 % margin"],
        [
            [
                names.get(row["ITERATION_CODE"], ""),
                row["ITERATION_CODE"],
                number(row["COUNT"]),
                f"± {number(row['MOE_95'])}",
            ]
            for row in rows.slice(0, most).to_pylist()
        ],
        left=2,
    )


def _sex_by_age(t2: pa.Table, groups: pa.Table, names: dict[str, str]) -> Group | None:
    """The sex by age table of the largest group that has one."""
    with_table = set(pc.unique(t2["ITERATION_CODE"]).to_pylist())
    code = next((code for code in groups["ITERATION_CODE"].to_pylist() if code in with_table), None)
    if code is None:
        return None
    rows = t2.filter(pc.equal(t2["ITERATION_CODE"], code)).to_pylist()
    sexes = sorted({row["SEX"] for row in rows})
    kind, region = rows[0]["REGION_TYPE"], rows[0]["REGION_ID"]
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        ages = "all ages" if row["AGESTART"] == "*" else f"{row['AGESTART']} to {row['AGEEND']}"
        lines.setdefault(ages, {})[row["SEX"]] = f"{number(row['COUNT'])} ± {number(row['MOE_95'])}"
    return grid(
        f"T2, sex by age: {kind} {region}, {names.get(code, code)} (stat level {rows[0]['STAT_LEVEL']})",
        ["Age", *(f"Sex {sex}" for sex in sexes)],
        [[ages, *(line[sex] for sex in sexes)] for ages, line in lines.items()],
    )
