"""Writes examples/oravel: the files of an invented statistics office, as a spreadsheet or a database would write them.

Run as `python -m tools.example_office`; the same files come out every time. A test compares them with what is
committed. The files are comma-separated with quotes, line ends are CRLF, names have diacritics, and a person has up to
three codes.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "oravel"
PERSONS = 4500

#: Code and name of a region, and the names of its areas.
REGIONS = (
    ("R1", "Tēmarin Coast", ("Port Ävalo", "Lower Sél, east bank", "Lower Sél, west bank")),
    ("R2", "Ōkaru", ("Ōkaru", "Brühn Hills")),
    ("R3", 'Nørd ("The Reach")', ("Štella", "Outer Reach", "Jokk")),
)
#: Meshblocks in each area.
MESHBLOCKS = 4
#: Code and name of a group, then the codes, names and weights of its detailed groups.
GROUPS = (
    ("1", "Islander", (("101", "Ōkarun", 48), ("102", "Tēmari", 42), ("103", "Sél, Lower", 8))),
    ("2", "Mainland", (("201", "Brühner", 45), ("202", "Jokkla", 9))),
    ("3", "Other", (("301", "Štellan", 12), ("399", "Not elsewhere classified", 2))),
    ("9", "Not stated", (("999", "Not stated", 2),)),
)


def _text(rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    return out.getvalue()


def _geography() -> list[tuple[str, str, str, str, str]]:
    return [
        (f"0{number}{place}{block:03d}", f"A{number}{place}", area, region, region_name)
        for number, (region, region_name, areas) in enumerate(REGIONS, start=1)
        for place, area in enumerate(areas, start=1)
        for block in range(1, MESHBLOCKS + 1)
    ]


def _person(draw: random.Random, blocks: Sequence[str], codes: Sequence[str], weights: Sequence[int]) -> list[object]:
    number = draw.choices([1, 2, 3], [70, 22, 8])[0]
    # Nobody who did not state a code has another one.
    first = draw.choices(codes, weights)[0]
    chosen = [first]
    while len(chosen) < number and first != "999":
        code = draw.choices(codes, weights)[0]
        if code not in chosen and code != "999":
            chosen.append(code)
    age = min(int(draw.triangular(0, 100, 22)), 99)
    return [draw.choice(blocks), age, draw.choice("FM"), *chosen, *[""] * (3 - len(chosen))]


def files() -> dict[str, str]:
    """The example's files by name."""
    draw = random.Random(2031)
    geography = _geography()
    detailed = [(code, weight) for _, _, inner in GROUPS for code, _, weight in inner]
    codes, weights = [code for code, _ in detailed], [weight for _, weight in detailed]
    blocks = [row[0] for row in geography]
    groups = [(code, name, *pair[:2]) for code, name, inner in GROUPS for pair in inner]
    people = [_person(draw, blocks, codes, weights) for _ in range(PERSONS)]
    return {
        "people.csv": _text([("Meshblock", "Age", "Sex", "Eth1", "Eth2", "Eth3"), *people]),
        "geography.csv": _text([("Meshblock", "AreaCode", "Area name", "RegionCode", "Region name"), *geography]),
        "groups.csv": _text([("Level1", "Level1Name", "Level2", "Level2Name"), *groups]),
    }


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_bytes(text.encode())


if __name__ == "__main__":
    main()
