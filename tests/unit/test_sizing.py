"""The page about sizing a machine: computed from the points in its table, and from nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import page as page_of_benchmarks
from benchmarks import sizing, tabulate
from benchmarks.page import Section
from benchmarks.sizing import Point, fitted, page, points_of
from benchmarks.tabulate import point_of
from safetab.cli.main import main

POINT = Point("2 million", 2_000_000, 206_000, 3_000, 7_000_000, 2, 4.0, 500, 20, "2026-11-17, load 0.1")


def points() -> list[Point]:
    """Made from known factors: 1.5 s, 0.3 s for a million persons, 0.05 s for a million groups."""
    made = []
    for number, (persons, groups, blocks) in enumerate([(2, 7, 1), (5, 7, 1), (20, 7, 1), (335, 267, 8)]):
        made.append(
            replace(
                POINT,
                name=f"country {number}",
                persons=persons * 1_000_000,
                groups=groups * 1_000_000,
                blocks=blocks * 1_000_000,
                seconds=1.5 + 0.3 * persons + 0.05 * groups,
                memory_mib=400 + 200 * blocks,
                disk_mib=9 * persons,
            )
        )
    return made


def test_the_model_goes_through_points_that_it_made() -> None:
    model = fitted(points())
    assert (model.fixed, model.million_persons, model.million_groups) == pytest.approx((1.5, 0.3, 0.05))
    assert (model.memory, model.memory_million_blocks, model.disk_million_persons) == pytest.approx((400, 200, 9))
    assert model.seconds(1_000_000_000, 0) == pytest.approx(301.5)
    assert model.memory_mib(10_000_000) == pytest.approx(2400)


def test_no_part_of_the_time_is_negative() -> None:
    falling = [replace(point, seconds=100.0 - number) for number, point in enumerate(points())]
    model = fitted(falling)
    assert min(model.fixed, model.million_persons, model.million_groups) >= 0


def test_memory_and_disk_are_what_is_enough_for_every_point() -> None:
    uneven = [replace(point, memory_mib=point.memory_mib + 50 * (number % 2)) for number, point in enumerate(points())]
    model = fitted(uneven)
    assert all(model.memory_mib(point.blocks) >= point.memory_mib - 1e-6 for point in uneven)


def test_what_was_measured_comes_back_from_the_page() -> None:
    alone = replace(points()[2], name="country 2, one core", cores=1, seconds=12.0)
    text = page([*points(), alone])
    assert sorted(points_of(text), key=lambda point: point.name) == sorted([*points(), alone], key=lambda p: p.name)
    assert page(points_of(text)) == text
    assert "1.50 + 0.300 P + 0.050 G" in text
    # 12 seconds on one core, 7.85 on two: 8.3 are divided.
    assert "So the cores divide 69% of the" in text


def test_the_page_says_what_its_table_says() -> None:
    text = sizing.PAGE.read_text("utf-8")
    assert page(points_of(text)) == text


def test_a_point_takes_the_place_of_an_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizing, "PAGE", tmp_path / "page.md")
    for point in (*points(), replace(points()[0], seconds=99.0)):
        sizing.record(point)
    found = {point.name: point.seconds for point in sizing.known_points()}
    assert found == {point.name: point.seconds for point in points()} | {"country 0": 99.0}


def test_cores_and_memory_are_those_that_the_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container they are fewer than the machine has, and the points of one page must be comparable."""
    monkeypatch.setattr(page_of_benchmarks, "usable_memory", lambda: 6 << 30)
    for module in (page_of_benchmarks, tabulate):
        monkeypatch.setattr(module, "usable_cores", lambda: 3)
    assert ": 3 cores, 6 GiB of memory, " in Section("One state")._machine()
    assert main(["synth", str(tmp_path / "tiny"), "--like", "tiny"]) == 0
    ours = {"ledger": {"runs": []}, "seconds": 1.0, "mib": 300.0, "disk_mib": 0.0}
    assert point_of("tiny", tmp_path / "tiny", 1_000, ours).cores == 3
    assert point_of("tiny", tmp_path / "tiny", 1_000, ours, cores=1).cores == 1
