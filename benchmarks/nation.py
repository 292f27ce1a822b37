"""A nation on this machine: synthesise it where it is missing, tabulate it, and write docs/benchmarks.md.

`make bench-nation` runs the production budgets for the United States and Puerto Rico. `make verify-nation` tabulates it
once more with noise off and compares a sample of totals of every level with plain DuckDB sums. Both take another
country instead, `python -m benchmarks.nation [verify] FOLDER`, and then write no page.
"""

from __future__ import annotations

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
from benchmarks.sizing import record
from benchmarks.tabulate import BUILD, PRODUCTION, REGION_SQL, in_own_process, point_of
from safetab.engines.workers import usable_cores
from safetab.files.parts import part_files
from safetab.pipeline.publish import parquet_folder

NATION = BUILD / "nation"
SAMPLE_PER_LEVEL = 5


def make() -> None:
    if not NATION.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, "-m", "safetab", "synth", str(NATION), "--like", "nation"]
        words += ["--params", str(PRODUCTION)] if PRODUCTION.is_dir() else []
        start = time.perf_counter()
        subprocess.run(words, check=True)
        print(f"synthesised in {time.perf_counter() - start:,.0f} s", flush=True)


def figures(blocks: int, bare: dict[str, Any], least: dict[str, Any], ours: dict[str, Any]) -> str:
    """The section of the page as measured."""
    ledger, cores = ours["ledger"], usable_cores()
    groups = sum(level["groups"] for run in ledger["runs"] for level in run["levels"])
    rows = {name: sum(run["rows"][name] for run in ledger["runs"]) for name in ("t1", "t2")}
    foretold = ", ".join(f"{seconds:,.0f} s at {part}" for part, seconds in ours["foretold"].items())
    steps = "\n".join(f"| {step} | {seconds:,.0f} |" for step, seconds in sorted(ours["steps"].items(), key=_by_time))
    return f"""
{least["persons"]:,} synthetic persons, {blocks:,} blocks, production budgets and groups, every level:
{groups:,} population groups, {ours["counts"]:,} exact noisy counts, {rows["t1"]:,} rows of T1 and {rows["t2"]:,} of T2
written as text and as Parquet.

| | seconds | peak MiB |
| --- | --- | --- |
| a bare scan of the columns the job needs | {bare["seconds"]:,.0f} | {bare["mib"]:,.0f} |
| one plain DuckDB GROUP BY over the columns the job needs | {least["seconds"]:,.0f} | {least["mib"]:,.0f} |
| `safetab tabulate`, start to finish | {ours["seconds"]:,.0f} | {ours["mib"]:,.0f} |
| ratio to the GROUP BY | {ours["seconds"] / least["seconds"]:.2f} | |
| ratio to the scan | {ours["seconds"] / bare["seconds"]:.1f} | |

Temporary files took at most {ours["disk_mib"]:,.0f} MiB. The bar predicted a total time of {foretold}.

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


def run(country: Path = NATION) -> None:
    if country == NATION:
        make()
    section = Section("A nation")
    ours = in_own_process("tabulate", country)
    print(f"tabulated in {ours['seconds']:,.0f} s, {ours['mib']:,.0f} MiB, {ours['counts']:,} noisy counts", flush=True)
    least = in_own_process("group_by", country)
    print(f"one GROUP BY in {least['seconds']:,.0f} s; ratio {ours['seconds'] / least['seconds']:.2f}", flush=True)
    for step, seconds in sorted(ours["steps"].items(), key=_by_time):
        print(f"  {seconds:>7.1f}s  {step}")
    point = point_of("nation", country, least["persons"], ours)
    text = figures(point.blocks, in_own_process("scan", country), least, ours)
    if country != NATION:
        print(text)
        return
    section.save(text)
    record(point)


def verify(country: Path) -> None:
    """Compare totals of the noise-off release with plain sums, some groups of every level."""
    out = country / "out-noise-off"
    safetab.tabulate(country / "params", country / "data", out, noise=False, not_private=True, overwrite=True)
    for run_name in ("us", "pr"):
        rows = sample(parquet_folder(out, "t1") / f"{run_name}.NOT-PRIVATE.parquet")
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
        start = time.perf_counter()
        numbers = [number for number, row in enumerate(rows) if row["REGION_TYPE"] == level]
        connection = duckdb.connect(config={"temp_directory": str(BUILD / "spill")})
        connection.execute(f"CREATE TABLE alike AS {people_alike(country, [rows[n] for n in numbers], run_name)}")
        counts = ", ".join(
            f"coalesce(sum(people) FILTER (WHERE {condition(country / 'params', rows[n])}), 0)" for n in numbers
        )
        answer = connection.execute(f"SELECT {counts} FROM alike").fetchone()  # noqa: S608
        sums |= dict(zip(numbers, map(int, answer or ()), strict=True))
        connection.close()
        print(f"  plain sums of {level} in {time.perf_counter() - start:,.1f} s", flush=True)
    return [sums[number] for number in range(len(rows))]


def people_alike(country: Path, rows: list[dict[str, Any]], run_name: str) -> str:
    """The people of the regions of some groups of one level, counted by region and codes.

    Only blocks of these regions are joined, and only their states and counties read, so that a tract does not take as
    long as the nation.
    """
    level = rows[0]["REGION_TYPE"].removeprefix("PR-")
    region, ids = REGION_SQL[level], ", ".join(f"'{name}'" for name in sorted({row["REGION_ID"] for row in rows}))
    state = "TABBLKST = '72'" if run_name == "pr" else "TABBLKST <> '72'"
    codes = f"{', '.join(f'QRACE{number}' for number in range(1, 9))}, QSPAN"
    people = f"read_parquet('{country}/data/person-records.parquet/*.parquet')"
    if level in ("USA", "STATE"):
        return (
            f"SELECT {region} AS region, {codes}, count(*) AS people FROM {people} "  # noqa: S608
            f"WHERE {state} AND {region} IN ({ids}) GROUP BY ALL"
        )
    block, parts = "TABBLKST, TABBLKCOU, TABTRACTCE, TABBLK", part_files(country / "data" / "GRF-C.parquet")
    inside = duckdb.execute(
        f"SELECT DISTINCT TABBLKST, TABBLKCOU FROM read_parquet({list(map(str, parts))}) "  # noqa: S608
        f"WHERE {state} AND {region} IN ({ids})"
    ).fetchall()
    states, counties = (", ".join(f"'{code}'" for code in sorted(set(codes))) for codes in zip(*inside, strict=True))
    return (
        f"WITH blocks AS (SELECT {region} AS region, {block} FROM read_parquet({list(map(str, parts))}) "  # noqa: S608
        f"WHERE {state} AND {region} IN ({ids})) "
        f"SELECT region, {codes}, count(*) AS people FROM {people} AS people JOIN blocks USING ({block}) "
        f"WHERE people.TABBLKST IN ({states}) AND people.TABBLKCOU IN ({counties}) GROUP BY ALL"
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
    folders = [Path(word) for word in sys.argv[1:] if word != "verify"] or [NATION]
    for folder in folders:
        (verify if "verify" in sys.argv[1:] else run)(folder)
