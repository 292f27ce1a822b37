"""The words of the page of a release: what is offered, what is refused, what is not shown."""

from __future__ import annotations

import pytest

import safetab
from safetab.explorer import release_answers as page
from safetab.explorer.release_charts import pyramid_chart, totals_chart
from tests.worlds import readable


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> safetab.Release:
    return safetab.open(readable.tabulated(readable.write(tmp_path_factory.mktemp("readable")), 1))


def test_what_is_picked_stays_on_offer(release: safetab.Release) -> None:
    found = page.hits(release, "region", "01003", ["USA/1"])
    assert list(found)[:2] == ["USA/1", "COUNTY/01003"]
    assert set(found) == {"USA/1", "COUNTY/01003", "TRACT/01003000100", "TRACT/01003000200"}
    assert page.hits(release, "group", "alpine", []) == {
        "2001": "Alpine alone (2001)",
        "2002": "Alpine alone or in combination (2002)",
    }
    assert len(page.hits(release, "region", "0", ["USA/1"])) == 1 + page.MOST_HITS


def test_a_search_says_what_it_does_not_show(release: safetab.Release) -> None:
    assert page.about_search(release, "group", "zzz ") == "No group is called “zzz”."
    assert page.about_search(release, "group", "alpine") == page.about_search(release, "region", " ") == ""
    every = sum("0" in str(region) for region in release.regions)
    assert page.about_search(release, "region", "0").startswith(f"{every:,} are found, and {page.MOST_HITS} are shown.")


def test_a_page_begins_with_groups_that_can_be_added(release: safetab.Release) -> None:
    groups, regions = page.first_picks(release)
    assert regions in (["USA/1"], ["PR-STATE/72"])
    answer = page.sum_answer(release, page.picked(release, groups, regions), may_overlap=False)
    assert not answer.is_refused


def test_what_is_not_shown(release: safetab.Release) -> None:
    def words(groups: list[str], regions: list[str]) -> str:
        return page.what_is_not_shown(release, groups, regions, page.picked(release, groups, regions))

    assert words([], ["USA/1"]) == "Pick at least one group and one region."
    assert words(["2003", "2001"], ["COUNTY/01001"]) == "Tribe A alone (2003) is not tabulated in COUNTY/01001."
    every = [str(region) for region in release.regions if region.type in {"TRACT", "COUNTY", "STATE"}]
    assert words(["2001", "2002", "4001"], every) == "Only the first 40 of 42 are shown. Pick fewer."
    assert words(["2001"], ["USA/1"]) == ""


def test_shares_without_bound_and_refusals(release: safetab.Release) -> None:
    pairs = page.picked(release, ["4001", "2001"], ["TRACT/01005000200"])
    (missing,) = (pair for pair in pairs if pair[0].code == "4001")
    table = page.shares_table(release, pairs, missing, may_overlap=False)
    assert isinstance(table, page.Table)
    assert table.rows[-1][-1].endswith("to without bound")
    assert "may be 0" in table.note
    refused = page.shares_table(release, pairs, None, may_overlap=False)
    assert isinstance(refused, page.Answer)
    assert refused.is_refused
    assert "tick the box" in refused.how
    only = page.comparison_table(release, pairs[:1], pairs[0])
    assert isinstance(only, page.Answer)


def test_pictures_have_a_mark_for_every_number(release: safetab.Release) -> None:
    (pair,) = page.picked(release, ["2001"], ["STATE/01"])
    drawn = pyramid_chart(release, pair)
    assert drawn is not None
    table = release.sex_by_age(*pair).to_pylist()
    (rows,) = drawn["datasets"].values()
    assert [abs(row["people"]) for row in rows] == [row["ESTIMATE"] for row in table]
    assert all(row["people"] <= 0 for row in rows if row["sex"] == "sex 1")
    (small,) = page.picked(release, ["4001"], ["TRACT/01005000200"])
    assert pyramid_chart(release, small) is None
    assert page.ages_table(release, small) is None
    ((point,),) = totals_chart(release, [small])["datasets"].values()
    assert not point["published"]
