"""The example country, which is not the United States: where it lies, and its tables as the oracle makes them.

Levels, bins and columns are those of examples/merovia/params/release.toml, read by eye.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from tests.oracle import tabulation
from tests.oracle.membership import Group
from tests.oracle.tabulation import CellKey, Key, Level, Person

MEROVIA = Path(__file__).resolve().parents[2] / "examples" / "merovia"
BINS = ((0, 16, 60), (0, 7, 16, 30, 45, 60, 75), (0, 3, 7, 12, 16, 20, 25, 30, 40, 50, 60, 70, 80, 90))
SEXES = ("F", "M")
#: Geography level, whether it is local, iteration level, thresholds.
LEVELS = (
    ("COUNTRY", False, 1, (100, 500, 2000)),
    ("COUNTRY", False, 2, (100, 500, 1500)),
    ("PROVINCE", False, 1, (100, 500, 1500)),
    ("PROVINCE", False, 2, (100, 400, 1000)),
    ("DISTRICT", True, 2, (50, 200, 600)),
)


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a text file, as the oracle reads them."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [row for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE) if any(row.values())]


def groups_of(folder: Path, race: str, ethnicity: str, mapping: str) -> tuple[Group, ...]:
    """The groups that three files define."""
    members: dict[str, set[str]] = {}
    for row in rows(folder / mapping):
        members.setdefault(row["ITERATION_CODE"], set()).add(row["RACE_ETH_CODE"])
    return tuple(
        Group(
            row["ITERATION_CODE"],
            int(row["LEVEL"]),
            row.get("ALONE", ""),
            row["DETAILED_ONLY"],
            row["COARSE_ONLY"],
            frozenset(members[row["ITERATION_CODE"]]),
        )
        for row in rows(folder / race) + rows(folder / ethnicity)
    )


def expected(bins: Sequence[Sequence[int]], sexes: Sequence[str]) -> tuple[dict[Key, int], dict[CellKey, int]]:
    """T1 and T2 with so many lists of age bins, and the first so many thresholds; without bins, or without sexes."""
    people = [
        Person(
            (row["PROVINCE"], row["DISTRICT"], row["VILLAGE"]),
            int(row["YEARS"]),
            row["GENDER"],
            tuple(row[f"PEOPLE{n}"] for n in (1, 2, 3) if row[f"PEOPLE{n}"] != "-"),
            row["TONGUE"],
        )
        for row in rows(MEROVIA / "data" / "people.txt")
    ]
    blocks = [tuple(row.values()) for row in rows(MEROVIA / "data" / "villages.txt")]
    regions: dict[str, dict[tuple[str, ...], str | None]] = {
        "COUNTRY": dict.fromkeys(blocks, "Merovia"),
        "PROVINCE": {block: block[0] for block in blocks},
        "DISTRICT": {block: block[0] + block[1] for block in blocks},
    }
    tables = len(bins) or min(len(sexes), 1)
    levels = [
        Level(name, local, number, thresholds[:tables], regions[name]) for name, local, number, thresholds in LEVELS
    ]
    groups = groups_of(MEROVIA / "params", "people-groups.txt", "tongue-groups.txt", "groups-of-codes.txt")
    return tabulation.tabulate(people, levels, groups, bins, 100, sexes, suppress=True)


def write(folder: Path, bins: Sequence[Sequence[int]], sexes: Sequence[str]) -> Path:
    """Write the country with so many lists of age bins, without ages or without sex; the records lack these columns."""
    (folder / "params").mkdir(parents=True)
    (folder / "data").mkdir()
    for path in [*(MEROVIA / "params").glob("*.txt"), MEROVIA / "data" / "villages.txt"]:
        (folder / path.relative_to(MEROVIA)).write_bytes(path.read_bytes())
    dropped = {*([] if bins else ["YEARS"]), *([] if sexes else ["GENDER"])}
    people = [
        {name: value for name, value in row.items() if name not in dropped}
        for row in rows(MEROVIA / "data" / "people.txt")
    ]
    lines = ["|".join(people[0]), *("|".join(person.values()) for person in people)]
    (folder / "data" / "people.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    release = (MEROVIA / "params" / "release.toml").read_text(encoding="utf-8")
    tables = len(bins) or min(len(sexes), 1)
    kept = [line for line in release.splitlines() if not line.startswith(("oldest =", "bins =", "thresholds ="))]
    kept = [line for line in kept if not (line == "[ages]" and not bins)]
    kept = [line for line in kept if not (line.startswith("age =") and not bins)]
    kept = [line for line in kept if not (line.startswith(("sex =", "sexes =")) and not sexes)]
    text = "\n".join(kept).replace("[ages]\n", f"[ages]\noldest = 100\nbins = {[list(starts) for starts in bins]}\n")
    for _, _, _, thresholds in LEVELS if tables else ():
        text = text.replace("[[level]]\n", f"[[LEVEL]]\nthresholds = {list(thresholds[:tables])}\n", 1)
    (folder / "params" / "release.toml").write_text(text.replace("[[LEVEL]]", "[[level]]"), encoding="utf-8")
    return folder
