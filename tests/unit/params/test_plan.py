"""The plan: what a release will measure, from its parameters alone."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from safetab.accounting.events import Stage
from safetab.errors import InputError
from safetab.noise.laws import Mechanism
from safetab.params.load import Parameters, load
from safetab.population.iterations import IterationCatalogue
from tests.worlds.tiny import config, files, write

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def tiny(tmp_path: Path) -> Parameters:
    return load(write(tmp_path, files()) / "params")


def test_production_plan(census_2020: Path) -> None:
    plan = load(census_2020).plan
    assert {run.name: run.budget for run in plan.runs} == {"us": Fraction("4.944"), "pr": Fraction("2.643")}
    us = plan.runs[0].noise
    assert [level.name for level in us][:2] == ["(USA, 1)", "(USA, 2)"]
    assert {level.stability for level in us} == {9}
    assert len(us) == 11  # (AIANNH, 1) is off
    assert {level.mechanism for level in us} == {Mechanism.DISCRETE_GAUSSIAN}
    has_total_only = {level.name for level in us if level.has_total_only}
    assert has_total_only == {"(USA, 1)", "(USA, 2)", "(STATE, 1)", "(STATE, 2)"}


def test_levels_add_and_runs_do_not(tiny: Parameters) -> None:
    us, pr = tiny.plan.runs
    assert us.budget == Fraction("1.25") * 6
    assert pr.budget == Fraction("1.25") * 4
    assert tiny.plan.budget == us.budget


def test_noise_that_cannot_be_drawn_is_refused_when_the_release_is_loaded(tmp_path: Path) -> None:
    world = files() | {"params/config.json": json.dumps(config() | {"privacy_budget_p_level_1_usa": "1e-60"})}
    with pytest.raises(InputError, match=r"NOISE-010  config.json, run us, level \(USA, 1\)"):
        load(write(tmp_path, world) / "params")


def test_the_plan_follows_the_parameters(tiny: Parameters) -> None:
    """A changed release has another plan, whoever changed it."""
    gamma = replace(tiny, release=replace(tiny.release, stage_1_fraction=Fraction(1, 2)))
    (level, *_) = gamma.plan.runs[0].noise
    assert level.stage_1_fraction == Fraction(1, 2)


def test_order_is_that_of_the_release(tiny: Parameters) -> None:
    plan = tiny.plan
    for run, planned in zip(tiny.release.runs, plan.runs, strict=True):
        assert [level.name for level in run.levels_on] == [level.name for level in planned.measured]
        assert [level.name for level in run.levels] == [level.name for level in planned.levels]


def test_kinds_of_groups_follow_the_iterations(tiny: Parameters) -> None:
    levels = {level.name: level for level in tiny.plan.runs[0].noise}
    assert levels["(USA, 2)"].has_total_only
    assert levels["(USA, 2)"].has_two_stage
    assert not levels["(COUNTY, 2)"].has_total_only
    assert len(levels["(COUNTY, 2)"].events) == 2
    only_totals = tuple(iteration for iteration in tiny.catalogue.iterations if iteration.is_total_only)
    bare = replace(tiny, catalogue=IterationCatalogue(tiny.catalogue.codes, only_totals))
    level = bare.plan.runs[0].noise[0]
    assert [event.stage for event in level.events] == [Stage.TOTAL_ONLY]


def test_a_level_without_iterations_is_left_out(tiny: Parameters) -> None:
    level_1 = tuple(iteration for iteration in tiny.catalogue.iterations if iteration.level == 1)
    bare = replace(tiny, catalogue=IterationCatalogue(tiny.catalogue.codes, level_1))
    assert all(level.name.endswith(", 1)") for run in bare.plan.runs for level in run.measured)


def test_a_margin_of_error_becomes_a_budget() -> None:
    parameters = load(ROOT / "examples" / "merovia" / "params")
    district = {level.name: level for level in parameters.plan.runs[0].noise}["(DISTRICT, 2)"]
    assert district.event(Stage.STAGE_2).law.two_sided_quantile(Fraction("0.95")) == 12
    assert district.event(Stage.STAGE_2).budget == Fraction(9, 10) * district.budget / district.stability
    by_epsilon = replace(
        parameters, release=replace(parameters.release, privacy=type(parameters.release.privacy)("puredp"))
    )
    geometric = by_epsilon.plan.runs[0].noise[-1]
    assert geometric.mechanism is Mechanism.GEOMETRIC
    assert geometric.event(Stage.STAGE_2).law.two_sided_quantile(Fraction("0.95")) == 12


@pytest.mark.parametrize("privacy", ["zcdp", "puredp"])
def test_a_target_where_all_groups_are_totals_sets_nothing_aside_for_stage_1(tiny: Parameters, privacy: str) -> None:
    only_totals = tuple(iteration for iteration in tiny.catalogue.iterations if iteration.is_total_only)
    release = replace(tiny.release, privacy=type(tiny.release.privacy)(privacy))
    run = release.runs[0]
    level = replace(next(level for level in run.levels if level.name == "(USA, 2)"), budget=None, moe_95=12)
    release = replace(release, runs=(replace(run, levels=(level,)),))
    bare = replace(tiny, release=release, catalogue=IterationCatalogue(tiny.catalogue.codes, only_totals))
    (planned,) = bare.plan.runs[0].noise
    assert planned.target_stage is Stage.TOTAL_ONLY
    assert planned.event(Stage.TOTAL_ONLY).law.two_sided_quantile(Fraction("0.95")) == 12
    # One part in a thousand less would miss the target.
    less = replace(planned, budget=planned.budget * Fraction(999, 1000))
    assert less.event(Stage.TOTAL_ONLY).law.two_sided_quantile(Fraction("0.95")) == 13
