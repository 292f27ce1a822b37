"""The page of a release: what it shows is what the library answers; search, keyboard, phone, access for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import safetab
from safetab.cli.main import main
from tests.browser.conftest import PATIENCE, Visitor, serious_faults, serving
from tests.worlds import readable
from tests.worlds.merovia import MEROVIA

# A busy machine may take longer than the five seconds that are usual.
expect.set_options(timeout=PATIENCE)
#: The groups that a page begins with.
ALONE = ["A01", "A02", "A03"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "out"
    safetab.tabulate(MEROVIA / "params", MEROVIA / "data", folder)
    return folder


@pytest.fixture(scope="module")
def release(out: Path) -> safetab.Release:
    return safetab.open(out)


@pytest.fixture(scope="module")
def visitor(out: Path, browser: Browser) -> Iterator[Visitor]:
    with serving("--release", str(out)) as served:
        found = Visitor.of(browser, served.address, viewport={"width": 1200, "height": 900})
        found.page.wait_for_selector("#pyramid[data-drawn]")
        yield found
        found.close()


def cells(visitor: Visitor, place: str) -> list[list[str]]:
    """The text of a table, row by row."""
    rows = visitor.page.locator(f"#{place} tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def pick(visitor: Visitor, name: str, *values: str) -> None:
    """Have exactly these ticked, and wait for the answers."""
    boxes = visitor.page.locator(f"#{name} input[type=checkbox]")
    for box in boxes.all():
        box.set_checked(box.get_attribute("value") in values)
    visitor.page.wait_for_function("!document.querySelector('.recalculating')")


def search(visitor: Visitor, kind: str, words: str, *found: str) -> None:
    """Search, and wait until these and what is ticked are all that is offered."""
    kept = [box.get_attribute("value") for box in visitor.page.locator(f"#{kind}s input:checked").all()]
    visitor.page.get_by_label(f"Search for {kind}s").fill(words)
    expected = [*kept, *(value for value in found if value not in kept)]
    offered = f"Array.from(document.querySelectorAll('#{kind}s input')).map(box => box.value)"
    visitor.page.wait_for_function(f"{offered}.join() === {','.join(map(str, expected))!r}")


def test_what_it_begins_with_is_what_the_library_says(visitor: Visitor, release: safetab.Release) -> None:
    pick(visitor, "groups", *ALONE)
    pick(visitor, "regions", "COUNTRY/Merovia")
    expect(visitor.page.locator("#people tbody tr")).to_have_count(3)
    totals = {row["ITERATION_CODE"]: row for row in release.totals(ALONE, ["COUNTRY/Merovia"]).to_pylist()}
    shown = cells(visitor, "people")
    assert len(shown) == 3
    for group, region, people, interval in shown:
        row = totals[group[-4:-1]]
        assert region == "COUNTRY/Merovia"
        assert people == f"{row['ESTIMATE']:,}"
        assert interval == f"{row['LOW_95']:,} to {row['HIGH_95']:,}"

    together = release.total(groups=ALONE, region="COUNTRY/Merovia")
    words = visitor.page.locator("#sum").inner_text()
    assert f"{int(together.value):,}\n" in words
    assert f"{int(together.low):,} to {int(together.high):,} with a probability of at least 95 %" in words
    assert f"Computed from {together.how}." in words

    sides = [(code, "COUNTRY/Merovia") for code in ALONE]
    for row in cells(visitor, "shares"):
        share = release.share((row[0][-4:-1], "COUNTRY/Merovia"), sides)
        assert row[2:] == [f"{100 * share.value:.2f} %", f"{100 * share.low:.2f} % to {100 * share.high:.2f} %"]


def test_comparisons_and_ages(visitor: Visitor, release: safetab.Release) -> None:
    pick(visitor, "groups", *ALONE)
    pick(visitor, "regions", "COUNTRY/Merovia")
    visitor.page.get_by_label("Compare with").select_option("A02 COUNTRY/Merovia")
    expect(visitor.page.locator("#comparisons caption")).to_contain_text("(A02)")
    others = [((code, "COUNTRY/Merovia"), ("A02", "COUNTRY/Merovia")) for code in ("A01", "A03")]
    found = dict(zip(("A01", "A03"), release.compare(others), strict=True))
    shown = cells(visitor, "comparisons")
    assert {row[0][-4:-1] for row in shown} == set(found)
    for row in shown:
        one = found[row[0][-4:-1]]
        assert row[2:4] == [f"{int(one.value):+,}", f"{int(one.low):,} to {int(one.high):,}"]
        assert one.p_value is not None
        assert row[4] == ("below 0.0001" if one.p_value < 0.0001 else f"{one.p_value:.4f}")
    assert "Holm" in visitor.page.locator("#comparisons").inner_text()
    visitor.page.get_by_text("How these were computed").last.click()
    expect(visitor.page.locator("#comparisons li").first).to_contain_text("minus")

    visitor.page.get_by_label("Group and region").select_option("A03 COUNTRY/Merovia")
    expect(visitor.page.locator("#ages caption")).to_contain_text("(A03)")
    table = release.sex_by_age("A03", "COUNTRY/Merovia").to_pylist()
    assert [row[2:] for row in cells(visitor, "ages")] == [
        [f"{row['ESTIMATE']:,}", f"{row['LOW_95']:,} to {row['HIGH_95']:,}"] for row in table
    ]
    # A bar and an interval for each sex and age.
    assert visitor.page.locator("#pyramid .mark-rect.role-mark path").count() == len(table)
    assert visitor.page.locator("#pyramid .mark-rule.role-mark line").count() == len(table)


def test_groups_that_overlap_are_added_only_if_asked(visitor: Visitor, release: safetab.Release) -> None:
    search(visitor, "group", "highland", "A01", "B01")
    pick(visitor, "groups", "A01", "B01")
    expect(visitor.page.locator("#sum")).to_contain_text("No answer: the same people would be counted twice")
    box = visitor.page.get_by_label("Add groups or regions that overlap")
    box.check()
    together = release.total(groups=["A01", "B01"], region="COUNTRY/Merovia", overlap="allow")
    expect(visitor.page.locator("#sum .answer")).to_have_text(f"{int(together.value):,}")
    box.uncheck()


def test_a_region_is_found_and_picked_with_the_keyboard(visitor: Visitor, release: safetab.Release) -> None:
    pick(visitor, "groups", "A01")
    page = visitor.page
    page.get_by_label("Search for regions").focus()
    page.keyboard.type("province")
    page.wait_for_selector("#regions input[value='PROVINCE/Ne']")
    page.wait_for_function("document.querySelectorAll('#regions input').length === 4")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("#people tbody tr")).to_have_count(2)
    region = page.locator("#people tbody tr").last.locator("th").last.inner_text()
    assert region.startswith("PROVINCE/")
    row = release.totals(["A01"], [region]).to_pylist()[0]
    shown = cells(visitor, "people")[-1]
    assert shown[2:] == [
        f"{row['ESTIMATE']:,}" if row["IS_PUBLISHED"] else "not published",
        f"{row['LOW_95']:,} to {row['HIGH_95']:,}",
    ]
    page.get_by_label("Search for regions").fill("")
    page.wait_for_selector("#regions input[value='DISTRICT/Co01']")
    pick(visitor, "regions", "COUNTRY/Merovia", "DISTRICT/Co01")
    expect(page.locator("#not_shown")).to_have_text("Highland peoples alone (A01) is not tabulated in DISTRICT/Co01.")
    pick(visitor, "regions", "COUNTRY/Merovia")


def test_nobody_is_kept_out(visitor: Visitor) -> None:
    """No serious fault by axe-core, on a screen and on a phone; nothing is cut off on a phone."""
    page = visitor.page
    for width in (1200, 375):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("!document.querySelector('.recalculating')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_faults(page) == []
    page.set_viewport_size({"width": 1200, "height": 900})
    assert page.locator(".not-private").count() == 0


def test_a_release_that_is_not_private_says_so_in_red(tmp_path: Path, browser: Browser) -> None:
    out = readable.tabulated(readable.write(tmp_path), 1)
    with serving("--release", str(out)) as served:
        visitor = Visitor.of(browser, served.address)
        banner = visitor.page.get_by_role("alert").filter(has_text="NOT PRIVATE")
        expect(banner).to_be_visible()
        assert banner.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(176, 0, 32)"
        expect(visitor.page.locator("#people tbody tr").first).to_be_visible()
        # A small local group has a total that is missing and no sex by age table.
        search(visitor, "region", "01005000200", "TRACT/01005000200")
        search(visitor, "group", "4001", "4001")
        pick(visitor, "groups", "4001")
        pick(visitor, "regions", "TRACT/01005000200")
        expect(visitor.page.locator("#people")).to_contain_text("not published")
        expect(visitor.page.locator("#sum")).to_contain_text("1 total was not published.")
        expect(visitor.page.locator("#no_ages")).to_contain_text("no sex by age table")
        visitor.close()


def test_what_cannot_be_opened_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--release", str(tmp_path), "--no-browser"]) == 1
    assert "USAGE-004" in capsys.readouterr().err
    assert main(["explore", str(MEROVIA / "params"), "--release", str(tmp_path), "--no-browser"]) == 2
