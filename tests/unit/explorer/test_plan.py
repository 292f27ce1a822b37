"""Planning on the page without a browser: drafts, starts, views and downloads are those of the library and commands."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from safetab.cli.main import main
from safetab.explorer import starts, views
from safetab.explorer.downloads import CSV_COLUMNS, figures_csv, summary_html
from safetab.explorer.draft import Draft, WrongFieldError, draft_of, edited
from safetab.explorer.one_person import QUOTED
from safetab.explorer.tables import found_groups
from safetab.params.load import differences, load
from safetab.planning import best_guesses, chances_of, detail_rule, figures_of_plan, outlook
from safetab.planning.by_size import by_size, sizes_of_interest
from safetab.planning.shown import percent
from safetab.planning.widths import count_half_width
from tests.worlds.merovia import MEROVIA


@pytest.fixture(scope="module")
def draft() -> Draft:
    return draft_of(load(MEROVIA / "params"))


def saved(draft: Draft, folder: Path) -> Path:
    """The plan as a user saves it: release.toml beside the group definitions."""
    shutil.copytree(MEROVIA / "params", folder)
    (folder / "release.toml").write_text(draft.toml, encoding="utf-8")
    return folder


def test_a_saved_draft_is_the_release_that_was_shown(
    draft: Draft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (
        ("level-0-moe_95", "40"),
        ("level-1-budget", "0.25"),
        ("level-1-thresholds", "10; 20 300"),
        ("stage_1_fraction", "0.125"),
        ("zero_suppression_chance", ""),
        ("title", "Trial"),
        ("delta", "1e-6"),
    ):
        draft = edited(draft, name, text)
    folder = saved(draft, tmp_path / "params")
    assert differences(load(folder), draft.parameters) == []
    assert draft.fields()["level-1-thresholds"] == "10, 20, 300"
    assert main(["check", str(folder)]) == 0
    capsys.readouterr()
    assert main(["account", str(folder), "--delta", draft.delta_text, "--json"]) == 0
    account = json.loads(capsys.readouterr().out)
    plan = views.figures(draft, None)
    lines = [line.split(",") for line in figures_csv(draft, plan).splitlines()]
    assert tuple(lines[0]) == CSV_COLUMNS
    for key, value in account["release"].items():
        if isinstance(value, float):
            assert [float(line[4]) for line in lines if line[:3] == ["", "", key]] == [value]
    estimates = {
        (entry["run"], entry["level"], str(total["stat_level"])): total["estimate_moe_95"]
        for entry in account["accuracy"]
        for total in entry["totals"]
    }
    listed = figures_csv(draft, plan).splitlines()
    for (run, level, stat_level), margin in estimates.items():
        assert f'{run},"{level}",estimate_moe_95,{stat_level},{margin}' in listed
    html = summary_html(draft, plan, None, ())
    assert "Trial" in html
    assert f"{plan.loss.total.epsilon:.3f}"[:5] in html


def test_a_margin_and_a_budget_follow_each_other(draft: Draft) -> None:
    by_margin = edited(draft, "level-0-moe_95", "7")
    row = by_margin.levels[0]
    assert (row.is_margin_given, row.margin) == (True, "7")
    by_budget = edited(by_margin, "level-0-budget", row.budget)
    assert not by_budget.levels[0].is_margin_given
    assert by_budget.levels[0].margin == "7"
    assert by_budget.levels[0].planned.budget == row.planned.budget
    off = edited(draft, "level-0-budget", "0")
    assert off.levels[0].margin == ""
    assert len(views.measured_levels(off)) == len(views.measured_levels(draft)) - 1


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("level-0-budget", "much", "decimal number"),
        ("level-0-budget", "", "decimal number"),
        ("level-0-budget", "1e-95", "noise"),
        ("level-0-moe_95", "0", "1 or more"),
        ("level-0-moe_95", "1.5", "whole number"),
        ("level-0-thresholds", "5, 4, 3", "must not decrease"),
        ("level-0-thresholds", "5, a, 7", "whole number"),
        ("level-0-thresholds", "5, 6", "Write 3 whole numbers, such as 100, 500, 2500."),
        ("level-0-thresholds", f"5, 6, {10**15}", "at most 15 digits"),
        ("level-0-moe_95", "9" * 20, "smaller margin"),
        ("level-99-budget", "1", "no such field"),
        ("run", "x", "no such field"),
        ("stage_1_fraction", "0", "greater than 0"),
        ("zero_suppression_chance", "1", "between 0 and 1"),
        ("delta", "0", "greater than 0"),
        ("delta", "x", "decimal number"),
        ("title", "x" * 201, "too long"),
    ],
)
def test_wrong_input_is_explained_in_the_words_of_the_rules(draft: Draft, field: str, text: str, words: str) -> None:
    with pytest.raises(WrongFieldError, match=words) as wrong:
        edited(draft, field, text)
    # A field takes no quotes, and nobody who types into it knows the keys of a file.
    assert not set('"`') & set(str(wrong.value))
    assert "moe_95" not in str(wrong.value)


def test_the_largest_thresholds_have_views(draft: Draft) -> None:
    never = edited(draft, "level-0-thresholds", f"100, 500, {10**15 - 1}")
    row = never.levels[0]
    for around in range(4):
        assert views.chances_view(never, row, around).chart is not None
        assert views.widths_view(never, row, around).chart is not None
    assert views.figures(never, None).levels[row.run, row.name].thresholds[-1] == 10**15 - 1


def test_views_show_the_figures_of_the_library(draft: Draft) -> None:
    row = next(each for each in draft.levels if each.planned.noise.has_two_stage)
    rule = detail_rule(draft.parameters.release, row.planned)
    chart = views.chances_view(draft, row).chart
    assert chart is not None
    points = chart["datasets"]["rows"]
    sizes = np.array(sorted({point["size"] for point in points}))
    expected = chances_of(rule, sizes)
    first = [point["chance"] for point in points if point["what"] == points[0]["what"]]
    np.testing.assert_array_equal(first, expected.stat_levels[:, 0])
    assert {mark["size"] for mark in chart["datasets"]["thresholds"]} == set(rule.thresholds)

    near = views.chances_view(draft, row, around=1).chart
    assert near is not None
    closest = {point["size"] for point in near["datasets"]["rows"]}
    assert min(closest) < rule.thresholds[0] < max(closest) < sizes[-1]

    widths = views.widths_view(draft, row).chart
    assert widths is not None
    table = views.widths_view(draft, row).tables[0]
    assert table.head[2:4] == ("COUNT ±", "ESTIMATE ±")
    for line, at in zip(table.rows, by_size(rule, sizes_of_interest(rule)), strict=True):
        assert line[0] == f"{at.size:,}"
        assert line[2] == f"{count_half_width(rule, at.probable):,}"
        assert line[3] == ("-" if at.half_width is None else f"{at.half_width:,.1f}")
    counts = {point["width"] for point in widths["datasets"]["rows"] if point["what"] == "COUNT"}
    assert counts <= {count_half_width(rule, stat_level) for stat_level in range(len(rule.cells))}

    person = views.person_view(draft, row)
    guesses = best_guesses([row.planned.noise], QUOTED)
    assert guesses is not None
    for sentence, guess in zip(person.words[1:], guesses, strict=True):
        assert f"finds at most {percent(guess.true_positive)} of those in it;" in sentence

    table = views.size_view(draft, "1,000").tables[0]
    shown = dict(zip([each[0] for each in table.rows], table.rows, strict=True))[f"{row.run} {row.name}"]
    at_size = chances_of(rule, np.array([1000]))
    assert shown[1:] == tuple(percent(float(value)) for value in (*at_size.stat_levels[0], at_size.published[0]))
    assert "whole number" in views.size_view(draft, "-3").words[0]


def test_scenarios_mark_what_differs_and_nothing_else(draft: Draft) -> None:
    other = edited(draft, "zero_suppression_chance", "0.5")
    differing, same = views.comparison_view([("A", draft, None), ("B", other, None)], "1e-10").tables
    marked = {differing.rows[number][0] for number in differing.differing}
    assert "zero_suppression_chance" in marked
    assert "Budget" not in marked
    assert all(len(set(row[1:])) == 1 for row in same.rows)
    assert all(set(row[1:]) != {"-"} for row in (*differing.rows, *same.rows)), "what no plan has is not shown"
    alike, _ = views.comparison_view([("A", draft, None), ("B", draft, None)], "1e-10").tables
    assert not alike.differing


@pytest.mark.parametrize("like", sorted(starts.PRESETS))
def test_presets_without_files_of_ones_own(like: str, tmp_path: Path) -> None:
    start = starts.preset(like, None)
    assert "generated" in start.words
    assert main(["init", str(tmp_path), "--like", like]) == 0
    assert (tmp_path / "release.toml").read_text(encoding="utf-8") == start.draft.toml
    sizes = starts.SizesOfDrafts(starts.us_2020())
    found = sizes.of(start.draft.parameters)
    assert found is not None
    assert sizes.of(edited(start.draft, "stage_1_fraction", "0.2").parameters) is found
    levels = outlook(start.draft.parameters, found)
    name = levels[0].groups[0].iteration.name
    assert name in {each for _, each in found_groups(levels, name.upper())}
    figures = figures_of_plan(start.draft.parameters, Fraction(1, 10**10), found)
    assert views.figures(start.draft, found) == figures


def test_a_release_of_another_country_gets_presets_on_generated_groups(draft: Draft) -> None:
    start = starts.preset("paper", draft.parameters)
    assert "generated" in start.words
    assert starts.SizesOfDrafts(starts.us_2020()).of(draft.parameters) is None


def test_a_preset_on_production_groups_finds_its_group(census_2020: Path) -> None:
    start = starts.preset("census-2020", load(census_2020))
    assert str(census_2020) in start.words
    parameters = start.draft.parameters
    sizes = starts.SizesOfDrafts(starts.us_2020()).of(parameters)
    assert sizes is not None
    view = views.groups_view(start.draft, sizes, "Navajo Nation")
    assert [table.caption for table in view.tables] == [
        "Navajo Nation alone (1950)",
        "Navajo Nation alone or in any combination (3152)",
    ]
    assert "No group" in views.groups_view(start.draft, sizes, "Atlantis").words[0]
    assert "No sizes" in views.groups_view(start.draft, None, "Navajo").words[0]
    assert "--sizes FILE" in views.groups_view(start.draft, None, "Navajo").words[0], "it says how to give them"
