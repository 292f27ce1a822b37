"""The noise of a whole tabulation follows the exact laws at every stage, and a wrong scale would be noticed.

One run over a country of thousands of alike provinces gives as many independent residuals of each kind as thousands of
runs over a tiny one. Each check compares a z-score with 7, a false alarm of 3e-12 (two-sided, normal approximation);
there are fewer than 30 checks here, so the file raises one false alarm in ten thousand million runs.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import safetab
from safetab.accounting.events import CountEvent, LevelEvents, Stage
from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric

PROVINCES = 30_000
ALARM = 7.0
BUDGET, GAMMA, STABILITY = Fraction(2), Fraction(1, 10), 9
#: Everybody in a province: two men of four, with all 8 codes and one ethnicity.
PERSONS_PER_CODE = 2
CODES = [f"C{n}" for n in range(1, 9)]
TOTAL_ONLY = ("C1", "C2", "C3")

RELEASE = """
safetab = 1
title = "A country of alike provinces"
privacy = "{privacy}"
max_race_codes = 8
stage_1_fraction = "0.1"
[ages]
oldest = 9
bins = [[0, 2, 4, 6, 8], [0, 5], [0, 3, 6]]
[files]
geography = "blocks.txt"
records = "people.txt"
[columns]
block = ["BLOCK"]
age = "AGE"
sex = "SEX"
sexes = ["1", "2"]
race_codes = ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"]
ethnicity = "E"
[geography.PROVINCE]
columns = ["BLOCK"]
[[run]]
name = "all"
[[level]]
run = "all"
geography = "PROVINCE"
iteration_level = 1
budget = "2"
thresholds = [{threshold}, 100000, 100000]
"""


def law(privacy: str, share: Fraction) -> Law:
    """From the specification, not from the program."""
    budget = share * BUDGET / STABILITY
    return TwoSidedGeometric(budget) if privacy == "puredp" else DiscreteGaussian(1 / (2 * budget))


def threshold(privacy: str) -> int:
    """One standard deviation of stage 1 above the true count, where the chance of passing tells most of the scale."""
    return PERSONS_PER_CODE + int(float(law(privacy, GAMMA).variance(53)) ** 0.5 + 0.5)


def write_country(folder: Path, privacy: str) -> None:
    params, data = folder / "params", folder / "data"
    params.mkdir(parents=True)
    data.mkdir()
    (params / "release.toml").write_text(RELEASE.format(privacy=privacy, threshold=threshold(privacy)))
    (params / "race-and-ethnicity-codes.txt").write_text(
        "RACE_ETH_CODE|RACE_ETH_NAME\n" + "".join(f"{code}|x\n" for code in [*CODES, "E1"])
    )
    iterations = [f"A{c}|x|1|False|{c in TOTAL_ONLY}|False" for c in CODES]
    (params / "race-characteristic-iterations.txt").write_text(
        "ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY\n" + "\n".join(iterations) + "\n"
    )
    (params / "ethnicity-characteristic-iterations.txt").write_text(
        "ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY\nAE|x|1|False|False\n"
    )
    (params / "race-and-ethnicity-code-to-iteration.txt").write_text(
        "ITERATION_CODE|RACE_ETH_CODE\n" + "".join(f"A{code}|{code}\n" for code in CODES) + "AE|E1\n"
    )
    blocks = [f"{number:05d}" for number in range(PROVINCES)]
    (data / "blocks.txt").write_text("BLOCK\n" + "\n".join(blocks) + "\n")
    person = "|".join(["4", "1", *CODES, "E1"])
    lines = [f"{block}|{person}" for block in blocks for _ in range(PERSONS_PER_CODE)]
    (data / "people.txt").write_text("BLOCK|AGE|SEX|R1|R2|R3|R4|R5|R6|R7|R8|E\n" + "\n".join(lines) + "\n")


def second_moment_score(residuals: np.ndarray, noise: Law) -> float:
    """How far the mean square of residuals lies from the law's variance, in standard deviations; signed."""
    if not residuals.size:
        return float("inf")
    span = noise.two_sided_quantile(1 - Fraction(1, 10**12))
    values = np.arange(-span, span + 1)
    chances = np.array([float(noise.probability(int(abs(k)), 53)) for k in values])
    variance, fourth = (chances * values**2.0).sum(), (chances * values**4.0).sum()
    return float(((residuals.astype(float) ** 2).mean() - variance) / ((fourth - variance**2) / residuals.size) ** 0.5)


def mean_score(residuals: np.ndarray, noise: Law) -> float:
    if not residuals.size:
        return float("inf")
    return float(residuals.mean() / (float(noise.variance(53)) / residuals.size) ** 0.5)


def scores(release: safetab.TabulatedRelease, privacy: str) -> dict[str, float]:
    """The z-scores of every stage of one run."""
    t1 = release.t1
    stat = np.array(t1["STAT_LEVEL"])
    count = np.array(t1["COUNT"])
    total_only = np.isin(np.array(t1["ITERATION_CODE"]), [f"A{code}" for code in TOTAL_ONLY])
    whole, second = law(privacy, Fraction(1)), law(privacy, 1 - GAMMA)
    chance = float(law(privacy, GAMMA).tail(threshold(privacy) - PERSONS_PER_CODE - 1, 53))
    passed, tried = int((stat[~total_only] > 0).sum()), int((~total_only).sum())
    t2 = release.t2
    is_cell = np.array(t2["AGESTART"]) != "*"
    is_lived_in = (np.array(t2["SEX"]) == "1") & (np.array(t2["AGESTART"]) == "4")
    cells = (np.array(t2["COUNT"]) - np.where(is_lived_in, PERSONS_PER_CODE, 0))[is_cell]
    stage_2_total = count[~total_only & (stat == 0)] - PERSONS_PER_CODE
    return {
        "total only": second_moment_score(count[total_only] - PERSONS_PER_CODE, whole),
        "total only, mean": mean_score(count[total_only] - PERSONS_PER_CODE, whole),
        "stage 1": (passed - tried * chance) / (tried * chance * (1 - chance)) ** 0.5,
        "stage 2 total": second_moment_score(stage_2_total, second),
        "stage 2 total, mean": mean_score(stage_2_total, second),
        "stage 2 cells": second_moment_score(cells, second),
        "stage 2 cells, mean": mean_score(cells, second),
    }


@pytest.fixture(scope="module", params=["zcdp", "puredp"])
def country(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    write_country(folder, request.param)
    return request.param, folder


def run(country: tuple[str, Path], name: str) -> dict[str, float]:
    privacy, folder = country
    release = safetab.tabulate(folder / "params", folder / "data", folder / name, overwrite=True)
    return scores(release, privacy)


def test_every_stage_has_its_law(country: tuple[str, Path]) -> None:
    found = run(country, "right")
    assert all(abs(score) < ALARM for score in found.values()), found


def changed_event(change: Any) -> Any:
    original = LevelEvents.event

    def event(self: LevelEvents, stage: Stage) -> CountEvent:
        return change(self, original(self, stage))  # type: ignore[no-any-return]

    return event


def scaled(factor: Fraction) -> Any:
    """The budget of each count times a factor; scale goes with its inverse (geometric) or inverse root (Gaussian)."""
    return changed_event(lambda _, event: dataclasses.replace(event, budget=event.budget * factor))


def swapped(plan: LevelEvents, event: CountEvent) -> CountEvent:
    shares = {Stage.STAGE_1: 1 - plan.stage_1_fraction, Stage.STAGE_2: plan.stage_1_fraction}
    share = shares.get(event.stage, Fraction(1))
    return dataclasses.replace(event, budget=share * plan.budget / plan.stability)


def eight(plan: LevelEvents, event: CountEvent) -> CountEvent:
    return dataclasses.replace(event, budget=event.budget * Fraction(plan.stability, 8))


WRONG = {
    "scale 5 % too small": None,
    "scale 5 % too large": None,
    "fractions swapped": changed_event(swapped),
    "stability 8": changed_event(eight),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_pipeline_is_noticed(country: tuple[str, Path], fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    privacy = country[0]
    power = 1 if privacy == "puredp" else 2
    change = {
        "scale 5 % too small": scaled(Fraction(100, 95) ** power),
        "scale 5 % too large": scaled(Fraction(100, 105) ** power),
    }.get(fault, WRONG[fault])
    monkeypatch.setattr(LevelEvents, "event", change)
    found = run(country, "wrong")
    affected = ["stage 1", "stage 2 total", "stage 2 cells"] + (["total only"] if fault != "fractions swapped" else [])
    assert all(abs(found[name]) > ALARM for name in affected), found
