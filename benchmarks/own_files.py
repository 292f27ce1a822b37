"""What the form of the records costs: quoted text beside plain text, tables in memory beside Parquet.

`make bench-own-files` tabulates one state of 5 million persons from the same records in several forms, each in a
process of its own, the forms in turn, three times. Printed are the median seconds of a tabulation and its ratio: of
quoted text to text between bars, of tables in memory to Parquet. Making a table in memory is not counted: its owner has
it already. A DuckDB relation is a query and no table yet: what DuckDB takes to answer it is printed apart.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.page import ROOT, Section
from benchmarks.tabulate import country_of

PERSONS = 5_000_000
TURNS = 3
#: Each form, and the one that it is compared with.
FORMS = {
    "bars": "bars",
    "commas, every field quoted": "bars",
    "commas, fields quoted where needed": "bars",
    "Parquet": "Parquet",
    "pyarrow": "Parquet",
    "polars": "Parquet",
    "pandas": "Parquet",
    "DuckDB": "Parquet",
}
FILES = {
    "bars": "people.txt",
    "commas, every field quoted": "people-quoted.csv",
    "commas, fields quoted where needed": "people.csv",
}
#: The columns of the records that the release does not read.
NOT_READ = ("HOUSEHOLDER", "CENRACE")
OPTIONS = {
    "bars": "DELIMITER '|', QUOTE ''",
    "commas, every field quoted": "FORCE_QUOTE *",
    "commas, fields quoted where needed": "DELIMITER ','",
}


def write_texts(country: Path) -> None:
    """The records as text in every form, made when they are missing."""
    import duckdb

    for form, name in FILES.items():
        if not (country / name).exists():
            records = f"SELECT * FROM read_parquet('{parquet_of(country)}/*.parquet')"  # noqa: S608
            duckdb.execute(f"COPY ({records}) TO '{country / name}' (HEADER, {OPTIONS[form]})")


def parquet_of(country: Path) -> Path:
    return country / "data" / "person-records.parquet"


def records_of(country: Path, form: str) -> Any:
    """The records as a caller has them."""
    import pyarrow.parquet as pq

    if form in FILES:
        return country / FILES[form]
    if form == "Parquet":
        return parquet_of(country)
    table = pq.read_table(parquet_of(country))
    if form == "polars":
        import polars

        return polars.DataFrame(polars.from_arrow(table)).rechunk()
    if form == "pandas":
        return table.to_pandas()
    if form == "DuckDB":
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE people AS FROM read_parquet('{parquet_of(country)}/*.parquet')")
        return connection.table("people")
    return table


def tabulate(country: Path, form: str) -> dict[str, Any]:
    import safetab

    (geography,) = (path for path in (country / "data").iterdir() if path.name.startswith("GRF-C"))
    records, out = records_of(country, form), country / "out"
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter()
    before = time.process_time()
    safetab.tabulate(country / "params", {"records": records, "geography": geography}, out)
    seconds, cpu = time.perf_counter() - start, time.process_time() - before
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "cpu": cpu, "mib": mib, "answer": seconds_of_answer(records)}


def seconds_of_answer(records: Any) -> float:
    """What DuckDB takes to answer a relation, the largest part of a tabulation that is not SafeTab's; else nothing."""
    if not hasattr(records, "project"):
        return 0.0
    start = time.perf_counter()
    records.project(", ".join(name for name in records.columns if name not in NOT_READ)).to_arrow_table()
    return time.perf_counter() - start


def in_own_process(country: Path, form: str) -> dict[str, Any]:
    words = [sys.executable, "-m", "benchmarks.own_files", str(country), form]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(tabulate(Path(sys.argv[1]), sys.argv[2])))
        return
    if len(sys.argv) == 2:
        write_texts(Path(sys.argv[1]))
        return
    section = Section("Own files")
    country = country_of(PERSONS)
    # Apart, because the peak memory of a process begins with that of the one that starts it.
    subprocess.run([sys.executable, "-m", "benchmarks.own_files", str(country)], cwd=ROOT, check=True)
    runs: dict[str, list[dict[str, Any]]] = {form: [] for form in FORMS}
    # In turn, so that other work on the machine meets all of them.
    for _ in range(TURNS):
        for form, found in runs.items():
            found.append(in_own_process(country, form))
    middle = {
        form: {key: median(run[key] for run in found) for key in ("seconds", "cpu", "mib", "answer")}
        for form, found in runs.items()
    }
    section.tell(f"{PERSONS:,} persons")
    section.tell(f"{'form of the records':<36} {'seconds':>8} {'CPU':>8} {'MiB':>7}  ratio of seconds, of CPU")
    for form, other in FORMS.items():
        ours, least = middle[form], middle[other]
        ratios = f"{ours['seconds'] / least['seconds']:.2f}, {ours['cpu'] / least['cpu']:.2f} to {other}"
        section.tell(f"{form:<36} {ours['seconds']:>8.1f} {ours['cpu']:>8.1f} {ours['mib']:>7,.0f}  {ratios}")
    section.tell(f"DuckDB's answer to the relation, alone: {middle['DuckDB']['answer']:.1f} s")
    section.save()


if __name__ == "__main__":
    main()
