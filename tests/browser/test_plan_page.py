"""The page for planning, with the Bureau's production files: every figure on it is the library's."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from safetab.accounting.accuracy.calibration import level_budget
from safetab.accounting.privacy_loss import analyse
from safetab.cli.main import main
from safetab.noise.laws import Mechanism
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters, load
from safetab.planning import chances_of, detail_rule, national_sizes, outlook
from safetab.planning.shown import at_most, percent
from safetab.synth.published_sizes import published_sizes_of
from tests import profile
from tests.browser.conftest import PATIENCE, Visitor, serious_faults, serving

DELTA = Fraction(1, 10**10)
#: Whether everything that can be seen is computed.
_SETTLED = "[...document.querySelectorAll('.recalculating')].every(each => !each.checkVisibility())"
#: Whether every label of every picture that can be seen is inside it, once it is drawn.
_NO_LABEL_IS_CUT = (
    "[...document.querySelectorAll('.safetab-chart svg')].filter(each => each.checkVisibility()).every(picture => {"
    " const frame = picture.getBoundingClientRect(); return [...picture.querySelectorAll('text')].every(text => {"
    " const box = text.getBoundingClientRect(); return !text.textContent || (box.left >= frame.left - 2"
    " && box.right <= frame.right + 2 && box.top >= frame.top - 2); }); })"
)
#: (USA, 2) of run us: the second level of the file.
MARGIN, BUDGET, THRESHOLDS = "#level-1-moe_95", "#level-1-budget", "#level-1-thresholds"


@dataclass(frozen=True)
class Opened:
    """The page, and what it was opened with."""

    visitor: Visitor
    parameters: Parameters

    @property
    def page(self) -> Page:
        return self.visitor.page


@pytest.fixture(scope="module")
def opened(browser: Browser, census_2020: Path) -> Iterator[Opened]:
    with serving(str(census_2020)) as served:
        visitor = Visitor.of(browser, served.address, viewport={"width": 1400, "height": 1000})
        expect.set_options(timeout=PATIENCE)
        yield Opened(visitor, load(census_2020))
        visitor.close()


@pytest.fixture
def fresh(opened: Opened) -> Opened:
    """The page as it is when it was just opened."""
    opened.page.reload()
    wait_for_figures(opened.page, at_most(loss_of(opened.parameters)))
    return opened


def loss_of(parameters: Parameters) -> float:
    return analyse(parameters.plan.noise_of_run, DELTA).total.epsilon


def wait_for_figures(page: Page, epsilon: str) -> None:
    expect(page.locator("#guarantee")).to_have_text(f"({epsilon}, 1e-10)-differential privacy")


def type_into(page: Page, field: str, text: str) -> None:
    page.fill(field, text)
    page.press(field, "Enter")


def with_level(parameters: Parameters, **changes: object) -> Parameters:
    """The release with its second level changed, by the library."""
    run = parameters.release.runs[0]
    level = replace(run.levels[1], **changes)  # type: ignore[arg-type]
    runs = (replace(run, levels=(run.levels[0], level, *run.levels[2:])), *parameters.release.runs[1:])
    return replace(parameters, release=replace(parameters.release, runs=runs))


def drawn(page: Page, name: str) -> str:
    """The lines of a chart, once it is drawn."""
    page.wait_for_selector(f"#{name} svg")
    lines = "all => all.map(each => each.getAttribute('d')).join()"
    return str(page.eval_on_selector_all(f"#{name} svg path[d]", lines))


def test_a_margin_changes_budget_epsilon_and_curves_to_what_the_library_says(fresh: Opened) -> None:
    page = fresh.page
    assert page.input_value(BUDGET) == "2.134"
    page.select_option("#level", "us (USA, 2)")
    page.get_by_text("The figures as a table").first.click()
    expect(page.locator("#chances_table caption")).to_have_text("us (USA, 2): what a group gets, by its true size")
    before = drawn(page, "chances")

    type_into(page, MARGIN, "12")
    planned = fresh.parameters.plan.runs[0].levels[1]
    budget = level_budget(Mechanism.DISCRETE_GAUSSIAN, 12, planned.stability, Fraction(1, 10))
    after = with_level(fresh.parameters, budget=None, moe_95=12)
    assert after.plan.runs[0].levels[1].budget == budget
    expect(page.locator(BUDGET)).to_have_value(decimal_text(budget))
    wait_for_figures(page, at_most(loss_of(after)))
    loss = analyse(after.plan.noise_of_run, DELTA).total
    cells = page.locator("#cost table").first.locator("tbody tr").first.locator("td").all_inner_texts()
    analyses = (loss.epsilon_zcdp_analytic, loss.renyi.value, loss.epsilon_loss_distribution, loss.epsilon)
    assert cells[-4:] == [at_most(each) for each in analyses]

    rule = detail_rule(after.release, after.plan.runs[0].levels[1])
    row = page.locator("#chances_table tbody tr", has=page.get_by_role("rowheader", name="471", exact=True))
    chances = chances_of(rule, [471])  # type: ignore[arg-type]
    shown = [percent(float(value)) for value in (*chances.stat_levels[0], chances.published[0])]
    expect(row.locator("td").first).to_have_text(shown[0])
    assert row.locator("td").all_inner_texts()[:5] == shown
    assert drawn(page, "chances") != before, "the curves moved"


def test_a_budget_changes_the_margin(fresh: Opened) -> None:
    type_into(fresh.page, BUDGET, "0.5")
    after = with_level(fresh.parameters, budget=Fraction(1, 2), moe_95=None)
    law = after.plan.runs[0].levels[1].noise
    margin = law.event(law.target_stage).law.two_sided_quantile(Fraction(95, 100))
    expect(fresh.page.locator(MARGIN)).to_have_value(str(margin))
    wait_for_figures(fresh.page, at_most(loss_of(after)))


def with_both_edits(parameters: Parameters) -> Parameters:
    """The release with a margin of 9 at its second level and a stage 1 fraction of 0.15."""
    changed = with_level(parameters, budget=None, moe_95=9)
    return replace(changed, release=replace(changed.release, stage_1_fraction=Fraction(15, 100)))


def test_an_answer_leaves_what_is_being_typed_alone(fresh: Opened) -> None:
    page, fraction = fresh.page, "#stage_1_fraction"
    type_into(page, MARGIN, "9")
    page.fill(fraction, "0.15")
    wait_for_figures(page, at_most(loss_of(with_level(fresh.parameters, budget=None, moe_95=9))))
    assert page.input_value(fraction) == "0.15"
    page.press(fraction, "Enter")
    wait_for_figures(page, at_most(loss_of(with_both_edits(fresh.parameters))))

    type_into(page, BUDGET, "2.134")
    page.fill(fraction, "0.1")
    page.press(fraction, "Enter")
    expect(page.locator(BUDGET)).to_have_value("2.134")
    wait_for_figures(page, at_most(loss_of(fresh.parameters)))


def test_two_edits_at_once_are_both_taken_and_neither_is_shown_undone(fresh: Opened) -> None:
    page = fresh.page
    page.evaluate(
        """([margin, fraction]) => {
            const field = document.querySelector(fraction);
            const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
            window.putInto = [];
            Object.defineProperty(field, "value", {
                get() { return own.get.call(field); },
                set(text) { window.putInto.push(text); own.set.call(field, text); },
            });
            for (const [name, text] of [[margin, "9"], [fraction, "0.15"]]) {
                document.querySelector(name).value = text;
                $(name).trigger("change");
            }
        }""",
        [MARGIN, "#stage_1_fraction"],
    )
    wait_for_figures(page, at_most(loss_of(with_both_edits(fresh.parameters))))
    expect(page.locator(MARGIN)).to_have_value("9")
    assert page.evaluate("window.putInto") == ["0.15"]


def test_a_group_is_found_by_name_with_its_chances(fresh: Opened) -> None:
    page = fresh.page
    page.get_by_role("tab", name="Who gets what").click()
    page.get_by_label("Find a group by name or code").fill("Navajo Nation")
    parameters = fresh.parameters
    sizes = national_sizes(parameters, published_sizes_of(parameters.catalogue), "us-2020")
    for name in ("Navajo Nation alone", "Navajo Nation alone or in any combination"):
        expected = {
            f"{level.run} {level.level}": each.expected
            for level in outlook(parameters, sizes)
            for each in level.groups
            if each.iteration.name == name
        }
        assert expected
        table = page.locator("#groups table", has=page.get_by_text(re.compile(rf"^{name} \(")))
        for level, numbers in expected.items():
            cells = table.get_by_role("row", name=level).locator("td")
            expect(cells.nth(1)).to_have_text(f"{numbers.persons:,}")
            figures = [percent(value) for value in (*numbers.stat_levels, numbers.published)]
            assert cells.all_inner_texts()[2:] == figures
    expect(page.locator("#expected .note")).to_contain_text("Sizes are public input")


def test_wrong_input_is_explained_beside_its_field_and_the_picture_stays(fresh: Opened) -> None:
    page = fresh.page
    picture, epsilon = drawn(page, "chances"), page.inner_text("#guarantee")
    for field, text, words in (
        (BUDGET, "much", "decimal number"),
        (BUDGET, "-1", "0 or more"),
        (MARGIN, "2.5", "whole number"),
        (THRESHOLDS, "900, 500, 100", "must not decrease"),
        (THRESHOLDS, "471, 971", "threshold for each stat level"),
        ("#stage_1_fraction", "1", "less than 1"),
        ("#delta", "2", "at most 1"),
    ):
        type_into(page, field, text)
        beside = page.locator(f"{field}-wrong")
        expect(beside).to_contain_text(words)
        assert page.get_attribute(field, "aria-invalid") == "true"
        assert page.get_attribute(field, "aria-describedby") == f"{field[1:]}-wrong"
        assert page.input_value(field) == text, "what was typed stays to be corrected"
        assert (drawn(page, "chances"), page.inner_text("#guarantee")) == (picture, epsilon)
    type_into(page, BUDGET, "2.134")
    expect(page.locator(f"{BUDGET}-wrong")).to_have_text("")
    expect(page.locator(f"{MARGIN}-wrong")).to_have_text("")
    assert page.inner_text("#guarantee") == epsilon


def test_scenarios_stand_side_by_side_and_what_differs_is_marked(fresh: Opened) -> None:
    page = fresh.page
    page.get_by_role("tab", name="Scenarios").click()
    page.get_by_role("button", name="Keep this plan").click()
    type_into(page, "#stage_1_fraction", "0.2")
    differing = page.locator("#comparison tr.differs")
    row = differing.filter(has=page.get_by_role("rowheader", name="stage_1_fraction"))
    expect(row.locator("td")).to_have_text(["0.1", "0.2"])
    assert page.locator("#comparison thead").first.locator("th").all_inner_texts() == ["Plan A", "This plan"]
    budget = page.locator("#comparison tr", has=page.get_by_role("rowheader", name="Budget", exact=True))
    assert "differs" not in (budget.get_attribute("class") or "")
    for _ in range(3):
        page.get_by_role("button", name="Keep this plan").click()
    expect(page.locator("#kept li")).to_have_count(4)
    page.get_by_role("button", name="Keep this plan").click()
    expect(page.locator("#kept")).to_contain_text("Four plans are kept")
    page.get_by_role("button", name="Go back to Plan A").click()
    expect(page.locator("#stage_1_fraction")).to_have_value("0.1")
    wait_for_figures(page, at_most(loss_of(fresh.parameters)))
    page.get_by_role("button", name="Remove Plan A").click()
    expect(page.locator("#kept li")).to_have_count(3)


def test_what_is_downloaded_is_what_is_shown(
    fresh: Opened, census_2020: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = fresh.page
    type_into(page, MARGIN, "9")
    type_into(page, "#stage_1_fraction", "0.15")
    # Between the two edits the page shows the figures of the first.
    wait_for_figures(page, at_most(loss_of(with_both_edits(fresh.parameters))))
    shown = page.inner_text("#guarantee")
    page.get_by_role("tab", name="Download").click()
    saved = {}
    for name, label in (("release.toml", "release.toml"), ("summary.html", "summary"), ("figures.csv", "CSV")):
        with page.expect_download() as started:
            page.get_by_role("link", name=label).click()
        assert started.value.suggested_filename == name
        saved[name] = tmp_path / name
        started.value.save_as(saved[name])

    for file in census_2020.glob("*.txt"):
        (tmp_path / file.name).symlink_to(file)
    assert main(["check", str(saved["release.toml"])]) == 0
    capsys.readouterr()
    assert main(["account", str(saved["release.toml"]), "--json"]) == 0
    account = json.loads(capsys.readouterr().out)["release"]
    assert shown == f"({at_most(account['epsilon'])}, 1e-10)-differential privacy"

    with saved["figures.csv"].open(encoding="utf-8", newline="") as figures:
        lines = list(csv.reader(figures))
    total = {figure: value for run, level, figure, _, value in lines[1:] if not run and not level}
    assert float(total["epsilon"]) == account["epsilon"]
    assert float(total["epsilon_zcdp_analytic"]) == account["epsilon_zcdp_analytic"]

    summary = fresh.visitor.context.new_page()
    fresh.visitor.watch(summary)
    summary.set_content(saved["summary.html"].read_text(encoding="utf-8"))
    assert shown in summary.inner_text("main")
    printed = summary.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, "it fits on one page"
    summary.close()


def test_presets_are_those_of_init(fresh: Opened, tmp_path: Path, census_2020: Path) -> None:
    page = fresh.page
    page.select_option("#preset", "paper")
    page.get_by_role("button", name="Load", exact=True).click()
    assert main(["init", str(tmp_path), "--like", "paper"]) == 0
    for file in census_2020.glob("*.txt"):
        (tmp_path / file.name).symlink_to(file)
    wait_for_figures(page, at_most(loss_of(load(tmp_path))))
    expect(page.locator("table.levels tbody tr")).to_have_count(7)
    expect(page.locator("#level-0-moe_95")).to_have_class(re.compile("given"))


def test_it_can_be_read_by_everybody(fresh: Opened) -> None:
    """On a desktop, on a phone and at 400 percent zoom."""
    page = fresh.page
    # At 320 pixels the styles are those of 375, and there is less room: what axe-core finds at 375 it finds at 320. The
    # elements and colours are the same on a desktop.
    judged = {1400, 375, 320} if profile.size(quick=0, long=1) else {320}
    try:
        faults = []
        for tab in page.get_by_role("tab").all():
            tab.click()
            for width in (1400, 375, 320):
                page.set_viewport_size({"width": width, "height": 800})
                # Pictures are drawn anew once the width has changed; then nothing but tables scrolls sideways.
                page.wait_for_function(f"{_SETTLED} && document.documentElement.scrollWidth <= {width}")
                page.wait_for_function(_NO_LABEL_IS_CUT)
                if width in judged:
                    faults += [(width, tab.inner_text(), *fault) for fault in serious_faults(page)]
        assert faults == []
    finally:
        page.set_viewport_size({"width": 1400, "height": 1000})
