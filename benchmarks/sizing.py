"""docs/how-to/size-a-machine.md: what a tabulation needs, from what was measured.

Each benchmark records its points in the table of the page; the model on the page is computed from that table and from
nothing else. `python -m benchmarks.sizing` writes the page anew from its own table.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "size-a-machine.md"
_MILLION = 1_000_000
_HEAD = "| country | persons | blocks | regions | groups | cores | seconds | memory, MiB | disk, MiB | measured |"


@dataclass(frozen=True, slots=True)
class Point:
    """One tabulation as it was measured."""

    name: str
    persons: int
    blocks: int
    regions: int
    groups: int
    cores: int
    seconds: float
    memory_mib: int
    disk_mib: int
    measured: str = ""

    @property
    def row(self) -> str:
        """A row of the table."""
        return "| " + " | ".join(value if isinstance(value, str) else f"{value:,}" for value in astuple(self)) + " |"

    @classmethod
    def of_row(cls, row: str) -> Point:
        name, *numbers, measured = (value.strip() for value in row.strip("|\n ").split("|"))
        persons, blocks, regions, groups, cores, seconds, memory, disk = (
            float(number.replace(",", "")) for number in numbers
        )
        return cls(
            name,
            int(persons),
            int(blocks),
            int(regions),
            int(groups),
            int(cores),
            seconds,
            int(memory),
            int(disk),
            measured,
        )


@dataclass(frozen=True, slots=True)
class Model:
    """Seconds are a sum of three parts, none of which is negative; memory grows with blocks, disk with persons."""

    fixed: float
    million_persons: float
    million_groups: float
    memory: float
    memory_million_blocks: float
    disk_million_persons: float

    def seconds(self, persons: int, groups: int) -> float:
        return self.fixed + self.million_persons * persons / _MILLION + self.million_groups * groups / _MILLION

    def memory_mib(self, blocks: int) -> float:
        return self.memory + self.memory_million_blocks * blocks / _MILLION

    def disk_mib(self, persons: int) -> float:
        return self.disk_million_persons * persons / _MILLION


def fitted(points: Sequence[Point]) -> Model:
    """The model through the points: least squares of relative errors for the time, an upper bound for the rest."""
    ones = np.ones(len(points))
    persons, groups, blocks = (
        np.array([getattr(point, name) for point in points]) / _MILLION for name in ("persons", "groups", "blocks")
    )
    seconds, memory, disk = (
        np.array([getattr(point, name) for point in points], dtype=float)
        for name in ("seconds", "memory_mib", "disk_mib")
    )
    fixed, of_persons, of_groups = _least_squares(np.stack([ones, persons, groups], axis=1), seconds)
    _, slope = _least_squares(np.stack([ones, blocks], axis=1), memory)
    least = float((memory - slope * blocks).max())
    return Model(fixed, of_persons, of_groups, least, slope, float((disk / persons).max()))


def _least_squares(columns: npt.NDArray[np.float64], measured: npt.NDArray[np.float64]) -> list[float]:
    """Factors that are not negative, with the least relative errors: the best of every choice of columns.

    Columns that are the same at all points, as the groups of one state are, cannot be told apart; the first one counts.
    """
    columns, best, factors = columns / measured[:, None], np.inf, [0.0] * columns.shape[1]
    for size in range(1, columns.shape[1] + 1):
        for chosen in combinations(range(columns.shape[1]), size):
            some = columns[:, chosen]
            found, _, rank, _ = np.linalg.lstsq(some, np.ones(len(measured)), rcond=1e-9)
            error = float(np.square(some @ found - 1).sum())
            if rank == size and found.min() >= 0 and error < best - 1e-12:
                best, factors = error, [0.0] * columns.shape[1]
                for column, factor in zip(chosen, found.tolist(), strict=True):
                    factors[column] = factor
    return factors


def record(point: Point) -> None:
    """Put a point on the page, in place of an earlier one of the same name."""
    load = os.getloadavg()[0]
    stamped = replace(point, measured=f"{datetime.now(UTC):%Y-%m-%d}, load {load:.1f}")
    points = [*(known for known in known_points() if known.name != point.name), stamped]
    PAGE.write_text(page(points), encoding="utf-8")
    print(f"wrote {PAGE.name}: {point.name}", flush=True)


def known_points() -> list[Point]:
    """What was measured so far."""
    return points_of(PAGE.read_text("utf-8")) if PAGE.exists() else []


def points_of(text: str) -> list[Point]:
    """The points in the table of the page."""
    table = text.partition(_HEAD)[2].strip().splitlines()[1:]
    return [Point.of_row(row) for row in table[: next((n for n, row in enumerate(table) if not row), len(table))]]


def page(points: Sequence[Point]) -> str:
    """The page, computed from its points."""
    ordered = sorted(points, key=lambda point: (point.persons, point.cores))
    most = max(point.cores for point in ordered)
    usual = [point for point in ordered if point.cores == most]
    model = fitted(usual)
    rule = "| --- |" + " ---: |" * 8 + " --- |"
    table = "\n".join([_HEAD, rule, *(point.row for point in ordered)])
    checked = "\n".join(
        f"| {point.name} | {point.seconds:,.0f} | {model.seconds(point.persons, point.groups):,.0f} | "
        f"{point.memory_mib:,} | {model.memory_mib(point.blocks):,.0f} |"
        for point in usual
    )
    return _TEXT.format(
        cores=most,
        table=table,
        fixed=model.fixed,
        persons=model.million_persons,
        groups=model.million_groups,
        memory=model.memory,
        blocks=model.memory_million_blocks,
        disk=model.disk_million_persons,
        checked=checked,
        scaling=_scaling(ordered),
        largest=f"{usual[-1].persons:,}",
    )


def _scaling(points: Sequence[Point]) -> str:
    """What one core and all cores say about more cores."""
    for alone in (point for point in points if point.cores == 1):
        for same in (point for point in points if point.persons == alone.persons and point.cores > 1):
            # Time is a part that cores do not shorten, and a part that they divide among themselves.
            divided = (alone.seconds - same.seconds) / (1 - 1 / same.cores)
            share = min(max(divided / alone.seconds, 0.0), 1.0)
            return (
                f"{same.name}: {alone.seconds:,.1f} seconds on one core, {same.seconds:,.1f} on {same.cores}. So the "
                f"cores divide {share:.0%} of the\nwork among themselves, and {1 - share:.0%} takes the same time on "
                f"any number of them. More than {same.cores} cores were not measured."
            )
    return "One core alone was not measured."


_TEXT = """# Size a machine

*For people who order a machine, or wait for one.*

How many minutes, how much memory and how much disk a tabulation with DuckDB needs. Every figure on this page was
measured by `make bench`, `make bench-nation` or `make bench-billion`, or is computed from the table below. Those
commands write the page. The countries are synthetic, with the production parameters. To measure one like yours, make it
with `safetab synth DIR --like nation --persons N --params FOLDER`.

## What was measured

{table}

*Blocks* are lines of the geography file, *groups* are population groups over all levels, *memory* is the most that the
process had, *disk* the most that its temporary folder had, the finished tables included. The load is that of the
machine: above the number of cores, other work took its part of the time.

## The model

On {cores} cores, in seconds, for P million persons and G million population groups:

    {fixed:.2f} + {persons:.3f} P + {groups:.3f} G

In memory, in MiB, for B million blocks: `{memory:,.0f} + {blocks:,.0f} B`, enough for every country of the table.
People are counted some at a time, and what does not fit is written to the temporary folder, which takes at most
{disk:,.1f} MiB for a million persons.

| country | seconds | model | memory, MiB | model |
| --- | ---: | ---: | ---: | ---: |
{checked}

The largest country measured has {largest} persons; beyond that the model is a guess.

## Cores

{scaling}

DuckDB takes at most half of the memory that the machine, or the container, has. With less memory than the model says it
writes more to the temporary folder and takes longer. The temporary folder is beside OUT: choose a disk with room for
it. Clusters are another matter: see [run on a cluster](run-on-a-cluster.md).

## The time that is left

On a terminal `safetab tabulate` shows the time that is left. It weighs the work by numbers of blocks and of groups and,
while records are read, by the share of them that is read. The number of records is never shown. A log has only what
public files say. `make bench` writes how near it came into [the benchmarks](../benchmarks.md).
"""


if __name__ == "__main__":
    PAGE.write_text(page(known_points()), encoding="utf-8")
