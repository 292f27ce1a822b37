"""The searchable table of totals: the largest of each level, or all of them.

In: rows of T1. Out: HTML for the head of the table as it is printed, and the rows for its script. The promise: numbers
are those of OUT, as they are; all of a nation is written piece by piece.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from safetab.reading.opened import Opened
from safetab.reading.sums import Region
from safetab.reading.survey import TotalRow
from safetab.reports import markup

#: Totals of each level in the page, and of these on paper and before anybody searches.
TOP, PRINTED = 500, 10
#: Stands in a page where the rows are written.
PLACE = "<!-- rows -->"
COLUMNS = ("Level", "Region", "Group", "Code", "ESTIMATE", "LOW_95", "HIGH_95", "Stat level")
_PIECE = 10_000


def region_name(release: Opened, geography: str, region: str) -> str:
    """The name of a region and its id, or its id where it has no name."""
    name = release.region_names.get(geography, {}).get(region)
    return f"{name} ({region})" if name and name != region else region


def level_name(release: Opened, run: str, geography: str, iteration_level: int) -> str:
    """The name of a level; with its run where the release has several."""
    name = f"({geography}, {iteration_level})"
    return name if len(release.runs) == 1 else f"{run} {name}"


def printed_table(release: Opened, rows: Sequence[TotalRow]) -> str:
    """The controls, and the table with the first rows of each level."""
    first: dict[str, list[TotalRow]] = {}
    for row in rows:
        first.setdefault(level_name(release, row.run, row.geography, row.iteration_level), []).append(row)
    options = "".join(
        f'<option value="{number}">{escape(name)}</option>' for number, name in enumerate(levels_of(release))
    )
    controls = (
        '<div class="search" id="search" hidden><div><label for="words">Words in the level, region, group or code'
        '</label><input id="words" type="search" autocomplete="off"></div><div><label for="level">Level</label>'
        f'<select id="level"><option value="">all levels</option>{options}</select></div></div>\n'
        '<p id="shown" role="status"></p>\n'
    )
    lines = (
        (
            name,
            region_name(release, row.geography, row.region),
            release.groups[row.code].name,
            row.code,
            *(f"{value:,}" for value in (row.estimate, row.low_95, row.high_95, row.stat_level)),
        )
        for name, of_level in first.items()
        for row in of_level[:PRINTED]
    )
    return controls + markup.table("totals", COLUMNS, lines, left=4)


def levels_of(release: Opened) -> list[str]:
    return [level_name(release, level.run, level.geography, level.iteration_level) for level in release.levels]


def data(release: Opened, rows: Iterable[TotalRow]) -> Iterator[str]:
    """The rows for the script, and the script, piece by piece."""
    levels = {name: number for number, name in enumerate(levels_of(release))}
    codes = {code: number for number, code in enumerate(release.groups)}
    regions: dict[str, int] = {}

    def line(row: TotalRow) -> str:
        level = levels[level_name(release, row.run, row.geography, row.iteration_level)]
        region = regions.setdefault(region_name(release, row.geography, row.region), len(regions))
        return f"[{level},{region},{codes[row.code]},{row.estimate},{row.low_95},{row.high_95},{row.stat_level}]"

    yield '<script type="application/json" id="totals-data">{"rows": [\n'
    yield from _joined(line, rows)
    groups = [[group.code, group.name] for group in release.groups.values()]
    for name, values in (("levels", list(levels)), ("groups", groups), ("regions", list(regions))):
        ending = "]" if name == "levels" else ""
        yield f'{ending},\n"{name}": {_in_script(values)}'
    yield f"}}</script>\n{markup.script('search.js')}\n"


def _joined(line: Callable[[TotalRow], str], rows: Iterable[TotalRow]) -> Iterator[str]:
    piece: list[str] = []
    begin = ""
    for row in rows:
        piece.append(line(row))
        if len(piece) == _PIECE:
            yield begin + ",\n".join(piece)
            piece, begin = [], ",\n"
    if piece:
        yield begin + ",\n".join(piece)


def _in_script(value: object) -> str:
    """JSON that cannot end the script that it is in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def in_words(release: Opened, row: TotalRow) -> tuple[str, str]:
    """The region and the group of a row."""
    place = Region(row.geography, row.region)
    return f"{place.type} {region_name(release, *place)}", release.groups[row.code].name
