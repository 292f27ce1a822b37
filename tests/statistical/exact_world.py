"""Worlds of one to three population groups, small enough to compute every chance of their output.

One region, one level; a person with all the codes is in every group. Each group is TotalOnly or has two stages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

import safetab
from safetab.accounting.events import CountEvent, Stage
from safetab.noise.laws import Law
from safetab.pipeline.measure import Counts, Gate
from tests.oracle.divergence import Noise, TotalOnlyGroup, TwoStageGroup
from tests.worlds import tiny

CODES = ("1000", "1001", "1002")
#: Around the true count of 4 in steps of about a standard deviation of stage 1, so that stat levels tell much.
THRESHOLDS = (3, 5, 7)
PEOPLE = 4


def write_world(
    folder: Path,
    kinds: Sequence[str],
    privacy: str,
    *,
    budget: str,
    gamma: str,
    thresholds: tuple[int, int, int] = THRESHOLDS,
) -> Path:
    """`kinds` says of each group whether it is `total only` or `two stage`."""
    config = tiny.config()
    for key in list(config):
        if key.startswith("privacy_budget_p_level"):
            config[key] = 0
    config |= {
        "privacy_budget_p_level_2_usa": budget,
        "privacy_budget_p_stage_1_fraction": gamma,
        "max_race_codes": 3,
        "run_pr": False,
        "privacy_defn": privacy,
    }
    config["thresholds_p"]["(USA, 2)"] = list(thresholds)
    race = [f"{2000 + n}|group {n}|2|False|{kind == 'total only'}|False" for n, kind in enumerate(kinds)]
    mapping = [f"{2000 + n}|{CODES[n]}" for n in range(len(kinds))]
    files: dict[str, str | bytes] = {
        "params/config.json": json.dumps(config),
        "params/race-and-ethnicity-codes.txt": "RACE_ETH_CODE|RACE_ETH_NAME\n" + "".join(f"{c}|c\n" for c in CODES),
        "params/race-characteristic-iterations.txt": "\n".join([tiny.RACE.splitlines()[0], *race]) + "\n",
        "params/ethnicity-characteristic-iterations.txt": tiny.ETHNICITY.splitlines()[0]
        + "\n4000|nobody|0|Null|Null\n",
        "params/race-and-ethnicity-code-to-iteration.txt": "\n".join([tiny.MAPPING.splitlines()[0], *mapping])
        + f"\n4000|{CODES[0]}\n",
        "data/GRF-C.txt": tiny.GEOGRAPHY,
    }
    tiny.write(folder, files)
    write_people(folder, len(kinds), PEOPLE)
    return folder


def write_people(folder: Path, groups: int, people: int) -> None:
    header = ["QAGE|QSEX|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK", *(f"QRACE{n}" for n in range(1, 9)), "QSPAN"]
    codes = [*CODES[:groups], *["Null"] * (8 - groups)]
    person = "|".join(["30|1|01|001|000100|1000", *codes, CODES[0]])
    (folder / "data" / "person-records.txt").write_text("\n".join(["|".join(header), *[person] * people]) + "\n")


class ForcedGate(Gate):
    """Answers stage 1 so that every group gets one stat level, and the rest with the truth; keeps what was asked."""

    def __init__(self, stat_level: int, asked: list[tuple[CountEvent, Counts]]) -> None:
        super().__init__(None)
        self._stat_level, self._asked = stat_level, asked

    def measure(self, true_counts: Counts, event: CountEvent) -> Counts:
        self._asked.append((event, true_counts.copy()))
        self.counts_of_event[event] += true_counts.size
        if event.stage is Stage.STAGE_1:
            return np.full_like(true_counts, (0, *THRESHOLDS)[self._stat_level])
        return true_counts.copy()


def asked(folder: Path, stat_level: int) -> dict[Stage, tuple[CountEvent, Counts]]:
    """What the program asks the gate when stage 1 leads to this stat level everywhere."""
    found: list[tuple[CountEvent, Counts]] = []
    release = safetab.tabulate(
        folder / "params",
        folder / "data",
        folder / "out",
        noise=False,
        gate=lambda _: ForcedGate(stat_level, found),
        not_private=True,
        overwrite=True,
    )
    # What the gate answered to stage 1 is in the tables, and nothing else is there in its place.
    total_only = {event.level for event, _ in found if event.stage is Stage.TOTAL_ONLY}
    told = release.t1["STAGE_1_COUNT"].to_pylist()
    answers = [(0, *THRESHOLDS)[stat_level]] * sum(n.size for event, n in found if event.stage is Stage.STAGE_1)
    assert [count for count in told if count is not None] == answers
    assert (None in told) is bool(total_only)
    return {event.stage: (event, counts.reshape(-1, counts.shape[-1])) for event, counts in found if counts.size}


def noise_of(law: Law) -> Noise:
    return Noise(law.rate, law.power)


def groups_of(folder: Path, kinds: Sequence[str]) -> list[TotalOnlyGroup | TwoStageGroup]:
    """The groups of a world and of its neighbour with one person more, as the program measures them."""
    before = [asked(folder, stat_level) for stat_level in range(4)]
    write_people(folder, len(kinds), PEOPLE + 1)
    after = [asked(folder, stat_level) for stat_level in range(4)]
    write_people(folder, len(kinds), PEOPLE)
    found: list[TotalOnlyGroup | TwoStageGroup] = []
    for number, kind in enumerate(kinds):
        place = kinds[:number].count(kind)
        if kind == "total only":
            (event, left), (_, right) = before[0][Stage.TOTAL_ONLY], after[0][Stage.TOTAL_ONLY]
            found.append(TotalOnlyGroup(noise_of(event.law), int(left[0, place]), int(right[0, place])))
            continue
        (event_1, left), (_, right) = before[0][Stage.STAGE_1], after[0][Stage.STAGE_1]
        differing: list[tuple[int, int]] = []
        for stat_level in range(4):
            ours, theirs = before[stat_level][Stage.STAGE_2][1], after[stat_level][Stage.STAGE_2][1]
            # Stat level 0 has one count a group, all in one row; a table is a row of its own.
            cells = (ours[0, place : place + 1], theirs[0, place : place + 1]) if not stat_level else (
                ours[place], theirs[place]
            )  # fmt: skip
            (cell,) = np.flatnonzero(cells[0] != cells[1])
            differing.append((int(cells[0][cell]), int(cells[1][cell])))
        found.append(
            TwoStageGroup(
                noise_of(event_1.law),
                int(left[0, place]),
                int(right[0, place]),
                noise_of(before[0][Stage.STAGE_2][0].law),
                tuple(differing),
            )
        )
    return found


def claimed(folder: Path) -> Fraction:
    """What the ledger of the last tabulation says is spent."""
    return Fraction(json.loads((folder / "out" / "ledger.json").read_text())["total_budget"])
