"""Cells and regions against a plain reading of the blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safetab.errors import Finding
from safetab.files.text import TextTable
from safetab.pipeline.check import check_inputs
from safetab.population.geography import NO_REGION, GeographyLevel, fold, region_of_finer
from safetab.population.geography_file import BlockFilter, geography_of_run, in_no_run, read_block_table
from tests.worlds import tiny

LEVELS = (
    GeographyLevel("ALL", (), region_id="1"),
    GeographyLevel("A", ("A",)),
    GeographyLevel("AB", ("A", "B"), local=True),
    GeographyLevel("P", ("P",), absent={"P": "9"}, local=True),
)


def plain_regions(block: dict[str, str]) -> tuple[str | None, ...]:
    return "1", block["A"], block["A"] + block["B"], None if block["P"] == "9" else block["P"]


digit = st.sampled_from("129")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.fixed_dictionaries({"A": digit, "B": digit, "P": digit}), min_size=1, max_size=25))
def test_block_sets_are_the_distinct_region_tuples(blocks: list[dict[str, str]]) -> None:
    for number, block in enumerate(blocks):
        block["ID"] = str(number)
    table = pa.Table.from_pylist(blocks)
    geography = fold(table, ["ID"], LEVELS)
    expected = [plain_regions(block) for block in blocks]
    for level, ids in enumerate(geography.regions):
        assert list(ids) == sorted({name for regions in expected if (name := regions[level]) is not None})
    assert geography.block_sets == len(set(expected))
    # In the order of their regions, whatever the order of the file.
    assert geography.block_set_regions.tolist() == sorted(geography.block_set_regions.tolist())
    block_sets = geography.block_set_of_block.tolist()
    for block, regions, block_set in zip(blocks, expected, block_sets, strict=True):
        found = tuple(
            None if index == NO_REGION else geography.regions[level][index]
            for level, index in enumerate(geography.block_set_regions[block_set])
        )
        assert found == regions
        assert geography.blocks["ID"].to_pylist()[int(block["ID"])] == block["ID"]


def test_blocks_can_be_let_go() -> None:
    table = pa.table({"ID": ["1", "2"], "A": ["1", "1"], "B": ["1", "2"], "P": ["1", "9"]})
    geography = fold(table, ["ID"], LEVELS)
    without = geography.without_blocks()
    assert without.blocks.num_rows == len(without.block_set_of_block) == 0
    assert without.blocks.schema == geography.blocks.schema
    assert without.regions == geography.regions
    assert without.block_sets == geography.block_sets == 2


def test_the_tiny_world_is_folded_by_run(tmp_path: Path) -> None:
    tiny.write(tmp_path, tiny.files())
    report = check_inputs(tmp_path / "params", tmp_path / "data")
    assert not report.errors
    us, pr = (run.geography for run in report.runs)
    assert us is not None
    assert pr is not None
    assert dict(zip((level.name for level in us.levels), us.regions, strict=True)) == {
        "USA": ("1",),
        "STATE": ("01", "02"),
        "COUNTY": ("01001", "01003", "02001"),
        "TRACT": ("01001000100", "01003000200", "02001000100"),
        "PLACE": ("0100100",),
        "AIANNH": ("0010",),
    }
    assert us.blocks.num_rows == 4
    assert pr.regions == (("72",), ("72001",), ("72001000100",), ("7200100",))


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), max_size=8))
def test_regions_made_up_of_finer_ones(block_sets: list[tuple[int, int]]) -> None:
    """Regions are made up of finer ones exactly when each finer one lies whole in one region, or in none."""
    finer, regions = (np.array([pair[side] for pair in block_sets], dtype=np.int32) for side in (0, 1))
    lies_in = {one: {region for other, region in block_sets if other == one} for one, _ in block_sets}
    is_made_up = lies_in.pop(NO_REGION, set()) <= {NO_REGION} and all(len(found) == 1 for found in lies_in.values())
    found = region_of_finer(finer, regions)
    assert (found is not None) == is_made_up
    if found is not None:
        assert {one: {int(found[one])} for one in lies_in} == lies_in
        assert all(region == NO_REGION for one, region in enumerate(found) if one not in lies_in)


def test_blocks_that_appear_twice_however_many_columns_name_a_block(tmp_path: Path) -> None:
    """Forty columns of four values: more blocks than 64 bits tell apart. The last two lines repeat the first."""
    columns = [f"c{number}" for number in range(40)]
    lines = [[str((row >> column % 2) % 4) for column in range(40)] for row in range(8)]
    other = ["9", *lines[0][1:]]
    rows = [columns, *lines, other, lines[0], lines[0]]
    (tmp_path / "blocks.txt").write_text("\n".join("|".join(row) for row in rows) + "\n")
    findings: list[Finding] = []
    assert read_block_table(tmp_path / "blocks.txt", columns, [GeographyLevel("all", ())], {}, findings) is None
    assert [(finding.rule.code, finding.lines, finding.count) for finding in findings] == [("GEO-002", (11, 12), 2)]


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ([BlockFilter("A", ("1",)), BlockFilter("A", ("2",))], "9"),
        ([BlockFilter("A", ("1",))], "2, 9"),
        ([BlockFilter("A", ("1", "2")), BlockFilter("A", ("9",))], ""),
        # A run without a filter takes every block, and of two columns nobody can say it by values of one.
        ([BlockFilter("A", ("1",)), None], ""),
        ([BlockFilter("A", ("1",)), BlockFilter("B", ("2",))], ""),
    ],
)
def test_values_that_no_run_takes(filters: list[BlockFilter | None], told: str) -> None:
    columns = pa.table({"ID": ["a", "b", "c"], "A": ["1", "2", "9"], "B": ["1", "2", "9"], "P": ["9", "9", "9"]})
    blocks = TextTable("blocks", columns, ())
    found = [geography_of_run(blocks, "run", only, ["ID"], LEVELS[:1], []) for only in filters]
    findings = in_no_run("blocks", filters, [geography for geography in found if geography is not None])
    assert [(finding.rule.code, finding.key, finding.seen) for finding in findings] == (
        [("GEO-007", "A", told)] if told else []
    )
