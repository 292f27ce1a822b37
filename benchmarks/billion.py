"""1.34 billion persons on this machine: the nation four times over, each time as other states.

`make bench-billion` copies the nation of `make bench-nation` with other codes for the states, tabulates it once, and
writes the time, the peak memory and the most disk that the tabulation used. The largest country on Earth is as large.
A `config.json` knows two-digit states alone, of which there are too few, so the copies have the same release as
`release.toml`, which takes any codes. `python -m benchmarks.billion FOLDER` does the same with another country and
writes no page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import nation
from benchmarks.page import Section
from benchmarks.sizing import known_points, record
from benchmarks.tabulate import BUILD, in_own_process, point_of

BILLION = BUILD / "billion"
_STATE = "TABBLKST"
#: What the digits of a state become in each copy but the first, which is the country itself.
_COPIES = [str.maketrans("0123456789", letters) for letters in ("ABCDEFGHIJ", "KLMNOPQRST", "abcdefghij")]
#: Columns that no release reads.
_UNREAD = ("HOUSEHOLDER", "CENRACE")


def make(source: Path, billion: Path) -> None:
    """Write the copies of a country, where they are missing."""
    if billion.exists():
        return
    start = time.perf_counter()
    part = billion.with_name(f"{billion.name}-unfinished")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    write_params(source / "params", part / "params")
    files = [
        file
        for table in ("GRF-C.parquet", "person-records.parquet")
        for file in sorted((source / "data" / table).glob("*.parquet"))
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The largest first, so that no thread is left with a large one at the end.
        for _ in pool.map(lambda file: _copy(file, part), sorted(files, key=lambda file: -file.stat().st_size)):
            pass
    part.rename(billion)
    print(f"copied in {time.perf_counter() - start:,.0f} s", flush=True)


def write_params(source: Path, target: Path) -> None:
    """The release of a country, with the states of the copies beside its own."""
    words = [sys.executable, "-m", "safetab", "init", str(target), "--from", str(source)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    release = target / "release.toml"
    # Many states take several lines.
    where = re.compile(rf"^where\.{_STATE} = \[([^\]]*)\]$", re.MULTILINE)
    text = release.read_text(encoding="utf-8")
    changed, runs = where.subn(lambda found: f"where.{_STATE} = [{_four_times(found[1])}]", text)
    assert runs == len(tomllib.loads(text)["run"]), "a run does not name its states"
    release.write_text(changed, encoding="utf-8")


def _four_times(states: str) -> str:
    """A list of states with those of the copies behind them."""
    named = states.strip().rstrip(",")
    return ", ".join([named, *map(named.translate, _COPIES)])


def _copy(source: Path, country: Path) -> None:
    """Write the copies of one part; the country's own is linked.

    Values are copied as they are encoded, a dictionary and the places in it: of the states the dictionary is changed.
    """
    folder = country / "data" / source.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    os.link(source, folder / source.name)
    columns = [name for name in pq.read_schema(source).names if name not in _UNREAD]
    with pq.ParquetFile(source, read_dictionary=columns) as file:
        schema = pa.schema([file.schema_arrow.field(name) for name in columns])
        targets = [folder / f"{number}-{source.name}" for number, _ in enumerate(_COPIES, start=1)]
        writers = [pq.ParquetWriter(target, schema, store_schema=False) for target in targets]
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=columns, use_threads=False)
            for writer, letters in zip(writers, _COPIES, strict=True):
                writer.write_table(_with_states(rows, letters))
        for writer in writers:
            writer.close()


def _with_states(rows: pa.Table, letters: dict[int, int]) -> pa.Table:
    states = [
        pa.DictionaryArray.from_arrays(
            chunk.indices, pa.array([state.translate(letters) for state in chunk.dictionary.to_pylist()], pa.string())
        )
        for chunk in rows[_STATE].chunks
    ]
    place = rows.column_names.index(_STATE)
    return rows.set_column(place, rows.schema.field(place), pa.chunked_array(states))


def run() -> None:
    """The nation four times over; or another country that is named, of which no page is written."""
    named = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if named is None:
        nation.make()
    source, billion = (
        (nation.NATION, BILLION) if named is None else (named, named.with_name(f"{named.name}-four-times"))
    )
    make(source, billion)
    section = Section("A billion")
    ours = in_own_process("tabulate", billion)
    point = point_of("billion", billion, _persons(billion), ours)
    foretold = ", ".join(f"at {part} {seconds:,.0f} s" for part, seconds in ours["foretold"].items())
    section.tell(f"{point.persons:,} persons, {point.blocks:,} blocks, {point.groups:,} population groups")
    section.tell(f"tabulated in {ours['seconds']:,.0f} s; the bar predicted a total time of: {foretold}")
    section.tell(f"peak memory {ours['mib']:,.0f} MiB, temporary files {ours['disk_mib']:,.0f} MiB")
    if once := next((known for known in known_points() if known.name == "nation"), None):
        section.tell(f"{ours['seconds'] / once.seconds:.2f} times the nation's time as last measured")
    for step, seconds in sorted(ours["steps"].items(), key=lambda item: -item[1]):
        section.tell(f"  {seconds:>7.1f}s  {step}")
    if named is None:
        section.save()
        record(point)


def _persons(country: Path) -> int:
    files = f"{country}/data/person-records.parquet/*.parquet"
    ((persons,),) = duckdb.execute(f"SELECT count(*) FROM read_parquet('{files}')").fetchall()  # noqa: S608
    return int(persons)


if __name__ == "__main__":
    run()
