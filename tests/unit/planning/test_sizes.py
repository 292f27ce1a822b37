"""Public sizes: which table gives which groups which size, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from safetab.errors import InputError
from safetab.params.load import Parameters, load
from safetab.planning import LevelSizes, Sizes, national_sizes, outlook, published_sizes, read_sizes
from tests.worlds import tiny


@pytest.fixture(scope="module")
def parameters(tmp_path_factory: pytest.TempPathFactory) -> Parameters:
    folder = tiny.write(tmp_path_factory.mktemp("sizes"), tiny.files())
    return load(folder / "params")


def groups(parameters: Parameters, sizes: Sizes, run: str, level: str) -> dict[tuple[str, str], int]:
    """The sizes of a level by region and iteration code."""
    known = sizes.of(run, level)
    assert known is not None
    planned = next(
        each for part in parameters.plan.runs if part.name == run for each in part.measured if each.name == level
    )
    return {
        (known.regions[region], planned.iterations[iteration].code): int(size)
        for region, iteration, size in zip(known.region, known.iteration, known.size, strict=True)
    }


def written(folder: Path, text: str) -> Path:
    file = folder / "sizes.txt"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_table_without_regions_is_about_the_nation(parameters: Parameters, tmp_path: Path) -> None:
    # 2007 is for local levels only and 0001 for none.
    table = written(tmp_path, "ITERATION_CODE|COUNT\n1001|500\n2001|7\n2003|4\n2007|9\n0001|1\n")
    sizes = read_sizes(table, parameters)
    assert set(sizes.of_level) == {("us", "(USA, 1)"), ("us", "(USA, 2)")}
    assert groups(parameters, sizes, "us", "(USA, 1)") == {("1", "1001"): 500}
    assert groups(parameters, sizes, "us", "(USA, 2)") == {("1", "2001"): 7, ("1", "2003"): 4}
    assert sizes.left_out == 2
    assert sizes.source == "sizes.txt"
    same = national_sizes(parameters, {"1001": 500, "2001": 7, "2003": 4, "2007": 9, "0001": 1}, "elsewhere")
    assert groups(parameters, same, "us", "(USA, 2)") == groups(parameters, sizes, "us", "(USA, 2)")
    assert (same.left_out, same.source) == (2, "elsewhere")


def test_a_table_with_regions_is_about_each_level(parameters: Parameters, tmp_path: Path) -> None:
    table = written(
        tmp_path,
        "REGION_TYPE,REGION_ID,ITERATION_CODE,COUNT\n"
        "USA,1,2001,70\nSTATE,01,2001,30\nSTATE,02,2001,40\nCOUNTY,01001,2007,5\nPR-STATE,72,1001,3\n",
    )
    sizes = read_sizes(table, parameters)
    assert groups(parameters, sizes, "us", "(STATE, 2)") == {("01", "2001"): 30, ("02", "2001"): 40}
    assert groups(parameters, sizes, "us", "(COUNTY, 2)") == {("01001", "2007"): 5}
    assert groups(parameters, sizes, "pr", "(PR-STATE, 1)") == {("72", "1001"): 3}
    assert sizes.of("us", "(TRACT, 2)") is None
    assert sizes.left_out == 0


def test_a_release_gives_its_estimates_or_its_counts(parameters: Parameters) -> None:
    keys = {"REGION_TYPE": ["USA", "STATE", "MOON"], "REGION_ID": ["1", "01", "1"], "ITERATION_CODE": ["2001"] * 3}
    counted = pa.table(keys | {"COUNT": [12, -5, 1]})
    sizes = published_sizes(parameters, {"us": counted}, "out")
    assert groups(parameters, sizes, "us", "(USA, 2)") == {("1", "2001"): 12}
    assert groups(parameters, sizes, "us", "(STATE, 2)") == {("01", "2001"): 0}
    assert sizes.left_out == 1
    estimated = counted.append_column("ESTIMATE", pa.array([11, 2, 0], pa.int64()))
    sizes = published_sizes(parameters, {"us": estimated}, "out")
    assert groups(parameters, sizes, "us", "(USA, 2)") == {("1", "2001"): 11}
    assert groups(parameters, sizes, "us", "(STATE, 2)") == {("01", "2001"): 2}
    assert published_sizes(parameters, {"pr": counted}, "out").of_level == {}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ITERATION_CODE|COUNT\n1001|many\n", "PLAN-001"),
        ("ITERATION_CODE|COUNT\n1001|-1\n", "PLAN-001"),
        ("ITERATION_CODE|COUNT\n1001|123456789012\n", "PLAN-001"),
        ("ITERATION_CODE|COUNT\n9999|1\n", "PLAN-002"),
        ("ITERATION_CODE|COUNT\n1001|1\n1001|2\n", "PLAN-003"),
        ("REGION_TYPE|REGION_ID|ITERATION_CODE|COUNT\nMOON|1|1001|2\n", "PLAN-004"),
        ("REGION_TYPE|ITERATION_CODE|COUNT\nUSA|1001|2\n", "FILE-"),
        ("ITERATION_CODE|PEOPLE\n1001|2\n", "FILE-"),
        ("ITERATION_CODE|COUNT\n", "FILE-"),
    ],
)
def test_what_is_wrong_with_a_table_is_reported(text: str, code: str, parameters: Parameters, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_sizes(written(tmp_path, text), parameters)
    assert [finding.rule.code[: len(code)] for finding in refused.value.findings] == [code]
    assert all(finding.file == "sizes.txt" for finding in refused.value.findings)


def test_all_faults_of_a_table_are_reported_together(parameters: Parameters, tmp_path: Path) -> None:
    text = "REGION_TYPE|REGION_ID|ITERATION_CODE|COUNT\nMOON|1|1001|2\nUSA|1|9999|x\nUSA|1|1001|2\nUSA|1|1001|3\n"
    with pytest.raises(InputError) as refused:
        read_sizes(written(tmp_path, text), parameters)
    found = {finding.rule.code: finding.lines for finding in refused.value.findings}
    assert found == {"PLAN-001": (3,), "PLAN-002": (3,), "PLAN-003": (5,), "PLAN-004": (2,)}


def test_the_same_group_in_two_regions_is_not_a_repetition(parameters: Parameters, tmp_path: Path) -> None:
    text = "REGION_TYPE|REGION_ID|ITERATION_CODE|COUNT\nSTATE|01|1001|2\nSTATE|02|1001|2\n"
    assert len(read_sizes(written(tmp_path, text), parameters).of_level["us", "(STATE, 1)"]) == 2


def test_a_missing_table_is_one_error(parameters: Parameters, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_sizes(tmp_path / "nothing.txt", parameters)
    assert len(refused.value.findings) == 1


def test_expected_numbers_are_sums_of_chances(parameters: Parameters, tmp_path: Path) -> None:
    from safetab.planning import chances_of

    table = written(
        tmp_path,
        "REGION_TYPE|REGION_ID|ITERATION_CODE|COUNT\n"
        "USA|1|2001|9\nUSA|1|2003|12\nUSA|1|2002|9\nCOUNTY|01001|2007|5\nCOUNTY|01003|2007|11\nCOUNTY|01003|2001|0\n",
    )
    sizes = read_sizes(table, parameters)
    levels = {each.level: each for each in outlook(parameters, sizes)}
    assert set(levels) == {"(USA, 2)", "(COUNTY, 2)"}
    nation, county = levels["(USA, 2)"], levels["(COUNTY, 2)"]
    two_stage = chances_of(nation.rule, np.array([9]))
    assert nation.total.groups == 3
    assert nation.total.total_only == 1
    assert nation.total.persons == 30
    assert nation.total.stat_levels == pytest.approx(2 * two_stage.stat_levels[0] + np.array([1, 0, 0, 0]))
    assert nation.total.published == 3
    local = chances_of(county.rule, np.array([5, 11, 0]))
    assert county.rule.suppression_chance is not None
    assert county.total.stat_levels == pytest.approx(local.stat_levels.sum(axis=0))
    assert county.total.published == pytest.approx(local.published.sum())
    assert county.total.with_table == pytest.approx(local.with_table.sum())
    by_code = {each.iteration.code: each.expected for each in county.groups}
    assert set(by_code) == {"2001", "2007"}
    assert (by_code["2007"].groups, by_code["2007"].persons) == (2, 16)
    assert by_code["2007"].published == pytest.approx(local.published[:2].sum())
    assert county.unsized == len(parameters.plan.runs[0].measured[5].iterations) - 2


def test_sizes_have_no_more_entries_than_groups() -> None:
    assert len(LevelSizes(("a",), np.array([0, 0]), np.array([0, 1]), np.array([3, 4]))) == 2
