"""`safetab view`: a finished release, in tables people can read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from safetab.cli.bars import Scale
from safetab.cli.layout import Grid
from safetab.cli.terminal import console, facts, grid, number
from safetab.errors import Finding, InputError, UsageError
from safetab.pipeline.publish import read_dictionary, tables_of_runs
from safetab.pipeline.workspace import LEDGER_FILE
from safetab.rules import reading_rules, usage_rules
from safetab.screen import display_width

#: The type and the id of a region, which together name it.
Region = tuple[str, str]
#: The names of the regions of each type, by id.
RegionNames = Mapping[str, Mapping[str, str]]
_NO_MARGIN = (
    "Numbers without a margin have no valid one: they were published because they were large, or they are sums in "
    "which negative counts were set to 0. data-dictionary.json says more at MOE_95."
)


@click.command("view")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--region",
    help="The region to show: its name or id, or TYPE/ID where several regions have that. The default is the largest "
    "one.",
)
@click.option("--group", help="Show this group alone: its iteration code or its exact name.")
@click.option("--find", "words", help="List the groups and regions whose name, code or id contains these words.")
@click.option("--rows", type=click.IntRange(1, 1000), default=12, show_default=True, help="How many groups to show.")
@click.option("--bars", is_flag=True, help="Show each ESTIMATE and its 95 % interval as a bar, too.")
def command(out: Path, region: str | None, group: str | None, words: str | None, rows: int, bars: bool) -> int:
    """Show a sample of the release in OUT.

    The sample is the largest groups of a region, and the table of one of them: sex by age, or what the release has of
    the two.
    """
    if not (out / LEDGER_FILE).is_file():
        raise InputError(Finding(usage_rules.NOT_A_RELEASE, str(out)))
    if words is not None:
        return _list_found(out, words, rows)
    ledger = json.loads((out / LEDGER_FILE).read_text(encoding="utf-8"))
    dictionary = read_dictionary(out)
    names, regions = dictionary["iterations"], dictionary["regions"]
    shown = _shown(dictionary)
    chosen = _largest_region(out) if region is None else _named_region(out, region, regions)
    code = None if group is None else _code_of(out, group, names)
    totals, cells = (_of_region(out, table, chosen, code) for table in ("t1", "t2"))
    totals = {run: groups.sort_by([(shown.number, "descending")]) for run, groups in totals.items()}
    screen = console()
    screen.print(facts(_about(ledger)))
    if not totals:
        screen.print(f"No total of {names.get(code, code)} in {_words(chosen, regions)} was published.")
    for run, groups in totals.items():
        # Where a region lies in several runs, each run has counted its own people there.
        place = _words(chosen, regions) + ("" if len(totals) == 1 else f" in run {run}")
        screen.print()
        screen.print(_totals(groups, place, names, rows, shown, bars=bars))
        screen.print()
        table = _detail(cells[run], groups, place, names, shown) if run in cells else None
        screen.print(table if table is not None else f"No group of {place} has a row in T2.")
    seen = [*(groups.slice(0, rows) for groups in totals.values()), *cells.values()]
    if not shown.is_estimate and any(part["MOE_95"].null_count for part in seen):
        screen.print()
        screen.print(_NO_MARGIN)
    return 0


def _words(region: Region, names: RegionNames) -> str:
    """The type of a region and its name, or its id where it has none."""
    kind, region_id = region
    return f"{kind} {names.get(kind, {}).get(region_id, region_id)}"


def _list_found(out: Path, words: str, most: int) -> int:
    """Print the groups and regions that some words are in."""
    from safetab.reading import release as releases

    found = releases.open(out).find(words).to_pylist()
    if not found:
        console().print(f"No group or region has {words!r} in its name, code or id.")
        return 0
    title = f"{number(len(found))} groups and regions with {words!r}" + (f", the first {most}" * (len(found) > most))
    rows = [[entry["NAME"] or "-", entry["KIND"], entry["KEY"]] for entry in found[:most]]
    console().print(grid(title, ["Name", "Kind", "Code or TYPE/ID"], rows, left=3))
    return 0


def _code_of(out: Path, words: str, names: Mapping[str, str]) -> str:
    """The iteration code that a code or an exact name stands for."""
    found = [words] if words in names else [code for code, name in names.items() if name == words]
    if len(found) != 1:
        seen = f"the name of {' and '.join(found)}" if found else ""
        raise UsageError(Finding(reading_rules.NO_SUCH_GROUP, str(out), key=words, seen=seen), "")
    return found[0]


def _of_region(out: Path, table: str, region: Region, code: str | None) -> Mapping[str, pa.Table]:
    """The rows of one region, perhaps of one group alone, of each run that has any."""
    only = [("REGION_TYPE", "=", region[0]), ("REGION_ID", "=", region[1])]
    only += [] if code is None else [("ITERATION_CODE", "=", code)]
    return {run: rows for run, rows in tables_of_runs(out, table, filters=only).items() if rows.num_rows}


def _regions(out: Path, **options: Any) -> Iterator[Region]:
    """The regions that T1 has rows for, perhaps more than once."""
    for rows in tables_of_runs(out, "t1", columns=["REGION_TYPE", "REGION_ID"], **options).values():
        for row in rows.group_by(["REGION_TYPE", "REGION_ID"]).aggregate([]).to_pylist():
            yield row["REGION_TYPE"], row["REGION_ID"]


def _named_region(out: Path, words: str, names: RegionNames) -> Region:
    """The one region that the user's words name: TYPE/ID, or an id or a name that one region alone has."""
    kind, _, name = words.partition("/")
    with_name = {(of, region) for of, regions in names.items() for region, text in regions.items() if text == words}
    ids = [words, name, *(region for _, region in with_name)]
    found = set(_regions(out, filters=[("REGION_ID", "in", ids)]))
    if (kind, name) in found:
        return kind, name
    alike = sorted(region for region in found if region[1] == words or region in with_name)
    if not alike:
        raise InputError(Finding(usage_rules.NO_SUCH_REGION, str(out), key=words))
    if len(alike) > 1:
        seen = ", ".join("/".join(region) for region in alike)
        raise InputError(Finding(usage_rules.REGION_OF_SEVERAL_TYPES, str(out), key=words, seen=seen))
    return alike[0]


def _largest_region(out: Path) -> Region:
    columns = ["REGION_TYPE", "REGION_ID", "COUNT"]
    # The largest single count is in the region that contains all others, if there is one.
    tables = [rows for rows in tables_of_runs(out, "t1", columns=columns).values() if rows.num_rows]
    if not tables:
        raise InputError(Finding(usage_rules.NO_SUCH_REGION, str(out)))
    largest = max(tables, key=lambda rows: pc.max(rows["COUNT"]).as_py())
    row = int(pc.index(largest["COUNT"], pc.max(largest["COUNT"])).as_py())
    return str(largest["REGION_TYPE"][row].as_py()), str(largest["REGION_ID"][row].as_py())


def _about(ledger: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Release", ledger["title"] or "untitled"
    if ledger["is_private"]:
        yield "Guarantee", f"{ledger['budget_symbol']} {ledger['total_budget']} ({ledger['privacy']})"
    else:
        yield "Guarantee", ledger["warning"]


@dataclass(frozen=True, slots=True)
class _Shown:
    """The number of a row that people see: ESTIMATE with its interval, or COUNT with its margin."""

    is_estimate: bool

    @property
    def number(self) -> str:
        return "ESTIMATE" if self.is_estimate else "COUNT"

    @property
    def heading(self) -> str:
        return "95 % interval" if self.is_estimate else "95 % margin"

    def around(self, row: Mapping[str, Any]) -> str:
        """How far the true number may be from the one that is shown; nothing where nothing is true."""
        if self.is_estimate:
            return f"{number(row['LOW_95'])} to {number(row['HIGH_95'])}"
        return "" if row["MOE_95"] is None else f"± {number(row['MOE_95'])}"

    def in_one(self, row: Mapping[str, Any]) -> str:
        around = self.around(row)
        return f"{number(row[self.number])} {f'({around})' if self.is_estimate else around}".rstrip()


def _shown(dictionary: Mapping[str, Any]) -> _Shown:
    """Estimates, unless the release follows the Bureau's format, or was written before there were any."""
    columns = {column["name"]: column for column in dictionary["t1"]["columns"]}
    return _Shown("ESTIMATE" in columns and columns["ESTIMATE"]["in_text_file"])


def _totals(rows: pa.Table, place: str, names: dict[str, str], most: int, shown: _Shown, *, bars: bool = False) -> Grid:
    listed = rows.slice(0, most).to_pylist()
    # A release of an earlier version has no intervals.
    has_bars = bars and "HIGH_95" in rows.column_names
    title = f"T1, total population: {place}" + f", the largest of {number(rows.num_rows)} groups" * (rows.num_rows > 1)
    columns = ["Group", "Code", "People", shown.heading]
    lines = [
        [
            names.get(row["ITERATION_CODE"], ""),
            row["ITERATION_CODE"],
            number(row[shown.number]),
            shown.around(row) or "-",
        ]
        for row in listed
    ]
    if not has_bars:
        return grid(title, columns, lines, left=2)
    scale = Scale.of(listed, _room(columns, lines))
    with_bars = [[*line[:2], scale.bar(row), *line[2:]] for line, row in zip(lines, listed, strict=True)]
    return grid(title, [*columns[:2], scale.heading, *columns[2:]], with_bars, left=3)


def _room(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> int | None:
    """The places that a table leaves for bars on the screen; a heading of several words is folded."""
    width = console().width
    headings = [word for word in columns if " " not in word]
    wide = [max(map(display_width, texts)) for texts in zip(*lines, strict=True)]
    wide[: len(headings)] = map(max, wide, map(display_width, headings))
    return None if width is None else width - sum(wide) - 2 * len(columns)


def _ages(row: Mapping[str, Any]) -> str:
    start, end = row["AGESTART"], row["AGEEND"]
    return "all ages" if start == "*" else start if start == end else f"{start} to {end}"


def _detail(t2: pa.Table, groups: pa.Table, place: str, names: dict[str, str], shown: _Shown) -> Grid | None:
    """The table of the largest group that has one: sex by age, or what the release has of the two."""
    with_table = set(pc.unique(t2["ITERATION_CODE"]).to_pylist())
    code = next((code for code in groups["ITERATION_CODE"].to_pylist() if code in with_table), None)
    if code is None:
        return None
    rows = t2.filter(pc.equal(t2["ITERATION_CODE"], code)).to_pylist()
    sexes = sorted({row["SEX"] for row in rows})
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        lines.setdefault(_ages(row), {})[row["SEX"]] = shown.in_one(row)
    what = [word for word, values in (("sex", sexes), ("age", list(lines))) if values not in (["*"], ["all ages"])]
    return grid(
        f"T2, {' by '.join(what)}: {place}, {names.get(code, code)} (stat level {rows[0]['STAT_LEVEL']})",
        ["Age", *("People" if sex == "*" else f"Sex {sex}" for sex in sexes)],
        [[ages, *(line[sex] for sex in sexes)] for ages, line in lines.items()],
    )
