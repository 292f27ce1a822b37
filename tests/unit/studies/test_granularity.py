"""The granularity study: its page is what its figures say, and a smaller country gives nearly the same figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from html import unescape

import numpy as np
import pytest

from safetab.synth.shapes import SHAPES
from studies.charts import svg_of
from studies.finding import Finding
from studies.granularity import FINDINGS, ROOT
from studies.mechanisms import misplaced
from studies.page import FOLDER, JSON, PAGE, RELATIVE_ERROR, Study, page
from studies.plans import COUNTY_2, expected, plan_of_2020
from studies.published_rows import row_errors
from studies.stages import sound_sizes, sound_thresholds, tables
from studies.synthetic_nation import Histogram, NationSizes, nation_sizes
from tests.oracle.laws import gaussian_pmf
from tests.oracle.planning import detail, noises

#: Columns that follow from the plan alone, by finding: they must be the same for every country.
FROM_THE_PLAN = {
    1: (0, 1, 2),
    2: (0, 1, 2, 3, 4),
    3: (0, 1, 2, 3, 4, 5),
    4: (0, 1, 2, 5, 6, 7),
    5: (0, 1, 2),
    8: (0, 1),
}
#: Figures that are no ratio of groups or cells, or have too few of them in one state.
NOT_COMPARED = {
    "county groups with a table in 2020",
    "county totals published in 2020",
    "share with the most sound cells",
}
#: How far a figure of one state with 10 million people may be from that of the nation.
STATE_ERROR = 0.08


@pytest.fixture(scope="module")
def written() -> Study:
    return Study.of_json(json.loads(JSON.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def state() -> NationSizes:
    return nation_sizes(SHAPES["state"], 2020)


@pytest.fixture(scope="module")
def computed(state: NationSizes) -> dict[int, Finding]:
    return {finding.number: finding for finding in (compute(state) for compute in FINDINGS)}


def test_the_page_is_what_the_figures_say(written: Study) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(written)


def test_there_are_findings_in_order_each_with_its_command(written: Study) -> None:
    assert [finding.number for finding in written.findings] == list(range(1, len(FINDINGS) + 1))
    text = PAGE.read_text(encoding="utf-8")
    for finding in written.findings:
        assert text.count(f"`{finding.command}`") == 2


@pytest.mark.parametrize("number", range(1, len(FINDINGS) + 1))
def test_what_follows_from_the_plan_is_as_on_the_page(
    number: int, written: Study, computed: dict[int, Finding]
) -> None:
    here, there = computed[number], written.findings[number - 1]
    assert (here.columns, here.slug, len(here.rows)) == (there.columns, there.slug, len(there.rows))
    chosen = FROM_THE_PLAN.get(number, (0,))
    for row, on_page in zip(here.rows, there.rows, strict=True):
        assert [row[column] for column in chosen] == [on_page[column] for column in chosen]
    if number == 6:
        assert here.rows[:4] == there.rows[:4]


@pytest.mark.parametrize("number", range(1, len(FINDINGS) + 1))
def test_one_state_gives_nearly_the_figures_of_the_nation(
    number: int, written: Study, computed: dict[int, Finding]
) -> None:
    here, there = computed[number].figures, written.findings[number - 1].figures
    assert here.keys() == there.keys()
    for name in here.keys() - NOT_COMPARED:
        assert here[name] == pytest.approx(there[name], rel=STATE_ERROR), name


@pytest.mark.parametrize("number", range(1, len(FINDINGS) + 1))
def test_a_picture_has_every_point_and_its_alt_text(number: int, written: Study) -> None:
    finding = written.findings[number - 1]
    kept = (FOLDER / f"{finding.slug}.svg").read_text(encoding="utf-8")
    assert f"![{finding.alt}]({finding.slug}.svg)" in PAGE.read_text(encoding="utf-8")
    # Fonts, and with them places, may differ between machines; what is said about each mark may not.
    labels = sorted(unescape(label) for label in re.findall(r'aria-label="([^"]*)"', svg_of(finding)))
    assert sorted(unescape(label) for label in re.findall(r'aria-label="([^"]*)"', kept)) == labels
    assert len(labels) >= len(finding.points)


@pytest.mark.long
def test_the_nation_gives_the_figures_of_the_page(written: Study) -> None:
    """The whole study again, for the nation of the page."""
    nation = nation_sizes(SHAPES["nation"], 2020)
    for compute, there in zip(FINDINGS, written.findings, strict=True):
        for name, value in compute(nation).figures.items():
            assert value == pytest.approx(there.figures[name], rel=2 * RELATIVE_ERROR), name


def test_the_command_prints_a_finding() -> None:
    words = [sys.executable, "-m", "studies.granularity", "--finding", "5", "--shape", "town"]
    printed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.startswith("5. Thresholds with one margin")
    assert "(COUNTY, 2), equal margins" in printed


SMALL = Histogram(np.array([0, 3, 15, 22, 40, 960, 971, 1_000, 5_000]), np.array([900, 50, 20, 9, 7, 3, 2, 2, 1]))


def test_expected_numbers_are_those_of_every_noise() -> None:
    rule = plan_of_2020().levels[COUNTY_2]
    stage_1, stage_2 = (gaussian_pmf(float(1 / (2 * budget)), 250) for budget in budgets())
    groups = zip(SMALL.size.tolist(), SMALL.groups.tolist(), strict=True)
    by_hand = [(many, detail(stage_1, stage_2, size, rule.thresholds, rule.dropped_up_to())) for size, many in groups]
    found = expected(rule, SMALL)
    assert found.published == pytest.approx(sum(many * each.published for many, each in by_hand))
    assert found.published_empty == pytest.approx(900 * by_hand[0][1].published)
    for level in range(4):
        assert found.stat_levels[level] == pytest.approx(sum(many * each.stat_levels[level] for many, each in by_hand))
    right = [sum(size >= threshold for threshold in rule.thresholds) for size in SMALL.size.tolist()]
    wrong = sum(many * (1 - each.stat_levels[level]) for (many, each), level in zip(by_hand, right, strict=True))
    assert misplaced(rule, SMALL) == pytest.approx(wrong)


def budgets() -> tuple[Fraction, Fraction]:
    """What one county count of each stage spends, by hand."""
    return Fraction("0.159") / 9 * Fraction("0.1"), Fraction("0.159") / 9 * Fraction("0.9")


def test_thresholds_let_a_group_that_is_too_small_through_one_time_in_twenty() -> None:
    rule = plan_of_2020().levels[COUNTY_2]
    lower = sound_thresholds(rule, 0.08)
    stage_1 = gaussian_pmf(float(1 / (2 * budgets()[0])), 250)
    for size, threshold in zip(sound_sizes(rule, 0.08), lower.thresholds, strict=True):
        passes = sum(chance for noise, chance in noises(stage_1) if size - 1 + noise >= threshold)
        assert 0.03 < passes <= 0.05
    margin = 1.959963984540054 * float(1 / (2 * budgets()[1])) ** 0.5
    for size, cells in zip(sound_sizes(rule, 0.08), (8, 18, 46), strict=True):
        assert margin <= 0.08 * size / cells
        assert margin > 0.08 * (size - 1) / cells


def test_tables_are_sound_when_their_groups_are_large_enough() -> None:
    rule = replace(plan_of_2020().levels[COUNTY_2], thresholds=(12, 950, 4_990))
    stage_1, stage_2 = (gaussian_pmf(float(1 / (2 * budget)), 250) for budget in budgets())
    # With a margin of 11 persons, 8 cells need 18 people, 18 cells 40 and 46 cells 101.
    part, limits = 8 * 11 / 18, (18, 41, 104)
    assert all(limit - 3 <= size <= limit for size, limit in zip(sound_sizes(rule, part), limits, strict=True))
    all_of_them, sound, sound_cells = [0.0] * 3, 0.0, 0.0
    for size, many in zip(SMALL.size.tolist(), SMALL.groups.tolist(), strict=True):
        chances = detail(stage_1, stage_2, size, rule.thresholds, None).stat_levels[1:]
        for level, (chance, limit, cells) in enumerate(zip(chances, limits, (8, 18, 46), strict=True)):
            all_of_them[level] += many * chance
            sound += many * chance * (size >= limit)
            sound_cells += many * chance * (size >= limit) * cells
    found = tables(rule, SMALL, part)
    assert found.by_stat_level == pytest.approx(all_of_them)
    assert (found.sound, found.sound_cells) == pytest.approx((sound, sound_cells))
    assert found.sound < sum(all_of_them)


def test_errors_of_count_are_those_of_every_published_total() -> None:
    rule = plan_of_2020().levels[COUNTY_2]
    stage_2 = gaussian_pmf(float(1 / (2 * budgets()[1])), 250)
    dropped = rule.dropped_up_to()
    assert dropped == 21
    sizes = np.array([5, 18, 60])
    found = row_errors(rule, sizes)
    for size, row in zip(sizes.tolist(), found.tolist(), strict=True):
        seen = [(noise, chance) for noise, chance in noises(stage_2) if size + noise > dropped]
        total = sum(chance for _, chance in seen)
        assert row[0] == pytest.approx(sum(noise * chance for noise, chance in seen) / total, abs=1e-3)
        assert row[1] == pytest.approx(sum(abs(noise) * chance for noise, chance in seen) / total, abs=1e-3)
    # ESTIMATE knows that only large totals are published, COUNT does not.
    assert abs(found[1, 2]) < abs(found[1, 0])
