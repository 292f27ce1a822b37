"""Cells and regions against a plain reading of the blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from safetab.checks.inputs import check_inputs
from safetab.population.geography import NO_REGION, GeographyLevel, fold, region_of_part
from tests import worlds

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
def test_cells_are_the_distinct_region_tuples(blocks: list[dict[str, str]]) -> None:
    for number, block in enumerate(blocks):
        block["ID"] = str(number)
    table = pa.Table.from_pylist(blocks)
    geography = fold(table, ["ID"], LEVELS)
    expected = [plain_regions(block) for block in blocks]
    for level, ids in enumerate(geography.regions):
        assert list(ids) == sorted({name for regions in expected if (name := regions[level]) is not None})
    assert geography.cells == len(set(expected))
    cells = geography.blocks["cell"].to_pylist()
    for block, regions, cell in zip(blocks, expected, cells, strict=True):
        found = tuple(
            None if index == NO_REGION else geography.regions[level][index]
            for level, index in enumerate(geography.cell_regions[cell])
        )
        assert found == regions
        assert geography.blocks["ID"].to_pylist()[int(block["ID"])] == block["ID"]


def test_the_tiny_world_is_folded_by_run(tmp_path: Path) -> None:
    worlds.write(tmp_path, worlds.tiny_world())
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
def test_parts_of_regions(cells: list[tuple[int, int]]) -> None:
    """The finer level is a part of the coarser one exactly when each part lies whole in one region, or in none."""
    parts, regions = (np.array([cell[side] for cell in cells], dtype=np.int32) for side in (0, 1))
    lies_in = {part: {region for other, region in cells if other == part} for part, _ in cells}
    is_made_up = lies_in.pop(NO_REGION, set()) <= {NO_REGION} and all(len(found) == 1 for found in lies_in.values())
    found = region_of_part(parts, regions)
    assert (found is not None) == is_made_up
    if found is not None:
        assert {part: {int(found[part])} for part in lies_in} == lies_in
        assert all(region == NO_REGION for part, region in enumerate(found) if part not in lies_in)
