"""The generated marginals against the targets in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from safetab.synth.country import Country, make_country
from safetab.synth.shapes import SHAPES
from tests.unit.synth.observed import Observed
from tests.unit.synth.stat_levels import stat_levels

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "synthetic-countries.md"
_ROW = re.compile(r"^\| (?P<figure>[^|]+) \| (?P<target>[\d.]+)(?: %)? \| (?P<margin>[\d.]+) \|$", re.MULTILINE)


def documented_targets() -> list[tuple[str, float, float]]:
    part = PAGE.read_text(encoding="utf-8").split("## Targets")[1].split("\n## ")[0]
    return [(row["figure"], float(row["target"]), float(row["margin"])) for row in _ROW.finditer(part)]


class Figures:
    """The figures of the targets table, by their words there."""

    def __init__(self, folder: Path) -> None:
        self.seen = Observed.of(folder, puerto_rico=False)
        self.codes = self.seen.codes()
        self.tracts = self.seen.places(3)
        self.is_hispanic = self.seen.column("QSPAN") != self.seen.code_of["Not Hispanic"]
        self.all = {**self._codes(), **self._groups(), **self._clusters(), **self._ages(), **self._regions()}

    def _codes(self) -> dict[str, float]:
        many = (self.codes > 0).sum(axis=1)
        share = np.bincount(many, minlength=9) / len(many)
        # Two words hold the eight codes exactly: four codes of four digits each.
        words = self.codes.reshape(-1, 2, 4) @ (10_000 ** np.arange(4))
        _, first_word = np.unique(words[:, 0], return_inverse=True)
        _, second_word = np.unique(words[:, 1], return_inverse=True)
        distinct = len(np.unique(first_word * np.int64(len(words)) + second_word))
        return {
            "persons with one code": 100 * share[1],
            "persons with two codes": 100 * share[2],
            "persons with three codes": 100 * share[3],
            "persons with four to eight codes": 100 * share[4:].sum(),
            "distinct code sets per hundred persons": 100 * distinct / len(words),
        }

    def _groups(self) -> dict[str, float]:
        origin = self.seen.column("QSPAN")
        figures = {"Hispanic persons": 100 * float(self.is_hispanic.mean())}
        for name in ("Mexican", "Puerto Rican"):
            figures[f"persons of {name} origin"] = 100 * float((origin == self.seen.code_of[name]).mean())
        for name in ("English", "German", "African American", "Irish", "Italian", "Chinese"):
            has_code = (self.codes == self.seen.code_of[name]).any(axis=1)
            figures[f"persons with the code for {name}"] = 100 * float(has_code.mean())
        native = ((self.codes >= 5000) & (self.codes < 7000)).any(axis=1)
        figures["persons with an American Indian or Alaska Native code"] = 100 * float(native.mean())
        return figures

    def _clusters(self) -> dict[str, float]:
        first = self.codes[:, 0]
        _, starts = np.unique(self.tracts, return_index=True)
        in_tracts = [_chance_of_same(part) for part in np.split(first, np.sort(starts)[1:]) if len(part) > 20]
        return {
            "chance that two persons have the same first code": 100 * _chance_of_same(first),
            "chance that two persons of a tract have the same first code": 100 * float(np.mean(in_tracts)),
        }

    def _ages(self) -> dict[str, float]:
        ages = self.seen.column("QAGE")
        majors = self.seen.column("CENRACE")
        return {
            "mean age": float(ages.mean()),
            "median age": _median(ages),
            "median age of Hispanic persons": _median(ages[self.is_hispanic]),
            "median age of persons who are White alone": _median(ages[majors == 1]),
            "median age of persons who are Black alone": _median(ages[majors == 2]),
            "median age of persons who are American Indian or Alaska Native alone": _median(ages[majors == 4]),
            "median age of persons who are Asian alone": _median(ages[majors == 8]),
            "median age of persons of several major groups": _median(ages[(majors & (majors - 1)) > 0]),
            "persons under 18": 100 * float((ages < 18).mean()),
            "persons of 65 and over": 100 * float((ages >= 65).mean()),
            "men": 100 * float((self.seen.column("QSEX") == 1).mean()),
        }

    def _regions(self) -> dict[str, float]:
        counties = np.sort(np.unique(self.tracts // 10**6, return_counts=True)[1])[::-1]
        tracts = np.unique(self.tracts, return_counts=True)[1]
        blocks, block = self.seen.block_places(), self.seen.places(4)
        order = np.argsort(blocks)
        at = order[np.searchsorted(blocks[order], block)]
        assert (blocks[at] == block).all(), "every person lives in a block of the geography file"
        return {
            "persons in California": 100 * float((self.seen.column("TABBLKST") == 6).mean()),
            "persons in the largest tenth of counties": 100 * counties[: len(counties) // 10].sum() / counties.sum(),
            "largest tract, in mean tracts": float(tracts.max() / tracts.mean()),
            "blocks without persons": 100 * (1 - len(np.unique(block)) / len(blocks)),
            "persons in places": 100 * float((self.seen.block_column("PLACEFP")[at] != 99999).mean()),
            "persons in AIANNH areas": 100 * float((self.seen.block_column("AIANNHCE")[at] != 9999).mean()),
        }


def _median(ages: npt.NDArray[np.int64]) -> float:
    """The age that half of the persons have not reached, with a fraction: birthdays are spread over the year."""
    until = np.cumsum(np.bincount(ages))
    year = int(np.searchsorted(until, len(ages) / 2))
    before = int(until[year - 1]) if year else 0
    return float(year + (len(ages) / 2 - before) / (until[year] - before))


def _chance_of_same(values: npt.NDArray[np.int64]) -> float:
    counts = np.unique(values, return_counts=True)[1]
    return float((counts * (counts - 1)).sum() / (len(values) * (len(values) - 1)))


def test_marginals_match_the_documented_targets(small_nation: Path) -> None:
    targets = documented_targets()
    figures = Figures(small_nation).all
    assert {figure for figure, _, _ in targets} == set(figures)
    missed = {
        figure: (figures[figure], target)
        for figure, target, margin in targets
        if abs(figures[figure] - target) > margin
    }
    assert not missed


def test_puerto_rico_is_older_than_the_states_and_younger_than_it_really_is(small_nation: Path) -> None:
    seen = Observed.of(small_nation)
    assert _median(seen.column("QAGE")[seen.column("TABBLKST") == 72]) == pytest.approx(42, abs=1)


@pytest.mark.long
def test_every_stat_level_occurs_at_every_geography_level(tmp_path: Path) -> None:
    make_country(Country(SHAPES["state"]), tmp_path / "state")
    found = stat_levels(tmp_path / "state")
    assert len(found) == 10
    assert all(levels == {0, 1, 2, 3} for levels in found.values())
