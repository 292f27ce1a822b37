"""The report of a release: what the page says is what OUT has."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safetab
from safetab.errors import InputError
from safetab.reading.survey import SIZE_STARTS
from safetab.reports import charts, markup
from safetab.reports.release_page import write_report
from tests.worlds import readable
from tests.worlds.merovia import MEROVIA
from tests.worlds.pages import Page, number

#: Of the example country, coarsest first: province and district are inside the one before.
AROUND = {"PROVINCE": "COUNTRY", "DISTRICT": "PROVINCE"}


class Reported:
    """A release, its tables as pandas reads them, and its page."""

    def __init__(self, out: Path, file: Path, *, everything: bool = False) -> None:
        write_report(out, file, everything=everything)
        self.out, self.file, self.page = out, file, Page(file)
        self.release = safetab.open(out)
        self.t1, self.t2 = (self.release.table(name, "pandas") for name in ("t1", "t2"))
        self.t1["ITERATION_LEVEL"] = [self.release.groups[code].iteration_level for code in self.t1["ITERATION_CODE"]]
        self.t1["LEVEL"] = [
            f"({kind}, {level})" for kind, level in zip(self.t1["REGION_TYPE"], self.t1["ITERATION_LEVEL"], strict=True)
        ]
        self.t1["HALF"] = (self.t1["HIGH_95"] - self.t1["LOW_95"]) / 2

    def rows(self, table: str) -> list[list[str]]:
        """Without the headings."""
        return self.page.tables[table][1:]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The example country with private noise."""
    folder = tmp_path_factory.mktemp("report")
    safetab.tabulate(MEROVIA / "params", MEROVIA / "data", folder / "out")
    return Reported(folder / "out", folder / "page.html")


@pytest.fixture(scope="module")
def bureau(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Two runs, places across counties, names of levels that need their run; seeded, and so not private."""
    folder = tmp_path_factory.mktemp("bureau")
    return Reported(readable.tabulated(readable.write(folder), 5), folder / "page.html", everything=True)


def test_the_page_is_one_file_that_asks_for_nothing(reported: Reported) -> None:
    assert all(address.startswith("#") or address == "data:," for address in reported.page.addresses)
    text = reported.file.read_text(encoding="utf-8")
    for word in ("@import", "url(http", "fetch(", "XMLHttpRequest", "//cdn"):
        assert word not in text
    assert "default-src 'none'" in text


def test_every_picture_has_its_words(reported: Reported) -> None:
    assert len(reported.page.pictures) == reported.page.svgs == 4
    assert all(len(words) > 40 for words in reported.page.pictures)


def test_the_guarantee_is_that_of_the_ledger(reported: Reported) -> None:
    ledger, bounds = reported.release.ledger, dict(reported.rows("bounds"))
    assert bounds["rho (zCDP)"] == ledger["total_budget"]
    quoted = float(bounds["epsilon by loss distribution, delta 1e-10"])
    exact = ledger["analyses"]["epsilon_loss_distribution"]
    assert 0 <= quoted - exact < 1e-3, "rounded up"


def test_spending_is_that_of_the_ledger(reported: Reported) -> None:
    (run,) = reported.release.ledger["runs"]
    rows = reported.rows("levels")
    assert [row[:2] for row in rows] == [[level["level"], level["budget"]] for level in run["levels"]]
    assert [number(row[4]) for row in rows] == [level["groups"] for level in run["levels"]]
    drawn = [sum(part["counts"] for part in level["measurements"]) for level in run["levels"]]
    assert [number(row[5]) for row in rows] == drawn


def test_detail_is_counted_from_t1(reported: Reported) -> None:
    head, *rows, total = reported.page.tables["detail"]
    only = [reported.release.groups[code].is_total_only for code in reported.t1["ITERATION_CODE"]]
    kinds = np.where(only, "total only", "stat level " + reported.t1["STAT_LEVEL"].astype(str))
    counted = pd.crosstab(reported.t1["LEVEL"], kinds)
    for row in rows:
        for kind, figure in zip(head[1:-1], row[1:-1], strict=True):
            assert number(figure) == counted.loc[row[0]].get(kind, 0), (row[0], kind)
        assert number(row[-1]) == counted.loc[row[0]].sum()
    assert number(total[-1]) == len(reported.t1)


def test_margins_are_medians_of_t1(reported: Reported) -> None:
    starts = np.array(SIZE_STARTS)
    least = starts[np.searchsorted(starts, reported.t1["ESTIMATE"], side="right") - 1]
    classes = reported.t1.assign(LEAST=least).groupby(["LEVEL", "LEAST"])
    rows = {(row[0], number(row[1].split()[0])): row[2:] for row in reported.rows("margins")}
    assert len(rows) == len(classes)
    for (level, start), part in classes:
        totals, half, relative, _ = rows[level, start]
        assert number(totals) == len(part)
        assert number(half) == np.quantile(part["HALF"], 0.5, method="inverted_cdf")
        ratio = np.quantile(part["HALF"] / part["ESTIMATE"].clip(lower=1), 0.5, method="inverted_cdf")
        assert number(relative.removesuffix(" %")) == pytest.approx(100 * ratio, rel=0.006)


def test_what_was_left_out_is_counted(reported: Reported) -> None:
    rows = reported.rows("left-out")
    assert sum(number(row[4]) for row in rows) == reported.release.ledger["runs"][0]["suppressed_rows"] > 0
    published = reported.t1["LEVEL"].value_counts()
    assert [number(row[3]) for row in rows] == [published[row[0]] for row in rows]


def test_the_widest_and_narrowest_are_those_of_t1(reported: Reported) -> None:
    halves = np.sort(reported.t1["HALF"])
    widest, narrowest = ([number(row[5]) for row in reported.rows(table)] for table in ("widest", "narrowest"))
    assert widest == list(halves[::-1][: len(widest)])
    assert narrowest == list(halves[: len(narrowest)])


def test_the_picture_of_the_widest_shows_how_far_their_ends_are_from_the_estimate(
    reported: Reported, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[dict[str, Any]] = []
    draw = charts.intervals

    def watched(rows: Any, name: str, **words: Any) -> charts.Picture:
        drawn.extend(rows)
        return draw(rows, name, **words)

    monkeypatch.setattr(charts, "intervals", watched)
    write_report(reported.out, tmp_path / "again.html")
    ends = [[number(text) for text in row[2:5]] for row in reported.rows("widest")]
    assert [(row["estimate"], row["low"], row["high"]) for row in drawn] == [
        (0, low - estimate, high - estimate) for estimate, low, high in ends
    ]
    estimate, low, high = reported.rows("widest")[0][2:5]
    assert any(f"from {low} to {high}, where ESTIMATE is {estimate}." in words for words in reported.page.pictures)


def test_contradictions_are_counted_from_the_tables(reported: Reported) -> None:
    told = {row[0]: row[1:] for row in reported.rows("contradictions")}
    assert number(told["negative counts in T1"][0]) == (reported.t1["COUNT"] < 0).sum()
    assert number(told["negative counts in T2"][0]) == (reported.t2["COUNT"] < 0).sum() > 0
    assert number(told["totals without a margin (MOE_95)"][0]) == reported.t1["MOE_95"].isna().sum() > 0
    by_key = reported.t1.set_index(["REGION_TYPE", "REGION_ID", "ITERATION_CODE"])
    # In the example country A01 to A11 are alone, B01 to B11 the same groups in combination.
    pairs = [(key, (key[0], key[1], f"B{key[2][1:]}")) for key in by_key.index if key[2].startswith("A")]
    compare(told["alone above alone or in combination"], by_key, pairs)
    for kind, around in AROUND.items():
        keys = [key for key in by_key.index if key[0] == kind]
        inside = [(key, (around, "Merovia" if kind == "PROVINCE" else key[1][:2], key[2])) for key in keys]
        compare(told[f"{kind} above {around}"], by_key, inside)


def compare(told: list[str], by_key: pd.DataFrame, pairs: Sequence[tuple[Any, Any]]) -> None:
    both = [(by_key.loc[one], by_key.loc[other]) for one, other in pairs if other in by_key.index]
    assert both
    assert number(told[2]) == len(both)
    for figure, column in zip(told, ("COUNT", "ESTIMATE"), strict=False):
        assert number(figure) == sum(one[column] > other[column] for one, other in both)


def test_the_table_has_every_total_of_a_small_release(reported: Reported) -> None:
    assert rows_of(reported) == expected_rows(reported)
    printed = reported.rows("totals")
    assert all(
        len([row for row in printed if row[0] == level]) == min(10, count)
        for level, count in reported.t1["LEVEL"].value_counts().items()
    )


def rows_of(reported: Reported) -> set[tuple[object, ...]]:
    """What the script of the page searches."""
    data = reported.page.data["totals-data"]
    found = [
        (data["levels"][level], data["regions"][region], data["groups"][group][0], *numbers)
        for level, region, group, *numbers in data["rows"]
    ]
    assert len(set(found)) == len(found)
    return set(found)


def expected_rows(reported: Reported) -> set[tuple[object, ...]]:
    columns = ["LEVEL", "REGION_ID", "ITERATION_CODE", "ESTIMATE", "LOW_95", "HIGH_95", "STAT_LEVEL"]
    return set(reported.t1[columns].itertuples(index=False, name=None))


def test_a_release_of_two_runs_that_is_not_private(bureau: Reported) -> None:
    text = bureau.file.read_text(encoding="utf-8")
    assert text.count('class="banner"') == 1
    assert "NOT PRIVATE: noise was off or seeded. Do not publish." in bureau.page.text
    assert bureau.file.stat().st_mode & 0o777 == 0o600
    levels = {str(row[0]).partition(" ")[0] for row in rows_of(bureau)}
    assert levels <= {"us", "pr"}
    assert "us" in levels
    assert {row[1:] for row in rows_of(bureau)} == {row[1:] for row in expected_rows(bureau)}
    told = [row[0] for row in bureau.rows("contradictions")]
    assert "TRACT above COUNTY in run us" in told
    assert "PLACE above STATE in run us" in told


def test_names_cannot_become_part_of_the_page(tmp_path: Path, reported: Reported) -> None:
    out = tmp_path / "out"
    shutil.copytree(reported.out, out)
    dictionary = (out / "data-dictionary.json").read_text(encoding="utf-8")
    name = reported.release.groups["B03"].name
    assert name in dictionary
    planted = "</script><script>alert(1)</script><b>&amp;"
    (out / "data-dictionary.json").write_text(dictionary.replace(name, planted), encoding="utf-8")
    write_report(out, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert planted in {group[1] for group in Page(tmp_path / "page.html").data["totals-data"]["groups"]}


def test_a_release_without_estimates_is_refused(tmp_path: Path, reported: Reported) -> None:
    out = tmp_path / "out"
    shutil.copytree(reported.out, out)
    for file in (out / "parquet" / "t1").glob("*.parquet"):
        pd.read_parquet(file).drop(columns=["LOW_95", "STAGE_1_COUNT"]).to_parquet(file)
    with pytest.raises(InputError, match="READ-006"):
        write_report(out, tmp_path / "page.html")
    assert not list(tmp_path.glob("*page*"))


def test_without_noise_the_page_still_stands(tmp_path: Path) -> None:
    folder = readable.write(tmp_path)
    write_report(readable.tabulated(folder, None), tmp_path / "page.html")
    assert len(Page(tmp_path / "page.html").pictures) == 2, "no margins and no intervals to draw"


@pytest.mark.parametrize("is_suppressed", [False, True], ids=["no budget", "all suppressed"])
def test_a_release_without_rows_has_no_empty_picture(tmp_path: Path, *, is_suppressed: bool) -> None:
    readable.write(tmp_path)
    file = tmp_path / "params" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    kept = {"privacy_budget_p_level_2_tract": "0.000001"} if is_suppressed else {}
    budgets = {name: kept.get(name, 0) for name in config if name.startswith("privacy_budget_p_level")}
    chance = {"zero_suppression_chance": 0.9999999999} if is_suppressed else {}
    thresholds = {"thresholds_p": dict.fromkeys(config["thresholds_p"], [10**8] * 3)}
    file.write_text(json.dumps(config | budgets | chance | thresholds), encoding="utf-8")
    safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    write_report(tmp_path / "out", tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    assert page.svgs == len(page.pictures) == (1 if is_suppressed else 0)
    assert "No total was published." in page.text
    assert ("No level has a budget" in page.text) == (not is_suppressed)
    assert ("left-out" in page.tables) == is_suppressed
    assert not {"detail", "margins", "widest", "narrowest"} & set(page.tables)


def test_intervals_of_nothing_but_0_are_explained(tmp_path: Path, reported: Reported) -> None:
    explained = "An interval from 0 to 0 comes from a noisy count far below 0."
    for place, high in enumerate((0, 9)):
        out = tmp_path / f"out-{place}"
        shutil.copytree(reported.out, out)
        for file in (out / "parquet" / "t1").glob("*.parquet"):
            rows = pd.read_parquet(file)
            rows["HIGH_95"] = rows["LOW_95"] + 10
            rows.loc[0, ["ESTIMATE", "LOW_95", "HIGH_95"]] = (0, 0, high)
            rows.to_parquet(file)
        write_report(out, tmp_path / "page.html")
        assert (explained in Page(tmp_path / "page.html").text) == (high == 0)


def test_only_a_page_of_ours_is_replaced(tmp_path: Path) -> None:
    markup.write_page(tmp_path / "a.html", [markup.MARK, "one"], for_everybody=True)
    markup.write_page(tmp_path / "a.html", [markup.MARK, "two"], for_everybody=True)
    assert (tmp_path / "a.html").read_text().endswith("two")

    def broken() -> Iterator[str]:
        yield markup.MARK
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        markup.write_page(tmp_path / "a.html", broken(), for_everybody=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
    assert (tmp_path / "a.html").read_text().endswith("two")
