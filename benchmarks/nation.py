"""A nation on this machine: synthesise it where it is missing, tabulate it, and write docs/benchmarks.md.

`make bench-nation` runs the production budgets for the United States and Puerto Rico. `make verify-nation` tabulates it
once more with noise off and compares a sample of totals of every level with plain DuckDB sums.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq

import safetab
from benchmarks.page import Section
from benchmarks.tabulate import BUILD, PRODUCTION, in_own_process
from safetab.files.parquet import part_files

NATION = BUILD / "nation"
SAMPLE_PER_LEVEL = 5

#: How the columns of a record and of its block name its region, for the plain sums.
REGION_SQL = {
    "USA": "'1'",
    "STATE": "TABBLKST",
    "COUNTY": "TABBLKST || TABBLKCOU",
    "TRACT": "TABBLKST || TABBLKCOU || TABTRACTCE",
    "PLACE": "TABBLKST || PLACEFP",
    "AIANNH": "AIANNHCE",
}


def make() -> None:
    if not NATION.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, "-m", "safetab", "synth", str(NATION), "--like", "nation"]
        words += ["--params", str(PRODUCTION)] if PRODUCTION.is_dir() else []
        start = time.perf_counter()
        subprocess.run(words, check=True)
        print(f"synthesised in {time.perf_counter() - start:,.0f} s", flush=True)


def figures(least: dict[str, Any], ours: dict[str, Any]) -> str:
    """The section of the page as measured."""
    ledger, cores = ours["ledger"], os.cpu_count() or 1
    groups = sum(level["groups"] for run in ledger["runs"] for level in run["levels"])
    rows = {name: sum(run["rows"][name] for run in ledger["runs"]) for name in ("t1", "t2")}
    steps = "\n".join(f"| {step} | {seconds:,.0f} |" for step, seconds in sorted(ours["steps"].items(), key=_by_time))
    return f"""
{least["persons"]:,} synthetic persons (United States and Puerto Rico), 8.1 million blocks, production budgets and
groups, every level: {groups:,} population groups, {ours["counts"]:,} exact noisy counts, {rows["t1"]:,} rows of T1
and {rows["t2"]:,} of T2 written as text and as Parquet.

| | seconds | peak MiB |
| --- | --- | --- |
| one plain DuckDB GROUP BY over the columns the job needs | {least["seconds"]:,.0f} | {least["mib"]:,.0f} |
| `safetab tabulate`, start to finish | {ours["seconds"]:,.0f} | {ours["mib"]:,.0f} |
| ratio | {ours["seconds"] / least["seconds"]:.2f} | |

| step | seconds |
| --- | --- |
{steps}

### The Bureau's own program

For a nation its README (safetab_p/README.md in uscensusbureau/DAS_2020_DDHCA_Production_Code) recommends at least three
machines of type r4.16xlarge, which is 64 virtual cores and 488 GiB of memory each. Its run time for about 300 million
records was given to us as up to nine hours; the README and the test plan of that repository do not state it, so take
that figure as hearsay. On those numbers it is 192 cores for nine hours against {cores} cores for
{ours["seconds"] / 60:,.1f} minutes: {192 * 9 * 3600 / (cores * ours["seconds"]):,.0f} times the core-hours.
"""


def _by_time(item: tuple[str, float]) -> float:
    return -item[1]


def run() -> None:
    make()
    section = Section("A nation")
    ours = in_own_process("tabulate", NATION)
    print(f"tabulated in {ours['seconds']:,.0f} s, {ours['mib']:,.0f} MiB, {ours['counts']:,} noisy counts", flush=True)
    least = in_own_process("group_by", NATION)
    print(f"one GROUP BY in {least['seconds']:,.0f} s; ratio {ours['seconds'] / least['seconds']:.2f}", flush=True)
    for step, seconds in sorted(ours["steps"].items(), key=_by_time):
        print(f"  {seconds:>7.1f}s  {step}")
    section.save(figures(least, ours))


def verify(country: Path) -> None:
    """Compare totals of the noise-off release with plain sums, some groups of every level."""
    out = country / "out-noise-off"
    safetab.tabulate(country / "params", country / "data", out, noise=False, not_private=True, overwrite=True)
    for run_name in ("us", "pr"):
        rows = sample(out / "t1" / f"{run_name}.NOT-PRIVATE.parquet")
        expected = plain_sums(country, rows, run_name)
        for row, plain in zip(rows, expected, strict=True):
            assert row["COUNT"] == plain, (row, plain)
        levels = sorted({row["REGION_TYPE"] for row in rows})
        print(f"run {run_name}: {len(rows)} groups of {', '.join(levels)} agree with plain sums", flush=True)


def sample(table: Path) -> list[dict[str, Any]]:
    """Some groups of every geography level, the largest among them."""
    draw = random.Random(1)
    t1 = pq.read_table(table, columns=["REGION_ID", "REGION_TYPE", "ITERATION_CODE", "COUNT"])
    chosen: list[dict[str, Any]] = []
    for level in sorted(t1["REGION_TYPE"].unique().to_pylist()):
        rows = t1.filter(pc.equal(t1["REGION_TYPE"], level))
        numbers = set(draw.sample(range(rows.num_rows), min(SAMPLE_PER_LEVEL, rows.num_rows)))
        numbers.add(pc.index(rows["COUNT"], pc.max(rows["COUNT"])).as_py())
        chosen += [rows.slice(number, 1).to_pylist()[0] for number in sorted(numbers)]
    return chosen


def plain_sums(country: Path, rows: list[dict[str, Any]], run_name: str) -> list[int]:
    """How many people are in each group, in plain SQL, level by level.

    A condition may list hundreds of codes, so it is tried once for all people alike in codes, not for every person.
    """
    sums: dict[int, int] = {}
    for level in sorted({row["REGION_TYPE"] for row in rows}):
        numbers = [number for number, row in enumerate(rows) if row["REGION_TYPE"] == level]
        connection = duckdb.connect(config={"temp_directory": str(BUILD / "spill")})
        connection.execute(f"CREATE TABLE alike AS {people_alike(country, [rows[n] for n in numbers], run_name)}")
        counts = ", ".join(
            f"coalesce(sum(people) FILTER (WHERE {condition(country / 'params', rows[n])}), 0)" for n in numbers
        )
        answer = connection.execute(f"SELECT {counts} FROM alike").fetchone()  # noqa: S608
        sums |= dict(zip(numbers, map(int, answer or ()), strict=True))
        connection.close()
    return [sums[number] for number in range(len(rows))]


def people_alike(country: Path, rows: list[dict[str, Any]], run_name: str) -> str:
    """The people of the regions of some groups of one level, counted by region and codes."""
    level = rows[0]["REGION_TYPE"].removeprefix("PR-")
    region, ids = REGION_SQL[level], ", ".join(f"'{name}'" for name in sorted({row["REGION_ID"] for row in rows}))
    parts = [str(part) for part in part_files(country / "data" / "GRF-C.parquet")]
    source = f"read_parquet('{country}/data/person-records.parquet/*.parquet')"
    if level in ("PLACE", "AIANNH"):
        source += f" JOIN read_parquet({parts}) AS blocks USING (TABBLKST, TABBLKCOU, TABTRACTCE, TABBLK)"
    state = "TABBLKST = '72'" if run_name == "pr" else "TABBLKST <> '72'"
    codes = f"{', '.join(f'QRACE{number}' for number in range(1, 9))}, QSPAN"
    return (
        f"SELECT {region} AS region, {codes}, count(*) AS people FROM {source} "  # noqa: S608
        f"WHERE {state} AND {region} IN ({ids}) GROUP BY ALL"
    )


def condition(params: Path, row: dict[str, Any]) -> str:
    """Who is in a group: lives in the region, and has codes as the specification says."""
    mapping = [line.split("|") for line in (params / "race-and-ethnicity-code-to-iteration.txt").read_text().split()]
    codes = ", ".join(f"'{code}'" for iteration, code in mapping if iteration == row["ITERATION_CODE"])
    race = (params / "race-characteristic-iterations.txt").read_text("utf-8").splitlines()
    alone = {line.split("|")[0]: line.split("|")[3] for line in race if line}.get(row["ITERATION_CODE"])
    columns = [f"QRACE{number}" for number in range(1, 9)]
    if alone is None:
        belongs = f"QSPAN IN ({codes})"
    elif alone == "True":
        belongs = " AND ".join(f"({column} = 'Null' OR {column} IN ({codes}))" for column in columns)
    else:
        belongs = " OR ".join(f"{column} IN ({codes})" for column in columns)
    return f"region = '{row['REGION_ID']}' AND ({belongs})"


if __name__ == "__main__":
    if sys.argv[1:2] == ["verify"]:
        verify(Path(sys.argv[2]) if len(sys.argv) > 2 else NATION)
    else:
        run()
