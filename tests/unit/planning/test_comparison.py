"""Plans side by side: the choices that differ, and figures that each plan has alone."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from safetab.accounting.privacy_loss import analyse
from safetab.params.load import Parameters, load
from safetab.planning import (
    detail_rule,
    differences,
    figures_of_plan,
    level_names,
    national_sizes,
    outlook,
    size_with_detail,
    total_margins,
)
from tests.worlds import tiny

DELTA = Fraction(1, 10**10)


def plan(folder: Path, name: str, files: dict[str, str | bytes] | None = None, **changes: Any) -> Parameters:
    config = tiny.config() | changes
    tiny.write(folder / name, tiny.files() | {"params/config.json": json.dumps(config)} | (files or {}))
    return load(folder / name / "params")


def differing(*plans: Parameters) -> dict[str, tuple[str | None, ...]]:
    return {each.name: each.values for each in differences([figures_of_plan(plan, DELTA) for plan in plans])}


def test_equal_plans_differ_in_nothing(tmp_path: Path) -> None:
    assert differing(plan(tmp_path, "a"), plan(tmp_path, "b")) == {}


def test_every_choice_is_compared(tmp_path: Path) -> None:
    base = plan(tmp_path, "base")
    thresholds = tiny.config()["thresholds_p"] | {"(USA, 2)": [6, 11, 21]}
    race = str(tiny.files()["params/race-characteristic-iterations.txt"]).replace("Alpine alone|", "Alpine only|")
    cases: dict[str, tuple[Parameters, dict[str, tuple[str | None, ...]]]] = {
        "fraction": (
            plan(tmp_path, "f", privacy_budget_p_stage_1_fraction=0.2),
            {"stage_1_fraction": ("0.1", "0.2")},
        ),
        "budget": (
            plan(tmp_path, "b", privacy_budget_p_level_2_usa=0.5),
            {"run us, level (USA, 2), budget": ("1", "0.5")},
        ),
        "thresholds": (
            plan(tmp_path, "t", thresholds_p=thresholds),
            {"run us, level (USA, 2), thresholds": ("5 10 20", "6 11 21")},
        ),
        "suppression": (
            plan(tmp_path, "s", zero_suppression_chance=0),
            {"zero_suppression_chance": ("0.9999", "off")},
        ),
        "negative counts": (
            plan(tmp_path, "n", allow_negative_counts=False),
            {"allow_negative_counts": ("true", "false")},
        ),
        "privacy": (plan(tmp_path, "p", privacy_defn="puredp"), {"privacy": ("zcdp", "puredp")}),
        "states": (
            plan(tmp_path, "st", state_filter_us=["01"]),
            {"records of each run": ("as in plan 1", "as in plan 2")},
        ),
        "groups": (
            plan(tmp_path, "g", {"params/race-characteristic-iterations.txt": race}),
            {"groups": ("as in plan 1", "as in plan 2")},
        ),
    }
    for other, expected in cases.values():
        assert differing(base, other) == expected
    switched_off = differing(base, plan(tmp_path, "off", privacy_budget_p_level_2_aiannh=0))
    assert switched_off["run us, level (AIANNH, 2), budget"] == ("1", None)
    fewer_codes = differing(base, plan(tmp_path, "m", max_race_codes=1))
    assert fewer_codes["max_race_codes"] == ("8", "1")
    assert "run us, level (USA, 2), stability" in fewer_codes


def test_figures_are_those_of_each_plan_alone(tmp_path: Path) -> None:
    one = plan(tmp_path, "one")
    other = plan(tmp_path, "other", privacy_budget_p_level_2_usa=0.5, run_pr=False)
    sizes = national_sizes(other, {"2001": 9, "2003": 12}, "a test")
    figures = [figures_of_plan(one, DELTA), figures_of_plan(other, DELTA, sizes)]
    assert level_names(figures) == tuple(figures[0].levels)
    assert ("pr", "(PR-STATE, 1)") not in figures[1].levels
    for parameters, found in zip((one, other), figures, strict=True):
        assert found.loss == analyse(parameters.plan.noise_of_run, DELTA)
        for run in parameters.plan.runs:
            for planned in run.measured:
                level, rule = found.levels[run.name, planned.name], detail_rule(parameters.release, planned)
                assert (level.budget, level.stability) == (planned.budget, planned.stability)
                assert level.totals == total_margins(rule.noise, rule.cells)
                assert level.sizes_with_detail == tuple(size_with_detail(rule, each) for each in (1, 2, 3))
                assert (level.total_only_moe_95 is None) is not planned.noise.has_total_only
    assert figures[0].levels["us", "(USA, 2)"].expected is None
    (expected,) = (each.total for each in outlook(other, sizes))
    assert figures[1].levels["us", "(USA, 2)"].expected == expected


def test_three_plans_say_which_are_alike(tmp_path: Path) -> None:
    plans = [plan(tmp_path, "a"), plan(tmp_path, "b", state_filter_us=["01"]), plan(tmp_path, "c")]
    assert differing(*plans) == {"records of each run": ("as in plan 1", "as in plan 2", "as in plan 1")}


def test_only_plans_that_load_are_compared(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="PARAMS"):
        plan(tmp_path, "x", privacy_defn="other")
