"""What `check` accepts can be tabulated and verified: nothing visible in the parameters fails after the spending."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import hypothesis
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safetab
from safetab.cli.main import main
from safetab.params.release import TextColumns
from tests import profile
from tests.worlds import by_hand, tiny
from tests.worlds.random_release import BUDGETS, CHANCES, FRACTIONS, THRESHOLDS, RandomRelease, random_releases

RELEASES = profile.size(quick=15, long=500)
#: With the oddest noise at every level, estimates take a second of CPU time each.
CONFIGURATIONS = profile.size(quick=6, long=500)
#: Columns of the text files: the Bureau's, and all.
PUBLISHED = {"t1": (4, 12), "t2": (7, 14)}


def is_tabulated(folder: Path) -> bool:
    """Whether `check` accepts a release; if it does, the release is tabulated, and its files can be read back."""
    report = safetab.check_inputs(folder / "params", folder / "data")
    if report.errors:
        assert not [finding for finding in report.errors if finding.rule.code.startswith("MACHINE")]
        return False
    release = safetab.tabulate(folder / "params", folder / "data", folder / "out")
    assert report.parameters is not None
    is_bureau = report.parameters.release.text_columns is TextColumns.BUREAU
    for name, (of_bureau, of_all) in PUBLISHED.items():
        columns = of_bureau if is_bureau else of_all
        check_estimates(getattr(release, name))
        as_text: list[list[str]] = []
        for run in report.runs:
            text = (folder / "out" / name / f"{run.planned.name}.csv").read_bytes().decode()
            header, *lines, rest = text.split("\n")
            assert (len(header.split("|")), rest) == (columns, "")
            as_text += [with_floats(dict(zip(header.split("|"), line.split("|"), strict=True))) for line in lines]
        assert sorted(as_text) == sorted(published(getattr(release, name), columns))
        assert len(as_text) == sum(run["rows"][name] for run in release.ledger["runs"])
    json.loads((folder / "out" / "ledger.json").read_text(), parse_constant=_refuse)
    assert main(["view", str(folder / "out")]) == (0 if release.t1.num_rows else 1)
    assert not safetab.verify(folder / "out", params=folder / "params").findings
    return True


def published(table: pa.Table, columns: int) -> list[list[str]]:
    return [["" if value is None else str(value) for value in [*row.values()][:columns]] for row in table.to_pylist()]


def with_floats(row: dict[str, str]) -> list[str]:
    """A line of text with its variance as Python writes it."""
    return [str(float(value)) if name == "VARIANCE" and value else value for name, value in row.items()]


def check_estimates(table: pa.Table) -> None:
    """Whole numbers in order, from 0 on, for every row."""
    ends = [table[name].to_numpy() for name in ("LOW_95", "ESTIMATE", "HIGH_95")]
    assert all(table[name].null_count == 0 for name in ("LOW_95", "ESTIMATE", "HIGH_95"))
    assert (ends[0] >= 0).all()
    assert (ends[0] <= ends[1]).all()
    assert (ends[1] <= ends[2]).all()


def settings(number: int) -> hypothesis.settings:
    return hypothesis.settings(max_examples=number, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


@profile.tries("random releases", RELEASES)
def test_what_check_accepts_can_be_tabulated() -> None:
    accepted = []

    @settings(RELEASES)
    @given(world=random_releases())
    def check(world: RandomRelease) -> None:
        with tempfile.TemporaryDirectory() as name:
            accepted.append(is_tabulated(world.write(Path(name))))

    check()
    assert sum(accepted) > len(accepted) / 4, "too few are sound to say anything"


@st.composite
def wild_configs(draw: st.DrawFn) -> dict[str, Any]:
    """The Bureau's configuration with the oddest numbers that it may have."""
    config = tiny.config()
    for key in config:
        if key.startswith("privacy_budget_p_level"):
            config[key] = draw(st.sampled_from(["0", "0", *BUDGETS]))
    for key in config["thresholds_p"]:
        config["thresholds_p"][key] = sorted(draw(st.lists(st.sampled_from(THRESHOLDS), min_size=3, max_size=3)))
    return config | {
        "privacy_budget_p_stage_1_fraction": draw(st.sampled_from(FRACTIONS)),
        "zero_suppression_chance": draw(st.sampled_from(CHANCES)),
        "allow_negative_counts": draw(st.booleans()),
        "privacy_defn": draw(st.sampled_from(["zcdp", "puredp"])),
        "max_race_codes": draw(st.integers(1, 8)),
    }


@profile.tries("random configurations of the Bureau", CONFIGURATIONS)
def test_what_check_accepts_of_the_bureaus_configurations_can_be_tabulated() -> None:
    accepted = []

    @settings(CONFIGURATIONS)
    @given(config=wild_configs())
    def check(config: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as name:
            by_hand.write(Path(name))
            by_hand.choose(Path(name), **config)
            accepted.append(is_tabulated(Path(name)))

    check()
    assert sum(accepted) > len(accepted) / 4, "too few are sound to say anything"


def large_release(folder: Path, *, sexes: int = 2, groups: int = 1, privacy: str = "puredp", budget: str = "1") -> Path:
    """A release with so many sexes, codes and iterations: one region, and one person of the last of each."""
    names, codes = [f"sex {number}" for number in range(sexes)], [f"{number:05}" for number in range(groups)]
    level = {"run": "one", "geography": "ALL", "iteration_level": 1, "budget": budget, "thresholds": [0, 0, 0]}
    document = {
        "safetab": 1,
        "privacy": privacy,
        "max_race_codes": 2,
        "stage_1_fraction": "0.5",
        "ages": {"oldest": 1, "bins": [[0], [0], [0, 1]]},
        "columns": {"block": ["B"], "age": "A", "sex": "S", "sexes": names, "race_codes": ["R", "Q"]},
        "geography": {"ALL": {"region_id": "1"}},
        "run": [{"name": "one"}],
        "level": [level],
    }
    iterations = ["ITERATION_CODE", "ITERATION_NAME", "LEVEL", "ALONE", "DETAILED_ONLY", "COARSE_ONLY"]
    tables = {
        "params/race-and-ethnicity-codes": [["RACE_ETH_CODE", "RACE_ETH_NAME"], *([code, "x"] for code in codes)],
        "params/race-characteristic-iterations": [
            iterations,
            *([code, "x", "1", "True", "False", "False"] for code in codes),
        ],
        "params/race-and-ethnicity-code-to-iteration": [["ITERATION_CODE", "RACE_ETH_CODE"], *([c, c] for c in codes)],
        "data/GRF-C": [["B"], ["b"]],
        "data/person-records": [["B", "A", "S", "R", "Q"], ["b", "1", names[-1], codes[-1], "Null"]],
    }
    return RandomRelease(document, tables, is_parquet=False).write(folder)


@pytest.mark.parametrize("privacy", ["zcdp", "puredp"])
@pytest.mark.parametrize("sexes", [128, 129, 1000])
def test_as_many_sexes_as_are_allowed(tmp_path: Path, sexes: int, privacy: str) -> None:
    assert is_tabulated(large_release(tmp_path, sexes=sexes, privacy=privacy))


def test_as_many_codes_and_iterations_as_are_allowed(tmp_path: Path) -> None:
    folder = large_release(tmp_path, groups=32_767)
    release = safetab.tabulate(folder / "params", folder / "data", folder / "out", noise=False, not_private=True)
    counted = release.t1.filter(pc.greater(release.t1["COUNT"], 0)).to_pylist()
    assert [(row["ITERATION_CODE"], row["COUNT"]) for row in counted] == [("32766", 1)]


@pytest.mark.parametrize(("sexes", "codes"), [(1, []), (1000, ["NOISE-010"])])
def test_sums_of_noise_fit_into_64_bits(tmp_path: Path, sexes: int, codes: list[str]) -> None:
    """A count of this budget fits, and so does a total of a few cells; a total of a thousand may not."""
    folder = large_release(tmp_path, sexes=sexes, budget="3e-17")
    found = safetab.check_inputs(folder / "params", folder / "data").errors
    assert [finding.rule.code for finding in found] == codes
