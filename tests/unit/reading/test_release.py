"""Questions about a small country whose true counts are known, with noise off and with noise."""

from __future__ import annotations

from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import safetab
from safetab.noise.source import SeededSourceNotPrivate
from safetab.reading.answers import figure, percent
from safetab.reading.sums import Region
from tests.profile import size
from tests.worlds import readable
from tests.worlds.merovia import MEROVIA
from tests.worlds.readable import truth

COUNTIES = ["COUNTY/01001", "COUNTY/01003", "COUNTY/01005"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return readable.write(tmp_path_factory.mktemp("readable"))


@pytest.fixture(scope="module")
def exact(world: Path) -> safetab.Release:
    return safetab.open(readable.tabulated(world, None))


@pytest.fixture(scope="module")
def noisy(world: Path) -> safetab.Release:
    return safetab.open(readable.tabulated(world, 1))


def test_what_a_release_has(exact: safetab.Release) -> None:
    assert exact.runs == ("us", "pr")
    assert Region("PLACE", "0100500") in exact.regions
    assert exact.groups["2001"].name == "Alpine alone"
    assert {level.name for level in exact.levels} >= {"(USA, 2)", "(PLACE, 2)", "(PR-STATE, 2)"}
    assert not exact.is_private
    assert "NOT PRIVATE" in repr(exact)


def test_find_names_and_ids(exact: safetab.Release) -> None:
    assert exact.find("ALPINE").to_pylist() == [
        {"KIND": "group", "KEY": "2001", "NAME": "Alpine alone"},
        {"KIND": "group", "KEY": "2002", "NAME": "Alpine alone or in combination"},
    ]
    assert exact.find("01003").to_pylist()[0]["KEY"] == "COUNTY/01003"
    assert exact.find("nobody").num_rows == 0


def test_ways_to_name_a_group_and_a_region(exact: safetab.Release) -> None:
    expected = exact.total("2001", "COUNTY/01001")
    assert expected.value == 700
    assert exact.total("Alpine alone", ("COUNTY", "01001")) == expected
    assert exact.total(exact.group("2001"), "01001") == expected
    for group, region, code in [("Alp", "USA/1", "READ-001"), ("2001", "COUNTY/9", "READ-002")]:
        with pytest.raises(safetab.UsageError, match=code):
            exact.total(group, region)


@pytest.mark.parametrize("code", ["2001", "2002", "4001"])
@pytest.mark.parametrize(
    "regions",
    [
        ["USA/1"],
        COUNTIES,
        ["STATE/01", "COUNTY/02001"],
        ["PLACE/0100500"],
        ["TRACT/01001000100", "TRACT/01001000200", "TRACT/01003000100"],
        ["COUNTY/01001", "TRACT/01003000100"],
    ],
)
def test_without_noise_totals_are_true(exact: safetab.Release, code: str, regions: list[str]) -> None:
    found = exact.total(code, regions=regions)
    expected = sum(truth(code, region) for region in regions)
    assert (found.value, found.low, found.high, found.variance) == (expected, expected, expected, 0.0)


def test_without_noise_comparisons_are_true(exact: safetab.Release) -> None:
    part, whole = ("2001", "COUNTY/01001"), ("2001", "STATE/01")
    share = exact.share(part, whole)
    assert share.value == pytest.approx(700 / 797)
    assert share.low == pytest.approx(700 / 797)
    assert exact.difference(part, whole).value == -97
    assert exact.ratio(whole, part).value == pytest.approx(797 / 700)
    assert [(rank.group, rank.low, rank.high) for rank in exact.rank(["4001", "2001", "2002"], "STATE/01")] == [
        ("2002", 1, 1),
        ("2001", 2, 2),
        ("4001", 3, 3),
    ]
    assert safetab.change(exact, exact, "2001", "USA/1").value == 0


def test_sex_and_ages(exact: safetab.Release) -> None:
    whole = exact.total("2001", "STATE/01").value
    assert exact.total("2001", "STATE/01", sex="1").value + exact.total("2001", "STATE/01", sex="2").value == whole
    young = exact.total("2001", "STATE/01", ages=(0, 17)).value
    assert young + exact.total("2001", "STATE/01", ages=(18, 115)).value == whole
    wrong: list[dict[str, Any]] = [{"sex": "3"}, {"ages": (1, 17)}, {"ages": (17, 0)}, {"ages": (200, 300)}]
    for words in wrong:
        with pytest.raises(safetab.UsageError, match="READ-005"):
            exact.total("2001", "STATE/01", **words)
    with pytest.raises(safetab.UsageError, match="READ-005"):
        exact.total("2001", "COUNTY/01005", sex="1")


def test_people_are_not_counted_twice(exact: safetab.Release) -> None:
    twice: list[dict[str, Any]] = [
        {"group": "2001", "regions": ["STATE/01", "COUNTY/01001"]},
        {"group": "2001", "regions": ["PLACE/0100500", "COUNTY/01003"]},
        {"groups": ["2001", "2002"], "region": "USA/1"},
        {"groups": ["2001", "4001"], "region": "USA/1"},
        {"group": "2001", "regions": ["USA/1", "USA/1"]},
    ]
    for words in twice:
        with pytest.raises(safetab.UsageError, match="READ-004"):
            exact.total(**words)
        allowed = exact.total(**words, overlap="allow")
        groups = words.get("groups") or [words["group"]]
        regions = words.get("regions") or [words["region"]]
        assert allowed.value == sum(truth(code, region) for code in groups for region in regions)
    assert exact.total("2001", regions=["STATE/01", "COUNTY/02001"]).value == truth("2001", "USA/1")


def test_questions_without_an_answer(exact: safetab.Release) -> None:
    with pytest.raises(safetab.UsageError, match="READ-007"):
        exact.total("2001")
    with pytest.raises(safetab.UsageError, match="READ-007"):
        exact.total("2001", "USA/1", confidence=1)
    with pytest.raises(safetab.UsageError, match="READ-003"):
        exact.total("2003", "COUNTY/01001")


@pytest.mark.parametrize("words", [{"overlap": "yes"}, {"ages": 17}, {"ages": (0, 17, 18)}])
def test_choices_that_there_are_not(exact: safetab.Release, words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(words))} is "):
        exact.total("2001", "STATE/01", **words)


def test_tables_that_there_are_not(exact: safetab.Release) -> None:
    with pytest.raises(ValueError, match='it must be "t1" or "t2"'):
        exact.table("t3")


def test_wrong_arguments_say_what_to_pass(exact: safetab.Release) -> None:
    group, region = "4001", "STATE/01"
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"^out is of type int: pass a path"):
        safetab.open(wrong)
    with pytest.raises(TypeError, match=r"^earlier is of type int: pass a release from safetab.open"):
        safetab.change(wrong, exact, group, region)
    with pytest.raises(TypeError, match=r"^later is of type int: pass a release from safetab.open"):
        safetab.change(exact, wrong, group, region)
    with pytest.raises(TypeError, match=r"^groups is of type int: pass a list"):
        exact.total(groups=wrong, region=region)
    with pytest.raises(TypeError, match=r"^regions is of type int: pass a list"):
        exact.totals([group], wrong)
    with pytest.raises(TypeError, match=r"^words is of type int: pass text"):
        exact.find(wrong)
    wrong = "0.95"
    with pytest.raises(TypeError, match=r"^confidence is '0.95': pass a number above 0 and below 1"):
        exact.total(group, region, confidence=wrong)
    with pytest.raises(TypeError, match=r"^zipped is '0.95': it must be True or False"):
        exact.totals([group], [region], zipped=wrong)
    with pytest.raises(ValueError, match=r"^zipped=True with 1 groups and 2 regions: pass as many groups as regions"):
        exact.totals([group], [region, region], zipped=True)


def test_what_python_shows_of_a_group_is_a_line(exact: safetab.Release) -> None:
    assert all(len(repr(group)) < 200 for group in exact.groups.values())


def test_names_that_are_no_text_and_lists_that_are(exact: safetab.Release) -> None:
    nobody: Any = ["2001"]
    nowhere: list[Any] = [3, ("COUNTY", "01001", "more"), ["COUNTY"]]
    with pytest.raises(safetab.UsageError, match="READ-001"):
        exact.total(nobody, "USA/1")
    for place in nowhere:
        with pytest.raises(safetab.UsageError, match="READ-002"):
            exact.total("2001", place)
    expected = exact.total("2001", "COUNTY/01001")
    assert exact.total(groups="2001", regions="COUNTY/01001") == expected
    assert exact.totals("2001", "COUNTY/01001")["ESTIMATE"].to_pylist() == [expected.value]
    assert [rank.group for rank in exact.rank("2001", "USA/1")] == ["2001"]


def test_a_name_that_two_groups_have(exact: safetab.Release) -> None:
    release = safetab.open(exact.folder)
    release.dictionary["iterations"]["2002"] = "Alpine alone"
    with pytest.raises(safetab.UsageError, match=r"the name of 2001 and 2002.*READ-001|READ-001.*2001 and 2002"):
        release.total("Alpine alone", "USA/1")
    assert release.total("2002", "USA/1").value == truth("2002", "USA/1")


def test_refusals_say_what_was_seen(exact: safetab.Release) -> None:
    with pytest.raises(safetab.UsageError, match=r"confidence 1\.5"):
        exact.total("2001", "USA/1", confidence=1.5)
    with pytest.raises(safetab.UsageError, match="group 2001 in USA/1 is named twice"):
        exact.total(groups=["2001", "2001"], region="USA/1")
    with pytest.raises(safetab.UsageError, match=r"group 2003 in COUNTY/01001\)"):
        exact.total("2003", "COUNTY/01001")


def test_figures_as_people_read_them() -> None:
    assert [figure(value) for value in (0.62061, 1.53264, 0.00003214, 12345.678, 4000, inf)] == [
        "0.6206",
        "1.5326",
        "0.00003214",
        "12,345.6780",
        "4,000",
        "unknown",
    ]
    assert [percent(confidence) for confidence in (0.95, 0.57, 0.999999)] == ["95 %", "57 %", "99.9999 %"]


def test_the_best_number_is_the_same_at_every_confidence(noisy: safetab.Release) -> None:
    for region in ("STATE/01", "COUNTY/01001", "COUNTY/01003"):
        values = {noisy.total("2001", region, confidence=confidence).value for confidence in (0.8, 0.95, 0.99)}
        assert values == {noisy.total("2001", region).value}


def test_the_row_itself_is_the_answer_where_it_is_best(noisy: safetab.Release) -> None:
    (row,) = (
        row
        for row in noisy.table("t1").to_pylist()
        if (row["REGION_TYPE"], row["REGION_ID"], row["ITERATION_CODE"]) == ("STATE", "01", "2001")
    )
    found = noisy.total("2001", "STATE/01")
    assert (found.value, found.low_95, found.high_95) == (row["ESTIMATE"], row["LOW_95"], row["HIGH_95"])
    assert found.how == "the published row STATE/01 group 2001"


def test_a_state_is_measured_better_than_its_counties(noisy: safetab.Release) -> None:
    together = noisy.total("2001", regions=COUNTIES)
    assert together.how == "the sum of STATE/01 group 2001"
    assert (together.low, together.high) == (
        noisy.total("2001", "STATE/01").low,
        noisy.total("2001", "STATE/01").high,
    )
    by_hand = [noisy.total("2001", county) for county in COUNTIES]
    assert together.high - together.low <= sum(part.high - part.low for part in by_hand)


def test_a_province_is_three_times_narrower_than_its_districts(tmp_path: Path) -> None:
    """In the example country, for every group that both have; even where there are two districts only."""
    source = SeededSourceNotPrivate(7)
    safetab.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "out", not_private=True, source=source)
    release = safetab.open(tmp_path / "out")
    both = [
        code
        for code, group in release.groups.items()
        if {"DISTRICT", "PROVINCE"} <= set(release.levels_of_group(release.runs[0], group))
    ]
    assert len(both) > 5
    for code, province in product(both, ("Ar", "Co", "Ne")):
        districts = [at for at in release.regions if at.type == "DISTRICT" and at.id.startswith(province)]
        together = release.total(code, regions=districts)
        parts = [release.total(code, district) for district in districts]
        assert together.how == f"the sum of PROVINCE/{province} group {code}"
        assert 3 * (together.high - together.low) <= sum(part.high - part.low for part in parts), (code, province)


@pytest.mark.parametrize("chance", [0, 0.9999])
def test_sums_are_never_wider_than_their_parts(tmp_path: Path, chance: float) -> None:
    """With suppression and without; a county and some tracts are right at a threshold or nearly empty."""
    thresholds = {f"({name}, 2)": [61, 150, 700] for name in readable.LEVELS.values()}
    folder = readable.write(tmp_path, zero_suppression_chance=chance, thresholds_p=thresholds)
    tracts = [f"TRACT/{tract}" for tract in readable.ALPINE]
    sums = [COUNTIES, COUNTIES[1:], tracts[1:3], tracts[2:4], tracts[4:6], tracts, ["STATE/02", tracts[4]]]
    for seed in range(size(quick=2, long=40)):
        release = safetab.open(readable.tabulated(folder, seed))
        for code, regions in product(("2001", "2002", "4001"), sums):
            found = release.total(code, regions=regions)
            parts = [release.total(code, region) for region in regions]
            assert found.high - found.low <= sum(part.high - part.low for part in parts), (seed, code, regions)
            assert found.low <= found.value <= found.high


def test_a_total_that_was_left_out(noisy: safetab.Release) -> None:
    found = noisy.total("4001", "TRACT/01005000200")
    assert found.missing == 1
    assert found.low == 0
    assert found.low <= truth("4001", "TRACT/01005000200") <= found.high < inf
    assert found.variance is None
    assert "not published" in found.warnings[0]
    share = noisy.share(("4001", "TRACT/01005000200"), ("4001", "TRACT/01005000200"))
    assert (share.low, share.high) == (0, 1)
    rate = noisy.ratio(("2001", "STATE/01"), ("4001", "TRACT/01005000200"))
    assert rate.high == inf
    assert not rate.is_bounded
    assert "may be 0" in rate.warnings[0]


def test_what_was_left_out_is_found_as_the_rest_of_a_larger_region(noisy: safetab.Release) -> None:
    found = noisy.total("4001", "TRACT/02001000200")
    assert found.how == "the sum of STATE/02 group 4001 minus TRACT/02001000100 group 4001"
    assert found.missing == 0
    assert found.low <= truth("4001", "TRACT/02001000200") <= found.high


def test_many_totals_are_those_of_single_questions(noisy: safetab.Release) -> None:
    regions = [*COUNTIES, "USA/1", "TRACT/02001000200"]
    table = noisy.totals(["2001", "4001"], regions)
    assert isinstance(table, pa.Table)
    for row in table.to_pylist():
        single = noisy.total(row["ITERATION_CODE"], (row["REGION_TYPE"], row["REGION_ID"]))
        if row["IS_PUBLISHED"] and "published row" in single.how:
            assert (row["ESTIMATE"], row["LOW_95"], row["HIGH_95"]) == (single.value, single.low, single.high)
        if not row["IS_PUBLISHED"]:
            assert row["LOW_95"] == 0 < row["HIGH_95"]
    assert noisy.totals(["2001"], ["USA/1"], zipped=True).num_rows == 1


def test_comparisons_say_how_likely_noise_is(noisy: safetab.Release) -> None:
    far = (("2001", "COUNTY/01001"), ("2001", "COUNTY/01005"))
    near = (("2001", "STATE/01"), ("2001", "STATE/01"))
    first, second = noisy.compare([far, near])
    assert first.p_value is not None
    assert first.p_value < 1e-4
    assert second.p_value == 1
    assert (second.value, second.low, second.high) == (0, 0, 0)
    assert "Holm" in first.how


def test_one_comparison_is_the_difference(noisy: safetab.Release) -> None:
    a, b = ("2001", "COUNTY/01001"), ("2001", "COUNTY/01005")
    assert noisy.compare(a, b) == noisy.difference(a, b) == noisy.compare([(a, b)])[0]
    assert noisy.compare(list(a), [b]) == noisy.compare(a, b)


@pytest.mark.parametrize("words", [(["2001"], ["2001"]), ("2001", "2001"), ([("2001", "USA/1")],), ([],), ("2001",)])
def test_sides_that_are_no_pairs_are_refused(noisy: safetab.Release, words: tuple[object, ...]) -> None:
    with pytest.raises(safetab.UsageError, match=r"READ-00[78]"):
        noisy.compare(*words)


def test_confidence_is_asked_for(noisy: safetab.Release) -> None:
    wide, narrow = (noisy.total("2001", "STATE/01", confidence=confidence) for confidence in (0.99, 0.5))
    assert wide.low < narrow.low <= narrow.high < wide.high
    with pytest.raises(ValueError, match=r"asked for at 0\.99"):
        _ = wide.low_95


def test_releases_that_cannot_be_read(tmp_path: Path, world: Path) -> None:
    with pytest.raises(safetab.InputError, match="USAGE-004"):
        safetab.open(tmp_path)
    out = readable.tabulated(world, 99)
    for file in (out / "parquet" / "geography").iterdir():
        file.unlink()
    (out / "parquet" / "geography").rmdir()
    with pytest.raises(safetab.InputError, match="READ-006"):
        safetab.open(out)


def test_intervals_hold_over_tabulations(world: Path) -> None:
    """Through the whole program: seeds are fixed, so this is right or wrong for good."""
    covered = asked = 0
    for seed in range(2, 2 + size(quick=4, long=60)):
        release = safetab.open(readable.tabulated(world, seed))
        for code in ("2001", "2002", "4001"):
            questions = [
                (release.total(code, regions=COUNTIES[:2]), sum(truth(code, region) for region in COUNTIES[:2])),
                (release.total(code, regions=["TRACT/01003000200", "TRACT/02001000200"]), None),
                (release.difference((code, COUNTIES[0]), (code, COUNTIES[1])), None),
                (release.share((code, COUNTIES[1]), (code, "STATE/01")), None),
                (release.total(code, "PLACE/0100500"), truth(code, "PLACE/0100500")),
            ]
            truths = [
                questions[0][1],
                truth(code, "TRACT/01003000200") + truth(code, "TRACT/02001000200"),
                truth(code, COUNTIES[0]) - truth(code, COUNTIES[1]),
                truth(code, COUNTIES[1]) / truth(code, "STATE/01"),
                questions[4][1],
            ]
            for (answer, _), true in zip(questions, truths, strict=True):
                assert true is not None
                covered += answer.low - 1e-9 <= true <= answer.high + 1e-9
                asked += 1
    assert covered / asked >= 0.95 - 3 * (0.05 * 0.95 / asked) ** 0.5
