"""A world in the Bureau's file formats, with people: on disk for safetab, as plain values for the oracle."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.oracle import tabulation
from tests.oracle.membership import Group
from tests.oracle.tabulation import CellKey, Key, Level, Person
from tests.worlds import tiny

AGE_STARTS = (
    (0, 18, 45, 65),
    (0, 5, 18, 25, 35, 45, 55, 65, 75),
    (0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85),
)
RECORD_COLUMNS = (
    "QAGE",
    "QSEX",
    "HOUSEHOLDER",
    "TABBLKST",
    "TABBLKCOU",
    "TABTRACTCE",
    "TABBLK",
    "CENRACE",
    *(f"QRACE{number}" for number in range(1, 9)),
    "QSPAN",
)


@dataclass(frozen=True)
class Block:
    """A line of the geography file."""

    state: str
    county: str
    tract: str
    block: str
    place: str = "99999"
    aiannh: str = "9999"

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.state, self.county, self.tract, self.block

    def region(self, level: str) -> str | None:
        """The region of one geography level, from the words of the specification."""
        name = level.removeprefix("PR-")
        if name == "USA":
            return "1"
        if name == "STATE":
            return self.state
        if name == "COUNTY":
            return self.state + self.county
        if name == "TRACT":
            return self.state + self.county + self.tract
        if name == "PLACE":
            return None if self.place == "99999" else self.state + self.place
        return None if self.aiannh == "9999" else self.aiannh


@dataclass(frozen=True)
class CensusWorld:
    """Everything a release reads."""

    config: dict[str, Any]
    codes: tuple[str, ...]
    groups: tuple[Group, ...]
    blocks: tuple[Block, ...]
    people: tuple[Person, ...] = field(repr=False)

    def write(self, folder: Path, *, parquet: bool = False) -> Path:
        """Write `params` and `data` below a folder."""
        race = [g for g in self.groups if g.alone]
        ethnicity = [g for g in self.groups if not g.alone]
        mapping = [f"{g.code}|{code}" for g in self.groups for code in sorted(g.members)]
        lines = {
            "race-and-ethnicity-codes.txt": ["RACE_ETH_CODE|RACE_ETH_NAME", *(f"{c}|code {c}" for c in self.codes)],
            "race-characteristic-iterations.txt": [
                "ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY",
                *(f"{g.code}|{g.code}|{g.level}|{g.alone}|{g.detailed_only}|{g.coarse_only}" for g in race),
            ],
            "ethnicity-characteristic-iterations.txt": [
                "ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY",
                *(f"{g.code}|{g.code}|{g.level}|{g.detailed_only}|{g.coarse_only}" for g in ethnicity),
            ],
            "race-and-ethnicity-code-to-iteration.txt": ["ITERATION_CODE|RACE_ETH_CODE", *mapping],
        }
        files: dict[str, str | bytes] = {f"params/{n}": "\n".join(content) + "\n" for n, content in lines.items()}
        files["params/config.json"] = json.dumps(self.config)
        tiny.write(folder, files)
        self.write_data(folder / "data", parquet=parquet)
        return folder

    def write_data(self, folder: Path, *, parquet: bool = False) -> None:
        geography = ["|".join(row) for row in self.geography_rows()]
        rows = self.record_rows()[1:]
        folder.mkdir(parents=True, exist_ok=True)
        if not parquet:
            (folder / "GRF-C.txt").write_text("\n".join(geography) + "\n")
            lines = ["|".join(RECORD_COLUMNS), *("|".join(row) for row in rows)]
            (folder / "person-records.txt").write_text("\n".join(lines) + "\n")
            return
        columns = [line.split("|") for line in geography]
        pq.write_table(
            pa.table(dict(zip(columns[0], map(list, zip(*columns[1:], strict=True)), strict=True))),
            folder / "GRF-C.parquet",
        )
        table = pa.table(
            {name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(RECORD_COLUMNS)}
        )
        # Whole numbers where a column allows them, and two parts, as a real export would have.
        for name in ("QAGE", "QSEX", "TABBLKST", "TABBLKCOU", "TABTRACTCE"):
            table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.int32()))
        (folder / "person-records.parquet").mkdir()
        half = table.num_rows // 2
        pq.write_table(table.slice(0, half), folder / "person-records.parquet" / "part-0.parquet")
        pq.write_table(table.slice(half), folder / "person-records.parquet" / "part-1.parquet")

    def geography_rows(self) -> list[tuple[str, ...]]:
        """The header and the lines of the geography file."""
        lines = [(*block.key, block.place, block.aiannh) for block in self.blocks]
        return [("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "PLACEFP", "AIANNHCE"), *lines]

    def record_rows(self) -> list[tuple[str, ...]]:
        """The header and the lines of the records."""
        return [RECORD_COLUMNS, *map(_record, self.people)]

    def expected(self, run: str) -> tuple[dict[Key, int], dict[CellKey, int]]:
        """T1 and T2 of one run without noise, by the oracle."""
        names = tiny.US_LEVELS if run == "us" else tiny.PR_LEVELS
        states = self.config["state_filter_us"] if run == "us" else ["72"]
        blocks = [block for block in self.blocks if block.state in states]
        levels = []
        for name in names:
            label = name.upper().replace("_", "-")
            for iteration_level in (1, 2):
                if not self.config[f"privacy_budget_p_level_{iteration_level}_{name}"]:
                    continue
                low, middle, high = self.config["thresholds_p"][f"({label}, {iteration_level})"]
                regions: dict[tuple[str, ...], str | None] = {block.key: block.region(label) for block in blocks}
                local = label not in {"USA", "STATE", "PR-STATE"}
                levels.append(Level(label, local, iteration_level, (low, middle, high), regions))
        return tabulation.tabulate(
            [person for person in self.people if person.block[0] in states],
            levels,
            self.groups,
            AGE_STARTS,
            115,
            ("1", "2"),
            suppress=bool(self.config.get("zero_suppression_chance")),
        )


def _record(person: Person) -> tuple[str, ...]:
    codes = (*person.race_codes, *["Null"] * (8 - len(person.race_codes)))
    return (str(person.age), person.sex, "1", *person.block, "01", *codes, person.ethnicity)


def read_t1(path: Path) -> dict[Key, int]:
    """T1 as it stands in the file."""
    return {(row[0], row[1], row[2]): int(row[3]) for row in _rows(path)}


def read_t2(path: Path) -> dict[CellKey, int]:
    """T2 as it stands in the file."""
    return {(row[0], row[1], row[2], row[3], row[4], row[5]): int(row[6]) for row in _rows(path)}


def _rows(path: Path) -> Sequence[list[str]]:
    with path.open(newline="") as file:
        rows = list(csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE))[1:]
    assert len({tuple(row[:-1]) for row in rows}) == len(rows), "a key stands once"
    return rows
